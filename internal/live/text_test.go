package live_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/live"
)

func TestALineShowsWhatItHolds(t *testing.T) {
	for text, want := range map[string]string{
		" Morning\r\n\tshow ":       "Morning show",
		"صباح الخير":                "صباح الخير",
		"abc\u202egpj":              "abcgpj",
		"pay\u200bpal\u00ad\u2060s": "paypals",
		"\ufeffa\x00\x1b[31mb":      "a[31mb",
		"می\u200cخواهم":             "می\u200cخواهم",
		"(DJ) \u200fسارة":           "(DJ) \u200fسارة",
		"a\u2028b\xffc":             "a bc",
		"\u2066\u2069":              "",
	} {
		if got := live.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
