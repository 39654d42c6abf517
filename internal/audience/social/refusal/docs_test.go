package refusal_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// The manual's sentences are those of the code, for a song of 31 s and the like.
func TestTheManualHasEveryCodeWithItsWords(t *testing.T) {
	var want [][]string
	for _, code := range refusal.All() {
		en, ar := refusal.Words(full(code))
		number := ""
		if n := slices.Index(refusal.Moderator(), code); n >= 0 {
			number = strconv.Itoa(n + 1)
		}
		row := []string{"`" + string(code) + "`", en, ar}
		if number != "" {
			row = append(row, number)
		}
		want = append(want, row)
	}
	got := testkit.DocTable(t, "../../../../docs/submissions.md", "## Reasons")
	for i, row := range want {
		if i >= len(got) || !slices.Equal(got[i], row) {
			t.Errorf("row %d is not %q", i+1, row)
		}
	}
	if len(got) > len(want) {
		t.Errorf("%d rows of no code", len(got)-len(want))
	}
}
