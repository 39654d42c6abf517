package takeover_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
)

// Listeners are counted while something is live, and each recording is told its own
// average and most, also where it follows another, comes back, or cannot be told at once.
func TestRecordingsAreToldHowManyListened(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var listeners atomic.Int64
		var down atomic.Bool
		listeners.Store(10)
		var told []string // looked at while nothing runs
		a := takeover.NewAudience(takeover.AudienceOptions{
			Log: quiet(t), Takeover: r.Takeover, Listeners: func() int { return int(listeners.Load()) }, Stream: r.reg.SetListeners,
			Recording: func(_ context.Context, name string, average float64, most int) error {
				if down.Load() {
					return station.ErrUnavailable
				}
				told = append(told, fmt.Sprintf("%s %g %d", name, average, most))
				return nil
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Run(ctx) }()
		defer func() {
			cancel()
			<-done
		}()
		one, two := r.add("a"), r.add("b")
		r.after(time.Minute)
		r.mu.Lock()
		r.kind = "live"
		r.mu.Unlock()
		r.desk.change(func() { r.desk.taping = "a.mp3" })
		r.live(one)
		r.after(6 * time.Second)
		if s, _ := r.reg.Find(one); s.Listeners != 10 {
			t.Errorf("of the stream: %d", s.Listeners)
		}
		listeners.Store(40)
		r.after(10 * time.Second)
		// Another follows, with a recording of its own; the node is out of reach meanwhile.
		down.Store(true)
		r.desk.feed(two)
		r.desk.change(func() { delete(r.desk.feeds, one); r.desk.taping = "b.mp3" })
		r.expect(two, takeover.OnLive)
		listeners.Store(7)
		r.after(20 * time.Second)
		down.Store(false)
		r.after(5 * time.Second)
		if want := []string{"a.mp3 30 40"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		// The bus is cut: whether it goes on is not known.
		r.desk.cut(errCut)
		r.after(20 * time.Second)
		r.desk.cut(nil)
		r.after(20 * time.Second)
		if len(told) != 1 {
			t.Errorf("an end that was none: %q", told)
		}
		r.desk.change(func() { r.desk.taping = "" })
		if _, err := r.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		r.after(6 * time.Second)
		// It comes back within a minute and a half, and goes on in its file.
		r.desk.change(func() { r.desk.taping = "b.mp3" })
		listeners.Store(100)
		if _, err := r.Start(t.Context(), two, "", ""); err != nil {
			t.Fatal(err)
		}
		r.after(26 * time.Second)
		cancel() // the control plane ends: what is known is told
		synctest.Wait()
		if len(told) != 3 || told[1] != "b.mp3 7 7" {
			t.Fatalf("told %q", told)
		}
		var average float64
		var most int
		if _, err := fmt.Sscanf(told[2], "b.mp3 %g %d", &average, &most); err != nil || average <= 7 || average >= 100 || most != 100 {
			t.Errorf("of both parts: %q", told[2])
		}
	})
}

// phones is a WHIP server in memory.
type phones struct {
	mu    sync.Mutex
	all   []live.Session
	busy  bool
	relay error
	err   error
	asked int
}

func (p *phones) Sessions(context.Context) ([]live.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return slices.Clone(p.all), p.err
}

func (p *phones) Relay(context.Context) (live.RelayReport, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return live.RelayReport{Allocations: 3}, p.relay
}

func (p *phones) times() int { p.mu.Lock(); defer p.mu.Unlock(); return p.asked }

func (p *phones) becomes(change func()) { p.mu.Lock(); defer p.mu.Unlock(); change() }

// Counts of phones go on when a session ends and never shrink; and nobody is asked often
// while there are no phones.
func TestFiguresOfPhonesAreSumsThatNeverShrink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &phones{relay: station.ErrNotFound}
		p := takeover.NewPhones(server, func() (on bool) { server.becomes(func() { on = server.busy }); return on })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		defer func() {
			cancel()
			<-done
		}()
		after := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		after(time.Second)
		if f := p.Figures(); !f.Known || f.Sessions != 0 || f.Relay != nil || server.times() != 1 {
			t.Errorf("%+v, asked %d times", f, server.times())
		}
		after(10 * time.Minute)
		if server.times() > 11 {
			t.Errorf("asked %d times in ten minutes without a phone", server.times())
		}
		server.becomes(func() {
			server.busy, server.relay = true, nil
			server.all = []live.Session{
				{ID: "a", Packets: 100, Lost: 3, Frames: 90, Concealed: 2, Relayed: true},
				{ID: "b", Packets: 10, Lost: 1, Frames: 9, Concealed: 1, Holds: true, Muted: true, RTTMS: 80},
			}
		})
		after(5 * time.Second)
		f := p.Figures()
		if f.Packets != 110 || f.Lost != 4 || f.Frames != 99 || f.Concealed != 3 || f.Sessions != 2 || f.Relayed != 1 || f.Muted != 1 ||
			f.Heard == nil || f.Heard.RTTMS != 80 || f.Relay == nil || f.Relay.Allocations != 3 {
			t.Errorf("%+v", f)
		}
		server.becomes(func() {
			server.busy = false // a session is reason enough
			server.all = []live.Session{{ID: "b", Packets: 30, Lost: 1, Frames: 29, Concealed: 1}}
		})
		after(5 * time.Second)
		if f = p.Figures(); f.Packets != 130 || f.Lost != 4 || f.Sessions != 1 || f.Heard != nil {
			t.Errorf("one has gone, and the other went on: %+v", f)
		}
		server.becomes(func() { server.err = station.ErrUnavailable })
		after(5 * time.Second)
		if f = p.Figures(); f.Known || f.Sessions != 0 || f.Packets != 130 || f.Relay != nil {
			t.Errorf("away: %+v", f)
		}
		server.becomes(func() { server.err, server.busy, server.all[0].Packets = nil, true, 50 })
		after(5 * time.Second)
		if f = p.Figures(); f.Packets != 150 || !f.Known {
			t.Errorf("the same one after the answer was missed: %+v", f)
		}
		server.becomes(func() { server.all[0].Packets = 5 }) // it was started again, and counts anew
		after(5 * time.Second)
		if f = p.Figures(); f.Packets != 155 {
			t.Errorf("counts anew: %+v", f)
		}
	})
}
