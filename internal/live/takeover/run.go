package takeover

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/live"
)

const (
	// patience is how long the first audio of a stream may take.
	patience = 8 * time.Second
	// awayFor is how long the desk may be away and find its order again.
	awayFor = 3 * time.Second
	// putWithin bounds one order, reportWithin one long poll, which the desk answers
	// within ten seconds.
	putWithin    = 3 * time.Second
	reportWithin = 15 * time.Second
	// Pauses between two tries grow from firstPause to longPause.
	firstPause = 200 * time.Millisecond
	longPause  = 2 * time.Second
	// look is how often what tells nothing of itself is looked at: time, publishers'
	// schedules, whether a stream lasts.
	look = time.Second
	// rankEvery is how often the ranking is looked at when nothing says it has changed.
	rankEvery = 5 * time.Second
	// lasting is how long a stream must be on the air for its failures to be forgotten.
	lasting = time.Minute
)

// Run orders and follows until ctx ends. It begins with an order for the normal mix.
func (t *Takeover) Run(ctx context.Context) error {
	defer close(t.open)
	g, ctx := errgroup.WithContext(ctx)
	c := newControl(t)
	seen, acks := make(chan sighting), make(chan ack)
	g.Go(func() error { return t.watch(ctx, seen) })
	g.Go(func() error { return t.send(ctx, c.orders, acks) })
	g.Go(func() error { return work(ctx, c.chores) })
	g.Go(func() error { return t.count(ctx) })
	g.Go(func() error { return t.answerLooks(ctx) })
	g.Go(func() error { return c.loop(ctx, seen, acks) })
	if err := g.Wait(); ctx.Err() == nil {
		return err
	}
	return nil
}

// sighting is one look at the desk.
type sighting struct {
	report live.Report
	err    error
}

// watch follows the desk's reports.
func (t *Takeover) watch(ctx context.Context, to chan<- sighting) error {
	version, pause := uint64(0), firstPause
	for {
		began := time.Now()
		within, cancel := context.WithTimeout(ctx, reportWithin)
		r, err := t.opt.Desk.Report(within, version)
		cancel()
		select {
		case to <- sighting{r, err}:
		case <-ctx.Done():
			return nil
		}
		switch {
		case err != nil:
			if !rest(ctx, pause) {
				return nil
			}
			pause = min(2*pause, longPause)
			continue
		case r.Version == version && time.Since(began) < firstPause: // it should have waited
			if !rest(ctx, firstPause) {
				return nil
			}
		}
		version, pause = r.Version, firstPause
	}
}

// ack is the answer to one order.
type ack struct {
	number uint64
	report live.Report
	err    error
}

// flight is an order on its way; it is given up when abort ends.
type flight struct {
	order live.Order
	abort context.Context //nolint:containedctx // of this one order
}

// send gives the desk one order after another.
func (t *Takeover) send(ctx context.Context, orders <-chan flight, acks chan<- ack) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case o := <-orders:
			within, cancel := context.WithTimeout(ctx, putWithin)
			stop := context.AfterFunc(o.abort, cancel)
			r, err := t.opt.Desk.Put(within, o.order)
			stop()
			cancel()
			select {
			case acks <- ack{o.order.Number, r, err}:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// work does what writes to disk, which the air must not wait for.
func work(ctx context.Context, chores <-chan func(context.Context)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case do := <-chores:
			do(ctx)
		}
	}
}

// loop is the only goroutine that touches c. Its select is all that can happen.
func (c *control) loop(ctx context.Context, seen <-chan sighting, acks <-chan ack) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	c.begin()
	for {
		c.settle()
		wake.Reset(c.due())
		select {
		case <-ctx.Done():
			return nil
		case do := <-c.t.asks:
			do(c)
		case s := <-seen:
			c.sighted(s)
		case a := <-acks:
			c.acked(a)
		case <-c.t.stale:
			c.ranking = true
			c.withoutRemoved()
			c.forgetRemoved()
		case <-tick.C:
			c.look()
		case <-wake.C:
			c.late()
		}
	}
}

// do runs f in the loop and returns when it has run.
func (t *Takeover) do(ctx context.Context, f func(*control)) error {
	done := make(chan struct{})
	select {
	case t.asks <- func(c *control) { defer close(done); f(c) }:
	case <-ctx.Done():
		return ctx.Err()
	case <-t.open:
		return errEnded
	}
	select {
	case <-done:
		return nil
	case <-t.open:
		return errEnded
	}
}

var errEnded = errors.New("the live takeover has ended")

func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
