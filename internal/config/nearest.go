package config

import (
	"strings"

	"github.com/athir-radio/athir/internal/kit/spelling"
)

// didYouMean is a question with the name nearest to a wrong one; empty where none is
// near.
func didYouMean(wrong string, names []string) string {
	best, least := "", max(3, len(wrong)/3+1) // a third of it may be wrong, or two letters
	for _, name := range names {
		if d := spelling.Distance(strings.ToLower(wrong), strings.ToLower(name)); d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}
