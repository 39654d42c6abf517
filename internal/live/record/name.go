package record

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is written into a file's head, in bytes.
const (
	mostTitle, mostCreator, mostStream, mostWhy = 400, 200, 80, 160
	mostSlug                                    = 64
	// mostSaid bounds a title within a broadcast, mostTitles all of one broadcast.
	mostSaid, mostTitles = 200, 64 << 10
)

var nameForm = regexp.MustCompile(`^LIVE_[0-9]{8}-[0-9]{6}_[\p{L}\p{N}-]{1,80}\.mp3$`)

// newName is a name that no recording has.
func (r *Recorder) newName(now time.Time, title string) string {
	base := "LIVE_" + now.Format("20060102-150405") + "_" + slug(title)
	name := base + ".mp3"
	for n := 2; r.all[name] != nil; n++ {
		name = fmt.Sprintf("%s-%d.mp3", base, n)
	}
	return name
}

// slug is what of a title may stand in a file's name: letters and digits of any script.
func slug(title string) string {
	var out strings.Builder
	gap := 0
	for _, c := range strings.ToLower(title) {
		switch {
		case unicode.Is(unicode.Mn, c): // vowels of Arabic
			continue
		case !unicode.IsLetter(c) && !unicode.IsNumber(c):
			gap = 1
			continue
		case out.Len()+gap+utf8.RuneLen(c) > mostSlug:
			return out.String()
		}
		if gap > 0 && out.Len() > 0 {
			out.WriteByte('-')
		}
		gap = 0
		out.WriteRune(c)
	}
	if out.Len() == 0 {
		return "live"
	}
	return out.String()
}

// clean is text in one line of valid UTF-8 and at most so many bytes.
func clean(text string, most int) string {
	text = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == utf8.RuneError {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, " ")))
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most])
}

// compareNames orders names by length, then by their letters: -10 comes after -9.
func compareNames(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
