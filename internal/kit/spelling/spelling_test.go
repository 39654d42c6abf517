package spelling_test

import (
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}, {strings.Repeat("x", 1000), "", 64}} {
		if got := spelling.Distance(c.a, c.b); got != c.want {
			t.Errorf("%.20q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
