package scheduler_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// shelfOfLists is what the operator's playlists are at a time.
type shelfOfLists struct {
	atomic.Pointer[[]rotation.List]
}

func (l *shelfOfLists) set(r *rig, lists ...rotation.List) {
	l.Store(&lists)
	r.ListsChanged()
	r.calm()
}

func (l *shelfOfLists) options(o *scheduler.Options) {
	o.Lists = func() []rotation.List {
		if all := l.Load(); all != nil {
			return *all
		}
		return nil
	}
}

// pathsOf returns some tracks of a category.
func pathsOf(tracks []station.Track, c station.Category, n int) (paths []string) {
	for _, t := range tracks {
		if t.Category == c && len(paths) < n {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

// A playlist that plays soon is followed at once, and only that: one that plays next month, one
// that no clock names and a changed order of the same playlists leave the rotation alone.
func TestAPlaylistThatPlaysSoonIsFollowedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracks, lists := songs(400), &shelfOfLists{}
		r := newRigWith(t, &node{}, newShelf(tracks), lists.options)
		r.calm()
		jazz := rotation.List{ID: 1, Name: "jazz", Paths: pathsOf(tracks, station.English, 30), Order: rotation.OrderSequence, Plays: rotation.PlaysOnly}
		later := rotation.List{ID: 2, Name: "later", Paths: jazz.Paths, Order: rotation.OrderTurns, Plays: rotation.PlaysOnly, When: []rotation.Window{{From: 2000_06_01}}}
		unused := rotation.List{ID: 3, Name: "unused", Paths: jazz.Paths, Order: rotation.OrderTurns, Plays: rotation.PlaysClock}
		shorter := jazz
		shorter.Paths, shorter.Edition = jazz.Paths[:25], 1
		found := jazz // by a search
		found.Paths = jazz.Paths[2:]
		for _, step := range []struct {
			name   string
			lists  []rotation.List
			pushed int
		}{
			{"one for next month", []rotation.List{later}, 0},
			{"one that no clock names", []rotation.List{later, unused}, 0},
			{"one that plays now", []rotation.List{later, unused, jazz}, 1},
			{"the same, told again", []rotation.List{jazz, unused, later}, 0},
			{"a search finds others", []rotation.List{found, unused, later}, 0},
			{"fewer tracks", []rotation.List{shorter, unused, later}, 1},
			{"switched off", []rotation.List{unused, later}, 1},
			{"none", nil, 0},
		} {
			before := r.node.counted()
			lists.set(r, step.lists...)
			if got := r.node.counted() - before; got != step.pushed {
				t.Errorf("%s: %d rotations were pushed, want %d", step.name, got, step.pushed)
			}
			plays := slices.ContainsFunc(step.lists, func(l rotation.List) bool { return l.ID == 1 })
			for _, e := range r.View().Left()[:20] {
				if music := e.Annotation() == ""; music && (e.List == 1) != plays || e.List != 0 && e.ListName != "jazz" {
					t.Fatalf("%s: %s of playlist %d %q", step.name, e.Track.Path, e.List, e.ListName)
				}
			}
		}
	})
}

// A control plane that is restarted just before one song gives way to the next leaves that to the
// engine: a list that reached it then would open behind a song that it may still drop for it.
func TestARestartAtAChangeoverLosesNoSong(t *testing.T) {
	for _, before := range []time.Duration{400 * time.Millisecond, time.Millisecond, -300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &node{}, newShelf(songs(400)))
			r.calm()
			left := r.built().Left()
			r.hear("e", 1, left[0].Track.Path)
			time.Sleep(time.Until(r.View().NextStart().Add(-before)))
			r.stop()
			pushes := r.node.counted()
			r.open()
			synctest.Wait()
			if r.node.counted() != pushes {
				t.Fatalf("%s before the changeover the engine was given another list", before)
			}
			time.Sleep(before + 100*time.Millisecond)
			r.hear("e", 2, left[1].Track.Path)
			r.calm()
			if v := r.View(); v.Reason != "restart" || v.OnAir.Track.Path != left[1].Track.Path || slices.Contains(v.Rotation.InFlight, left[1].Track.Path) {
				t.Errorf("%s before: rebuilt for %q with %q on the air and %q in flight", before, v.Reason, v.OnAir.Track.Path, v.Rotation.InFlight)
			}
		})
	}
}

// What was heard of a playlist is known after a restart: it goes on where it was.
func TestAPlaylistGoesOnAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracks, lists := songs(400), &shelfOfLists{}
		paths := pathsOf(tracks, station.English, 30)
		all := []rotation.List{{ID: 4, Name: "serial", Paths: paths, Order: rotation.OrderSequence, Plays: rotation.PlaysOnly}}
		lists.Store(&all)
		r := newRigWith(t, &node{}, newShelf(tracks), lists.options)
		r.calm()
		heard, seq := 0, uint64(0)
		for _, e := range r.built().Left()[:20] {
			seq++
			r.hear("e", seq, e.Track.Path)
			if e.List == 4 {
				if e.Track.Path != paths[heard] {
					t.Fatalf("%s is not the next of the playlist", e.Track.Path)
				}
				heard++
			}
		}
		r.stop()
		r.open()
		r.calm()
		for _, e := range r.built().Left() {
			if e.List != 4 {
				continue
			}
			if e.Track.Path != paths[heard] {
				t.Errorf("after a restart %s comes next, want %s", e.Track.Path, paths[heard])
			}
			break
		}
		if heard < 8 {
			t.Errorf("%d of the playlist were heard", heard)
		}
	})
}

// A window that opens has the rotation built anew, as a daypart does.
func TestAWindowThatOpensIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracks, lists := songs(400), &shelfOfLists{}
		now := time.Now().In(afternoon())
		opens := rotation.TimeOfDay(now.Hour()*60 + now.Minute() + 30)
		all := []rotation.List{{
			ID: 5, Name: "hour", Paths: pathsOf(tracks, station.English, 30), Order: rotation.OrderTurns, Plays: rotation.PlaysOnly,
			When: []rotation.Window{{Start: opens, End: opens + 60}},
		}}
		lists.Store(&all)
		r := newRigWith(t, &node{}, newShelf(tracks), lists.options)
		r.calm()
		if e := r.built().Left()[0]; e.List != 0 {
			t.Error("it plays before its window")
		}
		time.Sleep(32 * time.Minute)
		synctest.Wait()
		if v := r.View(); v.Reason != "playlists by time" || v.Rotation.ListKey != "5" {
			t.Errorf("rebuilt for %q, list key %q", v.Reason, v.Rotation.ListKey)
		}
	})
}

// A playlist of a search that finds something now and nothing then does not have the rotation
// built anew each time: where it is there again, after a pause.
func TestAPlaylistThatComesAndGoesRebuildsSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracks, lists := songs(400), &shelfOfLists{}
		r := newRigWith(t, &node{}, newShelf(tracks), lists.options)
		r.calm()
		calm := rotation.List{ID: 1, Name: "calm", Paths: pathsOf(tracks, station.English, 30), Order: rotation.OrderTurns, Plays: rotation.PlaysOnly}
		before := r.node.counted()
		for range 60 { // ten minutes
			lists.set(r, calm)
			lists.set(r)
		}
		if n := r.node.counted() - before; n < 2 || n > 4 {
			t.Errorf("%d rotations were pushed in ten minutes", n)
		}
		lists.set(r, calm)
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if e := r.View().Left()[0]; e.List != 1 {
			t.Errorf("it is there again, and %s comes next", e.Track.Path)
		}
		before = r.node.counted()
		edited := calm
		edited.Edition = 2 // switched off and on
		lists.set(r)
		lists.set(r, edited)
		if n := r.node.counted() - before; n != 2 {
			t.Errorf("switched off and on: %d rotations were pushed, want 2", n)
		}
	})
}

// A change of the playlists counts for what a node still lacks the media of, too: also one that
// comes right after the rotation was built, and one that has a part only in that.
func TestAChangedPlaylistIsFollowedWhereTheNodePulls(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration // since the rotation was built
		opens int           // minutes from now
	}{"at once": {0, 0}, "in an hour": {5 * time.Second, 60}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tracks, lists, n := songs(400), &shelfOfLists{}, &node{}
				r := newRigWith(t, n, newShelf(tracks), lists.options)
				r.calm()
				n.set(func(n *node) { n.most = 1 })
				if err := r.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
				planned := map[string]bool{}
				for _, it := range n.wanted {
					planned[it.Path] = true
				}
				now := time.Now().In(afternoon())
				opens := rotation.TimeOfDay(now.Hour()*60 + now.Minute() + tc.opens)
				l := rotation.List{ID: 9, Name: "new", Order: rotation.OrderSequence, Plays: rotation.PlaysShare, Share: 1, When: []rotation.Window{{Start: opens, End: opens + 120}}}
				for _, track := range tracks {
					if !planned[root+track.Path] && len(l.Paths) < 5 {
						l.Paths = append(l.Paths, track.Path)
					}
				}
				time.Sleep(tc.after)
				lists.Store(&[]rotation.List{l})
				r.ListsChanged()
				synctest.Wait()
				r.hear("e", 1, r.View().Left()[0].Track.Path)
				synctest.Wait()
				for _, path := range l.Paths {
					if !slices.ContainsFunc(n.wanted, func(it playlist.Item) bool { return it.Path == root+path }) {
						t.Errorf("%s is not planned", path)
					}
				}
			})
		})
	}
}
