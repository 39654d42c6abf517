package chat

import "time"

const (
	// clockLeap is how far the clock may advance between two looks and still be
	// trusted: a weekend switched off.
	clockLeap = 3 * 24 * time.Hour
	// clockProof is how long a doubted clock must run before it is trusted again:
	// the operator has that long to set it right.
	clockProof = 24 * time.Hour
)

// clock judges the machine's clock; times are epoch milliseconds. A clock that jumps
// ahead, because of an empty battery or a wrong time server, must not make the whole
// history too old at once. A monotonic clock cannot tell: it begins anew at each
// start, and stands still while the machine is off.
//
// State     Event                              Then
// -------   --------------------------------   --------------------------------
// trusted   goes on, or is set back            trusted
// trusted   is clockLeap ahead of last time    doubted
// doubted   is clockLeap ahead of last time    doubted, from now on
// doubted   is set back before the doubt       trusted: it was put right
// doubted   has gone on for clockProof         trusted: it is what it is
type clock struct{ seen, doubted int64 }

// look notes the time and reports whether the clock is trusted.
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
