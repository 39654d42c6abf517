package desk

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
)

func showOf(bed string, number uint64) live.Order {
	o := live.Order{Epoch: "one", Number: number}
	if bed != "" {
		o.Show = &live.Show{Title: "Evening", Bed: bed, Until: time.Now().Add(time.Hour).UnixMilli()}
	}
	return o
}

// A show that begins while the control plane is being restarted has its bed as soon as
// that is back: its bed is not left to rest for minutes, as a candidate would be, and who
// looks after the station is told.
func TestABedThatFailsIsTriedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := testkit.Log(t)
		var tries atomic.Int32
		d := New(Options{Log: log, Control: &registrar{}, Bed: func(ctx context.Context, _ string) (string, func(), error) {
			if tries.Add(1) <= 5 {
				return "", nil, errors.New("connection refused")
			}
			<-ctx.Done() // it plays
			return "", nil, ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = d.Run(ctx) })
		defer all.Wait()
		defer cancel()
		synctest.Wait()
		d.Order(showOf("music/bed.mp3", 1))
		time.Sleep(5 * slowestTry)
		synctest.Wait()
		if n := tries.Load(); n != 6 {
			t.Errorf("%d tries", n)
		}
		if n := lines.Count("WARN", "the bed of the show does not play"); n != 1 {
			t.Errorf("told %d times: %s", n, lines)
		}
	})
}

// Every file that was brought is let go, whenever the show ends: one that stayed would be
// played by a later show instead of what the library has then.
func TestTheFilesOfABedAreLetGo(t *testing.T) {
	log, _ := testkit.Log(t)
	var brought, left atomic.Int32
	broken := filepath.Join(t.TempDir(), "none.mp3") // it breaks off at once
	d := New(Options{Log: log, Control: &registrar{}, Bed: func(context.Context, string) (string, func(), error) {
		brought.Add(1)
		return broken, func() { left.Add(1) }, nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = d.Run(ctx) })
	defer all.Wait()
	defer cancel()
	d.Order(showOf("music/bed.mp3", 1))
	testkit.Eventually(t, "three tries", func() bool { return brought.Load() >= 3 })
	d.Order(showOf("", 2))
	testkit.Eventually(t, "all are let go", func() bool { return left.Load() == brought.Load() })
}
