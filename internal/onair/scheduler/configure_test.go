package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// at sets the clock of a scheduler: it runs on from that moment.
func at(moment time.Time) func(*scheduler.Options) {
	shift := time.Until(moment)
	return func(o *scheduler.Options) {
		o.Zone = moment.Location()
		o.Now = func() time.Time { return time.Now().Add(shift) }
	}
}

func TestConfigureRebuildsWhereItChangesWhatIsPlanned(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	part := func(start, end rotation.TimeOfDay, hard station.Category) []rotation.Daypart {
		return []rotation.Daypart{{Name: "mine", Start: start * 60, End: end * 60, Hard: hard}}
	}
	for _, c := range []struct {
		name    string
		change  func(*rotation.Config)
		rebuilt bool
		reason  string
	}{
		{"nothing", func(*rotation.Config) {}, false, ""},
		{"a knob", func(c *rotation.Config) { c.Rotation.BufferMax = 40 }, false, ""},
		{"the mix of a mood", func(c *rotation.Config) { c.MashupChance = 0.3 }, true, "mix"},
		{"the weights of genres", func(c *rotation.Config) { c.GenreSplit = map[station.Category]float64{station.English: 1} }, true, "mix"},
		{"a clock", func(c *rotation.Config) {
			c.Clocks = []rotation.HourClock{{Name: "a", Hour: []rotation.Position{{Category: "music"}}}}
		}, true, "clocks"},
		{"the daypart of now", func(c *rotation.Config) { c.Dayparts = part(11, 13, station.English) }, true, "daypart custom:11-13:english:"},
		{"a daypart of this afternoon", func(c *rotation.Config) { c.Dayparts = part(15, 16, station.English) }, true, "daypart open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRigWith(t, &node{}, newShelf(songs(90)), at(noon))
			before := r.built()
			cfg := rotation.DefaultConfig()
			c.change(&cfg)
			rebuilt, err := r.Configure(t.Context(), cfg)
			if err != nil || rebuilt != c.rebuilt {
				t.Fatalf("rebuilt %t, %v", rebuilt, err)
			}
			v := r.View()
			if !cmp.Equal(v.Config, cfg) {
				t.Errorf("in force: %s", cmp.Diff(cfg, v.Config))
			}
			if c.rebuilt != (v.Rotation.Seed != before.Rotation.Seed) || c.rebuilt && v.Reason != c.reason {
				t.Errorf("rotation %d became %d: %q, want %q", before.Rotation.Seed, v.Rotation.Seed, v.Reason, c.reason)
			}
			// The next rebuild follows it in any case.
			if err := r.Rebuild(t.Context()); err != nil || len(r.View().Rotation.Entries) != cfg.Rotation.BufferMax {
				t.Errorf("%d entries, %v", len(r.View().Rotation.Entries), err)
			}
		})
	}
	t.Run("a daypart beyond what is planned", func(t *testing.T) {
		r := newRigWith(t, &node{}, newShelf(songs(90)), at(noon))
		r.built()
		cfg := rotation.DefaultConfig()
		cfg.Dayparts = part(11, 23, "")
		if rebuilt, err := r.Configure(t.Context(), cfg); err != nil || !rebuilt {
			t.Fatalf("rebuilt %t, %v", rebuilt, err)
		}
		cfg.Dayparts = append(cfg.Dayparts, part(3, 4, station.English)...)
		if rebuilt, err := r.Configure(t.Context(), cfg); err != nil || rebuilt {
			t.Errorf("rebuilt %t, %v", rebuilt, err)
		}
	})
}

func TestConfigureThatFailsLeavesTheOldConfiguration(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(90)))
	before := r.built()
	cfg := rotation.DefaultConfig()
	cfg.MashupChance, cfg.Rotation.BufferMax = 0.5, 50
	r.node.set(func(n *node) { n.fail = station.ErrUnavailable })
	if _, err := r.Configure(t.Context(), cfg); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	v := r.View()
	if !cmp.Equal(v.Config, rotation.DefaultConfig()) || v.Rotation.Seed != before.Rotation.Seed {
		t.Errorf("in force: %s", cmp.Diff(rotation.DefaultConfig(), v.Config))
	}
	r.node.set(func(n *node) { n.fail = nil })
	if err := r.Rebuild(t.Context()); err != nil || len(r.View().Rotation.Entries) != 120 {
		t.Errorf("the next rebuild has %d entries, %v", len(r.View().Rotation.Entries), err)
	}
	cfg.Rotation.BufferMax = 0
	if _, err := r.Configure(t.Context(), cfg); !errors.Is(err, station.ErrInvalid) || !cmp.Equal(r.View().Config, rotation.DefaultConfig()) {
		t.Errorf("a configuration that is wrong: %v", err)
	}
}

func TestAPlanBeginsWhenWhatIsOnAirEnds(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	plan := r.built().Rotation.Entries
	if v := r.View(); v.Rotation.Starts != v.Rotation.BuiltAt {
		t.Errorf("nothing on air: starts %s, built %s", v.Rotation.Starts, v.Rotation.BuiltAt)
	}
	heard := func(seq uint64, ago time.Duration) time.Time {
		began := time.Now().Add(-ago)
		_, err := r.Completed(t.Context(), scheduler.Marker{
			Engine: "e", Seq: seq, File: root + plan[seq].Track.Path, Kind: scheduler.Rotation, At: began,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		return began
	}
	const long, cross = 3 * time.Minute, 2 * time.Second
	for i, c := range []struct {
		name string
		ago  time.Duration
		want time.Duration // from its start
	}{
		{"has begun", time.Second, long - cross},
		{"is about to end: the next is in the engine's hands", long - cross - 100*time.Millisecond, 2 * (long - cross)},
		{"has ended: the next is on air, unmarked yet", long - cross + time.Second, 2 * (long - cross)},
	} {
		began := heard(uint64(i+1), c.ago)
		v := r.View()
		if got := v.Rotation.Starts.Sub(began); (got - c.want).Abs() > time.Millisecond {
			t.Errorf("%s: planned for %s after its start, want %s", c.name, got, c.want)
		}
		if i == 0 {
			if got := v.Upcoming()[0].ExpectedAt.Sub(began); (got - c.want).Abs() > time.Millisecond {
				t.Errorf("expected %s after its start", got)
			}
		}
		plan = append(plan[:i+2], v.Rotation.Entries...)
	}
	began := heard(4, 20*time.Minute) // no marker for long: the engine has played on
	if got, want := r.View().Rotation.Starts.Sub(began), 7*(long-cross); (got - want).Abs() > time.Millisecond {
		t.Errorf("six more have begun: planned for %s, want %s", got, want)
	}
	plan = append(plan[:5], r.View().Rotation.Entries...)
	heard(5, 20*time.Hour) // longer than the whole list
	if v := r.View(); v.Rotation.Starts.After(v.Rotation.BuiltAt) {
		t.Errorf("starts %s, built %s", v.Rotation.Starts, v.Rotation.BuiltAt)
	}
	r.turn(scheduler.Live)
	if err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := r.View(); v.Rotation.Starts != v.Rotation.BuiltAt {
		t.Errorf("live: starts %s, built %s", v.Rotation.Starts, v.Rotation.BuiltAt)
	}
}

// Who looks at the air learns where the library cannot give what the configuration asks
// for, also after a change of either.
func TestTheViewSaysWhatTheLibraryCannotGive(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(90)))
	r.built()
	cfg := rotation.DefaultConfig()
	cfg.Dayparts = []rotation.Daypart{{Name: "fans", Start: 6 * 60, End: 7 * 60, Hard: station.Mashups}}
	if _, err := r.Configure(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	want := func(n rotation.Note) bool {
		return n.Kind == rotation.EmptyWindow && n.Category == station.Mashups && n.Start == "06:00"
	}
	if notes := r.View().Notes; !slices.ContainsFunc(notes, want) {
		t.Errorf("notes: %+v", notes)
	}
	cfg.Dayparts = []rotation.Daypart{}
	if _, err := r.Configure(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if notes := r.View().Notes; slices.ContainsFunc(notes, want) {
		t.Errorf("notes after the window was taken away: %+v", notes)
	}
}

// A change that calls for a new rotation is refused while the disk is full, however often
// it is sent, and is not in force; with room again it is taken.
func TestAFullDiskRefusesAChangeEachTime(t *testing.T) {
	n := &node{}
	r := newRig(t, n, newShelf(songs(90)))
	before := r.built().Config
	fail := func(err error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.fail = err
	}
	fail(fmt.Errorf("commit: %w", store.ErrDiskFull))
	cfg := rotation.DefaultConfig()
	cfg.MashupChance = 0.3
	for i := range 3 {
		if _, err := r.Configure(t.Context(), cfg); !errors.Is(err, store.ErrDiskFull) || !cmp.Equal(r.View().Config, before) {
			t.Errorf("the %d. time: %v, in force: %t", i+1, err, cmp.Equal(r.View().Config, cfg))
		}
		r.eventually("the failure noticed", func(v *scheduler.View) bool { return v.Problem != "" })
	}
	fail(nil)
	if _, err := r.Configure(t.Context(), cfg); err != nil || !cmp.Equal(r.View().Config, cfg) {
		t.Errorf("with room again: %v", err)
	}
}
