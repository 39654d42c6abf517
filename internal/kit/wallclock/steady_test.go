package wallclock_test

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/wallclock"
)

func TestAClockIsSteadyOnceItHasGoneOnForAWhile(t *testing.T) {
	var s wallclock.Steady
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for i, c := range []struct{ passed, want time.Duration }{
		{0, 0}, {time.Minute, time.Minute}, {time.Minute, 2 * time.Minute}, {30 * time.Minute, 3 * time.Minute}, // held up
		{365 * 24 * time.Hour, 0}, {time.Minute, time.Minute}, {-365 * 24 * time.Hour, 0}, {0, time.Minute}, {time.Minute, 2 * time.Minute},
	} {
		now = now.Add(c.passed)
		if got := s.Look(now, time.Minute); got != c.want {
			t.Errorf("look %d: %s, want %s", i, got, c.want)
		}
	}
}
