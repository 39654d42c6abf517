package supervise

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"
)

// Watchdog finds what restart-on-exit cannot: copies of the program that we did
// not start, and a process that lives but does not work.
type Watchdog struct {
	Every time.Duration
	// Find lists all processes that look like the program, whoever started them.
	Find func() []int
	// Healthy probes the running process. A nil Healthy: healthy while it runs.
	Healthy func(ctx context.Context) error
}

// seen is what one check of a watchdog found.
type seen struct {
	own   int   // process we supervise; 0 when none runs
	found []int // everything that looks like it
	sick  bool  // own failed every probe of this check
}

// verdict is what to do about it.
type verdict struct {
	kill     []int
	relaunch bool // start at once, whatever pause is running
}

// judge keeps exactly one worker (mission: Supervision): it kills every copy
// that is not ours, kills ours only when it is sick, and relaunches when none
// runs. A healthy worker is never touched.
func judge(s seen) verdict {
	v := verdict{relaunch: s.own == 0}
	for _, pid := range s.found {
		if pid != s.own {
			v.kill = append(v.kill, pid)
		}
	}
	if s.own != 0 && s.sick {
		v.kill = append(v.kill, s.own)
	}
	return v
}

const (
	probeTries   = 3
	probeTimeout = 3 * time.Second
	probePause   = time.Second
)

// watch runs one program's watchdog until ctx ends. clearStale kills copies of an
// earlier run before its first check.
func (c *child) watch(ctx context.Context) {
	tick := time.NewTicker(c.program.Watchdog.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.check(ctx)
		}
	}
}

// check looks once and carries out the verdict.
func (c *child) check(ctx context.Context) {
	own := c.status().PID
	s := seen{own: own}
	if w := c.program.Watchdog; w.Find != nil {
		s.found = w.Find()
	}
	if own != 0 && c.status().State == Running.String() {
		s.sick = c.sick(ctx)
	}
	// A worker that was replaced meanwhile is judged by the next check.
	if ctx.Err() != nil || c.status().PID != own {
		return
	}
	v := judge(s)
	for _, pid := range v.kill {
		c.log.Warn("watchdog kills process", "pid", pid, "duplicate", pid != own)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			c.log.Error("watchdog cannot kill process", "pid", pid, "err", err)
		}
	}
	if v.relaunch {
		c.wakeUp()
	}
}

// sick reports that the running process failed every probe of this check.
func (c *child) sick(ctx context.Context) bool {
	healthy := c.program.Watchdog.Healthy
	if healthy == nil {
		return false
	}
	for range probeTries {
		probe, cancel := context.WithTimeout(ctx, probeTimeout)
		err := healthy(probe)
		cancel()
		if err == nil || ctx.Err() != nil {
			return false
		}
		c.log.Warn("watchdog probe failed", "err", err)
		sleep(ctx, probePause)
	}
	return true
}

// clearStale kills copies that an earlier run left behind.
func (c *child) clearStale() {
	if c.program.Watchdog == nil || c.program.Watchdog.Find == nil {
		return
	}
	found := c.program.Watchdog.Find()
	if own := c.status().PID; own != 0 {
		found = slices.DeleteFunc(found, func(pid int) bool { return pid == own })
	}
	for _, pid := range found {
		c.log.Warn("killing leftover process of an earlier run", "pid", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
