package rotation

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// A list of dayparts replaces the one in force, the built-in gate of English included:
// what no longer holds is named.
func TestAChangeOfDaypartsNamesWhatItTakesAway(t *testing.T) {
	custom := func(parts ...Daypart) Config { return Config{Dayparts: append([]Daypart{}, parts...)} }
	night := Daypart{Name: "night", Start: 22 * 60, End: 60, Hard: station.Mashups}
	evening := builtIn()[3]
	evening.Weights = map[station.Category]float64{station.Mashups: 3}
	for name, tc := range map[string]struct {
		was, is Config
		want    []Lost
	}{
		"nothing changes":    {Config{}, Config{}, nil},
		"the same, as one's": {Config{}, custom(builtIn()...), nil},
		"one window customised, and nothing else sent": {Config{}, custom(evening), []Lost{
			{"overnight", 2 * 60, 5 * 60, station.English}, {"morning", 5 * 60, 11 * 60, ""}, {"midday", 11 * 60, 16 * 60, ""}, {"late", 23 * 60, 2 * 60, ""},
		}},
		"the gate begins later": {Config{}, custom(append([]Daypart{{Start: 3 * 60, End: 5 * 60, Hard: station.English}}, append(builtIn()[1:], Daypart{Start: 2 * 60, End: 3 * 60})...)...),
			[]Lost{{"overnight", 2 * 60, 3 * 60, station.English}}},
		"another category":   {custom(night), custom(Daypart{Start: 0, End: 24 * 60, Hard: station.English}), []Lost{{"night", 22 * 60, 60, station.Mashups}}},
		"all are taken away": {custom(night), custom(), []Lost{{"night", 22 * 60, 60, station.Mashups}}},
		"only a mix changes": {custom(evening), custom(Daypart{Start: 16 * 60, End: 23 * 60}), nil},
	} {
		if d := cmp.Diff(tc.want, LostBetween(tc.was, tc.is)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// Whatever the lists: exactly the minutes in which a gate fell or a window went are named.
func TestWhatIsLostIsExactlyWhatNoLongerHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := func(name string) (c Config) {
			c.Dayparts = []Daypart{}
			for range rapid.IntRange(0, 3).Draw(t, name) {
				c.Dayparts = append(c.Dayparts, Daypart{
					Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), Start: TimeOfDay(rapid.IntRange(0, 1439).Draw(t, "start")),
					End:  TimeOfDay(rapid.IntRange(0, 1440).Draw(t, "end")),
					Hard: rapid.SampledFrom([]station.Category{"", station.English, station.Mashups}).Draw(t, "hard"),
				})
			}
			return c
		}
		was, is := list("was"), list("is")
		lost := LostBetween(was, is)
		for at := range TimeOfDay(24 * 60) {
			i, j := indexAt(was.Dayparts, at), indexAt(is.Dayparts, at)
			want := i >= 0 && (j < 0 || was.Dayparts[i].Hard != "" && is.Dayparts[j].Hard != was.Dayparts[i].Hard)
			named := 0
			for _, l := range lost {
				if (Daypart{Start: l.Start, End: l.End}).covers(at) {
					named++
					if want && l.Hard != was.Dayparts[i].Hard {
						t.Fatalf("%s: %+v, of %+v", at, l, was.Dayparts[i])
					}
				}
			}
			if (named == 1) != want || named > 1 {
				t.Fatalf("%s is named %d times by %+v: %+v became %+v", at, named, lost, was.Dayparts, is.Dayparts)
			}
		}
	})
}

func TestHardWindowsThatOverlapAreRefusedByName(t *testing.T) {
	for name, tc := range map[string]struct {
		parts []Daypart
		want  string
	}{
		"side by side":      {[]Daypart{{Start: 60, End: 120, Hard: station.English}, {Start: 120, End: 60, Hard: station.Mashups}}, ""},
		"two soft ones":     {[]Daypart{{Start: 60, End: 120}, {Start: 90, End: 180}}, ""},
		"two gates":         {[]Daypart{{Name: "gate", Start: 60, End: 120, Hard: station.English}, {Start: 90, End: 180, Hard: station.Mashups}}, "DAYPARTS[1].start: overlaps gate (01:00 to 02:00, english alone)"},
		"over midnight":     {[]Daypart{{Start: 22 * 60, End: 120}, {Start: 60, End: 180, Hard: station.English}}, "DAYPARTS[1].start: overlaps DAYPARTS[0] (22:00 to 02:00)"},
		"inside":            {[]Daypart{{Name: "gate", Start: 60, End: 300, Hard: station.English}, {Start: 90, End: 180}}, "DAYPARTS[1].start: overlaps gate"},
		"a whole day first": {[]Daypart{{Name: "all", Start: 0, End: 0}, {Start: 90, End: 180, Hard: station.English}}, "DAYPARTS[1].start: overlaps all (00:00 to 00:00)"},
	} {
		err := Config{Dayparts: tc.parts}.Overlapping()
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (!errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}
