package takeover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// What is believed of the desk, and what follows:
//
//	belief                    | evidence                          | what is done
//	--------------------------|-----------------------------------|----------------------------
//	well                      | a report                          | its end of a stream is followed
//	restarted, in time        | it counts anew, away <= 3 s       | the order is sent again
//	restarted, too late       | it counts anew, away > 3 s        | normal mix
//	away                      | the node says so, for > 3 s       | normal mix
//	unknown: the bus is cut   | any other error                   | nothing; only a stop is sent
//
// If "away" is wrong, a broadcast ends that could have gone on: the engine returned to the
// rotation when the desk went, so that is heard already. If "unknown" is wrong, the state
// shows a broadcast that has ended, until the next report.

// sighted takes one look at the desk.
func (c *control) sighted(s sighting) {
	now := c.now()
	if s.err != nil {
		c.unheard(s.err, now)
		return
	}
	r, gap := s.report, time.Duration(0)
	if !c.away.IsZero() {
		gap = now.Sub(c.away)
		c.t.opt.Log.Info("live desk is heard again", "after", gap.Round(time.Millisecond))
	}
	c.report, c.known, c.heardAt, c.away, c.deskAway = r, true, now, time.Time{}, time.Time{}
	if c.sight.restarted(r) {
		c.restarted(r, gap)
	}
	c.sight.Version = r.Version
	if r.Epoch == c.sight.Epoch {
		c.sight.Taken = max(c.sight.Taken, r.Number)
	}
	if e, ok := observe(c.state, c.sight, r); ok {
		c.happens(e)
	}
	if r.Ended != nil && c.sight.holds(r) {
		c.sight.Ended = *r.Ended
	}
	if r.Recording != nil && r.Air != "" && r.Air == c.state.Active {
		c.recording = r.Recording.Name
	}
	c.cast.consider(c)
}

func (c *control) unheard(err error, now time.Time) {
	if c.known {
		c.t.opt.Log.Warn("nothing is heard of the live desk", "err", err)
	}
	c.known = false
	if c.away.IsZero() {
		c.away = now
	}
	if !errors.Is(err, ErrAway) {
		c.deskAway = time.Time{}
	} else if c.deskAway.IsZero() {
		c.deskAway = now
	}
}

// restarted decides what becomes of the order that the desk forgot.
func (c *control) restarted(r live.Report, gap time.Duration) {
	c.t.opt.Log.Warn("live desk was restarted", "away", gap.Round(time.Millisecond), "epoch", r.Epoch)
	c.sight.Taken, c.sight.Ended = 0, live.Ending{}
	if gap > 0 { // else those of the new one could be among them
		c.cast.withoutEncoders(c.now().Add(-gap))
	}
	if c.sight.holds(r) { // an order that was tried again has reached it already
		return
	}
	c.taken = false
	if gap > awayFor {
		c.happens(event{What: lost, Why: "the live desk was away for too long"})
		return
	}
	c.happens(event{What: forgotten, Why: "the live desk was restarted"})
	if c.state.Phase == starting || c.state.Phase == handing {
		c.firstBy = c.now().Add(patience)
	}
}

// acked takes the answer to an order.
func (c *control) acked(a ack) {
	c.flying = false
	c.abort()
	if a.number != c.newest.Number { // another is to be sent anyway
		return
	}
	if a.err == nil && a.report.Epoch == c.sight.Epoch && a.report.Number >= a.number {
		c.taken, c.failures = true, 0
		for _, w := range c.acks {
			w <- nil
		}
		c.acks = nil
		return
	}
	if a.err == nil {
		a.err = fmt.Errorf("the desk answers with order %d of %.20q: %w", a.report.Number, a.report.Epoch, station.ErrUnavailable)
	}
	if c.failures == 0 {
		c.t.opt.Log.Warn("cannot give the live desk its order, trying again", "number", a.number, "err", a.err)
	}
	c.retryAt = c.now().Add(min(firstPause<<min(c.failures, 10), longPause))
	c.failures++
}

// due is how long until late has something to do.
func (c *control) due() time.Duration {
	at := c.now().Add(time.Hour)
	for _, t := range []time.Time{c.firstBy, c.awayUntil(), c.cast.leftBy(), c.showUntil()} {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if !c.taken && !c.flying && c.retryAt.Before(at) && (c.known || c.newest.Air == nil) {
		at = c.retryAt
	}
	return max(0, at.Sub(c.now()))
}

func (c *control) awayUntil() time.Time {
	if c.deskAway.IsZero() || c.state.Phase == mix {
		return time.Time{}
	}
	return c.deskAway.Add(awayFor + time.Millisecond)
}

func (c *control) showUntil() time.Time {
	if c.show == nil {
		return time.Time{}
	}
	return time.UnixMilli(c.show.Until)
}

// late does what is due.
func (c *control) late() {
	now := c.now()
	past := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	if past(c.firstBy) {
		c.firstBy = time.Time{}
		id := c.state.Active
		if c.state.Phase == handing {
			id = c.state.Target
		}
		c.happens(event{What: noAudio, ID: id, Why: fmt.Sprintf("no audio came within %s", patience)})
	}
	if past(c.awayUntil()) {
		c.happens(event{What: lost, Why: "the live desk is away"})
	}
	if past(c.showUntil()) {
		c.t.opt.Log.Info("show is over", "title", c.show.Title)
		c.show, c.why = nil, "the show is over"
	}
	for _, id := range c.cast.away(now) {
		if c.draws(id) {
			c.t.opt.Log.Warn("live source is said to have left, and its audio comes: it stays on the air", "id", id)
			continue
		}
		c.gone(id, "it left and did not come back")
	}
}

// draws reports that the desk fetches a stream by itself, and has its audio on the air now.
// That an RTMP encoder left is read from nginx's statistics, which a machine that is short
// does not give; the desk hears nginx itself. If it is wrong, it finds the hole within 5 s.
func (c *control) draws(id string) bool {
	s, err := c.t.opt.Streams.Source(id)
	r, ok := find(c.report.Sources, id)
	return err == nil && !pushed(s.URL) && c.known && ok && r.State == live.OnAir
}

// gone takes a stream off the air, for the next that sounds.
func (c *control) gone(id, why string) {
	if c.state.Phase == handing && c.state.Target == id {
		c.happens(event{What: noAudio, ID: id, Why: why})
	}
	if c.state.Phase == mix || c.state.Active != id {
		return
	}
	e := event{What: gone, Why: why}
	for _, s := range c.nexts() {
		if r, ok := find(c.report.Sources, s.ID); ok && s.ID != id && sounding(r.State) {
			e.ID = s.ID
			break
		}
	}
	c.happens(e)
}

// withoutRemoved takes off the air what is no longer registered.
func (c *control) withoutRemoved() {
	for _, id := range []string{c.state.Target, c.state.Active} {
		if id == "" {
			continue
		}
		if _, err := c.t.opt.Streams.Source(id); errors.Is(err, station.ErrNotFound) {
			c.gone(id, "it was removed")
		}
	}
}

// forgetRemoved drops what is kept of streams that are registered no longer: an account that
// sends to one mount after another makes new ones for ever. Of one that is still sent, or on
// the air, it is kept until the next time.
func (c *control) forgetRemoved() {
	kept := c.cast.connected()
	kept[c.state.Active], kept[c.state.Target] = true, true
	for id := range c.cast.publisher {
		if kept[id] {
			continue
		}
		if _, err := c.t.opt.Streams.Source(id); errors.Is(err, station.ErrNotFound) {
			delete(c.cast.publisher, id)
			delete(c.cast.announce, id)
		}
	}
}

// look is what is done each second.
func (c *control) look() {
	now := c.now()
	c.ranking = c.ranking || now.Sub(c.rankedAt) >= rankEvery
	c.withoutRemoved()
	if id := c.cast.refused(c); id != "" {
		c.gone(id, "its publisher may no longer be on the air")
	}
	if c.state.Phase == onAir || c.state.Phase == handing {
		c.chore("note that a live stream is live", c.state.Active, c.touch(now))
		if p := c.cast.publisher[c.state.Active]; p != "" && c.t.opt.Aired != nil {
			c.chore("note that a publisher is live", p, func(ctx context.Context, id string) error { return c.t.opt.Aired(ctx, id, now) })
		}
		if !c.lasts && c.known && c.report.Air == c.state.Active && now.Sub(c.airedAt) >= lasting {
			c.lasts = true
			c.cast.well(c.state.Active)
			c.chore("forget the failures of a live stream", c.state.Active, c.t.opt.Record.Succeeded)
		}
	}
	c.cast.consider(c)
}
