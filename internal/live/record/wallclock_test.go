package record

import (
	"testing"
	"time"
)

func TestNoAgeIsBelievedAfterAClockWasSetForward(t *testing.T) {
	var c wallClock
	wall, passed := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC), time.Duration(0)
	for _, step := range []struct {
		what         string
		wall, passed time.Duration
		want         bool
	}{
		{"the first look", 0, 0, true},
		{"a second", time.Second, time.Second, true},
		{"a disk that stood still for an hour", time.Hour, time.Hour, true},
		{"a slow clock that is corrected", 20 * time.Second, time.Second, true},
		{"a wrong year", 366 * 24 * time.Hour, time.Second, false},
		{"the day after, almost", 23 * time.Hour, 23 * time.Hour, false},
		{"mended", -366 * 24 * time.Hour, time.Second, false},
		{"a day after the step", time.Hour, time.Hour, true},
		{"set back", -time.Hour, time.Second, true},
	} {
		wall, passed = wall.Add(step.wall), passed+step.passed
		if got := c.believed(wall, passed); got != step.want {
			t.Errorf("%s: %t", step.what, got)
		}
	}
}
