package supervise

import (
	"context"
	"slices"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Left is a running program as the next supervisor of this process gets it.
type Left struct {
	Status Status
	Child  proc.Kept
}

// Keep has the programs outlive this supervisor, as the keeper says, and takes over those
// that one before it left. It is called before Run.
func (s *Supervisor) Keep(keeper proc.Keeper, left []Left) {
	for _, c := range s.children {
		c.keeper = keeper
		i := slices.IndexFunc(left, func(l Left) bool { return l.Status.Name == c.program.Name })
		if i < 0 {
			continue
		}
		c.adopted = &left[i].Child
		c.cur.Restarts, c.cur.LastExit, c.cur.Kills = left[i].Status.Restarts, left[i].Status.LastExit, left[i].Status.Kills
		c.record.kills = left[i].Status.Kills
		c.cur.PID = left[i].Child.PID // no copy, for the watchdog
		// What starts after it need not wait: it was ready, or is about to be.
		c.readyOnce.Do(func() { close(c.firstReady) })
	}
	for _, l := range left {
		if !slices.ContainsFunc(s.children, func(c *child) bool { return c.program.Name == l.Status.Name }) {
			s.strangers = append(s.strangers, l)
		}
	}
}

// Left returns what was left running, once Run has returned.
func (s *Supervisor) Left() (out []Left) {
	for _, c := range s.children {
		if c.remains != nil {
			out = append(out, Left{Status: c.status(), Child: *c.remains})
		}
	}
	return out
}

// keeperUntil is the keeper for a run in which a program is left only where the supervisor
// ends, and not where the program alone is to be started again.
func (c *child) keeperUntil(supervision context.Context) proc.Keeper {
	k := c.keeper
	if leaving := k.Leaving; leaving != nil {
		k.Leaving = func() bool { return supervision.Err() != nil && leaving() }
	}
	return k
}

// dismiss ends a program that the supervisor before this one ran and this one does not.
func (s *Supervisor) dismiss(ctx context.Context, l Left) error {
	now, cancel := context.WithCancel(ctx)
	cancel()
	_, _, _ = proc.Keeper{}.Run(now, proc.Spec{Name: l.Status.Name}, &l.Child, nil) // gone either way
	s.log.Info("program ended, this version does without it", "program", l.Status.Name, "pid", l.Child.PID)
	return nil
}
