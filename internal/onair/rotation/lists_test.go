package rotation

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWindowsOpenWhenClocksShowIt(t *testing.T) {
	fri, thu := Weekday(time.Friday), Weekday(time.Thursday)
	evening := Window{Days: []Weekday{thu}, Start: 22 * 60, End: 60}
	for name, tc := range map[string]struct {
		window         Window
		at             string // of Cairo
		next           string // empty: open at once; never: not within 400 days
		before, within string // closed then, open then
	}{
		"every evening":             {Window{Start: 20 * 60, End: 22 * 60}, "2026-05-04 12:00", "2026-05-04 20:00", "2026-05-04 19:59", "2026-05-04 21:59"},
		"open":                      {Window{Start: 20 * 60, End: 22 * 60}, "2026-05-04 20:00", "", "2026-05-04 22:00", "2026-05-04 20:00"},
		"over midnight":             {evening, "2026-05-07 21:00", "2026-05-07 22:00", "2026-05-08 01:00", "2026-05-08 00:59"},
		"by the day it begins on":   {evening, "2026-05-08 01:00", "2026-05-14 22:00", "2026-05-08 22:00", "2026-05-14 22:00"},
		"the whole day":             {Window{Days: []Weekday{fri}}, "2026-05-04 12:00", "2026-05-08 00:00", "2026-05-09 00:00", "2026-05-08 23:59"},
		"always":                    {Window{}, "2026-05-04 12:00", "", "", "2026-05-04 12:00"},
		"from a day on":             {Window{From: 20260601}, "2026-05-04 12:00", "2026-06-01 00:00", "2026-05-31 23:59", "2027-01-01 00:00"},
		"over":                      {Window{Until: 20260501}, "2026-05-04 12:00", "never", "2026-05-02 00:00", "2026-05-01 12:00"},
		"far away":                  {Window{From: 20280101}, "2026-05-04 12:00", "never", "2027-05-04 12:00", "2028-01-01 00:00"},
		"within a daypart":          {Window{Daypart: "late", Days: []Weekday{fri}}, "2026-05-04 12:00", "2026-05-08 00:00", "2026-05-08 02:00", "2026-05-08 23:00"},
		"a daypart that comes late": {Window{Daypart: "evening", Start: 15 * 60, End: 18 * 60}, "2026-05-04 12:00", "2026-05-04 16:00", "2026-05-04 15:59", "2026-05-04 17:59"},
		// On the last Friday of April midnight is passed over; on the last Thursday of
		// October the hour before midnight comes twice.
		"at a midnight that there is not":   {Window{Days: []Weekday{fri}}, "2026-04-23 12:00", "2026-04-24 01:00", "2026-04-23 23:59", "2026-04-24 01:00"},
		"within the hour that there is not": {Window{Start: 30, End: 90, From: 20260424}, "2026-04-23 12:00", "2026-04-24 01:00", "2026-04-23 23:59", "2026-04-24 01:29"},
		"all of the hour that there is not": {Window{Start: 0, End: 60, From: 20260424}, "2026-04-23 12:00", "2026-04-25 00:00", "2026-04-24 01:00", "2026-04-25 00:59"},
		"up to a midnight that comes late":  {Window{Days: []Weekday{thu}, Start: 22 * 60, End: 24 * 60, From: 20261029}, "2026-10-29 12:00", "2026-10-29 22:00", "2026-10-30 00:00", "2026-10-29 23:59"},
	} {
		l := List{When: []Window{tc.window}}
		at := func(text string) time.Time {
			out, err := time.ParseInLocation("2006-01-02 15:04", text, cairo)
			if err != nil {
				t.Fatal(name, err)
			}
			return out
		}
		next := l.Next(DefaultConfig(), at(tc.at))
		switch want := tc.next; {
		case want == "" && !next.Equal(at(tc.at)), want == "never" && !next.IsZero(), want != "" && want != "never" && !next.Equal(at(want)):
			t.Errorf("%s: next %s, want %q", name, next, want)
		case !next.IsZero() && next.Location() != cairo:
			t.Errorf("%s: next in %s", name, next.Location())
		}
		open := func(text string) bool {
			_, is := l.spell(builtIn(), at(text))
			return is
		}
		if tc.before != "" && open(tc.before) {
			t.Errorf("%s: open at %s", name, tc.before)
		}
		if !open(tc.within) {
			t.Errorf("%s: closed at %s", name, tc.within)
		}
	}
}

// The hour that comes twice is open both times, and the window lasts two hours.
func TestAWindowOverTheHourThatComesTwiceIsOneStretch(t *testing.T) {
	l := List{When: []Window{{Start: 23 * 60, End: 24 * 60}}}
	first := time.Date(2026, 10, 29, 22, 59, 59, 0, cairo).Add(time.Second)
	s, open := l.spell(nil, first.Add(90*time.Minute))
	if !open || !s.from.Equal(first) || s.to.Sub(s.from) != 2*time.Hour {
		t.Errorf("open %t from %s to %s", open, s.from, s.to)
	}
}

// Next is the first moment at which the playlist is open, whatever its windows and the zone.
func TestNextIsTheFirstMomentAtWhichAPlaylistIsOpen(t *testing.T) {
	zones := []*time.Location{time.UTC, cairo}
	if howe, err := time.LoadLocation("Australia/Lord_Howe"); err == nil { // half an hour
		zones = append(zones, howe)
	}
	rapid.Check(t, func(t *rapid.T) {
		zone := zones[rapid.IntRange(0, len(zones)-1).Draw(t, "zone")]
		days := rapid.SampledFrom([]time.Time{
			time.Date(2026, 4, 22, 0, 0, 0, 0, zone), time.Date(2026, 10, 28, 0, 0, 0, 0, zone), time.Date(2026, 4, 4, 0, 0, 0, 0, zone), time.Date(2026, 10, 3, 0, 0, 0, 0, zone),
		})
		from := days.Draw(t, "day").Add(time.Duration(rapid.IntRange(0, 2*24*60).Draw(t, "minutes")) * time.Minute)
		l := List{}
		for range rapid.IntRange(1, 3).Draw(t, "windows") {
			l.When = append(l.When, windowOf(t))
		}
		cfg := DefaultConfig()
		next := l.Next(cfg, from)
		for at := from; at.Sub(from) < 3*24*time.Hour; at = at.Add(time.Minute) {
			_, open := l.spell(cfg.dayparts(), at)
			if early := next.IsZero() || at.Before(next); open && early {
				t.Fatalf("open at %s, next %s", at, next)
			} else if !early {
				if !open && at.Equal(next) {
					t.Fatalf("closed at %s, which is next", at)
				}
				return
			}
		}
	})
}

func windowOf(t *rapid.T) Window {
	w := Window{Start: TimeOfDay(rapid.IntRange(0, 24*60-1).Draw(t, "start")), End: TimeOfDay(rapid.IntRange(0, 24*60).Draw(t, "end"))}
	for d := range Weekday(7) {
		if rapid.Bool().Draw(t, "day") {
			w.Days = append(w.Days, d)
		}
	}
	w.Daypart = rapid.SampledFrom([]string{"", "", "late", "overnight", "evening"}).Draw(t, "daypart")
	return w
}

func TestWindowsAreWrittenAsTheyAreRead(t *testing.T) {
	w := Window{Days: []Weekday{5}, Daypart: "late", Start: 1200, End: 1440, From: 20260501}
	doc, err := json.Marshal(w)
	if want := `{"days":["fri"],"daypart":"late","start":"20:00","end":"24:00","from":"2026-05-01"}`; err != nil || string(doc) != want {
		t.Errorf("%s, %v; want %s", doc, err, want)
	}
	var back Window
	if err := json.Unmarshal(doc, &back); err != nil || cmp.Diff(w, back) != "" {
		t.Errorf("%v: %s", err, cmp.Diff(w, back))
	}
}

func TestOpenPlaylistsAreThoseThatTakeTheMusicOver(t *testing.T) {
	evening := []Window{{Start: 20 * 60, End: 22 * 60}}
	lists := []List{
		{ID: 9, Plays: PlaysOnly, When: evening}, {ID: 3, Plays: PlaysOnce, When: evening}, {ID: 4, Plays: PlaysShare, When: evening}, {ID: 5, Plays: PlaysOnly},
	}
	at := time.Date(2026, 5, 4, 21, 0, 0, 0, cairo)
	if got := OpenLists(DefaultConfig(), lists, at); !slices.Equal(got, []int64{3, 5, 9}) {
		t.Errorf("open: %v", got)
	}
	if key := ListKey(DefaultConfig(), lists, at.Add(time.Hour)); key != "5" {
		t.Errorf("key %q", key)
	}
}
