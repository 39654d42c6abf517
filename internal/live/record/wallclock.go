package record

import "time"

const (
	// leap is how much the clock may be set forward unnoticed, doubt for how long no age is
	// believed after more.
	leap, doubt = time.Minute, 24 * time.Hour
)

// wallClock tells whether ages are to be believed. A clock that is set to a wrong year makes
// every recording look too old, and what is deleted then does not come back. It is noticed
// by the monotonic clock beside it, and whoever sets clocks has a day to mend it. If that is
// wrong, as after a machine slept, recordings are kept for a day longer; their bytes are
// bounded all the same. A clock that is wrong from the start is not noticed.
type wallClock struct {
	wall   time.Time
	passed time.Duration
	until  time.Duration
}

// believed takes the time on the wall, and how much has passed since a start by the
// monotonic clock.
func (c *wallClock) believed(wall time.Time, passed time.Duration) bool {
	wall = wall.Round(0)
	if !c.wall.IsZero() && wall.Sub(c.wall)-(passed-c.passed) > leap {
		c.until = passed + doubt
	}
	c.wall, c.passed = wall, passed
	return passed >= c.until
}
