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

// herald tells the control plane what happens, one thing after another, so that nothing
// overtakes what came before it. While the control plane is away it tries again.
type herald struct {
	control Control
	url     string
	log     *slog.Logger
	jobs    chan func(ctx context.Context)
}

const (
	// mostNews bounds what waits to be told.
	mostNews = 1024
	// firstPause and longestPause are those between two tries; lastWords is for how long
	// an end is told while this process goes away.
	firstPause, longestPause = 100 * time.Millisecond, 2 * time.Second
	lastWords                = 3 * time.Second
	leftTries                = 30
)

func newHerald(control Control, url string, log *slog.Logger) *herald {
	return &herald{control: control, url: url, log: log, jobs: make(chan func(context.Context), mostNews)}
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
			case !station.Again(err, failures) && ctx.Err() == nil:
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
			if err == nil || !station.Again(err, failures) {
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
