package remote

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// starved is a process that answers nothing for as long as it has no processor.
type starved struct{ asked atomic.Int32 }

func (s *starved) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A desk that has no processor is asked again and again. The orders whose callers have given
// up must neither keep their places nor be passed on later, and phones are disconnected
// meanwhile.
func TestAStarvedProcessHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := &starved{}
		phones := roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
		})
		c := newCounters(map[string]http.RoundTripper{"desk": desk, "whip": phones})
		var orders sync.WaitGroup
		defer orders.Wait()
		order := func(within time.Duration) {
			orders.Go(func() {
				began := time.Now()
				out, err := c.obey(t.Context(), innerAsk{Part: "desk", Method: http.MethodPut, Path: "/order", Within: within.Milliseconds()})
				if took := time.Since(began); err != nil || !out.Late || took > within {
					t.Errorf("%+v, %v after %s, given up after %s", out, err, took, within)
				}
			})
			synctest.Wait()
		}
		for range ordersAtOnce {
			order(3 * time.Second)
		}
		for range mostQueued {
			order(2 * time.Second)
		}
		order(0) // there is no room for it, which does not mean that there is no desk
		if _, err := c.obey(t.Context(), innerAsk{Part: "whip", Method: http.MethodDelete, Path: "/sessions/s"}); err != nil {
			t.Errorf("a phone: %v", err)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if n := desk.asked.Load(); n != ordersAtOnce {
			t.Errorf("%d orders were passed on, and %d have a caller", n, ordersAtOnce)
		}
		for range ordersAtOnce {
			order(time.Second)
		}
		if n := desk.asked.Load(); n != 2*ordersAtOnce {
			t.Errorf("places are taken by those who have gone: %d were passed on", n)
		}
	})
}

// A process without time is not taken for one that is not there: a desk that is not there
// loses the air.
func TestAProcessWithoutTimeIsNotTakenForAbsent(t *testing.T) {
	line := newLine(t)
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	defer run.Wait()
	defer cancel()
	full := newCounters(map[string]http.RoundTripper{"desk": http.NewFileTransport(http.Dir("."))})
	full["desk"].room = make(chan struct{})
	run.Go(func() { _ = line.Serve(ctx, subjectInner, 1, bus.Answering(full.obey)) })
	ask := func(part string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node/report", http.NoBody)
		must(t, err)
		resp, err := (Inner{Bus: line, To: delivery.Plainly, Part: part}).RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	testkit.Eventually(t, "the node", func() bool { return errors.As(ask("none"), new(*bus.Refusal)) })
	if err := ask("desk"); !errors.Is(err, station.ErrUnavailable) || errors.As(err, new(*bus.Refusal)) {
		t.Errorf("no time: %v", err)
	}
}

// The node gives up with the caller, who would else ask a second time beside the first.
func TestTheNodeGivesUpWithTheCaller(t *testing.T) {
	line := newLine(t)
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	defer run.Wait()
	defer cancel()
	left := make(chan time.Duration, 1000)
	desk := roundTrip(func(r *http.Request) (*http.Response, error) {
		until, _ := r.Context().Deadline()
		left <- time.Until(until)
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	})
	run.Go(func() { _ = serveInner(ctx, line, map[string]http.RoundTripper{"desk": desk}, delivery.Plainly) })
	ask := func(ctx context.Context) time.Duration {
		testkit.EventuallyNil(t, "the desk asked", func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://node/order", strings.NewReader("{}"))
			must(t, err)
			resp, err := (Inner{Bus: line, To: delivery.Plainly, Part: "desk"}).RoundTrip(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		})
		return testkit.Receive(t, "how long it has", left)
	}
	most := innerWait - 5*time.Second
	soon, end := context.WithTimeout(t.Context(), most)
	defer end()
	for name, c := range map[string]struct {
		ctx  context.Context
		most time.Duration
	}{"of the caller's own": {soon, most}, "of everybody": {t.Context(), innerWait}} {
		if got := ask(c.ctx); got <= 0 || got > c.most {
			t.Errorf("%s: it has %s, at most %s", name, got, c.most)
		}
	}
}
