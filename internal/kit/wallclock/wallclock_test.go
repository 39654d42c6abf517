package wallclock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/wallclock"
)

// What the wall clock was set by is told once: not the time for which whoever reads both
// clocks waited between them.
func TestTheWallClockIsComparedWithTheOneThatOnlyRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set, late time.Duration
		w := wallclock.New(func() time.Time {
			now := time.Now().Add(set)
			time.Sleep(late) // without a processor
			late = 0
			return now
		})
		for _, c := range []struct {
			name            string
			set, late, want time.Duration
		}{
			{"it goes on", 0, 0, 0},
			{"an hour ahead", time.Hour, 0, time.Hour},
			{"and on", time.Hour, 0, 0},
			{"back again", 0, 0, -time.Hour},
			{"a second more", -time.Second, 0, -time.Second},
			{"read late", -time.Second, 5 * time.Second, 0},
			{"and in time", -time.Second, 0, 0},
			{"to the year before", -365 * 24 * time.Hour, 0, time.Second - 365*24*time.Hour},
		} {
			time.Sleep(250 * time.Millisecond)
			set, late = c.set, c.late
			if got := w.Set(); got != c.want {
				t.Errorf("%s: set by %s, want %s", c.name, got, c.want)
			}
		}
	})
}
