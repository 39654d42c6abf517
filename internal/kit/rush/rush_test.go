package rush

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Memory is given back once after each rush, when it is over; never during one, and
// never for connections that come now and then.
func TestMemoryIsGivenBackOnceAfterEachRush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var freed atomic.Int64
		w := New(func() { freed.Add(1) })
		come := func(n int, every time.Duration) {
			for range n {
				w.Arrived()
				time.Sleep(every)
			}
			synctest.Wait()
		}
		for _, step := range []struct {
			name  string
			n     int
			every time.Duration
			want  int64
		}{
			{"a few", 100, time.Millisecond, 0},
			{"an hour of one each second", 3600, time.Second, 0},
			{"a rush", 2000, time.Millisecond, 0},
			{"a second of quiet", 0, 0, 1},
			{"ten minutes of ten a second", 6000, 100 * time.Millisecond, 1},
			{"another rush", 600, time.Millisecond, 1},
			{"quiet again", 0, 0, 2},
			{"a rush of five minutes", 30_000, 10 * time.Millisecond, 2},
			{"its end", 0, 0, 3},
		} {
			come(step.n, step.every)
			if step.n == 0 {
				time.Sleep(3 * time.Second)
				synctest.Wait()
			}
			if freed := freed.Load(); freed != step.want {
				t.Errorf("%s: given back %d times, want %d", step.name, freed, step.want)
			}
		}
	})
}

// Connections that arrive while memory is given back begin the next rush.
func TestArrivalsWhileMemoryIsGivenBackCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var freed atomic.Int64
		var w *Watch
		w = New(func() {
			if freed.Add(1) == 1 {
				for range 10 {
					w.Arrived()
				}
			}
		})
		for range Many {
			w.Arrived()
		}
		time.Sleep(10 * time.Second)
		for range Many {
			w.Arrived()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if freed.Load() != 2 {
			t.Errorf("given back %d times after two rushes", freed.Load())
		}
	})
}
