package whip

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

// mutedAgain is how often the desk is told that a phone is muted. One that was started
// again, or has opened the pipe anew, has forgotten it, and would take the phone off the
// air after a hole of 5 s.
const mutedAgain = 2 * time.Second

// muting keeps the desk informed whether who holds the pipe is muted on purpose. That is a
// state, read when it is told: the newest holds, whatever came before it and in whatever
// order, and nothing waits in a queue.
type muting struct {
	note    func(ctx context.Context, muted bool) error // nil: nobody is told
	now     func() (muted, held bool)                   // held: somebody holds the pipe
	log     *slog.Logger
	changed chan struct{}
}

func newMuting(note func(context.Context, bool) error, now func() (muted, held bool), log *slog.Logger) *muting {
	return &muting{note: note, now: now, log: log, changed: make(chan struct{}, 1)}
}

// changes says that the state may be another.
func (m *muting) changes() {
	select {
	case m.changed <- struct{}{}:
	default: // it is about to be read
	}
}

// run tells the desk until ctx ends: at each change until it has heard, and again while the
// phone is muted.
func (m *muting) run(ctx context.Context) {
	if m.note == nil {
		return
	}
	again := time.NewTimer(0)
	defer again.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-m.changed:
		case <-again.C:
		}
		again.Stop()
		muted, held := m.now()
		if !held {
			continue // the desk keeps what it knows of a phone that may be back
		}
		err := m.note(ctx, muted)
		switch {
		case err == nil, !muted && errors.Is(err, station.ErrNotFound): // what the desk opens anew is not muted
			failures = 0
			if muted {
				again.Reset(mutedAgain)
			}
			continue
		case failures == 0 && !errors.Is(err, station.ErrNotFound) && ctx.Err() == nil:
			m.log.Warn("cannot tell the live desk whether a phone is muted, trying again", "muted", muted, "error", err)
		}
		failures++
		again.Reset(retry.Doubled(firstPause, mutedAgain, failures))
	}
}

// muted tells of who holds the pipe.
func (s *Server) muted() (muted, held bool) {
	one := s.byID(s.feed.holder())
	if one == nil {
		return false, false
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.muted, true
}
