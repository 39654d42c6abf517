package whip

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// faulty is a control plane that fails so many times, each time with err.
type faulty struct {
	Control
	err               error
	times             int
	arrivals, leavers int
}

func (f *faulty) fail() error {
	if f.times--; f.times >= 0 {
		return fmt.Errorf("it says (500): %w", f.err)
	}
	return nil
}

func (f *faulty) Arrived(context.Context, live.Arrival) (string, error) {
	err := f.fail()
	if err == nil {
		f.arrivals++
	}
	return "LIVE00000001", err
}

func (f *faulty) Left(context.Context, live.Leaving) error {
	err := f.fail()
	if err == nil {
		f.leavers++
	}
	return err
}

// A control plane with a fault of a moment hears of who came and who left; one with a fault
// that stays is not asked for ever, and the phone's page learns of it. One that is away is
// waited for.
func TestAFaultOfTheControlPlaneIsNoAbsence(t *testing.T) {
	const forEver = 1 << 30
	for _, c := range []struct {
		name  string
		err   error
		times int
		told  bool
	}{
		{"a fault of a moment", station.ErrInternal, 4, true},
		{"a fault that stays", station.ErrInternal, forEver, false},
		{"away for long", station.ErrUnavailable, 25, true},
		{"refused", station.ErrInvalid, forEver, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			control := &faulty{err: c.err, times: c.times}
			h := newHerald(control, "pipe:/p", slog.New(slog.DiscardHandler))
			ctx, stop := context.WithCancel(t.Context())
			defer synctest.Wait()
			defer stop()
			go h.run(ctx)
			one := &session{id: "one", done: make(chan struct{})}
			h.arrived(one)
			time.Sleep(time.Hour)
			synctest.Wait()
			if one.isOver() == c.told || (control.arrivals == 1) != c.told {
				t.Errorf("%s: told %d times, the session is over: %v", c.name, control.arrivals, one.isOver())
			}
			control.times = c.times
			h.left(&session{id: "two", stream: "LIVE00000001"}, "it left", false)
			time.Sleep(time.Hour)
			synctest.Wait()
			if (control.leavers == 1) != c.told {
				t.Errorf("%s: its end was told %d times", c.name, control.leavers)
			}
		})
	}
}
