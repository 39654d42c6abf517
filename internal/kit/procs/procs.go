// Package procs keeps a Go process to as few processors at a time as its work needs.
//
// A server that answers some hundred requests a second is idle most of the time. With
// several processors the runtime answers each request by waking another thread, which
// looks for work, finds none and sleeps again: that costs as much as the answer. With
// one it does not. It suits small processes of their own, not those that compute.
package procs

import (
	"context"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// look is how often the load is looked at, and how long a process may be slow
	// before it gets another processor.
	look = time.Second
	// full is the part of its processors that a process may use before it gets one more.
	full = 0.7
	// idle is the part of one processor less that a process may use to give it back:
	// far enough below full not to go to and fro.
	idle = 0.4
	// patience is how many looks in a row must find it idle.
	patience = 30
)

// governor decides how many processors a process gets.
//
//	one ──used > 70 %──► one more ──30 s below 40 % of what one less is──► one less
type governor struct {
	most, now, quiet int
}

// next takes the processor time used since the last look, in seconds for each second,
// and returns how many processors to have.
func (g *governor) next(used float64) int {
	switch {
	case used > full*float64(g.now):
		g.quiet = 0
		g.now = min(g.now+1, g.most)
	case g.now > 1 && used < idle*float64(g.now-1):
		if g.quiet++; g.quiet >= patience {
			g.quiet = 0
			g.now--
		}
	default:
		g.quiet = 0
	}
	return g.now
}

// Spare begins with one processor and follows the load until ctx ends; then the process
// has what it had. A GOMAXPROCS in the environment is the operator's word: nothing is
// changed.
func Spare(ctx context.Context) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	g := governor{most: runtime.GOMAXPROCS(0), now: 1}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	tick := time.NewTicker(look)
	defer tick.Stop()
	last, before := time.Now(), used()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			spent := used()
			was := g.now
			if n := g.next((spent - before).Seconds() / max(now.Sub(last), time.Millisecond).Seconds()); n != was {
				runtime.GOMAXPROCS(n)
			}
			last, before = now, spent
		}
	}
}

// used is the processor time that this process has taken.
func used() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
