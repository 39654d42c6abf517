package simulate

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

func zone(t testing.TB) *time.Location {
	t.Helper()
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	return cairo
}

func air(t *testing.T, tracks int, o Options) Report {
	t.Helper()
	lib, names := Synthetic(tracks, o.Seed)
	o.Library, o.Zone = lib, zone(t)
	if o.Config.Rotation.BufferMax == 0 {
		o.Config = rotation.DefaultConfig()
	}
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	rep := Assess(o, r, names)
	t.Logf("%d tracks, seed %d: %d entries, %v, relaxed %v", tracks, o.Seed, rep.Entries, rep.Verdict.Violations, rep.Verdict.Relaxed)
	for _, f := range rep.Verdict.Findings {
		t.Log(f)
	}
	return rep
}

// The figures that we promise, in the small: the whole matrix is
// test/bench/rotation.
func TestAWeekOnAirKeepsItsPromises(t *testing.T) {
	for seed := range uint64(3) {
		r := air(t, 300, Options{Days: 7, Seed: seed + 1})
		if n := r.Verdict.Total(); n > 0 {
			t.Errorf("seed %d: %d violations", seed, n)
		}
		for c, p := range r.Week {
			if c.Music() && (p.MaxMin > TargetMaxMin || p.Gini > TargetGini) {
				t.Errorf("seed %d: %s: max/min %.2f, Gini %.3f", seed, c, p.MaxMin, p.Gini)
			}
		}
		if !r.Ranked || math.Abs(r.Rank) > TargetCorrelation {
			t.Errorf("seed %d: day-to-day rank correlation %.3f", seed, r.Rank)
		}
		if r.Error > TargetShare {
			t.Errorf("seed %d: shares are %.2f points off", seed, r.Error)
		}
	}
}

// Whatever operators and machines do to a station, nothing unbreakable breaks,
// nothing is silent, and the air goes on.
func TestTroubleBreaksNothingUnbreakable(t *testing.T) {
	for seed := range uint64(3) {
		r := air(t, 300, Options{Days: 4, Seed: seed + 1, Trouble: Trouble{
			Skip: 8, Play: 6, Live: 3, Restart: 4, Boot: 3, Purge: 2, Return: 2,
		}})
		for _, e := range events() {
			if e != Late && r.Result.Events[e] == 0 {
				t.Errorf("seed %d: no %s happened", seed, e)
			}
		}
		if n := r.Verdict.Unbreakable(); n > 0 {
			t.Errorf("seed %d: %d unbreakable violations", seed, n)
		}
		if last := r.Result.Log[r.Entries-1].At; r.Result.To.Sub(last) > 2*time.Hour {
			t.Errorf("seed %d: the last entry airs at %s", seed, last)
		}
	}
}

// Cairo's clocks go forward in this week, and a whole hour is missing.
func TestTheSpringChangeOfClocksIsCrossed(t *testing.T) {
	from := time.Date(2026, 4, 23, 0, 0, 0, 0, zone(t))
	r := air(t, 300, Options{Days: 3, Seed: 5, From: from})
	if length := r.Result.To.Sub(from); length != 71*time.Hour {
		t.Fatalf("the days last %s: do the clocks change on 24 April?", length)
	}
	if n := r.Verdict.Total(); n > 0 {
		t.Errorf("%d violations", n)
	}
}

func TestSameSeedSameDays(t *testing.T) {
	o := Options{Days: 2, Seed: 9, Trouble: Trouble{Skip: 5, Live: 2}}
	a, b := air(t, 120, o), air(t, 120, o)
	if d := cmp.Diff(a.Result.Log, b.Result.Log); d != "" {
		t.Errorf("the same seed differs:\n%.2000s", d)
	}
	o.Seed++
	if c := air(t, 120, o); cmp.Equal(a.Result.Log, c.Result.Log) {
		t.Error("another seed gives the same days")
	}
}

// A library of one track, and of no imaging: never silent, never an error.
func TestTheSmallestLibrariesAir(t *testing.T) {
	for _, n := range []int{1, 2, 5, 30} {
		if r := air(t, n, Options{Days: 1, Seed: 1}); r.Entries < 24*60/7 || r.Verdict.Violations[DeadAir] > 0 {
			t.Errorf("%d tracks: %d entries, %v", n, r.Entries, r.Verdict.Violations)
		}
	}
	_, err := Run(Options{Zone: zone(t), Config: rotation.DefaultConfig()})
	if err == nil {
		t.Error("an empty library airs")
	}
}

// The judge counts on names; who sings is known here better than from tags.
func TestFoldedNamesTellWhoSings(t *testing.T) {
	lib, truth := Synthetic(2000, 3)
	key := map[string]string{} // the singer behind each key
	for _, track := range lib {
		if !track.Category.Music() {
			continue
		}
		who, keys := truth(track), rotation.ArtistKeys(track.Artist)
		if len(who) != len(keys) {
			t.Errorf("%q: %v, folded to %v", track.Artist, who, keys)
			continue
		}
		if len(who) > 1 {
			continue
		}
		if was, ok := key[keys[0]]; ok && was[len(string(track.Category)):] != who[0][len(string(track.Category)):] && sameScript(was, who[0]) {
			t.Errorf("%q is both %s and %s", track.Artist, was, who[0])
		}
		key[keys[0]] = who[0]
	}
}

func sameScript(a, b string) bool {
	return a[:4] == b[:4]
}

func TestSyntheticLibrariesHoldEverything(t *testing.T) {
	for _, n := range []int{1, 7, 40, 300, 1000, 10_000} {
		lib, _ := Synthetic(n, 1)
		if len(lib) != n {
			t.Errorf("%d tracks asked for, %d made", n, len(lib))
		}
		paths, count := map[string]bool{}, map[station.Category]int{}
		for _, track := range lib {
			paths[track.Path] = true
			count[track.Category]++
		}
		if len(paths) != n {
			t.Errorf("%d tracks: %d paths", n, len(paths))
		}
		for _, c := range station.Categories() {
			if n >= 300 && count[c] < 3 {
				t.Errorf("%d tracks: %d of %s", n, count[c], c)
			}
			if n >= 300 && c.Music() && count[c] < fewTracks {
				t.Errorf("%d tracks: %s is under the minimum: %d", n, c, count[c])
			}
		}
	}
}

// A list that is read late makes the engine air what it had prepared. The new list must
// not hold it once more: a jingle twice within minutes is heard as a fault.
func TestWhatAListReadLateLetAirDoesNotComeAgain(t *testing.T) {
	for seed := range uint64(2) {
		r := air(t, 300, Options{Days: 5, Seed: seed + 1, Trouble: Trouble{Late: 60}})
		if r.Result.Events[Late] < 200 {
			t.Errorf("seed %d: only %d lists were late", seed, r.Result.Events[Late])
		}
		for _, f := range []Fault{JustPlayed, ElementTooSoon, MinimumRest} {
			for _, found := range r.Verdict.Findings {
				if found.Fault == f {
					t.Errorf("seed %d: %s", seed, found)
				}
			}
		}
	}
}
