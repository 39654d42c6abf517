package emoji_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/athir-radio/athir/internal/kit/emoji"
)

func TestOneEmojiIsWhatUnicodeRecommends(t *testing.T) {
	for _, s := range []string{
		"👍", "👍🏽", "❤️", "🔥", "😂", "🫩", "☪️", "1️⃣", "#️⃣", "🇪🇬", "🇵🇸", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👨‍👩‍👧‍👦", "👩🏻‍❤️‍💋‍👨🏿", "🏳️‍🌈", "🧑🏾‍🚀", "❤️‍🔥", "⌚", "✊🏿",
	} {
		if !emoji.Valid(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for what, s := range map[string]string{
		"nothing": "", "a letter": "a", "Arabic": "ا", "a digit": "1", "an Arabic digit": "١", "two": "👍👍", "text before": "a👍", "text after": "👍a",
		"a space after": "👍 ", "a text heart": "❤", "a text selector": "❤︎", "a copyright sign": "©", "half a flag": "🇪", "no land": "🇽🇽", "a flag and a half": "🇪🇬🇪",
		"a joiner at the end": "👩‍", "joiners alone": "‍", "an invented family": "🐶‍🐱", "a long chain": strings.Repeat("👨‍", 500) + "👨",
		"two skin tones": "👍🏽🏽", "a skin tone on fire": "🔥🏽", "a selector too many": "👍️", "selectors": "❤️️", "a selector alone": "️", "combining marks": "👍" + strings.Repeat("\u0301", 50),
		"tags of no land": "🏴󠁸󠁸󠁿", "a black flag with open tags": "🏴󠁧󠁢", "bidi": "\u202e👍", "zero width": "👍\u200b", "no UTF-8": "\xf0\x9f\x91", "broken": "👍\xff",
		"markup": "<b>", "a line": "👍\n", "NUL": "👍\x00", "a lone list line": "👍\n👎",
	} {
		if emoji.Valid(s) {
			t.Errorf("%s (%q) is an emoji", what, s)
		}
	}
}

func TestSelectorsThatAKeyboardLeftOutAreAdded(t *testing.T) {
	for in, want := range map[string]string{
		"❤": "❤️", "❤️": "❤️", "1⃣": "1️⃣", "🏳‍🌈": "🏳️‍🌈", "👩‍❤‍👨": "👩‍❤️‍👨", "👍": "👍", "👁️‍🗨": "👁️‍🗨️",
	} {
		if got, ok := emoji.Full(in); !ok || got != want {
			t.Errorf("%q: %q %v", in, got, ok)
		}
	}
	for _, in := range []string{"❤︎", "👍️", "️❤", "a", "", "👍️🏽"} {
		if got, ok := emoji.Full(in); ok {
			t.Errorf("%q is %q", in, got)
		}
	}
}

// Every member of the set is found, in its full form and without selectors, and
// is one cluster to a library that has never seen the list.
func TestEveryRecommendedEmojiIsOne(t *testing.T) {
	text, err := os.ReadFile("rgi.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		s := strings.TrimSuffix(line, "\n")
		n++
		if !emoji.Valid(s) {
			t.Errorf("%q is refused", s)
		}
		if full, ok := emoji.Full(strings.ReplaceAll(s, "\uFE0F", "")); !ok || full != s {
			t.Errorf("%q without selectors is %q %v", s, full, ok)
		}
		if emoji.Valid(s + s) {
			t.Errorf("%q twice is one", s)
		}
		if c := uniseg.GraphemeClusterCount(s); c != 1 {
			t.Errorf("%q is %d clusters", s, c)
		}
	}
	if n != 3953 {
		t.Errorf("%d emoji: Unicode 17 has 3953", n)
	}
}

func FuzzAnEmojiIsOneShortCluster(f *testing.F) {
	for _, s := range []string{"👍", "❤", "❤️", "1️⃣", "🇪🇬", "👨‍👩‍👧‍👦", "a", "", "\xff", "👍\n👎"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		full, ok := emoji.Full(s)
		if !ok {
			if emoji.Valid(s) {
				t.Errorf("%q is valid, but has no full form", s)
			}
			return
		}
		if len(full) > 35 || uniseg.GraphemeClusterCount(full) != 1 || strings.ToValidUTF8(full, "") != full || strings.ContainsAny(full, "\n\r\x00") {
			t.Errorf("%q is taken for %q", s, full)
		}
		if again, ok := emoji.Full(full); !ok || again != full || !emoji.Valid(full) {
			t.Errorf("%q is not stable", full)
		}
	})
}
