// Package supervise keeps the broadcast node's programs running: it starts
// them in order, probes until each is ready, restarts what ends, logs how it
// ended, and never leaves one behind. It knows nothing of what they do.
package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/wallclock"
	"github.com/athir-radio/athir/internal/station"
)

// Program is one child to keep running.
type Program struct {
	Name string
	// After names the programs that must have been ready once before the first start.
	After []string
	// Prepare writes what the program reads and says how to start it. It is
	// called before every start, so that a damaged file heals with a restart.
	Prepare func(ctx context.Context) (proc.Spec, error)
	// Adopt says where the output of a program goes that a supervisor before this one left
	// running, and how it is stopped. Nil: to the log, and as proc does by itself.
	Adopt func() proc.Spec
	// Renew is called once for a program that a supervisor before this one left running. It
	// returns when that one is to be started anew, and why; empty: it goes on. Nil: it does.
	Renew func(ctx context.Context, pid int) (why string)
	// Ready is polled until it returns nil. A nil Ready: ready once started.
	Ready func(ctx context.Context) error
	// ReadyWithin bounds the time to the first ready; one minute when zero.
	ReadyWithin time.Duration
	// Delay is a fixed pause before a restart; zero means at once, then backing off where it
	// does not become ready, or not for long.
	Delay time.Duration
	// Important picks the lines of its output that are logged as warnings; the
	// others are logged at debug level. A nil Important picks none.
	Important func(line string) bool
	// PacedByWall: it paces its work by the wall clock, as Debian's Liquidsoap does, and
	// sleeps for as long as that is set back. It is started again then.
	PacedByWall bool
	// Watchdog checks the program periodically; nil for none.
	Watchdog *Watchdog
}

// Status is the state of a program, as reported.
type Status struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	PID      int       `json:"pid,omitempty"`
	Restarts int       `json:"restarts"`
	Since    time.Time `json:"since"` // of the state
	LastExit string    `json:"lastExit,omitempty"`
	// Condition is how it works while it runs, and Why says so in words. Only a program with
	// a watchdog has one.
	Condition Condition `json:"condition,omitempty"`
	Why       string    `json:"why,omitempty"`
	// Kills counts the times its watchdog killed it, and Spared says why it does not now.
	Kills  int    `json:"kills,omitempty"`
	Spared string `json:"spared,omitempty"`
}

// Around is what the watchdogs know of the machine. Its zero value knows nothing.
type Around struct {
	// Short returns what the machine is short of, in words; empty: of nothing.
	Short func() string
	// Hold returns why no program may be killed now, as on a full disk, on which none could
	// start; empty: any may.
	Hold func() string
	// Wall returns the time of day; time.Now when nil.
	Wall func() time.Time
}

func (a Around) filled() Around {
	none := func() string { return "" }
	if a.Short == nil {
		a.Short = none
	}
	if a.Hold == nil {
		a.Hold = none
	}
	if a.Wall == nil {
		a.Wall = time.Now
	}
	return a
}

// Supervisor runs programs. Make one with New.
type Supervisor struct {
	log       *slog.Logger
	clock     *wallclock.Watch
	children  []*child
	strangers []Left // left by a supervisor before, and unknown to this one
}

// New checks that names are unique and that every After is known.
func New(log *slog.Logger, around Around, programs ...Program) (*Supervisor, error) {
	around = around.filled()
	s := &Supervisor{log: log, clock: wallclock.New(around.Wall)}
	ready := map[string]<-chan struct{}{}
	for _, p := range programs {
		if _, twice := ready[p.Name]; twice {
			return nil, fmt.Errorf("program %q is listed twice", p.Name)
		}
		c := newChild(p, around, log)
		ready[p.Name] = c.firstReady
		s.children = append(s.children, c)
	}
	for _, c := range s.children {
		for _, name := range c.program.After {
			ch, ok := ready[name]
			if !ok {
				return nil, fmt.Errorf("program %q starts after %q, which is not listed", c.program.Name, name)
			}
			c.after = append(c.after, ch)
		}
	}
	return s, nil
}

// Run keeps all programs running until ctx ends; it returns when all are gone.
func (s *Supervisor) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { s.watchClock(ctx); return nil })
	for _, l := range s.strangers {
		g.Go(func() error { return s.dismiss(ctx, l) })
	}
	for _, c := range s.children {
		g.Go(func() error { c.run(ctx); return nil })
		if c.program.Watchdog != nil {
			g.Go(func() error { c.watch(ctx); return nil })
		}
	}
	return g.Wait()
}

// Programs returns the state of every program, in the order given to New.
func (s *Supervisor) Programs() []Status {
	out := make([]Status, len(s.children))
	for i, c := range s.children {
		out[i] = c.status()
	}
	return out
}

// WaitReady returns once the named program has been ready for the first time.
func (s *Supervisor) WaitReady(ctx context.Context, name string) error {
	for _, c := range s.children {
		if c.program.Name != name {
			continue
		}
		select {
		case <-c.firstReady:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("wait for program %q: no such program", name)
}

// Restart ends the named program; it is started again as after any end. The error is
// station.ErrNotFound for an unknown name.
func (s *Supervisor) Restart(name string) error {
	for _, c := range s.children {
		if c.program.Name != name {
			continue
		}
		s.log.Info("restart requested", "program", name)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.end != nil {
			c.end()
		}
		return nil
	}
	return fmt.Errorf("program %q: %w", name, station.ErrNotFound)
}

// child is one program and its state.
type child struct {
	program    Program
	around     Around
	log        *slog.Logger
	after      []<-chan struct{}
	firstReady chan struct{}
	readyOnce  sync.Once
	wake       chan struct{} // cuts a pause short; capacity 1

	mu  sync.Mutex
	cur Status
	st  State
	end context.CancelFunc // ends the current run; nil between runs

	record  record  // of the kills
	patient patient // the watchdog's own

	keeper  proc.Keeper
	adopted *proc.Kept // left by a supervisor before this one; nil once taken
	remains *proc.Kept // left to the next one
}

func newChild(p Program, around Around, log *slog.Logger) *child {
	return &child{
		program: p, around: around, log: log.With("program", p.Name),
		firstReady: make(chan struct{}), wake: make(chan struct{}, 1),
		cur: Status{Name: p.Name, State: Waiting.String(), Since: time.Now()},
	}
}

func (c *child) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cur
}

// apply moves the state by an event, and changes the status with it.
func (c *child) apply(e Event, change func(*Status)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := next(c.st, e); s != c.st {
		c.st = s
		c.cur.State, c.cur.Since = s.String(), time.Now()
	}
	if change != nil {
		change(&c.cur)
	}
}

func (c *child) setEnd(end context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = end
}

func (c *child) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run starts the program again and again until ctx ends.
func (c *child) run(ctx context.Context) {
	defer c.stopped()
	if c.adopted == nil && !c.await(ctx) {
		return
	}
	// One that was adopted is taken up even where ctx has ended, to be left again or ended.
	for crashes := 0; ctx.Err() == nil || c.adopted != nil; {
		begin := time.Now()
		served := c.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begin) >= healthyRun {
			crashes = 0
		}
		crashes++
		c.pause(ctx, pauseAfter(c.program.Delay, crashes, served))
	}
}

// await waits for the programs that this one comes after, and makes room for it; false where
// ctx ends first.
func (c *child) await(ctx context.Context) bool {
	for _, ready := range c.after {
		select {
		case <-ready:
		case <-ctx.Done():
			return false
		}
	}
	c.clearStale()
	return true
}

// pause waits for d, or until the watchdog wants the program back at once.
func (c *child) pause(ctx context.Context, d time.Duration) {
	select {
	case <-c.wake: // a wake-up meant for an earlier pause
	default:
	}
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-timer.C:
	}
}

// once starts the program and returns when it has ended, and for how long it was ready.
func (c *child) once(ctx context.Context) (served time.Duration) {
	adopted := c.adopted
	c.adopted = nil
	spec, err := c.spec(ctx, adopted != nil)
	if ctx.Err() != nil && adopted == nil {
		return 0
	}
	if err != nil {
		return c.ended(fmt.Sprintf("prepare: %v", err))
	}
	if spec.Note != "" {
		c.log.Warn("program starts with what is there", "note", spec.Note)
	}
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	c.setEnd(cancel)
	defer c.setEnd(nil)
	out := newLines(c.log, c.program.Important)
	if spec.Stdout == nil {
		spec.Stdout = out
	}
	if spec.Stderr == nil {
		spec.Stderr = out
	}
	var probing sync.WaitGroup
	exit, left, err := c.keeperUntil(ctx).Run(run, spec, adopted, func(pid int) {
		c.apply(Launch, func(s *Status) { s.PID = pid })
		c.log.Debug("program started", "pid", pid)
		probing.Go(func() { c.probe(run, cancel) })
		if adopted != nil && c.program.Renew != nil {
			probing.Go(func() {
				if why := c.program.Renew(run, pid); why != "" {
					c.log.Info("program is started anew", "why", why)
					cancel()
				}
			})
		}
	})
	cancel()
	probing.Wait()
	switch {
	case left != nil:
		c.remains = left
		c.log.Debug("program left running", "pid", left.PID)
	case err != nil:
		return c.ended(err.Error())
	case ctx.Err() != nil:
		c.log.Debug("program stopped", "exit", exit.String())
	default:
		return c.ended(exit.String(), "pid", exit.PID, "output", out.last())
	}
	return 0
}

// spec says how the program is started, or, for one that was adopted, what to do with it.
func (c *child) spec(ctx context.Context, adopted bool) (proc.Spec, error) {
	switch {
	case !adopted:
		return c.program.Prepare(ctx)
	case c.program.Adopt != nil:
		return c.program.Adopt(), nil
	}
	return proc.Spec{Name: c.program.Name}, nil
}

// stopped is the end of a program's supervision.
func (c *child) stopped() {
	c.apply(Stop, func(s *Status) {
		if c.remains == nil {
			s.PID = 0
		}
	})
}

// ended records an exit and logs it. It returns for how long the program was ready.
func (c *child) ended(how string, attrs ...any) (served time.Duration) {
	if before := c.status(); before.State == Running.String() {
		served = time.Since(before.Since)
	}
	c.apply(Launch, nil) // a start that failed in Prepare counts as one
	c.apply(Exit, func(s *Status) { s.PID, s.LastExit, s.Restarts = 0, how, s.Restarts+1 })
	c.log.Warn("program ended", append([]any{"how", how}, attrs...)...)
	return served
}

// probe polls until the program is ready, and ends one that is not ready in time.
func (c *child) probe(ctx context.Context, giveUp context.CancelFunc) {
	within := c.program.ReadyWithin
	if within == 0 {
		within = time.Minute
	}
	deadline := time.Now().Add(within)
	begin := time.Now()
	for c.program.Ready != nil {
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := c.program.Ready(try)
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		// A start that is late because the machine is short of something would only be
		// later if it began again.
		if time.Now().After(deadline) {
			if c.late(err) {
				giveUp()
				return
			}
			deadline = time.Now().Add(within)
		}
		_ = retry.Pause(ctx, 25*time.Millisecond)
	}
	if ctx.Err() != nil {
		return
	}
	c.apply(Ready, nil)
	c.readyOnce.Do(func() { close(c.firstReady) })
	c.log.Debug("program ready", "after", time.Since(begin).Round(time.Millisecond))
}

// late reports that a program that is not ready in time is to be ended. It counts as a
// kill.
func (c *child) late(err error) bool {
	refused := c.spare(time.Now(), c.around.Hold, c.around.Short)
	c.log.Error("program not ready in time", "err", err, "waits_on", refused)
	return refused == ""
}
