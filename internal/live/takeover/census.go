package takeover

import (
	"context"
	"maps"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// The WHIP server, the desk and the relay tell who comes and who goes. One that is killed
// tells nothing, and a control plane that was killed has not heard it. So phones are looked
// at, and the desk and the relay call the roll of their encoders:
//
//	belief                          | evidence                               | what is done
//	--------------------------------|----------------------------------------|--------------------------
//	a phone is gone                 | two looks in a row lack it, and        | as if its connection broke
//	                                | nothing was told between them          |
//	a phone has the pipe            | the same                               | as if that had been told
//	a phone was there before us     | the first two looks that agree have it | known; it waits for the studio
//	encoders are gone with the desk | the desk counts anew, after an absence | forgotten
//	an encoder is gone              | two rolls in a row lack it             | as if its connection broke
//	the studio's microphone is gone | the same, and no other has come since  | a stop
//	an encoder was there before us  | two rolls in a row have it, its end    | known; it waits for the studio
//	                                | was not told between them              |
//	an encoder's stream was removed | the registry has it no longer, and a   | registered again; it waits for
//	                                | roll has the encoder                   | the studio
//
// Rolls are two because one may be late: sent before an arrival, or an end, that overtook
// it. If a phone's or an encoder's going is wrong, it has five seconds to be told of again;
// if the others are, the next two looks or rolls say so. A node that is not heard of calls
// no roll, and nobody is forgotten.
const (
	censusEvery  = 2 * time.Second
	censusWithin = 2 * time.Second
)

// census is what the looks at the WHIP server have shown.
type census struct {
	news  uint64          // counts what was told of comings and goings
	at    uint64          // news at the last look
	holds map[string]bool // the sessions of the last look; nil: there was none
	done  bool            // two looks agreed, so who was here before us is known
}

// count looks at the WHIP server's sessions until ctx ends.
func (t *Takeover) count(ctx context.Context) error {
	for t.opt.Phones != nil && rest(ctx, censusEvery) {
		wanted, asked := false, uint64(0)
		if t.do(ctx, func(c *control) { wanted, asked = c.cast.countable(), c.cast.census.news }) != nil || !wanted {
			continue
		}
		within, cancel := context.WithTimeout(ctx, censusWithin)
		all, err := t.opt.Phones(within)
		cancel()
		_ = t.do(ctx, func(c *control) { c.counted(all, err, asked) }) // or it ends
	}
	return nil
}

// countable reports whether there may be phones.
func (k *cast) countable() bool {
	for _, s := range k.sessions {
		if s.Protocol == live.WHIP {
			return true
		}
	}
	return !k.census.done
}

// counted takes one look.
func (c *control) counted(all []live.Session, err error, asked uint64) {
	n := &c.cast.census
	holds := map[string]bool{}
	for _, s := range all {
		if s.State != "connecting" { // it is not told of before its audio comes
			holds[s.ID] = s.Holds
		}
	}
	agree := err == nil && n.holds != nil && n.at == asked && n.news == asked && maps.Equal(n.holds, holds)
	if n.holds, n.at = holds, n.news; err != nil || asked != n.news {
		n.holds = nil
	}
	if !agree {
		return
	}
	first := !n.done
	n.done = true
	for _, s := range c.cast.ordered() {
		if _, there := holds[s.Session]; !there && s.Protocol == live.WHIP {
			c.left(live.Leaving{ID: s.stream, Publisher: s.Publisher, Session: s.Session, Why: "the WHIP server has lost it", Broke: true})
		}
	}
	for _, one := range all {
		s, known := c.cast.sessions[one.ID]
		switch {
		case known && one.Holds && s.waits:
			c.arrived(s.stream, s.Arrival, false)
		case !known && first && one.State != "connecting":
			c.adopt(one)
		}
	}
}

// adopt takes in a phone that was connected before the control plane was there. It does
// not take the air by itself: the restart has taken that from whoever had it.
func (c *control) adopt(one live.Session) {
	src, err := c.t.opt.Streams.Pipe()
	if err != nil { // it was removed
		return
	}
	c.t.opt.Log.Info("live source was there before", "id", src.ID, "publisher", one.Publisher, "session", one.ID, "holds", one.Holds)
	a := live.Arrival{Protocol: live.WHIP, URL: src.URL, Title: one.Title, Creator: one.Name, Publisher: one.Publisher, Session: one.ID}
	c.cast.sessions[one.ID] = &session{Arrival: a, stream: src.ID, since: time.UnixMilli(one.Since), tried: true, waits: !one.Holds}
	if one.Holds {
		c.cast.publisher[src.ID] = one.Publisher
	}
	c.cast.census.news++
	c.ranking = true
}

// withoutEncoders forgets the encoders that were connected to a desk before it went.
func (k *cast) withoutEncoders(before time.Time) {
	maps.DeleteFunc(k.sessions, func(_ string, s *session) bool {
		return (s.Protocol == live.Icecast || s.Protocol == live.Internal) && s.since.Before(before)
	})
}
