// Package shed holds up work that nobody waits for while the machine is short of what
// the work that somebody hears needs. It does not measure: whoever sees a shortage pauses
// the Gate, again and again as long as it lasts.
package shed

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Hold is how long one Pause holds the work up: long enough for the rest to catch up.
const Hold = 10 * time.Second

// Gate is open until it is paused. Make one with New.
type Gate struct {
	log *slog.Logger

	mu     sync.Mutex
	until  time.Time
	opened chan struct{} // closed when the pause is over; nil while the gate is open
	timer  *time.Timer
	pauses int
}

// New makes an open Gate.
func New(log *slog.Logger) *Gate { return &Gate{log: log} }

// Pause closes the gate for Hold from now on, and says why in the log when it was open.
func (g *Gate) Pause(why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = time.Now().Add(Hold)
	if g.opened != nil {
		g.timer.Reset(Hold)
		return
	}
	g.pauses++
	g.opened = make(chan struct{})
	g.timer = time.AfterFunc(Hold, g.open)
	g.log.Warn("mastering, imaging, scans and fingerprints are held up: what is on the air needs the machine", "why", why)
}

func (g *Gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		return
	}
	if left := time.Until(g.until); left > 0 { // paused again meanwhile
		g.timer.Reset(left)
		return
	}
	close(g.opened)
	g.opened = nil
	g.log.Info("mastering, imaging, scans and fingerprints go on")
}

// lookEvery is how often Watch looks.
const lookEvery = time.Second

// Watch pauses the gate while short returns a reason, until ctx ends; it then opens it for
// good.
func (g *Gate) Watch(ctx context.Context, short func(ctx context.Context) string) error {
	clock := time.NewTicker(lookEvery)
	defer clock.Stop()
	defer g.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
		if why := short(ctx); why != "" {
			g.Pause(why)
		}
	}
}

// Wait returns once the gate is open, or ctx's error if that ends first. A nil Gate is
// always open.
func (g *Gate) Wait(ctx context.Context) error {
	if g == nil {
		return ctx.Err()
	}
	for {
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		if opened == nil {
			return ctx.Err()
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Enough is how many pieces must be there before work on more of them is held up: of what
// has hardly begun each is needed.
const Enough = 12

// Most is how long one piece of work is held up in all, for AtMost: a file that is
// mastered, a scan, the imaging of a refresh.
const Most = 2 * time.Minute

// AtMost returns hold with a bound: all its waits together take no longer than most, and
// from then on it does not wait. Work that is held up on a machine that is always short
// would otherwise never be done. A nil hold never waits. Several goroutines may use it:
// while one waits, so do the others, and it counts once.
func AtMost(hold func(ctx context.Context) error, most time.Duration) func(ctx context.Context) error {
	if hold == nil {
		return func(ctx context.Context) error { return ctx.Err() }
	}
	left, turn := most, make(chan struct{}, 1)
	return func(ctx context.Context) error {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
		}
		if ctx.Err() != nil || left <= 0 {
			return ctx.Err()
		}
		begin := time.Now()
		bounded, cancel := context.WithTimeout(ctx, left)
		defer cancel()
		_ = hold(bounded)
		left -= time.Since(begin)
		return ctx.Err()
	}
}

// Paused reports whether the gate is closed, and Pauses how often it was.
func (g *Gate) Paused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened != nil
}

// Pauses counts how often the gate was closed.
func (g *Gate) Pauses() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pauses
}

// Close opens the gate for good and ends its timer.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		g.timer.Stop()
		close(g.opened)
		g.opened = nil
	}
}
