package desk

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
)

// rollEvery is how often the control plane is told of all encoders.
const rollEvery = 5 * time.Second

// callRoll tells the control plane of all encoders that it was told of, again and again: one
// that was started anew does not know them. What it answers is under which id it has each of
// them now, which its orders name; who may no longer send is found out by askAgain.
func (d *Desk) callRoll(ctx context.Context) {
	failing := false
	for retry.Pause(ctx, rollEvery) == nil {
		answer, err := d.opt.Control.Roll(ctx, d.roll())
		if err != nil && !failing && ctx.Err() == nil {
			d.opt.Log.Warn("cannot tell the control plane of all encoders, trying again", "why", err)
		}
		if failing = err != nil; !failing {
			d.renamed(answer.Streams)
		}
	}
}

// roll are the encoders that the control plane was told of.
func (d *Desk) roll() live.Roll {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := live.Roll{Protocol: live.Icecast, Senders: []live.Arrival{}}
	for _, p := range d.pushes {
		if p.src.ID != "" {
			out.Senders = append(out.Senders, p.arrival)
		}
	}
	return out
}

// renamed takes the ids of the streams of encoders, by session.
func (d *Desk) renamed(streams map[string]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.pushes {
		if id := streams[p.arrival.Session]; p.src.ID != "" && id != "" {
			p.src.ID = id
		}
	}
	d.attachPushes()
	d.tell()
}
