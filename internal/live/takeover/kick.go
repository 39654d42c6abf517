package takeover

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// Kick ends the session of a phone or an encoder; why is told to a phone's page. Whose it is
// may connect again, as encoders do by themselves, and then waits for the studio: for as long
// as after a stop it neither takes the air by itself nor follows another.
//
// An encoder is off the air at once, whether or not the node can be told to disconnect it.
// Errors: station.ErrConflict for the studio's own microphone; those of Options.Disconnect.
func (t *Takeover) Kick(ctx context.Context, session, why string) error {
	// One that is not known is a phone from which nothing has come yet, or nobody's.
	who := live.Arrival{Protocol: live.WHIP, Session: session}
	err := t.do(ctx, func(c *control) {
		s, known := c.cast.sessions[session]
		if !known {
			return
		}
		if who = s.Arrival; who.Protocol == live.Internal {
			return
		}
		c.t.opt.Log.Info("live source is disconnected by the studio", "id", s.stream, "publisher", s.Publisher, "session", session)
		h := c.cast.hold(s.whose())
		h.out = c.now().Add(stoppedFor)
		h.until = later(h.until, h.out)
		if s.stream == c.state.Active && !s.waits {
			h.taken = h.out
		}
		if s.Protocol != live.WHIP { // the WHIP server tells of a phone's end, and who has the pipe then
			c.left(live.Leaving{ID: s.stream, Publisher: s.Publisher, Session: session, Why: "disconnected by the studio"})
		}
		c.settle()
	})
	switch {
	case err != nil:
		return err
	case who.Protocol == live.Internal:
		return fmt.Errorf("the studio's own microphone is ended where it was opened, or by a stop: %w", station.ErrConflict)
	}
	return t.opt.Disconnect(ctx, who, why)
}

// whose is what a session's hold goes by: its account, or the stream of one without.
func (s *session) whose() string { return cmp.Or(s.Publisher, s.stream) }

// whose is that of who last sent a stream.
func (k *cast) whose(stream string) string { return cmp.Or(k.publisher[stream], stream) }

// heldUntil is until when an account, or a stream of none, does not take the air by itself;
// zero: it may.
func (k *cast) heldUntil(whose string, now time.Time) time.Time {
	if h, ok := k.holds[whose]; ok && now.Before(h.until) {
		return h.until
	}
	return time.Time{}
}

// outLast puts those that the studio has disconnected behind all others. They are among them:
// a start that names none is the studio's as well.
func (c *control) outLast(all []live.Stream) []live.Stream {
	var in, out []live.Stream
	for _, s := range all {
		if c.cast.out(s.ID, c.now()) {
			out = append(out, s)
		} else {
			in = append(in, s)
		}
	}
	return append(in, out...)
}

// outs are the candidates of whom the studio has disconnected.
func (c *control) outs() map[string]bool {
	out := map[string]bool{}
	for _, s := range c.candidates() {
		if c.cast.out(s.ID, c.now()) {
			out[s.ID] = true
		}
	}
	return out
}

// out reports that the studio has disconnected who sends a stream, so that it is put on the
// air by nobody else.
func (k *cast) out(stream string, now time.Time) bool {
	h, ok := k.holds[k.whose(stream)]
	return ok && now.Before(h.out)
}

// encoders are those that are connected, the oldest first.
func (c *control) encoders() []live.Encoder {
	out := []live.Encoder{}
	for _, s := range c.cast.ordered() {
		if s.Protocol != live.Icecast && s.Protocol != live.RTMP {
			continue
		}
		e := live.Encoder{
			Session: s.Session, Stream: s.stream, Protocol: s.Protocol, Publisher: s.Publisher,
			Name: cmp.Or(c.t.opt.Presenter(s.Publisher).Publisher.Name, s.Creator), Since: s.since.UnixMilli(),
		}
		if until := c.cast.heldUntil(s.whose(), c.now()); !until.IsZero() {
			e.HeldUntil = until.UnixMilli()
		}
		out = append(out, e)
	}
	return out
}
