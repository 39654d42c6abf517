package config

import "strings"

// didYouMean is a question with the name nearest to a wrong one; empty where none is
// near.
func didYouMean(wrong string, names []string) string {
	best, least := "", max(3, len(wrong)/3+1) // a third of it may be wrong, or two letters
	for _, name := range names {
		if d := distance(strings.ToLower(wrong), strings.ToLower(name)); d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance is how many bytes must be put in, left out or changed to make b of a
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
