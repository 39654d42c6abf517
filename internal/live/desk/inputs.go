package desk

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/input"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

const (
	// the pauses between two tries of an input.
	firstTry, slowestTry = 200 * time.Millisecond, 5 * time.Second
	// healthy is for how long an input must have run for its next failure to be the first.
	healthy = 10 * time.Second
	// dubious is how many failures in a row make a candidate one that does not work: the
	// next one is kept warm instead, and this one tried again after ever longer pauses.
	dubious                = 4
	firstRest, longestRest = 30 * time.Second, 10 * time.Minute
	// what is kept in hand of a source to begin with. A phone's audio has been through a jitter
	// buffer, and comes by the clock of this machine.
	cushionPipe, cushionNear, cushionFar = 60 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond
)

// running is an input that is kept open.
type running struct {
	src      live.Source
	tape     *tape.Ring
	cancel   context.CancelFunc
	failures atomic.Int32
}

// open starts the inputs that should be warm and ends the others. The caller holds mu.
func (d *Desk) open() {
	if d.all == nil || d.life.Err() != nil {
		return
	}
	d.forget(time.Now())
	wanted := d.warm()
	for id, r := range d.inputs {
		if src, ok := wanted[id]; ok && src.URL == r.src.URL {
			continue
		}
		r.cancel()
		delete(d.inputs, id)
		d.mix.Detach(id, r.tape, "", time.Now())
	}
	for id, src := range wanted {
		if d.inputs[id] == nil {
			d.inputs[id] = d.start(src)
		}
	}
	d.openBed()
	d.openCarts()
	d.attachPushes()
}

// warm are the sources that are opened from here: the air's, the first that follows and
// works, who is heard, and who is listened to.
func (d *Desk) warm() map[string]live.Source {
	out := map[string]live.Source{}
	add := func(s live.Source) {
		if !strings.HasPrefix(s.URL, live.SourceScheme) {
			out[s.ID] = s
		}
	}
	for _, l := range d.listen {
		if l.src.URL != "" {
			add(l.src)
		}
	}
	if d.order.Air != nil {
		add(*d.order.Air)
	}
	for _, s := range d.mix.Heard() {
		add(s)
	}
	ready := false
	for _, s := range d.order.Next {
		if !ready && (d.order.Air == nil || s.ID != d.order.Air.ID) {
			add(s)
			r := d.inputs[s.ID]
			// One that fails is still tried, and the next one beside it.
			ready = d.mix.Fit(s.ID, time.Now()) || r == nil && !strings.HasPrefix(s.URL, live.SourceScheme) ||
				r != nil && r.failures.Load() < dubious
		}
		if d.listen[s.ID] != nil {
			add(s)
		}
	}
	return out
}

// start opens an input and keeps it open.
func (d *Desk) start(src live.Source) *running {
	ctx, cancel := context.WithCancel(d.life)
	r := &running{src: src, tape: tape.New(), cancel: cancel}
	cushion := cushionNear
	switch {
	case live.Piped(src.URL):
		cushion = cushionPipe
	case strings.HasPrefix(src.URL, "http"):
		cushion = cushionFar
	}
	d.mix.Attach(src, r.tape, cushion, time.Now())
	in, err := input.New(src.URL, input.Options{Fetch: d.opt.Fetch, RTMPOwn: d.opt.RTMPOwn, RTMPPlay: d.opt.RTMPPlay})
	if err != nil {
		d.mix.Detach(src.ID, r.tape, err.Error(), time.Now())
		d.opt.Log.Warn("live source cannot be opened", "id", src.ID, "why", err)
		return r
	}
	d.all.Go(func() error {
		d.keep(ctx, r, in)
		return nil
	})
	return r
}

// keep runs an input again and again until ctx ends.
func (d *Desk) keep(ctx context.Context, r *running, in input.Input) {
	for {
		begun := time.Now()
		_, before := r.tape.Span()
		err := in.Run(ctx, r.tape)
		if ctx.Err() != nil {
			return
		}
		r.tape.Cut()
		if _, after := r.tape.Span(); after > before && time.Since(begun) > healthy {
			r.failures.Store(0)
		}
		failures := r.failures.Add(1)
		why := "the source has ended"
		if err != nil && !errors.Is(err, io.EOF) {
			why = err.Error()
		}
		d.mu.Lock()
		d.mix.Trouble(r.src.ID, why)
		needed, isBed := d.needed(r), r == d.bed
		d.tell()
		d.mu.Unlock()
		switch {
		case isBed && failures == dubious:
			d.opt.Log.Warn("the bed of the show does not play, trying again", "failures", failures, "why", why)
		case failures == 1 || failures == dubious:
			d.opt.Log.Info("live source broke off, trying again", "id", r.src.ID, "failures", failures, "why", why)
		}
		pause := retry.Doubled(firstTry, slowestTry, int(failures))
		if _, pipe := in.(*input.Pipe); pipe {
			pause = firstTry // a path on this machine costs nothing to look at
		} else if failures >= dubious && !needed {
			pause = retry.Doubled(firstRest, longestRest, int(failures)-dubious+1)
		}
		if retry.Pause(ctx, pause) != nil {
			return
		}
	}
}

// needed reports that an input is wanted on the air, and is never left to rest. The bed of
// a show is: nothing takes its place. The caller holds mu.
func (d *Desk) needed(r *running) bool {
	on, _ := d.mix.On()
	return r == d.bed || on.ID == r.src.ID || d.order.Air != nil && d.order.Air.ID == r.src.ID
}
