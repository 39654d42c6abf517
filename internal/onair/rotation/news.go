package rotation

import "time"

// A bulletin tells the time. It may be heard up to NewsLate after that time and
// up to NewsEarly before it.
const (
	NewsLate  = 10 * time.Minute
	NewsEarly = 2 * time.Minute
	// NewsNotice is how far ahead the planner's place for news must lie if the
	// bulletin for it is still to be made.
	NewsNotice = 3 * time.Minute
)

// Timely reports whether a bulletin that tells a time may be heard at another. The
// zero time is that of a track that tells none.
func Timely(tells, at time.Time) bool {
	off := at.Sub(tells)
	return tells.IsZero() || -NewsEarly <= off && off <= NewsLate
}

// timely reports whether a track may stand in the next place: it tells no time, or the
// right one, or there is time to make another for the place.
func (p *plan) timely(c *candidate) bool {
	return Timely(p.tells[c.path], p.time()) || p.renewed && p.at-p.now >= int64(NewsNotice)
}
