package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// The longest texts, in characters as a reader counts them.
const (
	LongestTitle       = 120
	LongestArtist      = 120
	LongestDescription = 1000
	LongestTag         = 30
	LongestBy          = 40
	MostTags           = 10
)

const (
	mostTextBytes = 16 << 10 // of one text, before it is cleaned
	mostLines     = 20
	mostMarks     = 4 // on a letter, as in the chat: more would cover the lines above
)

// Names are the texts that come with a file.
type Names struct {
	Title, Artist, Description string
	Tags                       []string
	By                         string // who sent it, as that person wants to be called
}

// Words judges texts: the chat's word list and its eye for links.
type Words struct {
	Blocked func(text string) bool // it holds a word that is not allowed; nil: none is
	Linked  func(text string) bool // it holds a network address, however it is written
}

// Clean returns the texts as they are kept, or why they cannot be.
//
// Clean texts are valid UTF-8 in form C, on one line but for the description. What cannot
// be seen (controls, overrides of the direction, zero-width characters, tags) is left out
// without a word, because phones add it and nobody could find it. Marks that order Arabic
// beside Latin, and the joiners that some scripts need, stay within a word. Only the title
// must be there. Account names (@name) are allowed as the sender's name only.
func (n Names) Clean(w Words) (Names, *refusal.Refusal) {
	out := Names{Tags: []string{}}
	for _, f := range []struct {
		name    refusal.Field
		in      string
		out     *string
		longest int
	}{
		{refusal.Title, n.Title, &out.Title, LongestTitle},
		{refusal.Artist, n.Artist, &out.Artist, LongestArtist},
		{refusal.Description, n.Description, &out.Description, LongestDescription},
		{refusal.CreatedBy, n.By, &out.By, LongestBy},
	} {
		text, r := w.field(f.name, f.in, f.longest)
		if r != nil {
			return Names{}, r
		}
		*f.out = text
	}
	if out.Title == "" {
		return Names{}, &refusal.Refusal{Code: refusal.NamesMissing, Field: refusal.Title}
	}
	for _, tag := range n.Tags {
		text, r := w.field(refusal.Tags, strings.TrimLeft(clean(tag, false), "# "), LongestTag)
		if r != nil {
			return Names{}, r
		}
		if text != "" && !slices.Contains(out.Tags, text) {
			out.Tags = append(out.Tags, text)
		}
		if len(out.Tags) > MostTags {
			return Names{}, &refusal.Refusal{Code: refusal.NamesLong, Field: refusal.Tags, Limit: MostTags * LongestTag}
		}
	}
	return out, nil
}

// handle is an account's name: a letter, then what services allow.
var handle = regexp.MustCompile(`(?:^|[^\p{L}\p{N}._%+-])[@＠][\p{L}\p{N}_][\p{L}\p{N}_.]{2,}`)

func (w Words) field(name refusal.Field, in string, longest int) (string, *refusal.Refusal) {
	if len(in) > mostTextBytes {
		return "", &refusal.Refusal{Code: refusal.NamesLong, Field: name, Limit: int64(longest)}
	}
	text := clean(in, name == refusal.Description)
	switch {
	case uniseg.GraphemeClusterCount(text) > longest, len(text) > 8*longest: // a cluster may be very long
		return "", &refusal.Refusal{Code: refusal.NamesLong, Field: name, Limit: int64(longest)}
	case w.Linked != nil && w.Linked(text), name != refusal.CreatedBy && handle.MatchString(text):
		return "", &refusal.Refusal{Code: refusal.NamesLinks, Field: name}
	case w.Blocked != nil && w.Blocked(text):
		return "", &refusal.Refusal{Code: refusal.NamesWords, Field: name}
	}
	return text, nil
}

// clean leaves out what cannot be seen, and folds space. Leaving something out can join
// what was apart, so it goes on until nothing changes.
func clean(s string, lines bool) string {
	for range 4 {
		before := s
		s = once(s, lines)
		if s == before {
			return s
		}
	}
	return s
}

func once(s string, lines bool) string {
	s = norm.NFC.String(strings.ToValidUTF8(s, ""))
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n", "\v", " ", "\f", " ").Replace(s)
	marks := 0
	s = strings.Map(func(r rune) rune {
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		if marks <= mostMarks && (r == '\n' || r == '\t' || visible(r)) {
			return r
		}
		return -1
	}, s)
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), invisible)
		if line != "" && len(out) < mostLines {
			out = append(out, line)
		}
	}
	if lines {
		return strings.Join(out, "\n")
	}
	return strings.Join(out, " ")
}

// invisible are the marks that stay within words: of direction, and joiners.
const invisible = "\u200c\u200d\u200e\u200f\u061c "

// visible reports a character that stays.
func visible(r rune) bool {
	switch {
	case strings.ContainsRune(invisible, r):
		return true
	case r == '\u3164', r == '\uffa0', r == '\u115f', r == '\u1160', r == '\u2800', r == '\u180e', r == '\u034f': // blanks that count as letters
		return false
	case r >= 0xE0020 && r <= 0xE007F: // the tags of some flags
		return false
	}
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}
