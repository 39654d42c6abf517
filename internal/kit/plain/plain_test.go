package plain_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/kit/plain"
)

// What would break the line, or turn the words beside it, goes; what spelling needs stays.
func TestTextFromOutsideIsOneLineThatTurnsNothing(t *testing.T) {
	for text, want := range map[string]string{
		" one\r\ntwo\t three ":        "one  two  three",
		"a\u202eb\u2066c\x00d\ue000e": "abcde",
		"می\u200cخواهم":               "می\u200cخواهم",
		"broken \xff here":            "broken  here",
	} {
		if got := plain.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
