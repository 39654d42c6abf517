package wire

import (
	"sync"
	"time"
)

// apart is how far the node's clock may be off before its times are corrected, and how far
// from the correction before that is another: what is shown, and compared to what was shown,
// must not follow each measurement.
const apart = time.Second

// Clock tells times of the node by the clock of this machine. One that is nil, or measures
// nothing, leaves them as they are.
type Clock struct {
	// Measured converts a time of the node's clock, as was measured last; nil: the clock is
	// the same.
	Measured func(at time.Time) time.Time

	mu  sync.Mutex
	off time.Duration
}

// Here converts epoch milliseconds by the node's clock; 0 says that there is no time. What
// the node tells of has been: no time is later than now.
func (c *Clock) Here(ms int64) int64 {
	if c == nil || c.Measured == nil || ms == 0 {
		return ms
	}
	at := time.UnixMilli(ms)
	off := c.Measured(at).Sub(at)
	c.mu.Lock()
	defer c.mu.Unlock()
	if (off - c.off).Abs() > apart {
		c.off = off
	}
	return min(ms+c.off.Milliseconds(), time.Now().UnixMilli())
}
