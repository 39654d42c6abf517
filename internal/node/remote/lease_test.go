package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/station"
)

// countingEngine counts the orders it gets.
type countingEngine struct {
	playout.Engine
	skips atomic.Int32
}

func (c *countingEngine) Skip(context.Context) error {
	c.skips.Add(1)
	return nil
}
func (c *countingEngine) Status(context.Context) (playout.Status, error) {
	return playout.Status{Engine: "engine"}, nil
}

// Of two nodes with the right credentials one takes the orders. The other is named, on
// both sides, and has the station once the first is gone.
func TestOneOfTwoNodesTakesTheOrders(t *testing.T) {
	t.Parallel()
	inside, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: testkit.Port(t), Admit: bustest.Admit("token")})
	must(t, err)
	t.Cleanup(inside.Close)
	join := func(name string) *bus.Bus {
		b, err := bus.Connect(bus.Options{Log: slog.New(slog.DiscardHandler), URL: inside.URL(), Name: name, Login: bus.Login{Token: "token"}})
		must(t, err)
		t.Cleanup(b.Close)
		return b
	}
	patient := terms{granted: time.Hour, held: 10 * time.Minute, renew: 200 * time.Millisecond}
	control := join("control")
	controlLog, controlLines := testkit.Log(t)
	testkit.Eventually(t, "the bus", control.Up)
	lease := openLease(controlLog, filepath.Join(t.TempDir(), "holder.json"), patient, Places{}, nil)
	var later atomic.Int64 // how far the lease's clock is ahead
	lease.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	testkit.Background(t, func(ctx context.Context) error { return lease.serve(ctx, control) })
	start := func(id string) (*countingEngine, *testkit.Lines, func()) {
		engine := &countingEngine{}
		log, lines := testkit.Log(t)
		o := Orders{
			Log: log, Line: join(id), Engine: engine, Playlist: filepath.Join(t.TempDir(), "main.m3u"),
			Cache: t.TempDir(), MaxBytes: 1 << 30, Control: "http://127.0.0.1:1", ID: id, Name: "machine of " + id, terms: patient,
		}
		return engine, lines, testkit.Background(t, o.Run)
	}
	here := &Engine{bus: control, to: lease.to, here: func(path string) string { return path }}
	ordered := int32(0)
	skip := func() error {
		err := here.Skip(t.Context())
		if err == nil {
			ordered++
		}
		return err
	}

	one, _, stopOne := start("one")
	testkit.EventuallyNil(t, "an order", skip)
	two, twoLines, _ := start("two")
	testkit.Eventually(t, "the second is named", func() bool {
		return twoLines.Count("another node has the station", "machine of one") > 0 &&
			controlLines.Count("a second node asks for the station and is refused", "machine of two", "machine of one") > 0
	})
	for range 20 {
		must(t, skip())
	}
	if one.skips.Load() != ordered || two.skips.Load() != 0 {
		t.Errorf("%d orders: the first node took %d, the second %d", ordered, one.skips.Load(), two.skips.Load())
	}
	if err := lease.Admit("one", 1); err != nil {
		t.Errorf("markers of the first: %v", err)
	}
	for _, other := range []string{"two", ""} {
		// While the first is held up and does not ask, it is not decided.
		testkit.EventuallyNil(t, fmt.Sprintf("markers of %q refused", other), func() error {
			if err := lease.Admit(other, 1); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "machine of one") {
				return fmt.Errorf("answered %w", err)
			}
			return nil
		})
	}

	stopOne()
	later.Store(int64(2 * time.Hour))
	ordered = 0
	testkit.EventuallyNil(t, "the second takes orders", skip)
	if two.skips.Load() != ordered {
		t.Errorf("%d orders after the change, %d taken", ordered, two.skips.Load())
	}
	if err := lease.Admit("two", 2); err != nil {
		t.Errorf("markers of the second: %v", err)
	}
}

// The station stays with its node while the control plane is away, and goes to another
// only once the first has not asked for a whole term.
func TestARestartGivesTheStationToNoOtherNode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "holder.json")
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		granted := func(l *Lease, id string) bool {
			t.Helper()
			a, err := l.ask(t.Context(), leaseAsk{ID: id, Name: id})
			must(t, err)
			return a.Granted
		}
		first := openLease(log, path, usualTerms(), Places{}, nil)
		if err := first.Admit("a", 1); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("markers before any node has the station: %v", err) // the engine repeats them
		}
		if !granted(first, "a") || granted(first, "b") {
			t.Error("the first to ask has the station, and nobody else")
		}
		if !granted(first, "a") {
			t.Error("a node that was restarted waits for itself")
		}
		again := openLease(log, path, usualTerms(), Places{}, nil) // the control plane was restarted
		if err := again.Admit("a", 1); err != nil {
			t.Errorf("markers of the node after the restart: %v", err)
		}
		if granted(again, "b") {
			t.Error("another node was quicker after the restart")
		}
		// The node may be the same after a reboot: its markers are repeated until that shows.
		if err := again.Admit("b", 2); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("markers while the holder has not asked: %v", err)
		}
		if !granted(again, "a") {
			t.Error("the holder is refused")
		}
		if err := again.Admit("b", 2); !errors.Is(err, station.ErrConflict) {
			t.Errorf("markers of a second node: %v", err)
		}
		time.Sleep(usualTerms().granted)
		if err := again.Admit("b", 2); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("markers while nobody has the station: %v", err)
		}
		if !granted(again, "b") || granted(again, "a") {
			t.Error("a node that is gone keeps the station")
		}
	})
	if u := usualTerms(); u.held+u.renew >= u.granted { // a question may take renew
		t.Errorf("a node may obey for %v and the station be another's after %v", u.held+u.renew, u.granted)
	}
}

// Over a line that is full an answer takes a second and more; and whoever waits for it obeys
// no longer than its term.
func TestANodeWaitsForASlowAnswerWithinItsTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &tenant{terms: spareTerms()}
		if got := n.patience(Stage{}, time.Time{}); got < time.Second {
			t.Errorf("a node without the station waits for %v", got)
		}
		for left, want := range map[time.Duration]time.Duration{
			n.terms.held: n.terms.held / 2, 300 * time.Millisecond: 300 * time.Millisecond, -time.Second: time.Millisecond,
		} {
			if got := n.patience(Stage{OnAir: true, Fence: 1}, time.Now().Add(left)); got != want {
				t.Errorf("%v before the end of its term it waits for %v, want %v", left, got, want)
			}
		}
	})
}

// Who waits for a node that is gone asks again when its term ends, not up to a whole
// pause later.
func TestNoNodeWaitsLongerThanTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := openLease(slog.New(slog.DiscardHandler), filepath.Join(t.TempDir(), "holder.json"), usualTerms(), Places{}, nil)
		ask := func(id string) leaseAnswer {
			t.Helper()
			a, err := lease.ask(t.Context(), leaseAsk{ID: id, Name: id})
			must(t, err)
			return a
		}
		ask("gone")
		time.Sleep(time.Second) // no multiple of the pause is a term now
		next := &tenant{terms: usualTerms()}
		begun := time.Now()
		for {
			a := ask("next")
			if a.Granted {
				break
			}
			time.Sleep(next.pause(a, nil))
		}
		if waited, left := time.Since(begun), usualTerms().granted-time.Second; waited != left {
			t.Errorf("waited for %v, the term ended after %v", waited, left)
		}
		if p := next.pause(leaseAnswer{}, nil); p != usualTerms().renew { // an older control plane does not say
			t.Errorf("a refusal without its end: again after %v", p)
		}
	})
}
