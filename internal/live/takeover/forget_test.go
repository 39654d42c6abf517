package takeover

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// registered are streams, each of which is one session's.
type registered struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (r *registered) Find(id string) (live.Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ids[id] {
		return live.Stream{}, fmt.Errorf("stream %s: %w", id, station.ErrNotFound)
	}
	return live.Stream{ID: id}, nil
}

func (r *registered) Source(id string) (live.Source, error) {
	s, err := r.Find(id)
	return live.Source{ID: s.ID}, err
}

func (r *registered) Arrived(_ context.Context, a live.Arrival) (live.Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[a.Session] = true
	return live.Stream{ID: a.Session}, nil
}

func (r *registered) remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ids, id)
}

func (r *registered) Pipe() (live.Source, error)               { return live.Source{}, station.ErrNotFound }
func (r *registered) Candidates(map[string]bool) []live.Stream { return nil }
func (r *registered) Ranked(map[string]bool) []live.Stream     { return nil }

// absent is a desk of which nothing is heard.
type absent struct{}

func (absent) Put(ctx context.Context, _ live.Order) (live.Report, error) {
	<-ctx.Done()
	return live.Report{}, ctx.Err()
}
func (a absent) Report(ctx context.Context, _ uint64) (live.Report, error) {
	return a.Put(ctx, live.Order{})
}

// Who sent a stream is forgotten with the stream: an account that sends to one mount after
// another makes new ones for ever. Of one that is still sent it is not.
func TestWhoSentAStreamIsForgottenWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := &registered{ids: map[string]bool{}}
		to := New(Options{Log: slog.New(slog.DiscardHandler), Streams: streams, Desk: absent{}, Probe: func(context.Context) (bool, error) { return false, nil }})
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		defer run.Wait()
		defer cancel()
		run.Go(func() { _ = to.Run(ctx) })
		for n := range 100 {
			id := fmt.Sprint("LIVE", n)
			if _, err := to.Arrived(ctx, live.Arrival{Protocol: live.Icecast, URL: "source:/" + id, Publisher: "sara", Session: id, Push: true}); err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				if err := to.Left(ctx, live.Leaving{ID: id, Publisher: "sara", Session: id}); err != nil {
					t.Fatal(err)
				}
			}
			streams.remove(fmt.Sprint("LIVE", n-8))
			to.Refresh()
			synctest.Wait()
		}
		_ = to.do(ctx, func(c *control) {
			if k := len(c.cast.publisher); k > len(streams.ids)+1 || len(c.cast.announce) > k {
				t.Errorf("%d publishers, %d wishes of %d streams", k, len(c.cast.announce), len(streams.ids))
			}
			if c.cast.publisher["LIVE0"] != "sara" {
				t.Error("one that is still sent is forgotten")
			}
		})
	})
}
