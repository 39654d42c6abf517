package takeover

import (
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// The manual has the transitions of next's own table; what else happens it tells in the
// operator's words.
func TestTheManualHasTheTableOfTheTakeover(t *testing.T) {
	manual, comment := testkit.DocTable(t, "../../../docs/live.md", "## The takeover"), testkit.CommentTable(t, "state.go", "next")
	transition := func(a, b []string) bool { return slices.Equal(a[:3], b[:3]) }
	if !slices.EqualFunc(manual, comment, transition) {
		t.Errorf("docs/live.md has\n%q\nthe comment of next\n%q", manual, comment)
	}
}
