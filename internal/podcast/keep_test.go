package podcast

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func (r *rig) series(t *testing.T, slug string, n, bytes int) {
	t.Helper()
	for i := range n {
		r.happens(Live, fmt.Sprintf("%s%02d", slug, i), bytes)
		r.round(t)
	}
	r.clock.pass(waitsToKeep)
}

// The oldest go, pinned ones stay beside what is kept, and none that went is made again.
func TestAShowKeepsWhatTheOperatorSays(t *testing.T) {
	for _, c := range []struct {
		keep Keep
		want string
	}{
		{Keep{}, "s05 s04 s03 s02 s01 s00"}, {Keep{Episodes: 2}, "s05 s04 s01"}, {Keep{Episodes: 1}, "s05 s01"}, {Keep{Megabytes: 3}, "s05 s04 s03 s01"},
		{Keep{Days: 1}, "s05 s04 s03 s02 s01 s00"}, {Keep{Episodes: 4, Megabytes: 2}, "s05 s04 s01"}, {Keep{Episodes: MostEpisodes}, "s05 s04 s03 s02 s01 s00"},
	} {
		t.Run(fmt.Sprint(c.keep), func(t *testing.T) {
			r := newRig(t)
			o := own("s", Live)
			r.show(t, o)
			r.series(t, "s", 6, 1_000_000)
			_, err := r.Edit(t.Context(), "s", r.episodeOf(t, "s", "s01").ID, Edit{Pinned: ptr(true)})
			must(t, err)
			o.Keep = c.keep
			_, err = r.Set(t.Context(), "s", 1, o)
			must(t, err)
			r.round(t)
			if n := len(r.heard(t, "s")); n != 6 {
				t.Errorf("%d are left at once: a slip cannot be mended", n)
			}
			r.clock.pass(waitsToKeep)
			for range 2 {
				r.round(t)
			}
			equal(t, "heard", r.heard(t, "s"), strings.Fields(c.want))
			if n := len(r.files(t, "s")); n != len(strings.Fields(c.want)) {
				t.Errorf("%d files", n)
			}
			r.open(t)
			r.round(t)
			equal(t, "after a restart", r.heard(t, "s"), strings.Fields(c.want))
		})
	}
}

func TestEpisodesGoByDays(t *testing.T) {
	r := newRig(t)
	o := own("s", Live)
	o.Keep.Days = 2
	r.show(t, o)
	r.happens(Live, "old", 100)
	r.round(t)
	r.clock.pass(30 * time.Hour)
	r.happens(Live, "new", 100)
	r.round(t)
	r.clock.pass(17 * time.Hour)
	r.round(t)
	equal(t, "within two days", r.heard(t, "s"), []string{"new", "old"})
	r.clock.pass(time.Hour)
	r.round(t)
	equal(t, "later", r.heard(t, "s"), []string{"new"})
}

// The bound of all files: the oldest of all shows make room, what was removed by hand first, never
// what is pinned; where only such is left a new one fails, and says why.
func TestAllShowsShareABound(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MostBytes = 10_000 })
	a, b := own("a", Live), own("b", Posts)
	brief := func(w *Raw) { w.Duration = time.Second / 10 }
	r.show(t, a)
	r.show(t, b)
	for i := range 3 {
		r.happens(Live, fmt.Sprint("a", i), 2000, brief)
		r.round(t)
		if i < 2 {
			r.happens(Posts, fmt.Sprint("b", i), 2000, brief)
			r.round(t)
		}
	}
	r.clock.pass(time.Second)
	if used, most := r.Bytes(); used != 10_000 || most != 10_000 {
		t.Errorf("%d of %d", used, most)
	}
	must(t, r.RemoveEpisode(t.Context(), "a", r.episodeOf(t, "a", "a1").ID))
	_, err := r.Edit(t.Context(), "a", r.episodeOf(t, "a", "a0").ID, Edit{Pinned: ptr(true)})
	must(t, err)
	r.happens(Live, "a3", 1000, brief)
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "a", r.heard(t, "a"), []string{"a3", "a2", "a0"})
	equal(t, "b, the removed one went first", r.heard(t, "b"), []string{"b1", "b0"})
	r.happens(Live, "a4", 5000, brief)
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "a", r.heard(t, "a"), []string{"a4", "a3", "a2", "a0"})
	equal(t, "b", r.heard(t, "b"), nil)
	if used, _ := r.Bytes(); used != 10_000 {
		t.Errorf("%d", used)
	}
	// What can never fit removes nothing.
	r.happens(Live, "a5", 9000, brief)
	r.round(t)
	if e := r.episodeOf(t, "a", "a5"); e.State != Failed || !strings.Contains(e.Problem, "podcasts.gigabytes") || e.File != "" {
		t.Errorf("%+v", e)
	}
	equal(t, "a", r.heard(t, "a"), []string{"a4", "a3", "a2", "a0"})
	// A smaller bound of the settings counts from the next start on.
	r.options.MostBytes = 3000
	r.open(t)
	r.round(t)
	equal(t, "a", r.heard(t, "a"), []string{"a0"})
}

func TestOneEpisodeLargerThanItsShowMayKeepSaysSo(t *testing.T) {
	r := newRig(t)
	o := own("a", Live)
	o.Keep.Megabytes = 1
	r.show(t, o)
	r.happens(Live, "1", 1_000_001)
	r.round(t)
	if e := r.episodeOf(t, "a", "1"); e.State != Failed || !strings.Contains(e.Problem, "keep.megabytes") {
		t.Errorf("%+v", e)
	}
	r.clock.pass(failedFor + time.Minute)
	r.round(t)
	if all, _ := r.Episodes(t.Context(), "a"); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// A show has a bound of its own, whatever Keep says.
func TestAShowHasManyEpisodesAtMost(t *testing.T) {
	r := newRig(t)
	s := &shelf{Show: Show{Own: own("a", Live), GUID: "g"}, records: map[string]*record{}, gone: map[string]int64{}}
	for i := range MostEpisodes + 10 {
		e, err := s.add(Raw{Source: Source{Live, fmt.Sprint(i)}}, r.clock.Now())
		must(t, err)
		e.State, e.Pinned = Published, i < 3
		r.clock.pass(time.Second)
	}
	if len(s.records) != MostEpisodes || len(s.gone) != 10 || s.records[idOf("g", Source{Live, "0"})] == nil || s.records[idOf("g", Source{Live, "3"})] != nil {
		t.Errorf("%d, %d went", len(s.records), len(s.gone))
	}
	for _, e := range s.records {
		e.Pinned = true
	}
	_, err := s.add(Raw{Source: Source{Live, "more"}}, r.clock.Now())
	is(t, err, station.ErrFull)
}

// A file that has gone takes its episode from listeners, and brings it back as it was.
func TestAFileThatHasGone(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	for i := range 2 {
		r.happens(Live, fmt.Sprint(i), 100)
	}
	r.round(t)
	r.clock.pass(time.Second)
	e := r.episodeOf(t, "a", "0")
	path, _, err := r.Sound("a", e.ID)
	must(t, err)
	must(t, os.Rename(path, path+".away"))
	r.round(t)
	equal(t, "heard", r.heard(t, "a"), []string{"1"})
	if now := r.episodeOf(t, "a", "0"); now.State != Failed || !strings.Contains(now.Problem, e.File) {
		t.Errorf("%+v", now)
	}
	must(t, os.Rename(path+".away", path))
	r.open(t)
	r.round(t)
	if now := r.episodeOf(t, "a", "0"); now.State != Published || now.Published != e.Published || now.Problem != "" {
		t.Errorf("%+v", now)
	}
	// One that was cut short is none; made anew it has another name and the same place.
	must(t, os.Truncate(path, 50))
	r.round(t)
	must(t, r.Retry(t.Context(), "a", e.ID))
	r.round(t)
	now := r.episodeOf(t, "a", "0")
	if now.State != Published || now.Published != e.Published || now.File == e.File || now.Number != e.Number {
		t.Errorf("%+v", now)
	}
	is(t, r.Retry(t.Context(), "a", e.ID), station.ErrConflict)
	if n := len(r.files(t, "a")); n != 2 {
		t.Errorf("%d files", n)
	}
	// All of them, as after a backup without sounds.
	must(t, os.RemoveAll(r.options.Dir))
	r.open(t)
	r.round(t)
	if all, _ := r.Episodes(t.Context(), "a"); len(r.heard(t, "a")) != 0 || len(all) != 2 || r.origins[Live].fetched != 3 {
		t.Errorf("%+v", all)
	}
}

// Only files of the form of ours are moved, and are there for another week.
func TestFilesOfNoEpisodeArePutAside(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	r.happens(Live, "1", 100)
	r.round(t)
	e := r.episodeOf(t, "a", "1")
	stray := strings.Repeat("a", 16) + "-00000000.mp3"
	for _, name := range []string{"a/" + stray, "a/notes.txt", "old/" + stray, ".making/x.raw", "UPPER/" + stray} {
		path := filepath.Join(r.options.Dir, name)
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		must(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	must(t, os.Symlink("/etc", filepath.Join(r.options.Dir, "link")))
	must(t, r.sweep())
	want := []string{e.File, "notes.txt"}
	slices.Sort(want)
	equal(t, "a", r.files(t, "a"), want)
	equal(t, "aside", r.files(t, asideDir), []string{"a-" + stray, "old-" + stray})
	equal(t, "the others", r.files(t, ""), []string{asideDir, "UPPER", "a", "link"})
	r.clock.pass(asideFor + time.Minute)
	must(t, r.sweep())
	if left := r.files(t, asideDir); len(left) != 0 {
		t.Errorf("%v", left)
	}
}
