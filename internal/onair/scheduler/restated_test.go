package scheduler_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// say has an operator say something of a track, and returns how many lists were pushed until
// all is calm again.
func (r *rig) say(path string, change func(*station.Track)) (lists int) {
	before := r.node.counted()
	tracks, _ := r.shelf.Tracks()
	tracks = slices.Clone(tracks)
	change(&tracks[slices.IndexFunc(tracks, func(t station.Track) bool { return t.Path == path })])
	r.shelf.set(tracks)
	r.calm()
	return r.node.counted() - before
}

// calm lets pass what a scheduler waits for between two lists.
func (r *rig) calm() {
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

// What an operator says of a track counts for what is planned already: the rotation is built
// anew, once, and goes by it. What changes no place leaves the plan alone.
func TestWhatIsSaidOfAPlannedTrackIsFollowedAtOnce(t *testing.T) {
	over := station.Limits{Until: 1999_12_30}
	none := func(path string, wrong func(rotation.Entry) bool) func([]rotation.Entry) bool {
		return func(all []rotation.Entry) bool {
			return !slices.ContainsFunc(all, func(e rotation.Entry) bool { return e.Track.Path == path && wrong(e) })
		}
	}
	moved := func(t *station.Track) {
		decks := map[station.Category]station.Category{station.English: station.ArabicHits, station.ArabicHits: station.English}
		t.Category, t.Title = decks[t.Category], "moved"
	}
	for _, c := range []struct {
		name   string
		change func(*station.Track)
		lists  int
		wrong  func(rotation.Entry) bool // of an entry of that track
	}{
		{"limits that exclude it", func(t *station.Track) { t.Own = &station.Own{Limits: over} }, 1, func(rotation.Entry) bool { return true }},
		{"another deck", moved, 1, func(e rotation.Entry) bool { return e.Track.Title != "moved" }},
		{"another cross", func(t *station.Track) { t.Own = &station.Own{Cut: station.Cut{Cross: 7 * time.Second}} }, 1, func(e rotation.Entry) bool { return e.Cross != 7*time.Second }},
		{"another title", func(t *station.Track) { t.Title = "another" }, 0, func(rotation.Entry) bool { return false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &node{}, newShelf(songs(400)))
				r.calm()
				path := r.built().Left()[30].Track.Path
				if lists := r.say(path, c.change); lists != c.lists {
					t.Errorf("%d lists were pushed, want %d", lists, c.lists)
				}
				if !none(path, c.wrong)(r.View().Left()) {
					t.Error("the plan does not go by it")
				}
				if lists := r.say(path, func(*station.Track) {}); lists != 0 {
					t.Errorf("what was followed is followed again: %d lists", lists)
				}
			})
		})
	}
	t.Run("limits of what is not planned", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			all := songs(400)
			r := newRig(t, &node{}, newShelf(all))
			r.calm()
			planned := r.built().Left()
			free := slices.IndexFunc(all, func(t station.Track) bool {
				return !slices.ContainsFunc(planned, func(e rotation.Entry) bool { return e.Track.Path == t.Path })
			})
			if lists := r.say(all[free].Path, func(t *station.Track) { t.Own = &station.Own{Limits: over} }); lists != 0 {
				t.Errorf("%d lists were pushed", lists)
			}
		})
	})
}

// A song that airs from its own file until it has a copy is cut: as soon as its copy is there,
// the uncut file is in the engine's list no more.
func TestACutIsFollowedOnceItsCopyIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		copied := ""
		r := newRigWith(t, &node{}, newShelf(songs(400)), func(o *scheduler.Options) {
			o.Airs = func(rel string) (string, float64) {
				if rel == copied {
					return "/srv/copies/" + rel, 0
				}
				return root + rel, 0
			}
		})
		r.calm()
		left := r.built().Left()
		whole, cut := left[30].Track.Path, left[31].Track.Path
		listed := func() bool {
			items, err := r.node.InPlace(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(items, func(i playlist.Item) bool { return i.Path == root+cut })
		}
		copied = whole
		if lists := r.say(whole, func(t *station.Track) { t.Size++ }); lists != 0 {
			t.Errorf("a copy of what is not cut: %d lists", lists)
		}
		copied = ""
		lists := r.say(cut, func(t *station.Track) { t.Own = &station.Own{Cut: station.Cut{In: time.Minute}} })
		if lists != 0 || !listed() {
			t.Fatalf("before there is a copy: %d lists, the file is listed: %v", lists, listed())
		}
		copied = cut
		if lists := r.say(cut, func(t *station.Track) { t.Duration -= time.Minute }); lists != 1 || listed() {
			t.Errorf("with its copy: %d lists, the uncut file is listed: %v", lists, listed())
		}
	})
}
