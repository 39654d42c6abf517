package supervise

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Watchdog finds what restart-on-exit cannot: copies of the program that we did
// not start, and a process that lives but does not work.
type Watchdog struct {
	// Every is how often copies are looked for. The process itself is looked at every
	// second.
	Every time.Duration
	// Find lists all processes that look like the program, whoever started them.
	Find func() []int
	// Healthy probes the running process; it returns station.ErrFull for one that has no more
	// places. A nil Healthy: healthy while it runs.
	Healthy func(ctx context.Context) error
	// Mute: what Healthy sees is no answer of the program's own, but what came of it before, or
	// the kernel's, which takes connections for it.
	Mute bool
	// Flow says whether what the program is there for comes out of it; nil: not known.
	Flow func() Flow
	// DryAfter is how long it may answer without a flow; 0: for ever.
	DryAfter time.Duration
}

// seen is what one search for copies found.
type seen struct {
	own   int   // process we supervise; 0 when none runs
	found []int // everything that looks like it
}

// verdict is what to do about it.
type verdict struct {
	kill     []int
	relaunch bool // start at once, whatever pause is running
}

// judge keeps exactly one worker (mission: Supervision): it kills every copy
// that is not ours and relaunches when none runs. Ours is never touched here.
func judge(s seen) verdict {
	v := verdict{relaunch: s.own == 0}
	for _, pid := range s.found {
		if pid != s.own {
			v.kill = append(v.kill, pid)
		}
	}
	return v
}

const (
	// lookEvery is the pause between two looks at a running program.
	lookEvery    = time.Second
	probeTimeout = 3 * time.Second
	// stoppedTimeout is for a process that a signal stopped: it will hardly answer.
	stoppedTimeout = 300 * time.Millisecond
)

// watch runs one program's watchdog until ctx ends. clearStale kills copies of an
// earlier run before its first check.
func (c *child) watch(ctx context.Context) {
	copies := time.NewTicker(c.program.Watchdog.Every)
	defer copies.Stop()
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-copies.C:
			c.sweep()
		case <-looks.C:
			c.look(ctx)
		}
	}
}

// sweep looks for copies once.
func (c *child) sweep() {
	s := seen{own: c.status().PID}
	if w := c.program.Watchdog; w.Find != nil {
		s.found = w.Find()
	}
	// A worker that was replaced meanwhile, or whose id is not known yet, is judged by the next
	// search.
	if c.status().PID != s.own || c.launching() {
		return
	}
	v := judge(s)
	for _, pid := range v.kill {
		c.log.Warn("watchdog kills a copy of the program", "pid", pid)
		c.signal(pid)
	}
	if v.relaunch {
		c.wakeUp()
	}
}

// launching reports that a run is under way whose process may exist and is not known yet: on
// a machine that is short of processors for seconds.
func (c *child) launching() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end != nil && c.cur.PID == 0
}

// look examines the running process once, and kills it if nothing else can help.
func (c *child) look(ctx context.Context) {
	own := c.status()
	if own.PID == 0 || own.State != Running.String() {
		c.patient = patient{}
		c.found(look{at: time.Now()}, Unknown, "")
		return
	}
	l, ok := c.examine(ctx, own.PID)
	if !ok || c.status().PID != own.PID {
		return
	}
	var condition Condition
	var why string
	c.patient, condition, why = c.patient.next(l, c.program.Watchdog.DryAfter)
	c.found(l, condition, why)
	if condition == Wedged {
		c.kill(l.at, own.PID, why)
	}
}

// examine asks the process and the kernel how it is; false when ctx ended meanwhile.
func (c *child) examine(ctx context.Context, pid int) (look, bool) {
	l, within := look{pid: pid, mute: c.program.Watchdog.Mute}, probeTimeout
	if v, err := proc.VitalsOf(pid); err == nil && v.State == 'T' {
		within = stoppedTimeout
	}
	if w := c.program.Watchdog; w.Healthy != nil {
		probe, cancel := context.WithTimeout(ctx, within)
		l.answer = w.Healthy(probe)
		cancel()
		if w.Flow != nil {
			l.flow = w.Flow()
		}
	}
	l.vitals, _ = proc.VitalsOf(pid) // gone: the next look sees another
	l.at, l.short = time.Now(), c.around.Short()
	return l, ctx.Err() == nil
}

// found shows and logs a condition that has changed.
func (c *child) found(l look, condition Condition, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.cur.Condition
	c.cur.Condition, c.cur.Why = condition, why
	if condition != Wedged {
		c.cur.Spared = ""
	}
	c.record = c.record.note(l.at, condition, l.flow)
	if before == condition || condition == Unknown {
		return
	}
	if condition == Well && (before == Unknown || before == Well) {
		return
	}
	level := slog.LevelInfo
	if condition == Wedged || condition == Full {
		level = slog.LevelWarn
	}
	c.log.Log(context.Background(), level, "program is "+string(condition), "why", why)
}

// kill ends a wedged process, unless that did not help before, or cannot help now.
func (c *child) kill(at time.Time, pid int, why string) {
	refused := c.spare(at, c.around.Hold)
	c.mu.Lock()
	repeated := c.cur.Spared == refused
	c.cur.Spared = refused
	c.mu.Unlock()
	switch {
	case refused == "":
		c.log.Warn("watchdog kills process", "pid", pid, "why", why)
		c.signal(pid)
	case !repeated:
		c.log.Error("program is wedged and is not killed", "why", why, "not_killed", refused)
	}
}

// spare returns why the program may not be killed now; where it may be, the kill is
// counted. The reasons are asked in order, after its own record.
func (c *child) spare(at time.Time, reasons ...func() string) (why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	why = c.record.may(at)
	for _, reason := range reasons {
		if why == "" {
			why = reason()
		}
	}
	if why == "" {
		c.record = c.record.killed(at)
		c.cur.Kills = c.record.kills
	}
	return why
}

func (c *child) signal(pid int) {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		c.log.Error("watchdog cannot kill process", "pid", pid, "err", err)
	}
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
