package doctor

import (
	"strings"
	"unicode"
)

// oneLine is a text from elsewhere as one line without what a terminal would take for orders.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "))
	return s
}
