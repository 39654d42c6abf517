package takeover

import (
	"context"
	"errors"
	"fmt"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// goneAfter is how many rolls in a row lack an encoder that is gone.
const goneAfter = 2

// Roll compares what is known of encoders with what one part of the node says of all it
// takes in (see the table at census). An encoder of an account that is not there any more
// is refused, whatever its name says now. One that cannot be registered is tried again with
// the next roll, and keeps the answer for the others from nobody. Errors: station.ErrInvalid,
// and that of a takeover that has ended.
func (t *Takeover) Roll(ctx context.Context, r live.Roll) (live.RollAnswer, error) {
	answer := live.RollAnswer{Streams: map[string]string{}, Refused: map[string]string{}}
	if err := checkRoll(r); err != nil {
		return answer, err
	}
	var found []live.Arrival
	var bare []session
	err := t.do(ctx, func(c *control) {
		var lost []*session
		lost, found = c.cast.rolled(r)
		for _, s := range lost {
			c.left(live.Leaving{ID: s.stream, Publisher: s.Publisher, Session: s.Session, Why: "the node no longer has it", Broke: true})
		}
		bare = c.bare(r)
	})
	if err != nil {
		return answer, err
	}
	for _, a := range found {
		s, failure := t.opt.Streams.Arrived(ctx, a) // it may have been removed since
		err := t.do(ctx, func(c *control) {
			if failure != nil {
				c.unregistered(a, failure)
			} else {
				c.adoptEncoder(s.ID, a)
			}
		})
		if err != nil {
			return answer, err
		}
	}
	for _, was := range bare {
		s, failure := t.opt.Streams.Arrived(ctx, was.Arrival)
		if err := t.do(ctx, func(c *control) { c.again(was, s.ID, failure) }); err != nil {
			return answer, err
		}
	}
	return answer, t.do(ctx, func(c *control) { c.answerRoll(r, answer) })
}

// bare are the encoders in a roll whose streams were removed, by the studio or to make room,
// and that are to be registered again: it is the sound that the node has, and orders that
// name what is gone bring none. Of an account that sends by all the streams it may have there
// is none: one would push out the other for ever.
func (c *control) bare(r live.Roll) (out []session) {
	kept, counted := map[string]int{}, map[string]bool{} // streams by account
	for _, s := range c.cast.sessions {
		if s.Publisher != "" && !counted[s.stream] && c.registered(s) {
			kept[s.Publisher]++
			counted[s.stream] = true
		}
	}
	for _, a := range r.Senders {
		s, known := c.cast.sessions[a.Session]
		if !known || s.URL != a.URL || c.registered(s) || s.Publisher != "" && (!c.may(s).Allowed || kept[s.Publisher] >= live.MostOwned) {
			continue
		}
		kept[s.Publisher]++
		out = append(out, *s)
	}
	return out
}

// registered reports that a session's stream has not been removed.
func (c *control) registered(s *session) bool {
	_, err := c.t.opt.Streams.Source(s.stream)
	return !errors.Is(err, station.ErrNotFound)
}

// again takes an encoder whose stream was removed under another. It does not take the air by
// itself: the studio may have had it in mind when it removed the stream.
func (c *control) again(was session, stream string, failure error) {
	s, known := c.cast.sessions[was.Session]
	switch {
	case !known || s.stream != was.stream:
	case failure != nil:
		if !s.bare {
			c.t.opt.Log.Warn("cannot register a live source whose stream was removed, trying again", "publisher", s.Publisher, "session", s.Session, "why", failure)
		}
		s.bare = true
	default:
		if h, held := c.cast.holds[s.stream]; held && s.Publisher == "" {
			c.cast.holds[stream] = h
			delete(c.cast.holds, s.stream)
		}
		c.takeIn(stream, s.Arrival, false)
		c.cast.sessions[s.Session].tried = true
	}
}

// unregistered logs, once, that a stranger has no stream: the disk is full, or there are too
// many. It stays a stranger.
func (c *control) unregistered(a live.Arrival, why error) {
	for _, sessions := range c.cast.strangers {
		if logged, there := sessions[a.Session]; there && !logged {
			sessions[a.Session] = true
			c.t.opt.Log.Warn("cannot take in an encoder that was there before, trying again", "publisher", a.Publisher, "session", a.Session, "why", why)
		}
	}
}

func (c *control) answerRoll(r live.Roll, answer live.RollAnswer) {
	for _, a := range r.Senders {
		s, known := c.cast.sessions[a.Session]
		if !known || s.URL != a.URL {
			continue
		}
		if s.Publisher != "" {
			if may := c.may(s); !may.Allowed {
				answer.Refused[s.Session] = may.Detail
				continue
			}
		}
		if c.registered(s) {
			answer.Streams[s.Session] = s.stream
		}
	}
}

func checkRoll(r live.Roll) error {
	if r.Protocol != live.RTMP && r.Protocol != live.Icecast {
		return fmt.Errorf("protocol: %.20q calls no roll: %w", r.Protocol, station.ErrInvalid)
	}
	if len(r.Senders) > live.MostSenders {
		return fmt.Errorf("senders: must be %d at most: %w", live.MostSenders, station.ErrInvalid)
	}
	for _, a := range r.Senders {
		if err := checkSession(a.Session); err != nil {
			return err
		}
		if !r.Has(a.Protocol) {
			return fmt.Errorf("senders: %.20q is not of the roll of %s: %w", a.Protocol, r.Protocol, station.ErrInvalid)
		}
	}
	return nil
}

// rolled takes one roll: lost are those that it and the one before lack, found those that
// both have and that are not known.
func (k *cast) rolled(r live.Roll) (lost []*session, found []live.Arrival) {
	before, there, strangers := k.strangers[r.Protocol], map[string]bool{}, map[string]bool{}
	for _, a := range r.Senders {
		_, known := k.sessions[a.Session]
		logged, again := before[a.Session]
		if !known && again && !there[a.Session] {
			found = append(found, a)
		}
		there[a.Session] = true
		if !known {
			strangers[a.Session] = logged
		}
	}
	k.strangers[r.Protocol] = strangers
	for _, s := range k.ordered() {
		switch {
		case !r.Has(s.Protocol):
		case there[s.Session]:
			s.missed = 0
		default:
			if s.missed++; s.missed >= goneAfter {
				lost = append(lost, s)
			}
		}
	}
	return lost, found
}

// adoptEncoder takes in an encoder that was connected before the control plane was there.
// It does not take the air by itself: the restart has taken that from whoever had it.
func (c *control) adoptEncoder(stream string, a live.Arrival) {
	if _, known := c.cast.sessions[a.Session]; known || len(c.cast.sessions) >= mostSessions {
		return
	}
	c.t.opt.Log.Info("live source was there before", "id", stream, "publisher", a.Publisher, "session", a.Session)
	c.takeIn(stream, a, false)
	c.cast.sessions[a.Session].tried = true
}
