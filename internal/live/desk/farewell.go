package desk

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// leaveWait bounds one try of telling the control plane that an encoder left.
const leaveWait = 10 * time.Second

// bidFarewell tells the control plane that an encoder left, until it has heard: one that it
// is not told of would be connected for ever in its view. The mount is free meanwhile.
func (d *Desk) bidFarewell(mount string, l live.Leaving) {
	given := make(chan struct{})
	d.mu.Lock()
	if d.all == nil { // the desk is ending, and waits for whoever called
		d.mu.Unlock()
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		d.sayLeft(ended, l)
		return
	}
	defer d.mu.Unlock()
	before, life := d.farewells[mount], d.life
	d.farewells[mount] = given
	d.all.Go(func() error {
		defer close(given)
		if before != nil {
			<-before
		}
		d.sayLeft(life, l)
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.farewells[mount] == given {
			delete(d.farewells, mount)
		}
		return nil
	})
}

// sayLeft tries until the control plane has answered, and once more when life ends.
func (d *Desk) sayLeft(life context.Context, l live.Leaving) {
	for failures := 1; ; failures++ {
		last := life.Err() != nil
		ctx, cancel := context.WithTimeout(context.WithoutCancel(life), leaveWait)
		err := d.opt.Control.Left(ctx, l)
		cancel()
		if err == nil {
			return
		}
		if last || !station.Again(err, failures) {
			d.opt.Log.Warn("cannot tell the control plane that an encoder left", "id", l.ID, "why", err)
			return
		}
		if failures == 1 {
			d.opt.Log.Warn("cannot tell the control plane that an encoder left, trying again", "id", l.ID, "why", err)
		}
		_ = retry.Pause(life, retry.Doubled(firstTry, slowestTry, failures)) // its end is seen above
	}
}

// farewellGiven waits until the control plane has heard of the end of the encoder before on
// a mount: told in the other order, that would end the one that came after. False when ctx
// has ended.
func (d *Desk) farewellGiven(ctx context.Context, mount string) bool {
	d.mu.Lock()
	given := d.farewells[mount]
	d.mu.Unlock()
	if given == nil {
		return true
	}
	select {
	case <-given:
		return true
	case <-ctx.Done():
		return false
	}
}
