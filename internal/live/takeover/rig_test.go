package takeover_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

// fakeDesk is a live desk without audio: whether audio of a source comes is what the test
// says. It takes orders, keeps two candidates warm, fails over, and reports as the real
// one does; and it misbehaves where the test says so.
type fakeDesk struct {
	mu      sync.Mutex
	changed chan struct{}
	order   live.Order
	version uint64
	feeds   map[string]bool // audio comes
	dead    map[string]string
	spent   string // ended by itself under the present order
	air     string
	since   int64
	ended   *live.Ending
	orders  []live.Order // taken, in order

	away    error         // instead of any answer
	losePut int           // so many orders are lost on their way
	loseAck int           // so many are taken and their answers lost
	slow    time.Duration // before an order is taken
	hasty   bool          // reports come at once though nothing has changed
	stuck   bool          // looks are not answered
	looks   int           // so many came
	held    int           // so many of them are not answered yet
	peak    float64       // of every source: no news
	taping  string        // the recording under way
	ahead   int64         // of its clock, ms
	mute    bool          // what is called makes no sound yet: it is not on the air
}

func newDesk() *fakeDesk {
	return &fakeDesk{changed: make(chan struct{}), feeds: map[string]bool{}, dead: map[string]string{}, version: 1}
}

var errCut = errors.New("the bus is cut")

// change makes a change to the desk and tells whoever waits.
func (d *fakeDesk) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	d.evaluate()
	d.version++
	close(d.changed)
	d.changed = make(chan struct{})
}

// evaluate is what the desk's clock does.
func (d *fakeDesk) evaluate() {
	now := time.Now().UnixMilli() + d.ahead
	end := func(why string, failed bool, next string) {
		d.ended = &live.Ending{ID: d.air, At: now, Why: why, Failed: failed, Next: next}
		d.air, d.since = next, now
	}
	if d.order.Air == nil {
		if d.air != "" {
			end(d.order.Why, false, "")
		}
		return
	}
	want := d.order.Air.ID
	if d.feeds[want] && want != d.spent {
		switch {
		case d.mute:
		case d.air == "":
			d.air, d.since = want, now
		case d.air != want:
			end("handed over", false, want)
		}
		return
	}
	if d.air != "" && !d.feeds[d.air] {
		next := ""
		for _, s := range d.order.Next {
			if d.feeds[s.ID] && s.ID != d.air && next == "" {
				next = s.ID
			}
		}
		d.spent = d.air
		end(or(d.dead[d.air], "no audio for 5 s"), true, next)
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func (d *fakeDesk) Put(ctx context.Context, o live.Order) (live.Report, error) {
	d.mu.Lock()
	slow, away, lost := d.slow, d.away, d.losePut > 0
	if lost {
		d.losePut--
	}
	d.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return live.Report{}, ctx.Err()
	}
	if away != nil || lost {
		return live.Report{}, errors.Join(away, errCut)
	}
	d.change(func() {
		if o.Epoch == d.order.Epoch && o.Number < d.order.Number {
			return
		}
		if o.Number != d.order.Number || o.Epoch != d.order.Epoch {
			d.orders = append(d.orders, o)
			if o.Air != nil && (d.order.Air == nil || o.Air.ID != d.order.Air.ID) {
				d.spent = ""
				delete(d.dead, o.Air.ID) // it is tried again
			}
		}
		d.order = o
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.loseAck > 0 {
		d.loseAck--
		return live.Report{}, errCut
	}
	return d.report(), nil
}

func (d *fakeDesk) report() live.Report {
	r := live.Report{
		Version: d.version, Epoch: d.order.Epoch, Number: d.order.Number, Air: d.air, AirSince: d.since, Harbor: d.air != "",
		Ended: d.ended, Sources: []live.SourceReport{},
	}
	if d.taping != "" {
		r.Recording = &live.RecordingReport{Name: d.taping, Since: d.since}
	}
	add := func(s live.Source) {
		if slices.ContainsFunc(r.Sources, func(o live.SourceReport) bool { return o.ID == s.ID }) {
			return
		}
		state := live.Connecting
		switch {
		case d.dead[s.ID] != "":
			state = live.Gone
		case d.air == s.ID:
			state = live.OnAir
		case d.feeds[s.ID] && d.order.Air != nil && d.order.Air.ID == s.ID:
			state = live.Waiting
		case d.feeds[s.ID]:
			state = live.Ready
		}
		r.Sources = append(r.Sources, live.SourceReport{ID: s.ID, URL: s.URL, Title: s.Title, State: state, Since: d.since, Why: d.dead[s.ID], PeakDBFS: d.peak})
	}
	if d.order.Air != nil {
		add(*d.order.Air)
	}
	for i, s := range d.order.Next {
		if i < 2 {
			add(s)
		}
	}
	for id, on := range d.feeds { // encoders that are connected are there in any case
		if on {
			add(live.Source{ID: id, URL: "rtmp://user:secret@x/" + id})
		}
	}
	return r
}

func (d *fakeDesk) Report(ctx context.Context, after uint64) (live.Report, error) {
	late := time.NewTimer(10 * time.Second)
	defer late.Stop()
	for {
		d.mu.Lock()
		changed, r, away, hasty, stuck := d.changed, d.report(), d.away, d.hasty, d.stuck && after == 0
		if after == 0 {
			d.looks++
		}
		d.mu.Unlock()
		if stuck {
			d.mu.Lock()
			d.held++
			d.mu.Unlock()
			<-ctx.Done()
			d.mu.Lock()
			d.held--
			d.mu.Unlock()
			return live.Report{}, ctx.Err()
		}
		if away != nil {
			return live.Report{}, away
		}
		if r.Version != after || hasty {
			return r, nil
		}
		select {
		case <-changed:
		case <-late.C:
			return r, nil
		case <-ctx.Done():
			return live.Report{}, ctx.Err()
		}
	}
}

// feed says that audio of a stream comes.
func (d *fakeDesk) feed(id string) { d.change(func() { d.feeds[id] = true; delete(d.dead, id) }) }

// stop says that it comes no more.
func (d *fakeDesk) stop(id, why string) {
	d.change(func() { delete(d.feeds, id); d.dead[id] = why })
}

// cut makes every answer an error; nil mends it.
func (d *fakeDesk) cut(err error) { d.change(func() { d.away = err }) }

// restart makes it another desk, which knows of no order; sources are connected again.
func (d *fakeDesk) restart() {
	d.change(func() {
		d.order, d.air, d.since, d.ended, d.spent, d.version = live.Order{}, "", 0, nil, "", 0
	})
}

func (d *fakeDesk) onAir() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.air
}

func (d *fakeDesk) last() live.Order {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.orders[len(d.orders)-1]
}

func (d *fakeDesk) taken() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.orders)
}

// shelf keeps the registry's document in memory.
type shelf struct {
	mu   sync.Mutex
	raw  json.RawMessage
	full error
}

func (s *shelf) Live() json.RawMessage { s.mu.Lock(); defer s.mu.Unlock(); return s.raw }
func (s *shelf) KeepLive(_ context.Context, raw json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full == nil {
		s.raw = raw
	}
	return s.full
}

// fill makes every change fail; nil has room again.
func (s *shelf) fill(err error) { s.mu.Lock(); defer s.mu.Unlock(); s.full = err }

// rig is a takeover with the real registry and a desk that the test moves, in a bubble.
type rig struct {
	*takeover.Takeover
	t     *testing.T
	desk  *fakeDesk
	reg   *registry.Registry
	disk  *shelf
	lines *testkit.Lines
	kill  func()

	mu     sync.Mutex
	told   []takeover.Event
	probe  func() (bool, error)
	kind   string
	people map[string]live.Admission
	phones []live.Session // those of the WHIP server; nil: it does not answer
	here   func(ms int64) int64
	kicked []string // sessions that the node was told to disconnect
	deaf   bool     // the node is not told
}

// inBubble runs a test with virtual time.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, desk: newDesk(), disk: &shelf{}, people: map[string]live.Admission{}, probe: func() (bool, error) { return true, nil }}
		log, lines := testkit.Log(t)
		r.lines = lines
		n := 0
		var err error
		r.reg, err = registry.Open(registry.Options{
			Log: log, Store: r.disk, Addresses: registry.Addresses{Pipes: "/p"}, Changed: func() {
				if r.Takeover != nil {
					r.Refresh()
				}
			},
			ID: func() string { n++; return fmt.Sprintf("LIVE%08x", n) },
		})
		if err != nil {
			t.Fatal(err)
		}
		r.start()
		defer func() { r.kill() }() // also of a test that ends early
		test(t, r)
	})
}

// start begins a control plane.
func (r *rig) start() {
	log, lines := testkit.Log(r.t)
	r.lines = lines
	ctx, cancel := context.WithCancel(context.Background())
	r.Takeover = takeover.New(takeover.Options{
		Log: log, Streams: r.reg, Record: r.reg, Desk: r.desk,
		Probe: func(context.Context) (bool, error) { return r.probe() },
		Sent:  func(url string) bool { return strings.HasPrefix(url, "rtmp://8.8.8.8/") }, // of sender
		OnAir: func() (string, time.Time) { r.mu.Lock(); defer r.mu.Unlock(); return r.kind, time.Now() },
		Phones: func(context.Context) ([]live.Session, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.phones == nil {
				return nil, errCut
			}
			return slices.Clone(r.phones), nil
		},
		Presenter: func(id string) live.Admission {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.people[id]
		},
		Disconnect: func(_ context.Context, who live.Arrival, why string) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.deaf {
				return station.ErrUnavailable
			}
			r.kicked = append(r.kicked, string(who.Protocol)+" "+who.Session+" "+why)
			return nil
		},
		Here: func(ms int64) int64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.here == nil || ms == 0 {
				return ms
			}
			return r.here(ms)
		},
		Told: func(e takeover.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.told = append(r.told, e)
		},
	})
	done := make(chan error, 1)
	go func(t *takeover.Takeover) { done <- t.Run(ctx) }(r.Takeover)
	r.kill = func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("run: %v", err)
		}
	}
	r.settled()
}

// settled lets everything happen that waits for no time to pass.
func (r *rig) settled() { synctest.Wait() }

// after lets time pass.
func (r *rig) after(d time.Duration) { time.Sleep(d); synctest.Wait() }

func (r *rig) add(title string) string {
	r.t.Helper()
	s, err := r.reg.Register(r.t.Context(), registry.Fields{URL: "http://a.example/" + title, Title: title, Creator: "by " + title})
	if err != nil {
		r.t.Fatal(err)
	}
	r.settled()
	return s.ID
}

// live puts a stream whose audio comes on the air.
func (r *rig) live(id string) {
	r.t.Helper()
	r.desk.feed(id)
	if _, err := r.Start(r.t.Context(), id, "", "the studio"); err != nil {
		r.t.Fatal(err)
	}
	r.settled()
	r.expect(id, takeover.OnLive)
}

// expect checks what the desk sends and what the status says, empty for the rotation.
func (r *rig) expect(id, state string) {
	r.t.Helper()
	r.settled()
	s := r.Status()
	got := ""
	if s.Active != nil {
		got = s.Active.ID
	}
	if r.desk.onAir() != id || got != id || s.State != state {
		r.t.Fatalf("on the air %q, status %s %q; want %s %q\n%+v", r.desk.onAir(), s.State, got, state, id, r.desk.last())
	}
}

// story are the events so far, as "kind title" each.
func (r *rig) story() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.told {
		out = append(out, string(e.Kind)+" "+or(e.Stream.Title, e.Stream.ID))
	}
	return strings.Join(out, ", ")
}

func (r *rig) person(id string, auto bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.people[id] = live.Admission{Allowed: true, Publisher: live.Presenter{ID: id, Name: "name of " + id, Auto: auto}}
}

// connect is a publisher's encoder, or phone, that begins to send.
func (r *rig) connect(publisher, session string) string {
	r.t.Helper()
	a := live.Arrival{Protocol: live.Icecast, URL: "source:/" + publisher, Title: publisher, Creator: publisher, Publisher: publisher, Session: session}
	if strings.HasPrefix(publisher, "phone") {
		a.Protocol, a.URL = live.WHIP, "pipe:/p/whip.pcm"
	}
	id, err := r.Arrived(r.t.Context(), a)
	if err != nil {
		r.t.Fatal(err)
	}
	r.desk.feed(id)
	r.settled()
	return id
}

// byPresenter ends a session for good; any other reason is a connection that broke.
const byPresenter = "ended by the publisher"

func (r *rig) disconnect(id, session, why string) {
	r.t.Helper()
	if err := r.Left(r.t.Context(), live.Leaving{ID: id, Session: session, Why: why, Broke: why != byPresenter}); err != nil {
		r.t.Fatal(err)
	}
	r.settled()
}

func quiet(t *testing.T) *slog.Logger {
	log, _ := testkit.Log(t)
	return log
}
