package bulletin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestOldBulletinsLeaveTheDeckAndTheNewestNever(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	name := func(age time.Duration) string { return fileName(now.Add(-age)) }
	hour := time.Hour
	for what, c := range map[string]struct {
		newest string
		others []string
		keep   Keep
		want   []string
	}{
		"alone":        {newest: name(0)},
		"alone, old":   {newest: name(1000 * hour)},
		"two of three": {newest: name(0), others: []string{name(hour), name(2 * hour)}, keep: Keep{Newest: 2}, want: []string{name(2 * hour)}},
		"one too old":  {newest: name(0), others: []string{name(hour), name(25 * hour)}, want: []string{name(25 * hour)}},
		"by default six": {
			newest: name(0),
			others: []string{name(hour), name(2 * hour), name(3 * hour), name(4 * hour), name(5 * hour), name(6 * hour)},
			want:   []string{name(6 * hour)},
		},
		"only the newest":         {newest: name(0), others: []string{name(hour)}, keep: Keep{Newest: 1}, want: []string{name(hour)}},
		"made by a clock ahead":   {newest: name(0), others: []string{name(-hour)}, want: []string{name(-hour)}},
		"of the demo library":     {newest: name(0), others: []string{"NEWS_0000000000001.mp3"}, want: []string{"NEWS_0000000000001.mp3"}},
		"what is no bulletin":     {newest: name(0), others: []string{"NEWS_1.txt", "NEWS_.mp3", "NEWS_1a.mp3", "NEWS_99999999999999999999.mp3", "old.mp3", "news_1.mp3", ".bulletin-1", "NEWS_+1.mp3"}},
		"a clock that was behind": {newest: name(50 * hour), others: []string{name(hour)}, want: nil},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			for _, n := range append(c.others, c.newest) {
				if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "NEWS_2.mp3"), 0o700); err != nil {
				t.Fatal(err)
			}
			got, err := retired(dir, c.newest, now, c.keep)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = filepath.Base(got[i])
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v leave, want %v", got, c.want)
			}
			if all, err := bulletins(dir); err != nil || len(all) == 0 {
				t.Errorf("%v, %v", all, err)
			}
		})
	}
}

func TestWhatAKilledRunLeftIsSwept(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i, age := range []time.Duration{0, 2 * time.Hour} {
		path := filepath.Join(dir, fmt.Sprint(tempPrefix, i))
		if err := os.MkdirAll(filepath.Join(path, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir, now)
	if left, _ := filepath.Glob(filepath.Join(dir, tempPrefix+"*")); len(left) != 1 || filepath.Base(left[0]) != tempPrefix+"0" {
		t.Errorf("%v is left", left)
	}
}

func TestOnlyABulletinTellsATime(t *testing.T) {
	for path, want := range map[string]int64{
		"news/NEWS_1800000000123.mp3":     1_800_000_000_123,
		"news/NEWS_0000000000001.mp3":     0, // an operator's, or the demonstration's
		"news/NEWS_1800000000123.ogg":     0,
		"news/flash.mp3":                  0,
		"sweepers/NEWS_1800000000123.mp3": 0,
	} {
		switch at := Tells(path); {
		case want == 0 && !at.IsZero(), want != 0 && at.UnixMilli() != want:
			t.Errorf("%s tells %s", path, at)
		}
	}
}
