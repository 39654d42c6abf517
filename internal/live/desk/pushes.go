package desk

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/ingest"
	"github.com/athir-radio/athir/internal/live/desk/input"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

// askAgain is how often the control plane is asked whether an encoder may still send.
const askAgain = 30 * time.Second

// push is an encoder that sends.
type push struct {
	src  live.Source // its ID is empty until the control plane has told it
	tape *tape.Ring
	id   string // under which the bus knows it
	told bool   // the control plane may know it
	// arrival is what it is told of it; it does not change.
	arrival live.Arrival
}

// carry takes an encoder's audio until it ends.
func (d *Desk) carry(ctx context.Context, in ingest.Push) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	session := make([]byte, 8)
	_, _ = rand.Read(session)
	a := live.Arrival{
		Protocol: live.Icecast, URL: live.SourceScheme + in.Mount, Title: titleOf(in), Creator: in.Presenter.Name,
		Publisher: in.Presenter.ID, Session: hex.EncodeToString(session),
	}
	if in.Studio { // the station's own password is no account's
		a.Publisher = ""
		if in.Mount == ingest.StudioMount { // others with that password wait for the studio
			a.Protocol = live.Internal
		}
	}
	p := &push{tape: tape.New(), src: live.Source{URL: a.URL, Title: a.Title, Creator: a.Creator}, arrival: a}
	d.mu.Lock()
	if d.all == nil || d.life.Err() != nil {
		d.mu.Unlock()
		return errors.New("the desk is ending")
	}
	unlink := context.AfterFunc(d.life, func() { cancel(context.Canceled) })
	d.pushes[in.Mount] = p
	d.attachPushes()
	d.mu.Unlock()
	defer unlink()
	d.opt.Log.Info("encoder connected", "mount", in.Mount, "type", in.Type, "address", in.Address, "publisher", in.Presenter.ID)
	var beside sync.WaitGroup // both end with ctx
	beside.Go(func() { d.introduce(ctx, p, in) })
	beside.Go(func() { d.askAgain(ctx, in, cancel) })
	err := (&input.Push{Body: in.Body, Type: in.Type}).Run(ctx, p.tape)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	beside.Wait()
	d.left(in.Mount, p, err)
	return err
}

// titleOf is what a broadcast is called. libshout, and so BUTT and many others, says that it
// has no name where nobody has given it one.
func titleOf(in ingest.Push) string {
	if in.Title != "" && in.Title != "no name" {
		return in.Title
	}
	return in.Presenter.Show
}

// introduce tells the control plane of the new track once there is sound to be had, and
// again until it has heard.
func (d *Desk) introduce(ctx context.Context, p *push, in ingest.Push) {
	for {
		if _, end := p.tape.Span(); end > 0 {
			break
		}
		if retry.Pause(ctx, live.Tick) != nil {
			return
		}
	}
	if !d.farewellGiven(ctx, in.Mount) {
		return
	}
	d.mu.Lock()
	p.told = true
	d.mu.Unlock()
	for failures := 1; ; failures++ {
		id, err := d.opt.Control.Arrived(ctx, p.arrival)
		if err == nil {
			d.mu.Lock()
			p.src.ID = id
			d.attachPushes()
			d.tell()
			d.mu.Unlock()
			return
		}
		if failures == 1 && ctx.Err() == nil {
			d.opt.Log.Warn("cannot tell the control plane of an encoder, trying again", "mount", in.Mount, "why", err)
		}
		if retry.Pause(ctx, retry.Doubled(firstTry, slowestTry, failures)) != nil {
			return
		}
	}
}

// attachPushes gives encoders to the bus under the id that the control plane, or an order,
// has for their address. The caller holds mu.
func (d *Desk) attachPushes() {
	for _, p := range d.pushes {
		id := p.src.ID
		if id == "" {
			id = d.ordered(p.src.URL)
		}
		if id == "" || p.id == id {
			continue
		}
		if p.id != "" {
			d.mix.Detach(p.id, p.tape, "", time.Now())
		}
		p.id = id
		d.mix.Attach(live.Source{ID: id, URL: p.src.URL, Title: p.src.Title, Creator: p.src.Creator}, p.tape, cushionNear, time.Now())
	}
}

// ordered is the id that the order has for an address.
func (d *Desk) ordered(url string) string {
	if d.order.Air != nil && d.order.Air.URL == url {
		return d.order.Air.ID
	}
	for _, s := range d.order.Next {
		if s.URL == url {
			return s.ID
		}
	}
	return ""
}

// left ends an encoder's part.
func (d *Desk) left(mount string, p *push, err error) {
	why, broke := ingest.Ending(err)
	d.mu.Lock()
	if d.pushes[mount] == p {
		delete(d.pushes, mount)
	}
	id := p.src.ID
	if p.id != "" && broke {
		d.mix.Break(p.id, p.tape, why, time.Now())
	} else if p.id != "" {
		d.mix.Detach(p.id, p.tape, why, time.Now())
	}
	d.tell()
	d.mu.Unlock()
	d.opt.Log.Info("encoder left", "mount", mount, "id", id, "why", why)
	if p.told {
		d.bidFarewell(mount, live.Leaving{ID: id, Publisher: p.arrival.Publisher, Session: p.arrival.Session, Why: why, Broke: broke})
	}
}

// errRefused ends an encoder that may no longer send.
var errRefused = errors.New("may no longer send")

// askAgain ends an encoder whose permission was taken away or has run out. A control
// plane that does not answer takes nothing away.
func (d *Desk) askAgain(ctx context.Context, in ingest.Push, end context.CancelCauseFunc) {
	for retry.Pause(ctx, askAgain) == nil {
		if a, err := in.Again(ctx); err == nil && !a.Allowed && a.Code != "limited" {
			end(errRefused)
			return
		}
	}
}

// named takes the title that an encoder tells.
func (d *Desk) named(mount, title, creator string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.pushes[mount]
	if p == nil {
		return
	}
	if p.src.Title = title; creator != "" {
		p.src.Creator = creator
	}
	if p.id != "" {
		d.mix.Name(p.id, p.src.Title, p.src.Creator)
	}
	d.tell()
}
