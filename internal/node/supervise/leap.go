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

// leaps compares the wall clock, which can be set, with the monotonic one, which only runs.
// Neither being slewed nor a machine that is suspended makes the wall clock fall behind it.
type leaps struct {
	wall  func() time.Time
	begin time.Time     // of the comparison, by both clocks
	ahead time.Duration // of the wall clock at the last look
}

func newLeaps(wall func() time.Time) *leaps {
	l := &leaps{wall: wall, begin: time.Now()}
	l.ahead = l.read()
	return l
}

// back returns by how much the wall clock was set back since the last look.
func (l *leaps) back() time.Duration {
	before := l.ahead
	l.ahead = l.read()
	return max(0, before-l.ahead)
}

// read returns how far the wall clock is ahead. Whoever waits for a processor between the
// two clocks reads too little, and never too much: so it is the most of three readings.
func (l *leaps) read() time.Duration {
	one := func() time.Duration {
		wall := l.wall()
		return wall.Round(0).Sub(l.begin.Round(0)) - time.Since(l.begin) // Round(0) leaves the wall clock alone
	}
	return max(one(), one(), one())
}

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
		if back := s.clock.back(); back >= leastLeap {
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
