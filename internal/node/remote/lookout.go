package remote

import (
	"context"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

const (
	// lookEvery is between two looks, lookWait what one may take.
	lookEvery = 500 * time.Millisecond
	lookWait  = time.Second
)

// sight is what somebody sees of the node that has the station by a fence.
type sight struct {
	Fence uint64 `json:"fence,omitempty"`
	// Unseen is for how long every look has failed; 0: the last did not. It is no moment,
	// since clocks differ, and a process that slept has not looked.
	Unseen time.Duration `json:"unseen,omitempty"`
}

// of returns Unseen of the node with that fence.
func (s sight) of(fence uint64) time.Duration {
	if s.Fence != fence {
		return 0
	}
	return s.Unseen
}

// lookout looks at a node from outside, again and again.
type lookout struct {
	// see returns nil where the streaming server of the node at a host answers.
	see func(ctx context.Context, host string) error

	mu    sync.Mutex
	fence uint64
	host  string
	// failing is when the first of a row of failed looks began, last when the newest ended;
	// zero: the last look has succeeded.
	failing, last time.Time
}

// at says whom to look at.
func (l *lookout) at(fence uint64, host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fence != fence || l.host != host {
		l.fence, l.host, l.failing, l.last = fence, host, time.Time{}, time.Time{}
	}
}

func (l *lookout) sight() sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failing.IsZero() || time.Since(l.last) > lookWait+2*lookEvery {
		return sight{Fence: l.fence}
	}
	return sight{l.fence, l.last.Sub(l.failing)}
}

// run looks until ctx ends.
func (l *lookout) run(ctx context.Context) {
	for retry.Pause(ctx, lookEvery) == nil {
		l.once(ctx)
	}
}

func (l *lookout) once(ctx context.Context) {
	l.mu.Lock()
	fence, host := l.fence, l.host
	l.mu.Unlock()
	if host == "" {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	began := time.Now()
	err := l.see(bounded, host)
	ended := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case fence != l.fence || host != l.host || ctx.Err() != nil:
	case err == nil, ended.Sub(began) > 2*lookWait: // it was we who slept
		l.failing = time.Time{}
	case l.failing.IsZero() || began.Sub(l.last) > 2*lookEvery:
		l.failing, l.last = began, ended
	default:
		l.last = ended
	}
}
