package takeover

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const (
	// audienceEvery is how often listeners are counted while something is live.
	audienceEvery = 5 * time.Second
	// tellTries bounds the tries to tell a recording its listeners, lastTold how long the
	// end of the control plane waits for that.
	tellTries = 24
	lastTold  = time.Second
	// mostCounted is how many recordings are remembered: a source that comes back goes on
	// in its recording, and so does the count.
	mostCounted = 16
)

// AudienceOptions of an Audience. All are required.
type AudienceOptions struct {
	Log       *slog.Logger
	Takeover  *Takeover
	Listeners func() int // the station's, now
	// Stream notes the present audience of a stream.
	Stream func(id string, n int) error
	// Recording tells the node how many heard what it has recorded. Errors:
	// station.ErrNotFound, station.ErrUnavailable.
	Recording func(ctx context.Context, name string, average float64, most int) error
}

// Audience counts who listens while something is live, for the ranking and for recordings.
type Audience struct {
	opt    AudienceOptions
	counts []*count // the oldest first
}

// count is the audience of one recording.
type count struct {
	name         string
	sum, samples int
	most         int
	running      bool
	untold       bool
	tries        int
}

// NewAudience makes an Audience; nothing is counted before Run.
func NewAudience(o AudienceOptions) *Audience { return &Audience{opt: o} }

// Run counts until ctx ends, and then tells what is not told.
func (a *Audience) Run(ctx context.Context) error {
	tick := time.NewTicker(audienceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTold)
			defer cancel()
			a.under("")
			a.tell(last)
			return nil
		case <-tick.C:
			a.look(ctx)
			a.tell(ctx)
		}
	}
}

// look counts once.
func (a *Audience) look(ctx context.Context) {
	s, n := a.opt.Takeover.Status(), a.opt.Listeners()
	if s.Active != nil && s.Active.OnAir {
		if err := a.opt.Stream(s.Active.ID, n); err != nil && !errors.Is(err, station.ErrNotFound) {
			a.opt.Log.Warn("cannot note the listeners of a live stream", "id", s.Active.ID, "err", err)
		}
	}
	if s.Active == nil && !slices.ContainsFunc(a.counts, func(c *count) bool { return c.running }) {
		return
	}
	r, known := a.opt.Takeover.Look(ctx)
	if !known { // whether it is still under way is not known
		return
	}
	if r.Recording == nil {
		a.under("")
		return
	}
	c := a.under(r.Recording.Name)
	c.sum, c.samples, c.most = c.sum+n, c.samples+1, max(c.most, n)
}

// under returns the count of the recording under way, and ends those of others; empty:
// none is.
func (a *Audience) under(name string) (now *count) {
	for _, c := range a.counts {
		if c.name == name {
			now = c
		} else if c.running {
			c.running, c.untold, c.tries = false, true, 0
		}
	}
	if name == "" {
		return nil
	}
	if now == nil {
		now = &count{name: name}
		a.counts = append(a.counts, now)
		a.counts = a.counts[max(0, len(a.counts)-mostCounted):]
	}
	now.running, now.untold = true, false
	return now
}

// tell tells the recordings that have ended. What was not taken is told again.
func (a *Audience) tell(ctx context.Context) {
	for _, c := range a.counts {
		if !c.untold {
			continue
		}
		err := a.opt.Recording(ctx, c.name, float64(c.sum)/float64(c.samples), c.most)
		if c.tries++; err == nil || errors.Is(err, station.ErrNotFound) || errors.Is(err, station.ErrInvalid) {
			c.untold = false
		} else if c.tries == tellTries {
			c.untold = false
			a.opt.Log.Warn("cannot tell a recording how many listened", "recording", c.name, "err", err)
		}
		if err != nil && ctx.Err() != nil {
			return
		}
	}
}
