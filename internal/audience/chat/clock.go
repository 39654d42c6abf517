package chat

import "time"

const (
	// clockLeap is how far the clock may have gone since it was last asked and be
	// believed: a weekend switched off.
	clockLeap = 3 * 24 * time.Hour
	// clockProof is how long it must then go on before it is believed again:
	// whoever runs the station has that long to set it right.
	clockProof = 24 * time.Hour
)

// clock is what is known of the machine's own, in epoch milliseconds. A clock that
// leaps ahead, as one with an empty battery or a wrong time server does, must not
// make the whole history too old at once. No monotonic clock tells: it begins anew
// with each start, and stands still while the machine is off.
//
// State     Event                              Then
// -------   --------------------------------   --------------------------------
// trusted   goes on, or is set back            trusted
// trusted   is clockLeap ahead of last time    doubted
// doubted   is clockLeap ahead of last time    doubted, from now on
// doubted   is set back before the doubt       trusted: it was put right
// doubted   has gone on for clockProof         trusted: it is what it is
type clock struct{ seen, doubted int64 }

// look takes note of the time and reports whether it is trusted.
func (c clock) look(now int64) (clock, bool) {
	switch {
	case c.seen != 0 && now-c.seen > clockLeap.Milliseconds():
		c.doubted = now
	case now < c.doubted, now-c.doubted >= clockProof.Milliseconds():
		c.doubted = 0
	}
	c.seen = now
	return c, c.doubted == 0
}
