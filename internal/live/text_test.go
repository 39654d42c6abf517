package live_test

import (
	"strings"
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
		// What is shown as nothing, or as a blank: a title of it would be a line with no name.
		"\u3164\u3164":              "",
		"\u200d \u200f\u200c\ufe0f": "",
		"\u0301\u0489":              "",
		"a\u115f\u1160\uffa0\u2800b\u180e\u206a\u206f\ufff9\ufffa\ufffb\u034f\ufe00\ufe0e\U000e0100\u17b4\U0001d173c": "abc",
		// What emoji and letters are made of stays.
		"\u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 a\ufe0f": "\u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 a",
		"مُحَمَّدٌ رَبِّ ٱلرَّحْمَٰنِ":                       "مُحَمَّدٌ رَبِّ ٱلرَّحْمَٰنِ",
		"क्षि বাংলা ไม้ที่":                                  "क्षि বাংলা ไม้ที่",
		"\u06dd1": "\u06dd1",
		// A tower of marks, also one with joiners in it.
		"a" + strings.Repeat("\u0301\u200d", 90) + "b \u0301c": "a" + strings.Repeat("\u0301\u200d", 4) + strings.Repeat("\u200d", 86) + "b c",
	} {
		if got := live.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
