package station

import "strings"

// isrcSize is the length of a code without hyphens: country, registrant, year, number.
const isrcSize = 2 + 3 + 2 + 5

// ISRC reads an International Standard Recording Code (ISO 3901), CC-XXX-YY-NNNNN, with or
// without hyphens and in any case, and returns it as it is kept: twelve capitals and digits.
// It returns false for what is no such code.
func ISRC(text string) (code string, ok bool) {
	text = strings.NewReplacer("-", "", " ", "", ":", "", "\u2010", "", "\u2011", "", "\u2013", "").Replace(strings.ToUpper(text))
	if len(text) > isrcSize { // Iceland's codes begin with IS, and one registrant's with ISRC
		text = strings.TrimPrefix(text, "ISRC")
	}
	if len(text) != isrcSize {
		return "", false
	}
	for i := range isrcSize {
		letter, digit := text[i] >= 'A' && text[i] <= 'Z', text[i] >= '0' && text[i] <= '9'
		switch {
		case i < 2 && !letter, i >= 5 && !digit, !letter && !digit:
			return "", false
		}
	}
	return text, true
}
