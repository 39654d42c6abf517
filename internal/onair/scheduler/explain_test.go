package scheduler_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// A library that has just changed is prepared aside: what is on the air waits for the goroutine
// that plans it.
func TestHowATrackStandsIsFoundOutBesideThePlanning(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(400)))
	r.built()
	before, err := r.Indexed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Explain(t.Context(), before[7].Path); err != nil || got.Size == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	later := slices.Clone(before)
	added := songs(401)[400]
	later = append(later, added)
	r.shelf.mu.Lock()
	r.shelf.tracks = later // and nobody is told yet
	r.shelf.mu.Unlock()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := r.Explain(t.Context(), added.Path); err != nil || got.Turns != 0 || got.Size == 0 {
				t.Errorf("%+v, %v", got, err)
			}
			if _, err := r.Explain(t.Context(), "none.mp3"); !errors.Is(err, station.ErrNotFound) {
				t.Errorf("%v", err)
			}
		})
	}
	r.hear("e", 1, r.View().Left()[0].Track.Path)
	all.Wait()
	if now, err := r.Indexed(t.Context()); err != nil || len(now) != len(before) {
		t.Errorf("the planner was kept from its work: it has prepared %d tracks, %v", len(now), err)
	}
	r.eventually("what was heard", func(v *scheduler.View) bool { return v.OnAir.Kind == scheduler.Rotation })
}
