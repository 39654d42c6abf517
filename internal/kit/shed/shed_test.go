package shed_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Work waits while the gate is closed, for as long as it is paused again and again, and
// goes on by itself after the last pause: a gate that nobody opens must not hold it up
// for ever.
func TestWorkWaitsWhileTheMachineIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := testkit.Log(t)
		g := shed.New(log)
		if err := g.Wait(t.Context()); err != nil || g.Paused() {
			t.Fatalf("a new gate is closed: %v", err)
		}
		begin := time.Now()
		g.Pause("no processor")
		passed := make(chan time.Duration, 2)
		for range 2 {
			go func() {
				if g.Wait(t.Context()) == nil {
					passed <- time.Since(begin)
				}
			}()
		}
		for range 5 {
			time.Sleep(6 * time.Second)
			g.Pause("no processor")
			if len(passed) > 0 || !g.Paused() {
				t.Fatal("open while it is paused again and again")
			}
		}
		for range 2 {
			if after := <-passed; after < 30*time.Second+shed.Hold || after > 31*time.Second+shed.Hold {
				t.Errorf("open after %s", after)
			}
		}
		if g.Paused() || g.Pauses() != 1 || lines.Count("fingerprints are held up", "no processor") != 1 || lines.Count("fingerprints go on") != 1 {
			t.Errorf("%d pauses, log:\n%s", g.Pauses(), lines)
		}
	})
}

func TestWaitingEndsWithItsContextAndWithTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, _ := testkit.Log(t)
		g := shed.New(log)
		g.Pause("")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waited with %v", err)
		}
		g.Close()
		if err := g.Wait(t.Context()); err != nil {
			t.Errorf("a closed gate holds work up: %v", err)
		}
		var none *shed.Gate
		if err := none.Wait(t.Context()); err != nil {
			t.Errorf("no gate at all holds work up: %v", err)
		}
	})
}

// Work that is held up at each of its pieces, on one goroutine or on several, waits no
// longer in all than it may, and ends with its context.
func TestWorkIsHeldUpAtMostSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		always := func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(50 * time.Second):
				return nil
			}
		}
		for _, goroutines := range []int{1, 3} {
			hold, begin := shed.AtMost(always, shed.Most), time.Now()
			var work sync.WaitGroup
			for range goroutines {
				work.Go(func() {
					for range 10 {
						if err := hold(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			work.Wait()
			if took := time.Since(begin); took != shed.Most {
				t.Errorf("%d held up for %s in all", goroutines, took)
			}
		}
		if err := shed.AtMost(nil, time.Minute)(t.Context()); err != nil {
			t.Errorf("nothing holds it up: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := shed.AtMost(always, time.Minute)(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an ended context: %v", err)
		}
	})
}
