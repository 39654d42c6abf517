package source

import (
	"html"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/sound/audiofile"
)

// maxText is the longest text kept from outside, in bytes.
const maxText = 300

// maxMarks is how many marks one letter may carry. Arabic needs three (shadda,
// vowel, superscript alef); towers of them cover the lines above.
const maxMarks = 4

// Clean makes a text from outside fit for a tag, a name, a log and a page: one
// line of composed, printable Unicode, at most 300 bytes. Control characters and
// those that turn the direction of what follows are gone, so that a title cannot
// make other text read differently from what it is. Joiners that Persian, Urdu
// and Indic spelling need stay.
func Clean(s string) string {
	if len(s) > 16*maxText {
		s = s[:16*maxText]
	}
	s = norm.NFC.String(audiofile.Text([]byte(s)))
	var b strings.Builder
	marks, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '\u200b' || r == '\u2028' || r == '\u2029':
			space = b.Len() > 0
			continue
		case r == utf8.RuneError, !printable(r):
			continue
		case unicode.Is(unicode.M, r):
			if marks++; marks > maxMarks {
				continue
			}
		default:
			marks = 0
		}
		if b.Len()+utf8.RuneLen(r)+1 > maxText {
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return strings.Trim(b.String(), "\u200c\u200d ")
}

func printable(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r == nonJoiner || r == joiner || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) &&
		!unicode.Is(unicode.Noncharacter_Code_Point, r) && r != '\u115f' && r != '\u1160' && r != '\u3164' && r != '\uffa0'
}

// cleanHTML is Clean for texts in which entities and tags may hide: "R&amp;B".
func cleanHTML(s string) string {
	if len(s) > 16*maxText {
		s = s[:16*maxText]
	}
	return Clean(html.UnescapeString(html.UnescapeString(s)))
}

// titleOf makes artist and title of a file's name: "Artist - Title.mp3".
func titleOf(name string) (artist, title string) {
	name = path.Base(name)
	if ext := path.Ext(name); len(ext) > 1 && len(ext) <= 6 {
		name = strings.TrimSuffix(name, ext)
	}
	name = Clean(strings.ReplaceAll(name, "_", " "))
	if by, what, ok := strings.Cut(name, " - "); ok && strings.TrimSpace(by) != "" && strings.TrimSpace(what) != "" && strings.Trim(by, "0123456789. ") != "" {
		return strings.TrimSpace(by), strings.TrimSpace(what)
	}
	return "", name
}
