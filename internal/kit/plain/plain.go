// Package plain makes text from outside fit to stand among words of our own.
package plain

import (
	"strings"
	"unicode"
)

// Line is text on one line, without space around it and without characters that would change
// the direction of the words beside it.
func Line(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c' || r == '\u200d': // joiners belong to spelling
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.TrimSpace(text)
}
