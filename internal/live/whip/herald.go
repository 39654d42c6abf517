package whip

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// herald tells the control plane and the desk what happens, to each one after another, so
// that nothing overtakes what came before it. While the control plane is away it tries
// again; the desk, which takes a muted phone from the air unless it is told, does not wait
// for that.
type herald struct {
	control Control
	note    func(muted bool)
	url     string
	log     *slog.Logger
	jobs    chan func(ctx context.Context)
	notes   chan bool
}

const (
	// mostNews bounds what waits to be told, mostNotes what of it is for the desk.
	mostNews, mostNotes = 1024, 64
	// firstPause and longestPause are those between two tries; lastWords is for how long
	// an end is told while this process goes away.
	firstPause, longestPause = 100 * time.Millisecond, 2 * time.Second
	lastWords                = 3 * time.Second
	leftTries                = 30
)

func newHerald(control Control, note func(bool), url string, log *slog.Logger) *herald {
	return &herald{control: control, note: note, url: url, log: log, jobs: make(chan func(context.Context), mostNews), notes: make(chan bool, mostNotes)}
}

// run tells until ctx ends, then what waits, but tries nothing again.
func (h *herald) run(ctx context.Context) {
	for {
		select {
		case job := <-h.jobs:
			job(ctx)
			continue
		case <-ctx.Done():
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		for {
			select {
			case job := <-h.jobs:
				job(last)
			default:
				return
			}
		}
	}
}

func (h *herald) add(job func(ctx context.Context)) {
	select {
	case h.jobs <- job:
	default:
		h.log.Error("too much to tell the control plane, and it does not answer: news is dropped")
	}
}

// arrived registers a session's track. A refusal ends the session.
func (h *herald) arrived(s *session) {
	h.add(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		var wait sync.WaitGroup
		defer wait.Wait()
		defer cancel()
		wait.Go(func() {
			select {
			case <-s.done:
				cancel()
			case <-ctx.Done():
			}
		})
		a := live.Arrival{Protocol: live.WHIP, URL: h.url, Title: s.title, Creator: s.name, Publisher: s.publisher, Session: s.id, Push: s.push}
		for failures := 1; !s.isOver(); failures++ {
			id, err := h.control.Arrived(ctx, a)
			switch {
			case err == nil:
				s.mu.Lock()
				s.stream = id
				s.mu.Unlock()
				return
			case errors.Is(err, station.ErrForbidden):
				s.end(endedRevoked, station.Reason(err))
				return
			case errors.Is(err, station.ErrInvalid), errors.Is(err, station.ErrConflict), errors.Is(err, station.ErrFull):
				h.log.Error("the control plane does not take a publisher's audio", "publisher", s.publisher, "error", err)
				s.end(endedServer, station.Reason(err))
				return
			}
			if failures == 1 {
				h.log.Warn("cannot tell the control plane that audio arrived; trying again", "publisher", s.publisher, "error", err)
			}
			if retry.Pause(ctx, retry.Doubled(firstPause, longestPause, failures)) != nil {
				return
			}
		}
	})
}

// left tells of a session's end, if its beginning was told.
func (h *herald) left(s *session, why string, broke bool) {
	h.add(func(ctx context.Context) {
		s.mu.Lock()
		id := s.stream
		s.mu.Unlock()
		if id == "" {
			return
		}
		var err error
		for failures := 1; failures <= leftTries; failures++ {
			err = h.control.Left(ctx, live.Leaving{ID: id, Publisher: s.publisher, Session: s.id, Why: why, Broke: broke})
			if err == nil || !errors.Is(err, station.ErrUnavailable) {
				break
			}
			if retry.Pause(ctx, retry.Doubled(firstPause, longestPause, failures)) != nil {
				break
			}
		}
		if err != nil {
			h.log.Warn("cannot tell the control plane that a publisher left", "publisher", s.publisher, "error", err)
		}
	})
}

// muted tells the desk.
func (h *herald) muted(muted bool) {
	if h.note == nil {
		return
	}
	select {
	case h.notes <- muted:
	default:
		h.log.Error("too much to tell the live desk, and it does not answer: whether a phone is muted is dropped")
	}
}

// runNotes tells the desk until ctx ends.
func (h *herald) runNotes(ctx context.Context) {
	for {
		select {
		case muted := <-h.notes:
			h.note(muted)
		case <-ctx.Done():
			return
		}
	}
}
