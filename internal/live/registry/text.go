package registry

import (
	"strings"
	"unicode"
)

const longestText = 200 // characters of a title and a creator

// clean is text without what would make it look like another, or break a line: control
// characters, marks that turn the direction of what follows, and white space but single
// spaces. Joiners stay: Persian and Urdu need them.
func clean(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case hidden(c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

// hidden reports characters that are not seen and change what is. U+200E, U+200F and
// U+061C turn only themselves, and Arabic beside Latin needs them.
func hidden(c rune) bool {
	return unicode.IsControl(c) || c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c >= 0xE0000 && c <= 0xE007F
}

// cut is text of at most longestText characters.
func cut(text string) string {
	if runes := []rune(text); len(runes) > longestText {
		return strings.TrimSpace(string(runes[:longestText-1])) + "…"
	}
	return text
}
