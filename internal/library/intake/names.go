package intake

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostText bounds a title or an artist, in characters.
const mostText = 200

// plainName is the last part of a name that came from outside, for people.
func plainName(name string) string {
	name = strings.ToValidUTF8(name, "")
	return clip(name[strings.LastIndexAny(name, `/\`)+1:], mostName)
}

// clip is at most n characters of a text, without what is not seen and what turns its
// direction.
func clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.C, r) && r != '\u200c' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}
