package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestStates(t *testing.T) {
	for _, c := range []struct {
		from State
		on   Event
		want State
	}{
		{Waiting, Launch, Starting},
		{Starting, Ready, Running},
		{Starting, Exit, Pausing},
		{Running, Exit, Pausing},
		{Pausing, Launch, Starting},
		{Pausing, Ready, Pausing}, // a late probe of the run before
		{Running, Stop, Stopped},
		{Stopped, Launch, Stopped},
	} {
		if got := next(c.from, c.on); got != c.want {
			t.Errorf("%v on %v: got %v, want %v", c.from, c.on, got, c.want)
		}
	}
}

func TestPauseGrowsOnACrashLoop(t *testing.T) {
	want := []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second,
		4 * time.Second, 8 * time.Second, maxPause, maxPause}
	for i, w := range want {
		for _, served := range []time.Duration{0, leastServed - 1} { // ready for a moment is a crash loop, too
			if got := pauseAfter(0, i+1, served); got != w {
				t.Errorf("after crash %d: %v, want %v", i+1, got, w)
			}
		}
	}
	if got := pauseAfter(3*time.Second, 50, time.Hour); got != 3*time.Second {
		t.Errorf("the player's fixed delay became %v", got)
	}
}

// One that serves between its crashes is away for a tenth of the time that it served.
func TestWhatServesIsBackSoon(t *testing.T) {
	for served, want := range map[time.Duration]time.Duration{
		time.Second: 100 * time.Millisecond, 4 * time.Second: 400 * time.Millisecond, 25 * time.Second: 2500 * time.Millisecond,
	} {
		if got := pauseAfter(0, 50, served); got != want {
			t.Errorf("served for %s, then away for %s, want %s", served, got, want)
		}
	}
	if got := pauseAfter(0, 2, time.Hour); got != firstPause {
		t.Errorf("the second crash: %s", got)
	}
	for _, ready := range []bool{true, false} {
		p := Program{Name: "sh", Prepare: shell("exec sleep 3600"), ReadyWithin: time.Hour}
		if !ready {
			p.Ready = func(context.Context) error { return errors.New("never") }
		}
		c := newChild(p, Around{}.filled(), slog.New(slog.DiscardHandler))
		told := make(chan time.Duration)
		go func() { told <- c.once(t.Context()) }()
		state := map[bool]State{true: Running, false: Starting}[ready]
		testkit.Eventually(t, "it is "+state.String(), func() bool { st := c.status(); return st.State == state.String() && st.PID > 0 })
		if err := syscall.Kill(c.status().PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if served := <-told; served > 0 != ready {
			t.Errorf("it was ready: %v; it served for %s", ready, served)
		}
	}
}

func TestWatchdogKeepsExactlyOneWorker(t *testing.T) {
	for _, c := range []struct {
		name string
		seen seen
		want verdict
	}{
		{"leaves its own worker alone", seen{own: 7, found: []int{7}}, verdict{}},
		{"kills duplicates beyond the first", seen{own: 7, found: []int{3, 7, 9}}, verdict{kill: []int{3, 9}}},
		{"relaunches if none runs", seen{}, verdict{relaunch: true}},
		{"kills a foreign copy and relaunches ours", seen{found: []int{5}}, verdict{kill: []int{5}, relaunch: true}},
	} {
		if got := judge(c.seen); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func shell(script string) func(context.Context) (proc.Spec, error) {
	return func(context.Context) (proc.Spec, error) {
		return proc.Spec{Name: "sh", Path: "sh", Args: []string{"-c", script}}, nil
	}
}

// start runs a supervisor for the length of the test.
func start(t *testing.T, programs ...Program) *Supervisor {
	t.Helper()
	s, err := New(slog.New(slog.DiscardHandler), Around{}, programs...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

func TestRestartsWhatEndsAndSaysHow(t *testing.T) {
	s := start(t, Program{Name: "one", Prepare: shell("echo reason; exit 3")})
	testkit.Eventually(t, "a restart with its exit code", func() bool {
		p := s.Programs()[0]
		return p.Restarts >= 2 && strings.HasPrefix(p.LastExit, "exit code 3")
	})
	killed := start(t, Program{Name: "two", Prepare: shell("exec sleep 600")})
	testkit.Eventually(t, "running", func() bool { return killed.Programs()[0].State == "running" })
	pid := killed.Programs()[0].PID
	_ = syscall.Kill(pid, syscall.SIGKILL)
	testkit.Eventually(t, "a new process after a kill", func() bool {
		p := killed.Programs()[0]
		return p.PID != pid && p.PID != 0 && p.State == "running" && strings.HasPrefix(p.LastExit, "killed by killed")
	})
}

func TestStartsInOrderOfReadiness(t *testing.T) {
	flag := filepath.Join(t.TempDir(), "ready")
	var open atomic.Bool
	s := start(t,
		Program{Name: "second", After: []string{"first"}, Prepare: shell("touch " + flag + "; exec sleep 600")},
		Program{Name: "first", Prepare: shell("exec sleep 600"), Ready: func(context.Context) error {
			if open.Load() {
				return nil
			}
			return errors.New("not yet")
		}},
	)
	testkit.Eventually(t, "first starting", func() bool { return s.Programs()[1].State == "starting" })
	if got := s.Programs()[0].State; got != "waiting" {
		t.Errorf("second is %s before first is ready", got)
	}
	open.Store(true)
	testkit.Eventually(t, "second running", func() bool { return s.Programs()[0].State == "running" })
	if _, err := New(slog.Default(), Around{}, Program{Name: "a", After: []string{"b"}}); err == nil {
		t.Error("an unknown name in After was accepted")
	}
}

func TestPrepareFailureIsRetriedAndTold(t *testing.T) {
	var tries atomic.Int32
	s := start(t, Program{Name: "p", Prepare: func(context.Context) (proc.Spec, error) {
		if tries.Add(1) < 3 {
			return proc.Spec{}, fmt.Errorf("disk full")
		}
		return proc.Spec{Name: "sleep", Path: "sleep", Args: []string{"600"}}, nil
	}})
	testkit.Eventually(t, "running after two failures", func() bool {
		p := s.Programs()[0]
		return p.State == "running" && p.Restarts == 2 && p.LastExit == "prepare: disk full"
	})
}

func TestWatchdogKillsDuplicates(t *testing.T) {
	dup := make(chan int, 1)
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = proc.Run(ctx, proc.Spec{Name: "dup", Path: "sleep", Args: []string{"600"}}, func(pid int) { dup <- pid })
	}()
	defer func() { cancel(); <-gone }()
	stranger := <-dup
	s := start(t, Program{Name: "worker", Prepare: shell("exec sleep 600"), Watchdog: &Watchdog{
		Every: 20 * time.Millisecond,
		Find: func() []int {
			if syscall.Kill(stranger, 0) == nil {
				return []int{stranger}
			}
			return nil
		},
	}})
	<-gone // the duplicate went before or right after ours started
	testkit.Eventually(t, "ours running", func() bool { return s.Programs()[0].State == "running" })
}

// A process that exists already, and whose id is not known yet, is no copy: it is left alone
// until the next search. Between two runs the same would be one.
func TestAProgramThatJustStartedIsNoCopy(t *testing.T) {
	var pid int
	process := func() (end func(), ended <-chan proc.Exit) {
		begun, exits := make(chan int, 1), make(chan proc.Exit, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			exit, _ := proc.Run(ctx, proc.Spec{Name: "worker", Path: "sleep", Args: []string{"600"}}, func(pid int) { begun <- pid })
			exits <- exit
		}()
		pid = <-begun
		return cancel, exits
	}
	c := newChild(Program{Name: "worker", Watchdog: &Watchdog{Find: func() []int { return []int{pid} }}}, Around{}, slog.New(slog.DiscardHandler))

	end, ended := process()
	c.setEnd(end)
	c.sweep()
	c.apply(Launch, func(s *Status) { s.PID = pid })
	c.sweep()
	end()
	if exit := <-ended; exit.Signal != syscall.SIGTERM {
		t.Errorf("the process that just started: %s", exit)
	}
	c.apply(Exit, func(s *Status) { s.PID = 0 })
	c.setEnd(nil)

	end, ended = process()
	defer end()
	c.sweep()
	if exit := <-ended; exit.Signal != syscall.SIGKILL {
		t.Errorf("a copy while none of ours runs: %s", exit)
	}
}

// A program that a signal stopped is replaced, and one that is stopped again soon after
// is only reported: a kill that did not help is not repeated.
func TestWatchdogReplacesWhatIsStoppedOnce(t *testing.T) {
	var s *Supervisor
	opened := make(chan struct{})
	s = start(t, Program{Name: "worker", Prepare: shell("exec sleep 600"), Watchdog: &Watchdog{
		Every: time.Hour,
		Healthy: func(context.Context) error {
			<-opened
			if v, err := proc.VitalsOf(s.Programs()[0].PID); err == nil && v.State == 'T' {
				return errors.New("no answer")
			}
			return nil
		},
	}})
	close(opened)
	running := func() Status {
		var p Status
		testkit.Eventually(t, "the worker runs and is well", func() bool {
			p = s.Programs()[0]
			return p.State == "running" && p.Condition == Well
		})
		return p
	}
	first := running()
	if err := syscall.Kill(first.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "another process", func() bool { p := s.Programs()[0]; return p.PID != first.PID && p.PID != 0 && p.Kills == 1 })
	second := running()
	if err := syscall.Kill(second.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it is said why the second is spared", func() bool {
		p := s.Programs()[0]
		return p.PID == second.PID && p.Condition == Wedged && strings.Contains(p.Spared, "killed") && p.Kills == 1
	})
}

// Why a wedged program is left alone is logged once, however long that is so, and not said
// any more once it is well.
func TestASparedProgramIsToldOnce(t *testing.T) {
	const nobody = 1 << 30 // beyond all process ids
	log, lines := testkit.Log(t)
	c := newChild(Program{Name: "worker", Watchdog: &Watchdog{}}, Around{}.filled(), log)
	c.record = record{}.killed(zero)
	wedged := func(from, to int) {
		for i := from; i < to; i++ {
			l := look{at: zero.Add(time.Duration(i) * time.Second)}
			c.found(l, Wedged, fmt.Sprintf("it has not answered for %d s", i))
			c.kill(l.at, nobody, c.status().Why)
		}
	}
	wedged(8, 290)
	if n := lines.Count("level=ERROR", "not killed"); n != 1 {
		t.Errorf("%d lines in five minutes", n)
	}
	c.found(look{at: zero.Add(291 * time.Second)}, Well, "")
	if spared := c.status().Spared; spared != "" {
		t.Errorf("it is well, and spared because %q", spared)
	}
	wedged(292, 299)
	if n := lines.Count("level=ERROR", "not killed"); n != 2 {
		t.Errorf("%d lines after it was wedged again", n)
	}
}

// While nothing may be killed, as on a full disk, a wedged program is left, and killed
// once that is over.
func TestNothingIsKilledWhileThatCannotHelp(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	s, err := New(slog.New(slog.DiscardHandler), Around{Hold: func() string {
		if full.Load() {
			return "the disk is full"
		}
		return ""
	}}, Program{Name: "worker", Prepare: shell("exec sleep 600"), Watchdog: &Watchdog{
		Every: time.Hour, Healthy: func(context.Context) error { return errors.New("no answer") },
	}})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, s.Run)
	testkit.Eventually(t, "running", func() bool { return s.Programs()[0].State == "running" })
	pid := s.Programs()[0].PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it is said why it is spared", func() bool { return s.Programs()[0].Spared == "the disk is full" })
	if s.Programs()[0].PID != pid {
		t.Error("killed on a full disk")
	}
	full.Store(false)
	testkit.Eventually(t, "another process", func() bool { p := s.Programs()[0]; return p.PID != pid && p.PID != 0 })
}
