package supervise

import (
	"context"
	"time"
)

const (
	leapEvery = 250 * time.Millisecond
	// leastLeap is what a new start of the playout engine costs: the rest of the song on air,
	// and two seconds of standby audio. A shorter sleep is cheaper, because what a player
	// holds ahead outlasts it.
	leastLeap = 2 * time.Second
)

// watchClock starts what is paced by the wall clock again when that was set back, until
// ctx ends.
func (s *Supervisor) watchClock(ctx context.Context) {
	looks := time.NewTicker(leapEvery)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-looks.C:
		}
		if back := -s.clock.Set(); back >= leastLeap {
			for _, c := range s.children {
				c.setBack(back)
			}
		}
	}
}

// setBack ends a program that sleeps because the wall clock was set back. That it helps is
// certain, however soon after another kill and whatever else holds kills up; none is counted.
func (c *child) setBack(by time.Duration) {
	pid := c.status().PID
	if !c.program.PacedByWall || pid == 0 {
		return
	}
	c.log.Warn("wall clock was set back: restarting a program that would sleep until it has caught up", "by", by.Round(time.Millisecond), "pid", pid)
	c.signal(pid)
}
