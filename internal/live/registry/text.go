package registry

import "strings"

const longestText = 200 // characters of a title and a creator

// cut is text of at most longestText characters.
func cut(text string) string {
	if runes := []rune(text); len(runes) > longestText {
		return strings.TrimSpace(string(runes[:longestText-1])) + "…"
	}
	return text
}
