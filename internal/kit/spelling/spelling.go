// Package spelling tells how far apart two names are, to find the one that was meant.
package spelling

// longest is more than any name of ours has: of a wrong one no more is looked at.
const longest = 64

// Distance is how many bytes must be added to a, dropped or replaced to make b of it
// (Levenshtein).
func Distance(a, b string) int {
	a = a[:min(len(a), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			same := before
			if a[i] != b[j] {
				same++
			}
			before = row[j+1]
			row[j+1] = min(same, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
