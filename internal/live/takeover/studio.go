package takeover

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// byStudio is who the studio's orders are by.
const byStudio = "the studio"

// Studio is the takeover as the studio's buttons need it.
type Studio struct{ Takeover *Takeover }

// Start puts a stream on the air, the best when id is empty, and returns it once the desk
// sends it. Errors: as of Takeover.Start; station.ErrConflict where none may be aired.
func (s Studio) Start(ctx context.Context, id string, mode live.Mode) (live.Stream, error) {
	return s.active(s.Takeover.Start(ctx, id, mode, byStudio))
}

// Hand passes the air from the stream on it to another. Errors: as of Takeover.Hand.
func (s Studio) Hand(ctx context.Context, id string) (live.Stream, error) {
	return s.active(s.Takeover.Hand(ctx, id))
}

func (s Studio) active(now Status, err error) (live.Stream, error) {
	switch {
	case err != nil:
		return live.Stream{}, err
	case now.Active == nil:
		return live.Stream{}, fmt.Errorf("no live stream can be aired now; the rotation goes on: %w", station.ErrConflict)
	}
	return s.Takeover.opt.Streams.Find(now.Active.ID)
}

// Stop goes back to the rotation; false when nothing was live. Errors: as of
// Takeover.Stop.
func (s Studio) Stop(ctx context.Context) (stopped bool, err error) {
	before := s.Takeover.Status()
	_, err = s.Takeover.Stop(ctx, "stopped by the studio")
	return before.Active != nil, err
}

// WrapUp shows the presenter on the air a sign to end in so many seconds; 0 takes it back.
func (s Studio) WrapUp(ctx context.Context, in time.Duration) error {
	_, err := s.Takeover.WrapUp(ctx, int(in.Seconds()))
	return err
}

// Kick ends the session of a phone or an encoder. Errors: as of Takeover.Kick.
func (s Studio) Kick(ctx context.Context, session, why string) error {
	return s.Takeover.Kick(ctx, session, why)
}

// Show holds the air until a moment, whoever comes and goes; bed is a file on the node, or
// empty.
func (s Studio) Show(ctx context.Context, title string, until time.Time, bed string) error {
	_, err := s.Takeover.Begin(ctx, title, until, bed)
	return err
}

// EndShow lets it go.
func (s Studio) EndShow(ctx context.Context) error {
	_, err := s.Takeover.End(ctx)
	return err
}

// Busy reports that something is on the air or waits for it.
func (t *Takeover) Busy() bool {
	s := t.status.Load()
	return s.Active != nil || len(s.Waiting) > 0
}

// Ranked is a stream for people, and whether it may be put on the air now: somebody sends it, or
// the station would fetch it.
type Ranked struct {
	live.Stream
	Available bool
}

// Ranked are all streams: those that may be aired and of which audio may be had, as a start
// without id and a failover have them; those that nobody sends; the blacklisted ones.
func (t *Takeover) Ranked() []Ranked {
	s := t.status.Load()
	place := map[string]int{}
	for _, one := range t.opt.Streams.Candidates(s.on) {
		switch {
		case !t.able(one, s.on):
			place[one.ID] = 3
		case s.out[one.ID]:
			place[one.ID] = 2
		default:
			place[one.ID] = 1
		}
	}
	out := []Ranked{}
	for _, one := range t.opt.Streams.Ranked(s.on) {
		if place[one.ID] == 0 {
			place[one.ID] = 4
		}
		out = append(out, Ranked{one, t.able(one, s.on)})
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return place[a.ID] - place[b.ID] })
	return out
}
