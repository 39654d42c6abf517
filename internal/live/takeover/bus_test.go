package takeover_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/bus"
	"github.com/athir-radio/athir/internal/live/desk/tape"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

// busDesk is the desk's own bus in virtual time: it ticks every 20 ms, and each stream of
// an order has a tape that a tone comes on while the test says so.
type busDesk struct {
	mu      sync.Mutex
	changed chan struct{}
	mix     *bus.Mixer
	version uint64
	tapes   map[string]*tape.Ring
	level   map[string]float64 // of what comes; absent: nothing does
	phase   int
	aired   []string // what was on the bus, one after another; "" is the rotation
}

func newBusDesk() *busDesk {
	return &busDesk{changed: make(chan struct{}), mix: bus.New(bus.Options{}), tapes: map[string]*tape.Ring{}, level: map[string]float64{}}
}

func (d *busDesk) run(ctx context.Context) {
	tick := time.NewTicker(live.Tick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			d.tick(now)
		}
	}
}

func (d *busDesk) tick(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, level := range d.level {
		if tape := d.tapes[id]; tape != nil {
			var pcm []byte
			for n := range live.FrameSamples {
				v := uint16(int16(level * 32767 * math.Sin(float64(d.phase*live.FrameSamples+n)/20)))
				pcm = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(pcm, v), v)
			}
			_, _ = tape.Write(pcm)
		}
	}
	d.phase++
	f := d.mix.Tick(now)
	if n := len(d.aired); n == 0 || d.aired[n-1] != f.Air.ID {
		d.aired = append(d.aired, f.Air.ID)
	}
	d.tell()
}

func (d *busDesk) tell() {
	if v := d.mix.Version(); v != d.version {
		d.version = v
		close(d.changed)
		d.changed = make(chan struct{})
	}
}

func (d *busDesk) Put(_ context.Context, o live.Order) (live.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.mix.Order(o, now)
	sources := o.Next
	if o.Air != nil {
		sources = append([]live.Source{*o.Air}, sources...)
	}
	for i, s := range sources {
		if d.tapes[s.ID] == nil && i < 3 {
			d.tapes[s.ID] = tape.New()
			d.mix.Attach(s, d.tapes[s.ID], 100*time.Millisecond, now)
		}
	}
	d.tell()
	return d.mix.Report(now), nil
}

func (d *busDesk) Report(ctx context.Context, after uint64) (live.Report, error) {
	late := time.NewTimer(10 * time.Second)
	defer late.Stop()
	for {
		d.mu.Lock()
		r, changed := d.mix.Report(time.Now()), d.changed
		d.mu.Unlock()
		if r.Version != after {
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

// sounds says how loud a stream is that comes; a negative level: nothing comes.
func (d *busDesk) sounds(id string, level float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.level[id] = level; level < 0 {
		delete(d.level, id)
	}
}

func (d *busDesk) story() (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(out, d.aired...)
}

// The takeover and the bus agree about who is on the air, whatever happens: the mission's
// table once more, with the decisions of the real bus.
func TestTakeoverAndBusAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := newBusDesk()
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		all.Go(func() { desk.run(ctx) })
		reg, err := registry.Open(registry.Options{Log: quiet(t), Store: &shelf{}})
		if err != nil {
			t.Fatal(err)
		}
		take := takeover.New(takeover.Options{
			Log: quiet(t), Streams: reg, Record: reg, Desk: desk,
			Probe: func(context.Context) (bool, error) { return true, nil }, OnAir: func() (string, time.Time) { return "live", time.Now() },
		})
		all.Go(func() { _ = take.Run(ctx) })
		id := map[string]string{}
		for _, name := range []string{"a", "b"} {
			s, err := reg.Register(t.Context(), registry.Fields{URL: "http://" + name + ".example/", Title: name})
			if err != nil {
				t.Fatal(err)
			}
			id[name] = s.ID
		}
		time.Sleep(time.Second)
		expect := func(what, air string) {
			t.Helper()
			synctest.Wait()
			r, _ := desk.Report(t.Context(), 0)
			s := take.Status()
			active := ""
			if s.Active != nil {
				active = s.Active.ID
			}
			if r.Air != id[air] || active != id[air] {
				t.Fatalf("%s: the bus has %q, the takeover %q, want %s\n%+v", what, r.Air, active, air, r)
			}
		}
		// Nothing comes: after 8 s the start has failed, and the rotation went on.
		if _, err := take.Start(t.Context(), id["a"], "", ""); !errors.Is(err, station.ErrConflict) {
			t.Fatalf("no audio: %v", err)
		}
		expect("no audio", "")
		// It comes and says nothing: the takeover stands, and the rotation goes on until the
		// first sound.
		desk.sounds(id["a"], 0)
		if _, err := take.Start(t.Context(), id["a"], "", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if s := take.Status(); s.State != takeover.OnLive || s.Active.State != live.Waiting || s.Active.OnAir {
			t.Errorf("before the first sound: %+v", s.Active)
		}
		desk.sounds(id["a"], 0.3)
		time.Sleep(time.Second)
		expect("the first sound", "a")
		if s := take.Status(); s.Active.OnAir { // the harbor is none of the bus's
			t.Errorf("%+v", s.Active)
		}
		// A hole that is filled.
		desk.sounds(id["a"], -1)
		time.Sleep(3 * time.Second)
		expect("a hole", "a")
		if s := take.Status(); s.Active.State != live.Grace || take.Presence("", id["a"]).State != "grace" {
			t.Errorf("in a hole: %+v", s.Active)
		}
		desk.sounds(id["a"], 0.3)
		time.Sleep(time.Second)
		// Failover, to the candidate that is warm.
		desk.sounds(id["b"], 0.3)
		time.Sleep(12 * time.Second)
		if s := take.Status(); s.WouldFollow != "b" {
			t.Errorf("would follow: %q", s.WouldFollow)
		}
		desk.sounds(id["a"], -1)
		time.Sleep(time.Second)
		expect("failover", "b")
		// The first is back and does not take the air.
		desk.sounds(id["a"], 0.3)
		time.Sleep(15 * time.Second)
		expect("no ping-pong", "b")
		// Handed over: no rotation between.
		before := len(desk.story())
		if _, err := take.Hand(t.Context(), id["a"]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		expect("handed over", "a")
		if story := desk.story()[before:]; len(story) != 1 || story[0] != id["a"] {
			t.Errorf("on the bus while handing over: %q", story)
		}
		// Silence for 20 s, with nobody to follow.
		desk.sounds(id["b"], -1)
		desk.sounds(id["a"], 0)
		time.Sleep(30 * time.Second)
		expect("silent", "")
		desk.sounds(id["a"], 0.3)
		time.Sleep(15 * time.Second)
		expect("what ended does not take the air back", "")
		// Started again, by order, though it failed.
		if _, err := take.Start(t.Context(), id["a"], "", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		expect("again", "a")
		if _, err := take.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		expect("stopped", "")
		if r, _ := desk.Report(t.Context(), 0); r.Ended == nil || r.Ended.Failed || r.Ended.Why != "stopped by the studio" {
			t.Errorf("ended %+v", r.Ended)
		}
	})
}
