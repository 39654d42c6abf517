package remote

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/retry"
)

const (
	// clockEvery is less than an engine takes that is started again because a clock was
	// set: its first marker is told in our time.
	clockEvery = 2 * time.Second
	clockKept  = 15
	// clockApart is the difference at which the operator is warned.
	clockApart = time.Second
)

// Clock measures how far the node's clock is ahead of this machine's. It compares the
// node's answer with the middle between request and answer, and uses the quickest of
// the last measurements that can still be true: either clock may have been set.
type Clock struct {
	bus *bus.Bus
	to  func(subject string) string
	log *slog.Logger

	mu   sync.Mutex
	last []clockSample // newest last
}

// clockSample is off by half of what it took at most.
type clockSample struct{ ahead, took time.Duration }

// contradicts reports that the two cannot both be true.
func (s clockSample) contradicts(other clockSample) bool {
	return (s.ahead - other.ahead).Abs() > (s.took+other.took)/2
}

// Here converts a time of the node's clock to this machine's.
func (c *Clock) Here(at time.Time) time.Time { return at.Add(-c.ahead()) }

func (c *Clock) ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) == 0 {
		return 0
	}
	best := c.last[0]
	for _, s := range c.last {
		if s.took <= best.took {
			best = s
		}
	}
	return best.ahead
}

// Ahead is by how much the node's clock is ahead; false where nothing was measured.
func (c *Clock) Ahead() (time.Duration, bool) {
	c.mu.Lock()
	known := len(c.last) > 0
	c.mu.Unlock()
	return c.ahead(), known
}

// add adds one measurement: the node's clock showed there between asked and answered.
func (c *Clock) add(asked, there, answered time.Time) {
	took := answered.Sub(asked)
	now := clockSample{there.Sub(asked.Add(took / 2)), took}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = append(slices.DeleteFunc(c.last, now.contradicts), now)
	c.last = c.last[max(0, len(c.last)-clockKept):]
}

// become takes the measurements of another node's clock, and leaves that none.
func (c *Clock) become(other *Clock) {
	other.mu.Lock()
	last := other.last
	other.last = nil
	other.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = last
}

// Run measures until ctx ends.
func (c *Clock) Run(ctx context.Context) error {
	warned := false
	for {
		pause := clockEvery
		asked := time.Now()
		got, err := bus.Call[clockAnswer](ctx, c.bus, c.to(subjectClock), orderWait, struct{}{})
		if err == nil {
			c.add(asked, got.Now, time.Now())
			if ahead := c.ahead(); ahead.Abs() > clockApart && !warned {
				c.log.Warn("node's clock is off, corrected in the times of markers; run NTP on both machines", "ahead", ahead.Round(time.Millisecond))
				warned = true
			}
		} else {
			pause = time.Second
		}
		if retry.Pause(ctx, pause) != nil {
			return nil //nolint:nilerr // ctx ended
		}
	}
}
