package remote

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// Stage is what a node is to the station.
type Stage struct {
	OnAir bool   // it has the station
	Spare bool   // it stands by
	Fence uint64 // of the node that has the station; 0 from an older control plane
	Host  string // of that node, where this one stands by
	Floor int    // above the numbers of all segments before; 0: unknown
	Other string // where the other node is; empty: there is none, or an older control plane
}

// subject is where orders to a node in this stage come.
func (s Stage) subject(order string) string {
	if s.Fence == 0 {
		return order
	}
	return fenced(order, s.Fence, s.Spare)
}

// tenant is the node's side of the lease.
type tenant struct {
	log   *slog.Logger
	bus   *bus.Bus
	me    leaseAsk
	terms terms
	next  func() int // the number of the relay's next segment; nil: nobody says
	look  *lookout   // at the node that has the station, while this one stands by

	known uint64 // the highest fence so far
	told  string // the holder that was logged last
}

// request asks once, and waits as long for the answer. until is when the node must stop
// obeying if it is not granted again.
func (t *tenant) request(ctx context.Context, wait time.Duration) (got leaseAnswer, until time.Time, err error) {
	ask := t.me
	ask.Known = t.known
	if t.look != nil {
		ask.Sight = t.look.sight()
	}
	if t.next != nil {
		ask.Next = t.next()
	}
	asked := time.Now()
	got, err = bus.Call[leaseAnswer](ctx, t.bus, subjectLease, wait, ask)
	if err != nil {
		return leaseAnswer{}, time.Time{}, err
	}
	t.known = max(t.known, got.Fence)
	if got.Held > 0 && got.Renew > 0 {
		t.terms.held, t.terms.renew = got.Held, got.Renew
	}
	switch {
	case got.Spare && got.Holder != t.told:
		t.log.Info("this node is the spare", "holder", got.Holder, "node", t.me.Name, "fence", got.Fence)
		t.told = got.Holder
	case !got.Granted && got.Holder == t.me.Name && got.Holder != t.told:
		t.log.Info("the station is still kept for this node as it was before a reboot", "lease_ends_in", got.Left.Round(time.Millisecond))
		t.told = got.Holder
	case !got.Granted && got.Holder != t.told:
		t.log.Error("another node has the station, this one takes no orders: stop one of the two",
			"holder", got.Holder, "node", t.me.Name, "lease_ends_in", got.Left.Round(time.Millisecond))
		t.told = got.Holder
	case got.Granted && t.told != "":
		t.log.Info("this node has the station now", "node", t.me.Name, "fence", got.Fence)
		t.told = ""
	}
	return got, asked.Add(t.terms.held), nil
}

// patience is how long a node waits for an answer: over a line that is full that takes a
// second and more. With the station or as the spare no longer than it may be so.
func (t *tenant) patience(is Stage, until time.Time) time.Duration {
	wait := t.terms.held / 2
	if is != (Stage{}) {
		wait = max(min(wait, time.Until(until)), time.Millisecond)
	}
	return wait
}

// pause is how long a node without the station waits before it asks again.
func (t *tenant) pause(got leaseAnswer, err error) time.Duration {
	switch {
	case err != nil:
		return t.terms.renew / 3 // the control plane may be starting
	case got.Left > 0:
		return min(t.terms.renew, got.Left) // no node waits longer than the term
	}
	return t.terms.renew
}

// run asks until ctx ends. In each stage as runs, whose context ends with the stage; an
// error of its own ends run.
func (t *tenant) run(ctx context.Context, as func(ctx context.Context, was, now Stage) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error // set before cancel
	var was, is Stage
	var until time.Time
	var playing sync.WaitGroup
	end := func() {}
	turn := func(next Stage) {
		if next == is {
			return
		}
		end()
		playing.Wait()
		if is != (Stage{}) {
			was = is
		}
		is, end = next, func() {}
		if next == (Stage{}) {
			return
		}
		var staged context.Context
		staged, end = context.WithCancel(ctx)
		before := was
		playing.Go(func() {
			if err := as(staged, before, next); err != nil && staged.Err() == nil {
				failed = err
				cancel()
			}
		})
	}
	for {
		got, later, err := t.request(ctx, t.patience(is, until))
		switch {
		case got.Granted:
			until = later
			turn(Stage{OnAir: true, Fence: got.Fence, Floor: got.Floor, Other: got.Other})
		case got.Spare:
			until = later
			if t.look != nil {
				t.look.at(got.Fence, got.Host)
			}
			turn(Stage{Spare: true, Fence: got.Fence, Host: got.Host, Other: got.Other})
		case err == nil, !time.Now().Before(until):
			turn(Stage{})
		}
		wait := t.pause(got, err)
		if is != (Stage{}) {
			wait = t.terms.renew
			if err != nil {
				wait = t.terms.renew / 2
			}
			wait = min(wait, max(0, time.Until(until)))
		}
		if retry.Pause(ctx, wait) != nil {
			end()
			playing.Wait()
			return failed
		}
	}
}
