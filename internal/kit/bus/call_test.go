package bus_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

type sum struct{ A, B int }

// A refusal keeps its kind and its words over the bus; silence is unavailable,
// within the time that was given; a caller who gives up hears that.
func TestCallsKeepTheKindOfAnError(t *testing.T) {
	t.Parallel()
	e := embed(t, 0)
	t.Cleanup(e.Close)
	server, asker := connect(t, e.URL(), token), connect(t, e.URL(), token)
	testkit.Eventually(t, "both connected", func() bool { return server.Up() && asker.Up() })
	within := time.Minute // beyond what any answer takes on a busy machine
	call := func(ctx context.Context, s sum) (int, error) {
		return bus.Call[int](ctx, asker, "sum", within, s)
	}
	if _, err := call(t.Context(), sum{1, 2}); !errors.Is(err, station.ErrUnavailable) || !errors.Is(err, bus.ErrUnreachable) {
		t.Errorf("nobody serves: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_ = server.Serve(ctx, "sum", 4, bus.Answering(func(ctx context.Context, in sum) (int, error) {
			switch {
			case in.A < 0:
				return 0, fmt.Errorf("no sum of %d: %w", in.A, station.ErrConflict)
			case in.A == 0:
				<-ctx.Done()
			}
			return in.A + in.B, nil
		}))
	})
	t.Cleanup(func() { cancel(); done.Wait() })
	testkit.Eventually(t, "an answer", func() bool { got, err := call(t.Context(), sum{1, 2}); return err == nil && got == 3 })
	if _, err := call(t.Context(), sum{-1, 0}); !errors.Is(err, station.ErrConflict) || err.Error() != "no sum of -1: conflict" {
		t.Errorf("a refusal: %v", err)
	}
	within = 300 * time.Millisecond
	if _, err := call(t.Context(), sum{0, 0}); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("no answer: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := call(gone, sum{1, 2}); !errors.Is(err, context.Canceled) || errors.Is(err, station.ErrUnavailable) {
		t.Errorf("gone: %v", err)
	}
}
