package scheduler

import (
	"context"
	"fmt"
	"sync"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Explain says how a track stands for the next place of a list that would be built now. The
// error is of kind station.ErrNotFound where nothing of that path can air. What takes long in
// a large library is done outside Run's goroutine: what is on the air waits for that one.
func (s *Scheduler) Explain(ctx context.Context, path string) (rotation.Standing, error) {
	var r rotation.Request
	var tracks []station.Track
	err := s.ask(ctx, func(context.Context) error {
		tracks, _ = s.opt.Library.Tracks()
		r = s.request(change{}, tracks, nil)
		if s.index != nil && sameTracks(tracks, s.tracks) {
			r.Index = s.index
		}
		return nil
	})
	if err != nil {
		return rotation.Standing{}, err
	}
	if r.Index = s.aside.of(tracks, r.Index); ctx.Err() != nil {
		return rotation.Standing{}, ctx.Err()
	}
	out, there := rotation.Explain(r, path)
	if !there {
		return out, fmt.Errorf("%.200q cannot air now: %w", path, station.ErrNotFound)
	}
	return out, nil
}

// asideIndex is the index of a library that changed since the last rotation was built.
type asideIndex struct {
	mu     sync.Mutex // held while one is made
	tracks []station.Track
	index  *rotation.Index
}

// of returns the index of tracks: run's, where Run has one, or one that is made once for all
// who ask.
func (a *asideIndex) of(tracks []station.Track, run *rotation.Index) *rotation.Index {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case run != nil:
		a.tracks, a.index = nil, nil
		return run
	case a.index == nil || !sameTracks(tracks, a.tracks):
		a.tracks, a.index = tracks, rotation.NewIndex(tracks)
	}
	return a.index
}

// sameTracks reports that two are the library in the same state.
func sameTracks(a, b []station.Track) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
