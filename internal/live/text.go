package live

import (
	"strings"
	"unicode"
)

// Line is text from outside on one line, without what would make it look like another:
// what is Hidden goes, and white space is single spaces.
func Line(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case Hidden(c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

// Hidden reports characters that are not seen and change what is: control characters, marks
// that turn the direction of what follows, and spaces of no width. Joiners are not among
// them, as Persian and Urdu need them, nor U+200E, U+200F and U+061C, which turn only
// themselves and which Arabic beside Latin needs.
func Hidden(c rune) bool {
	switch {
	case unicode.IsControl(c), c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069: // embeddings, overrides, isolates
		return true
	case c == 0x00AD, c == 0x200B, c >= 0x2060 && c <= 0x2064, c == 0xFEFF: // soft hyphen, of no width, joined words, a mark of byte order
		return true
	}
	return c == 0x2028 || c == 0x2029 || c >= 0xE0000 && c <= 0xE007F // separators, tags
}
