package azuracast

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

func TestTimesAreReadAsTheyAreMeant(t *testing.T) {
	for name, c := range map[string]struct {
		was  schedule
		want rotation.Window
		lost bool
	}{
		"a whole day":              {was: schedule{Start: 0, End: 2400}},
		"a quarter of an hour":     {was: schedule{Start: 2355, End: 2355}, want: rotation.Window{Start: 23*60 + 55, End: 10}},
		"once, from midnight":      {was: schedule{LoopOnce: true}},
		"dates with a time":        {was: schedule{Start: 100, End: 200, From: "2026-12-01 00:00:00", Until: "2026-12-31T23:00:00Z"}, want: rotation.Window{Start: 60, End: 120, From: 20261201, Until: 20261231}},
		"a date that is none":      {was: schedule{Start: 100, End: 200, From: "1 December"}, lost: true},
		"a day that there is not":  {was: schedule{Start: 100, End: 200, Until: "2026-02-30"}, lost: true},
		"an hour that there isn't": {was: schedule{Start: 2500, End: 200}, lost: true},
	} {
		got, lost := windows([]schedule{c.was})
		if lost != 0 != c.lost || !c.lost && fmt.Sprint(got) != fmt.Sprint([]rotation.Window{c.want}) {
			t.Errorf("%s: %+v, %d lost", name, got, lost)
		}
	}
}

// What has no counterpart here is said, and what an older version wrote elsewhere is found.
func TestOptionsOfPlaylistsAreNotDropped(t *testing.T) {
	times := []schedule{{Start: 2000, End: 2000}}
	for name, c := range map[string]struct {
		was   list
		plays rotation.ListPlays
		notes []string // what each has
	}{
		"merged":                        {list{Options: []string{"merge"}}, "share", []string{"one long track"}},
		"once, in an old dump":          {list{Options: []string{"loop_once"}, ScheduleItems: times}, "once", nil},
		"once, without a time":          {list{Options: []string{"loop_once"}}, "share", []string{"only once"}},
		"once, of another type":         {list{Type: "once_per_x_songs", ScheduleItems: []schedule{{LoopOnce: true}}}, "songs", []string{"only once"}},
		"nothing":                       {list{Options: []string{""}}, "share", nil},
		"no time that it can play":      {list{ScheduleItems: []schedule{{Start: -1}}}, "clock", []string{"cannot be read", "None of its times"}},
		"once, no time can be read too": {list{ScheduleItems: []schedule{{Start: -1, LoopOnce: true}}}, "clock", []string{"cannot be read", "None of its times", "only once"}},
	} {
		p := c.was.playlist()
		if p.Plays != c.plays || len(p.Notes) != len(c.notes) {
			t.Errorf("%s: %s %+v", name, p.Plays, p.Notes)
			continue
		}
		for _, want := range c.notes {
			if !slices.ContainsFunc(p.Notes, func(n model.Note) bool { return strings.Contains(n.En, want) && n.Ar != "" }) {
				t.Errorf("%s: %q is not said: %+v", name, want, p.Notes)
			}
		}
		if name == "once, in an old dump" && p.When[0].Start != p.When[0].End {
			t.Errorf("%s: %+v", name, p.When)
		}
	}
}
