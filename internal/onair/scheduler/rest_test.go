package scheduler_test

import (
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// A node on a slow line has one song at first, and goes on with what it was asked to pull:
// another plan would ask for other files. What has left the library meanwhile is not heard.
func TestARotationGoesOnWithWhatTheNodePulls(t *testing.T) {
	n, s := &node{most: 1}, newShelf(songs(400))
	r := newRig(t, n, s)
	first := r.built().Rotation
	plan := slices.Clone(n.wanted)
	if len(first.Entries) != 1 || len(plan) != 120 {
		t.Fatalf("%d entries in place of %d", len(first.Entries), len(plan))
	}
	if !slices.Equal(r.Coming(), plan) { // a spare may have a better line
		t.Errorf("%d entries are still to come, of %d", len(r.Coming()), len(plan))
	}
	heard := uint64(0)
	goesOn := func(what string, most int, want []playlist.Item) {
		t.Helper()
		n.set(func(n *node) { n.most = most })
		heard++
		on := r.View().Rotation.Entries
		before := n.counted()
		r.hear("boot", heard, on[len(on)-1].Track.Path)
		r.eventually(what, func(v *scheduler.View) bool { return n.counted() > before && v.OnAir.Index == -1 })
		if got, _ := n.InPlace(t.Context()); !slices.Equal(got, want) {
			t.Errorf("%s: %d entries, from %v; want %d, from %v", what, len(got), got[0], len(want), want[0])
		}
	}
	goesOn("three more", 3, plan[1:4])
	away := plan[5]
	tracks, _ := s.Tracks()
	for i, track := range tracks {
		if root+track.Path == away.Path {
			s.mu.Lock()
			s.tracks = slices.Delete(slices.Clone(tracks), i, i+1)
			s.mu.Unlock()
			break
		}
	}
	goesOn("all of it", 0, slices.Concat(plan[4:5], plan[6:]))
	before := n.counted()
	left := r.View().Rotation.Entries
	r.hear("boot", heard+1, left[len(left)-1].Track.Path)
	r.eventually("another plan, as all of that was heard", func(v *scheduler.View) bool { return n.counted() > before && len(v.Rotation.Entries) == 120 })
}
