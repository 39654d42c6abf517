package takeover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// probeWithin bounds the question to the WHIP server.
	probeWithin = 3 * time.Second
	// stopWithin is how long Stop waits for the desk to take the order.
	stopWithin = 3 * time.Second
	// mostTries is how many candidates a start without id tries.
	mostTries = 2
)

// Start puts a stream on the air, and returns when its first audio has come. An empty id
// means the best of the ranking: where there is none the station stays in its normal mix,
// which is no error. While something is live, Start with another id hands over to it.
//
// Errors: station.ErrNotFound for an unknown id; station.ErrInvalid for an unknown mode;
// station.ErrConflict when the WHIP server has no feed for it, no audio comes within 8 s,
// or another start is under way; station.ErrUnavailable when nothing is heard of the desk.
func (t *Takeover) Start(ctx context.Context, id string, mode live.Mode, by string) (Status, error) {
	if mode == "" {
		mode = live.Replace
	}
	if mode != live.Replace && mode != live.Over {
		return t.Status(), fmt.Errorf("mode: must be %s or %s: %w", live.Replace, live.Over, station.ErrInvalid)
	}
	if id == "" {
		return t.startBest(ctx, mode, by)
	}
	s, err := t.opt.Streams.Find(id)
	if err != nil {
		return t.Status(), err
	}
	if err := t.probe(ctx, s); err != nil {
		return t.Status(), err
	}
	err = t.start(ctx, id, mode, by)
	return t.Status(), err
}

// startBest starts the best candidate, or the next where that brings no audio.
func (t *Takeover) startBest(ctx context.Context, mode live.Mode, by string) (Status, error) {
	var all []live.Stream
	busy := false
	if err := t.do(ctx, func(c *control) { all, busy = c.startable(), c.state.Phase != mix }); err != nil || busy {
		return t.Status(), err
	}
	var failure error
	tries := 0
	for _, s := range all {
		if tries == mostTries {
			break
		}
		if t.probe(ctx, s) != nil {
			continue
		}
		tries++
		if failure = t.start(ctx, s.ID, mode, by); !errors.Is(failure, station.ErrConflict) {
			break
		}
	}
	return t.Status(), failure
}

// startable are the candidates, and the phones' pipe, whose feed the WHIP server knows.
func (c *control) startable() []live.Stream {
	return c.among(func(s live.Stream, on map[string]bool) bool { return c.t.able(s, on) || live.Piped(s.URL) })
}

// probe asks the WHIP server for a feed, where the stream is its pipe.
func (t *Takeover) probe(ctx context.Context, s live.Stream) error {
	if !live.Piped(s.URL) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	on, err := t.opt.Probe(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("the WHIP server does not answer, so no phone is live: %w: %w", err, station.ErrConflict)
	case !on:
		return fmt.Errorf("the WHIP server has no feed: connect the phone first: %w", station.ErrConflict)
	}
	return nil
}

// start asks for a stream and waits for its first audio.
func (t *Takeover) start(ctx context.Context, id string, mode live.Mode, by string) error {
	answer := make(chan error, 1)
	err := t.do(ctx, func(c *control) {
		if !c.known {
			answer <- fmt.Errorf("nothing is heard of the live desk: is the broadcast node connected? %w", station.ErrUnavailable)
			return
		}
		c.cast.wanted(id)
		c.waiters[id] = append(c.waiters[id], answer)
		c.happens(event{What: askStart, ID: id, Mode: mode, By: by, Why: "started by " + orElse(by, byStudio)})
	})
	if err != nil {
		return err
	}
	return t.wait(ctx, answer)
}

func (t *Takeover) wait(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-t.open:
		return errEnded
	}
}

// Stop returns to the normal mix, and returns when the desk has taken the order. That is
// in force at once in any case; station.ErrUnavailable says that the desk has not been
// told yet.
func (t *Takeover) Stop(ctx context.Context, why string) (Status, error) {
	answer := make(chan error, 1)
	err := t.do(ctx, func(c *control) {
		c.cast.stopped(c.state.Active, c.now())
		c.happens(event{What: askStop, Why: orElse(why, "stopped by the studio")})
		c.settle()
		c.acks = append(c.acks, answer)
	})
	if err != nil {
		return t.Status(), err
	}
	within, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	if err = t.wait(within, answer); err != nil && ctx.Err() == nil && within.Err() != nil {
		err = fmt.Errorf("the live desk has not taken the order to stop; it gets it as soon as it is heard again: %w", station.ErrUnavailable)
	}
	return t.Status(), err
}

// Hand gives the air to another stream without a break: the one on the air goes on until
// audio of the other has come. Errors: as of Start; station.ErrConflict while nothing is
// live.
func (t *Takeover) Hand(ctx context.Context, id string) (Status, error) {
	s := t.status.Load()
	if s.Active == nil {
		return t.Status(), fmt.Errorf("nothing is live: start the stream instead: %w", station.ErrConflict)
	}
	return t.Start(ctx, id, s.Active.Mode, byStudio)
}

// longestShow bounds a show.
const longestShow = 24 * time.Hour

// Begin holds the air for a show between its presenters. bed is the path of a file on the
// node, or empty. Errors: station.ErrInvalid.
func (t *Takeover) Begin(ctx context.Context, title string, until time.Time, bed string) (Status, error) {
	now := t.opt.Now()
	switch {
	case strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > 200:
		return t.Status(), fmt.Errorf("title: must have 1 to 200 characters: %w", station.ErrInvalid)
	case !until.After(now) || until.Sub(now) > longestShow:
		return t.Status(), fmt.Errorf("until: must be within the next %s: %w", longestShow, station.ErrInvalid)
	}
	err := t.do(ctx, func(c *control) {
		c.show, c.why = &live.Show{Title: title, Until: until.UnixMilli(), Bed: bed}, "the show "+title+" has begun"
		c.t.opt.Log.Info("show holds the air", "title", title, "until", until.UTC())
		c.settle()
	})
	return t.Status(), err
}

// End ends the show; who is on the air stays. Without a show it does nothing.
func (t *Takeover) End(ctx context.Context) (Status, error) {
	err := t.do(ctx, func(c *control) {
		c.show, c.why = nil, "the show was ended by the studio"
		c.settle()
	})
	return t.Status(), err
}

// WrapUp gives whoever is on the air the sign to come to an end in some seconds, at most
// an hour; 0 takes it back. It goes with the end of the stream. Errors:
// station.ErrInvalid, station.ErrConflict while nothing is live.
func (t *Takeover) WrapUp(ctx context.Context, seconds int) (Status, error) {
	if seconds < 0 || seconds > 3600 {
		return t.Status(), fmt.Errorf("seconds: must be 0 to 3600: %w", station.ErrInvalid)
	}
	idle := false
	err := t.do(ctx, func(c *control) {
		switch idle = c.state.Phase == mix; {
		case idle:
		case seconds == 0:
			c.wrapUpAt = 0
		default:
			c.wrapUpAt = c.now().Add(time.Duration(seconds) * time.Second).UnixMilli()
		}
		c.settle()
	})
	if err == nil && idle {
		err = fmt.Errorf("nothing is live: %w", station.ErrConflict)
	}
	return t.Status(), err
}

// Arrived registers what a publisher has begun to send and returns its id. A publisher who
// may takes the air by itself. A phone that waits for the pipe changes nothing yet.
func (t *Takeover) Arrived(ctx context.Context, a live.Arrival) (id string, err error) {
	if err := checkSession(a.Session); err != nil {
		return "", err
	}
	waits := false
	err = t.do(ctx, func(c *control) {
		if id, waits = c.cast.waitsFor(a); waits {
			c.arrived(id, a, true)
		}
	})
	if err != nil || waits {
		return id, err
	}
	s, err := t.opt.Streams.Arrived(ctx, a)
	if err != nil {
		return "", err
	}
	return s.ID, t.do(ctx, func(c *control) { c.arrived(s.ID, a, false) })
}

func checkSession(id string) error {
	if id == "" || len(id) > 200 {
		return fmt.Errorf("session: must have 1 to 200 bytes: %w", station.ErrInvalid)
	}
	return nil
}

func (c *control) arrived(id string, a live.Arrival, waits bool) {
	c.takeIn(id, a, waits)
	c.cast.consider(c)
}

// takeIn is arrived without a right to the air.
func (c *control) takeIn(id string, a live.Arrival, waits bool) {
	before := c.cast.publisher[id]
	_, left := c.cast.leaving[id]
	c.cast.arrived(id, a, waits, c.now())
	c.ranking = true
	c.t.opt.Log.Info("live source arrived", "id", id, "protocol", a.Protocol, "publisher", a.Publisher, "session", a.Session, "waits", waits)
	if !waits && c.state.Active == id && c.state.Phase != starting {
		if before != "" && before != a.Publisher {
			c.turned(id, before, left)
		}
		c.cast.aired(id) // it is back while its place was kept
	}
}

// turned decides whether another publisher, who got the pipe of the stream on the air, may
// keep the air with it: by its own right, or because the studio passed the pipe on.
func (c *control) turned(id, before string, left bool) {
	who := c.cast.publisher[id]
	now := c.t.opt.Presenter(who)
	switch {
	case now.Allowed && now.Publisher.Auto && c.cast.heldUntil(who, c.now()).IsZero():
	case left:
		c.gone(id, "who waited behind it may not take the air without the studio")
		return
	default:
		c.cast.turned = turn{id, before, c.now()}
	}
	c.state.By, c.state.Since, c.wrapUpAt = orElse(now.Publisher.Name, c.state.By), c.now().UnixMilli(), 0
}

// Left notes that a session has ended. A stream without one leaves the air: at once where
// its presenter ended it or was sent away, and else if nothing comes back within 5 s.
func (t *Takeover) Left(ctx context.Context, l live.Leaving) error {
	return t.do(ctx, func(c *control) { c.left(l) })
}

func (c *control) left(l live.Leaving) {
	studio := c.cast.studio(l.Session)
	id, last := c.cast.gone(l)
	c.ranking = true
	c.t.opt.Log.Info("live source left", "id", id, "publisher", l.Publisher, "session", l.Session, "why", l.Why)
	passed := c.cast.turned
	switch {
	case id == "" || id != c.state.Active && id != c.state.Target:
	case passed.stream == id && passed.from == l.Publisher && c.now().Sub(passed.at) < turnedNow:
		c.gone(id, "who waited behind it may not take the air without the studio")
	case studio && last && id == c.state.Active: // back to automation (mission: Events, stop_stream)
		c.happens(event{What: askStop, Why: l.Why})
		c.settle()
	case !last:
	case !l.Broke:
		c.gone(id, l.Why)
	default:
		c.cast.leaving[id] = c.now().Add(comeBack)
	}
}

func (c *control) touch(now time.Time) func(context.Context, string) error {
	return func(ctx context.Context, id string) error { return c.t.opt.Record.Touch(ctx, id, now) }
}
