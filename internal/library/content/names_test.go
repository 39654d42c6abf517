package content

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

func TestNamesFromOutsideMakePlainFileNames(t *testing.T) {
	for _, c := range []struct{ artist, title, fallback, want string }{
		{"أم كلثوم", "إنت عمري", "", "أم كلثوم - إنت عمري.mp3"},
		{"", "عمرو دياب: تملّي معاك", "", "عمرو دياب تملّي معاك.mp3"},
		{"AC/DC", "T.N.T.", "", "AC DC - T.N.T.mp3"},
		{"", "../../etc/passwd", "", "etc passwd.mp3"},
		{"", "..", "from the id", "from the id.mp3"},
		{"", "\x00\u202egnos", "", "gnos.mp3"},
		{"", "~hidden~", "", "hidden.mp3"},
		{"", "song.part", "", "song_part.mp3"},
		{"Only an artist", "", "id 7", "id 7.mp3"},
		{"", "", "", "untitled.mp3"},
		{"", "a\xffb", "", "ab.mp3"},
		{"", strings.Repeat("ن", 100), "", strings.Repeat("ن", 58) + ".mp3"},
		{"", "زه‌ب", "", "زه‌ب.mp3"},
	} {
		if got := FileName(c.artist, c.title, c.fallback); got != c.want {
			t.Errorf("%q, %q, %q: got %q, want %q", c.artist, c.title, c.fallback, got, c.want)
		}
	}
	if got := numbered(strings.Repeat("ن", 58)+".mp3", 12); len(got) > longestName || !strings.HasSuffix(got, " (12).mp3") || !utf8.ValidString(got) {
		t.Errorf("numbered: %q", got)
	}
}

func TestAnyTextMakesAFileNameThatCanBeMade(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("./\\~ :\x00\n\u202e\u200cab.partmپن"))), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		name := FileName(text.Draw(t, "artist"), text.Draw(t, "title"), text.Draw(t, "fallback"))
		stem := strings.TrimSuffix(name, ".mp3")
		if len(name) > longestName || !utf8.ValidString(name) || !strings.HasSuffix(name, ".mp3") || stem == "" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
			strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsAny(name, "/\\\u202e") || strings.HasSuffix(strings.ToLower(stem), ".part") {
			t.Fatalf("%q", name)
		}
		full := filepath.Join(dir, numbered(name, rapid.IntRange(1, 1000).Draw(t, "n")))
		if err := errors.Join(os.WriteFile(full, nil, 0o600), os.Remove(full)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLengthsOfEachKind(t *testing.T) {
	for _, c := range []struct {
		category station.Category
		length   time.Duration
		want     string
	}{
		{station.English, 45*time.Second - time.Millisecond, "too_short"},
		{station.English, 45 * time.Second, ""},
		{station.ArabicHits, 15*time.Minute + time.Second, "too_long"},
		{station.Mashups, time.Hour, ""},
		{station.Shorts, time.Minute, "too_long"},
		{station.Shorts, 59 * time.Second, ""},
		{station.Ads, 4900 * time.Millisecond, "too_short"},
		{station.Ads, 60 * time.Second, ""},
		{station.Jingles, 21 * time.Second, "too_long"},
		{station.SFX, 100 * time.Millisecond, "too_short"},
		{station.SFX, 5 * time.Second, ""},
		{station.Sweepers, 16 * time.Second, "too_long"},
	} {
		refusal := (&Content{opt: Options{LongestSong: 15 * time.Minute}}).kind(c.category).fits(c.length)
		got := ""
		if refusal != nil {
			if got = refusal.Code; refusal.English == "" || refusal.Arabic == "" {
				t.Errorf("%s %s: no words", c.category, c.length)
			}
		}
		if got != c.want {
			t.Errorf("%s of %s: got %q, want %q", c.category, c.length, got, c.want)
		}
	}
	for text, want := range map[string]station.Category{"أغنية": station.ArabicHits, "song": station.English} {
		if got := sorted(2*time.Minute, text); got != want {
			t.Errorf("%s is sorted into %s", text, got)
		}
	}
	if got := sorted(50*time.Second, "أغنية"); got != station.Shorts {
		t.Errorf("50 s are sorted into %s", got)
	}
}

func TestSharesAddUpToTheTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shares := map[station.Category]float64{}
		for _, category := range rapid.SliceOfNDistinct(rapid.SampledFrom(station.Categories()), 1, 6, rapid.ID).Draw(t, "categories") {
			shares[category] = rapid.Float64Range(0.01, 1).Draw(t, "share")
		}
		target := rapid.IntRange(0, most).Draw(t, "target")
		sum, all := 0, 0.0
		for _, s := range shares {
			all += s
		}
		for category, n := range apportion(target, shares) {
			sum += n
			if off := float64(n) - float64(target)*shares[category]/all; off >= 1 || off <= -1 {
				t.Fatalf("%s has %d, off by %f", category, n, off)
			}
		}
		if sum != target {
			t.Fatalf("%d of %d", sum, target)
		}
	})
}
