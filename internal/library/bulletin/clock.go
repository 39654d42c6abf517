package bulletin

import (
	"context"
	"log/slog"
	"time"
)

// AfterBoot is how long after the start the first bulletin is made.
const AfterBoot = 30 * time.Second

// Clock has bulletins made: the first AfterBoot, then one Every so often,
// counted from the first. One that takes longer lets the next turn pass, so
// two never overlap.
type Clock struct {
	Every time.Duration // 0 makes none
	// Make makes one and does what follows from it; an error is logged, and
	// the next turn tries again.
	Make func(ctx context.Context) error
	Log  *slog.Logger
}

// Run returns when ctx ends and no bulletin is being made.
func (c Clock) Run(ctx context.Context) error {
	if c.Every <= 0 {
		<-ctx.Done()
		return nil
	}
	next := time.Now().Add(AfterBoot)
	for {
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if err := c.Make(ctx); err != nil && ctx.Err() == nil {
			c.Log.Error("bulletin not made", "err", err)
		}
		for now := time.Now(); !next.After(now); {
			next = next.Add(c.Every)
		}
	}
}
