package takeover

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// control is what the loop owns.
type control struct {
	t      *Takeover
	orders chan flight
	chores chan func(context.Context)

	state state
	sight sight

	// What is known of the desk.
	report    live.Report
	known     bool
	heardAt   time.Time
	away      time.Time // since when nothing is heard; zero while known
	deskAway  time.Time // since when the node says that its desk is not there
	newest    live.Order
	flying    bool               // an order is under way
	abort     context.CancelFunc // gives that up
	taken     bool               // newest has been taken
	failures  int                // to deliver newest, in a row
	retryAt   time.Time
	force     bool   // send even when nothing has changed
	why       string // of the next order
	ranking   bool   // may have changed
	rankedAt  time.Time
	following []live.Source // Next, as ordered last

	firstBy time.Time // when the first audio is due
	waiters map[string][]chan error
	replies []func()     // to give when what they say is published
	acks    []chan error // of those who wait until the newest order is taken

	show     *live.Show
	wrapUpAt int64
	airedAt  time.Time // since when Active has been on the air
	lasts    bool      // it has been for long enough to be well

	recording  string    // the newest that the desk told of since Active was on the air
	quietUntil time.Time // what the engine says of the broadcast before may come till then

	cast cast
}

func newControl(t *Takeover) *control {
	return &control{
		t: t, orders: make(chan flight, 1), chores: make(chan func(context.Context), 64),
		sight: sight{Epoch: t.opt.Epoch}, waiters: map[string][]chan error{}, cast: newCast(),
	}
}

func (c *control) now() time.Time { return c.t.opt.Now() }

// begin orders the normal mix: what an earlier control plane had ordered has ended with it.
func (c *control) begin() {
	c.force, c.why = true, "the control plane was restarted"
	c.t.opt.Log.Info("live takeover begins with the normal mix", "epoch", c.t.opt.Epoch)
}

// happens carries out one transition.
func (c *control) happens(e event) {
	e.At = c.now().UnixMilli()
	was := c.state
	if r, ok := find(c.report.Sources, e.ID); e.What == askStart && ok {
		c.sight.Asked = r.Since
	} else if e.What == askStart {
		c.sight.Asked = -1
	}
	after, effects := next(was, e)
	c.state = after
	if was != after {
		c.t.opt.Log.Info("live takeover", "event", e.What.String(), "from", was.Phase.String(), "to", after.Phase.String(),
			"stream", after.Active, "target", after.Target, "before", was.Active, "by", e.By, "why", e.Why)
	}
	if was.Active != after.Active {
		c.lasts, c.wrapUpAt = false, 0
		if c.quiet(was.Active) {
			c.quietUntil = c.now().Add(quietFor)
		}
	}
	if was.Active != after.Active || was.Phase == starting {
		c.airedAt = c.now()
	}
	for _, f := range effects {
		c.carryOut(f, was)
	}
	if was.Active != after.Active {
		c.recording = ""
		if was.Phase != starting {
			c.cast.announced(was.Active)
		}
	}
}

func (c *control) carryOut(f effect, was state) {
	switch f.Do {
	case order:
		c.force, c.why = true, f.Why
	case deadline:
		c.firstBy = c.now().Add(patience)
	case started:
		c.cast.aired(f.ID)
		c.tell(Started, f.ID, was, f.Why)
	case handed:
		c.cast.aired(f.ID)
		c.cast.left(was.Active, c.now())
		c.tell(Handed, f.ID, was, f.Why)
	case follows:
		c.cast.aired(f.ID)
		c.cast.left(was.Active, c.now())
		c.tell(Follows, f.ID, was, f.Why)
	case ended:
		c.cast.left(f.ID, c.now())
		c.tell(Ended, f.ID, was, f.Why)
	case failed:
		c.cast.left(f.ID, c.now())
		c.count(f.ID)
		c.tell(Failed, f.ID, was, f.Why)
	case blame:
		c.count(f.ID)
	case accept:
		c.answer(f.ID, nil)
	case refuse:
		c.answer(f.ID, fmt.Errorf("it did not go live: %s: %w", orElse(f.Why, "stopped"), station.ErrConflict))
	}
}

// count notes a failure. What comes to the station by itself is not counted: it is a
// candidate only while it is connected, and the hold-down of its publisher keeps it from
// coming and going.
func (c *control) count(id string) {
	if s, err := c.t.opt.Streams.Source(id); err == nil && pushed(s.URL) {
		return
	}
	c.chore("count a failure of a live stream", id, c.t.opt.Record.Failed)
}

// pushed reports that an address is one that audio is sent to.
func pushed(url string) bool {
	return live.Piped(url) || strings.HasPrefix(url, live.SourceScheme)
}

// quietFor is how long after the end of a broadcast the engine's marker of its beginning
// may still come.
const quietFor = 10 * time.Second

// quiet reports that listeners are not to be told of a stream: it is a phone's, and its
// presenter has not asked for it.
func (c *control) quiet(id string) bool {
	s, err := c.t.opt.Streams.Source(id)
	return err == nil && live.Piped(s.URL) && !c.cast.announce[id]
}

func (c *control) chore(verb, id string, do func(context.Context, string) error) {
	log := c.t.opt.Log
	chore := func(ctx context.Context) {
		if err := do(ctx, id); err != nil && !errors.Is(err, station.ErrNotFound) && ctx.Err() == nil {
			log.Warn("cannot "+verb, "id", id, "err", err)
		}
	}
	select {
	case c.chores <- chore:
	default:
		log.Warn("cannot "+verb+": the disk does not keep up", "id", id)
	}
}

func (c *control) tell(kind EventKind, id string, was state, why string) {
	e := Event{Kind: kind, Stream: c.shown(id), Publisher: c.cast.publisher[id], By: c.state.By, Mode: c.state.Mode, Why: why, At: c.now().UnixMilli()}
	if kind == Ended || kind == Failed {
		e.By, e.Mode = was.By, was.Mode
	}
	if kind == Ended {
		e.Since = was.Since
	}
	if kind == Handed || kind == Follows {
		e.Before, e.Since = was.Active, was.Since
	}
	if kind != Started {
		e.Recording = c.recording
	}
	c.t.opt.Told(e)
}

// shown is a stream for people, also after it was removed.
func (c *control) shown(id string) live.Stream {
	if s, err := c.t.opt.Streams.Find(id); err == nil {
		return s
	}
	return live.Stream{ID: id}
}

// answer tells everybody who waits for a stream, once they can see what has become of it.
func (c *control) answer(id string, err error) {
	for _, w := range c.waiters[id] {
		c.replies = append(c.replies, func() { w <- err })
	}
	delete(c.waiters, id)
}

// settle sends what the state asks for, where that is another than what was sent, and
// publishes what is known.
func (c *control) settle() {
	if c.state.Phase != starting && c.state.Phase != handing {
		c.firstBy = time.Time{}
	}
	want := c.wanted()
	if c.force || !same(want, c.newest) {
		if c.force && c.flying { // it is out of date, and may hang
			c.abort()
		}
		c.sight.Number++
		want.Epoch, want.Number, want.Why = c.sight.Epoch, c.sight.Number, orElse(c.why, c.usualWhy(want))
		c.newest, c.taken, c.failures, c.retryAt = want, false, 0, time.Time{}
	}
	c.force, c.why = false, ""
	// While nothing is known of the desk only the normal mix is ordered.
	if !c.taken && !c.flying && (c.known || c.newest.Air == nil) && !c.now().Before(c.retryAt) {
		c.flying = true
		var abort context.Context
		abort, c.abort = context.WithCancel(context.Background())
		c.newest.Sent = c.now().UnixMilli()
		c.orders <- flight{c.newest, abort} // there is room: none is under way
	}
	c.publish()
	for _, reply := range c.replies {
		reply()
	}
	c.replies = nil
}

// usualWhy is the reason of an order that nothing else is the reason of. Why a broadcast ends
// stays so until it has ended.
func (c *control) usualWhy(want live.Order) string {
	if want.Air == nil && c.newest.Air == nil && (!c.taken || c.report.Air != "") {
		return c.newest.Why
	}
	return "the ranking has changed"
}

func same(a, b live.Order) bool {
	a.Epoch, a.Number, a.Sent, a.Why = b.Epoch, b.Number, b.Sent, b.Why
	return reflect.DeepEqual(a, b)
}

// mostNext is how many streams the desk is told of beside the one on the air.
const mostNext = 5

// wanted is the order that the state asks for, without its number.
func (c *control) wanted() live.Order {
	o := live.Order{Show: c.show}
	if c.state.Phase == mix {
		c.following, o.Next = nil, c.held()
		return o
	}
	air, err := c.t.opt.Streams.Source(c.state.Active)
	if err != nil { // removed this moment: withoutRemoved is about to see it
		return c.newest
	}
	air.Title = orElse(air.Title, orElse(air.Creator, "Live"))
	o.Air, o.Mode = &air, c.state.Mode
	if c.ranking || c.following == nil || c.newest.Air == nil || c.newest.Air.ID != air.ID || c.force {
		c.following = c.nexts()
		c.ranking, c.rankedAt = false, c.now()
	}
	o.Next = c.following
	return o
}

// nexts are the streams that follow, the best first.
func (c *control) nexts() []live.Source {
	out := []live.Source{}
	ids := []string{}
	if c.state.Target != "" {
		ids = append(ids, c.state.Target)
	}
	for _, s := range c.candidates() {
		if !c.cast.out(s.ID, c.now()) {
			ids = append(ids, s.ID)
		}
	}
	for i, id := range ids {
		if len(out) == mostNext {
			break
		}
		if id == c.state.Active || i > 0 && id == c.state.Target {
			continue
		}
		if s, err := c.t.opt.Streams.Source(id); err == nil {
			s.Title = orElse(s.Title, orElse(s.Creator, "Live"))
			out = append(out, s)
		}
	}
	return out
}

// held is the phones' pipe while one of them holds it and nothing is live. The desk reads it
// then, which costs nothing: the studio sees its level, and whether sound comes. What it would
// have to fetch and decode it leaves alone until something is live.
func (c *control) held() []live.Source {
	for _, s := range c.candidates() {
		if live.Piped(s.URL) {
			return []live.Source{{ID: s.ID, URL: s.URL, Title: orElse(s.Title, orElse(s.Creator, "Live")), Creator: s.Creator}}
		}
	}
	return nil
}

// candidates are the streams that may be aired and of which audio may be had, the best
// first. What is sent to the station is one only while somebody sends it.
func (c *control) candidates() []live.Stream { return c.among(c.t.able) }

// among are the streams that may be aired and meet a condition, the best first; on tells which
// are sent.
func (c *control) among(meets func(s live.Stream, on map[string]bool) bool) []live.Stream {
	on := c.connected()
	var out []live.Stream
	for _, s := range c.t.opt.Streams.Candidates(on) {
		if meets(s, on) {
			out = append(out, s)
		}
	}
	return c.outLast(out)
}

// able reports that audio of a stream may be had: somebody sends it, or the station fetches it.
func (t *Takeover) able(s live.Stream, on map[string]bool) bool { return on[s.ID] || !t.sent(s.URL) }

// sent reports that an address is one that audio is sent to, and of which the station knows
// whether it is.
func (t *Takeover) sent(url string) bool { return pushed(url) || t.opt.Sent != nil && t.opt.Sent(url) }

// connected are the streams from which audio comes now.
func (c *control) connected() map[string]bool {
	on := c.cast.sending()
	if c.known {
		for _, s := range c.report.Sources {
			if sounding(s.State) {
				on[s.ID] = true
			}
		}
	}
	return on
}
