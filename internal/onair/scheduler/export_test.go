package scheduler

import (
	"context"

	"github.com/athir-radio/athir/internal/station"
)

// Indexed is the library that Run's goroutine has prepared.
func (s *Scheduler) Indexed(ctx context.Context) (tracks []station.Track, err error) {
	err = s.ask(ctx, func(context.Context) error { tracks = s.tracks; return nil })
	return tracks, err
}
