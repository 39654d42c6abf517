package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// follow runs a supervisor that takes over what another left, until stop is called.
func follow(t *testing.T, k proc.Keeper, left []Left, programs ...Program) (s *Supervisor, stop func() []Left) {
	t.Helper()
	s, err := New(slog.New(slog.DiscardHandler), Around{}, programs...)
	if err != nil {
		t.Fatal(err)
	}
	s.Keep(k, left)
	end := testkit.Background(t, s.Run)
	return s, func() []Left { end(); return s.Left() }
}

// ends has a keeper end its programs with their supervisor.
func ends(k proc.Keeper) proc.Keeper {
	k.Leaving = nil
	return k
}

func running(t *testing.T, s *Supervisor, i int) (p Status) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("program %d runs", i), func() bool { p = s.Programs()[i]; return p.State == "running" })
	return p
}

func sleeper(name string, after ...string) Program {
	return Program{Name: name, After: after, Prepare: shell("exec sleep 600")}
}

// Fails where an adopted program is another process, its counters begin anew, it waits for
// what it comes after, its copies are sought before it is known, or it is not started again
// once it ends.
func TestProgramsGoOnUnderTheNextSupervisor(t *testing.T) {
	k := testkit.Keeper(t)
	first, stop := follow(t, k, nil, sleeper("a"), sleeper("b", "a"))
	running(t, first, 0)
	before := running(t, first, 1)
	_ = syscall.Kill(before.PID, syscall.SIGKILL)
	testkit.Eventually(t, "b starts again", func() bool { return first.Programs()[1].Restarts == 1 })
	before = running(t, first, 1)
	left := stop()
	if len(left) != 2 || left[1].Child.PID != before.PID || left[1].Status.PID != before.PID {
		t.Fatalf("left %+v", left)
	}
	left[1].Status.Kills = 3

	a, b := sleeper("a"), sleeper("b", "a")
	a.Ready = func(context.Context) error { return errors.New("never") }
	b.Watchdog = &Watchdog{Every: time.Hour, Find: func() []int { return []int{before.PID} }}
	second, stop := follow(t, k, left, a, b)
	after := running(t, second, 1)
	if after.PID != before.PID || after.Restarts != 1 || after.Kills != 3 || after.LastExit != before.LastExit {
		t.Errorf("%+v, before %+v", after, before)
	}
	second.children[1].clearStale()
	second.children[1].sweep()
	if err := syscall.Kill(before.PID, 0); err != nil || second.Programs()[1].PID != before.PID {
		t.Errorf("killed as a copy of itself: %v", err)
	}
	left = stop()

	third, _ := follow(t, ends(k), left, sleeper("a"), sleeper("b", "a"))
	if p := running(t, third, 1); p.PID != before.PID {
		t.Errorf("%+v, before %+v", p, before)
	}
	_ = syscall.Kill(before.PID, syscall.SIGKILL)
	testkit.Eventually(t, "b starts again", func() bool {
		p := third.Programs()[1]
		return p.State == "running" && p.PID != before.PID && p.Restarts == 2
	})
}

// Fails where a program that the new version does without runs on, or one that it has beside
// the others is not started.
func TestTheNextSupervisorMayHaveOtherPrograms(t *testing.T) {
	k := testkit.Keeper(t)
	first, stop := follow(t, k, nil, sleeper("gone"), sleeper("stays"))
	gone, stays := running(t, first, 0), running(t, first, 1)
	fresh := sleeper("new")
	fresh.Ready = func(context.Context) error { return nil }
	second, _ := follow(t, ends(k), stop(), fresh, sleeper("stays", "new"))
	testkit.Eventually(t, "the end of the one", func() bool { return errors.Is(syscall.Kill(gone.PID, 0), syscall.ESRCH) })
	if p := running(t, second, 0); p.PID == gone.PID || p.Restarts != 0 {
		t.Errorf("%+v", p)
	}
	if p := running(t, second, 1); p.PID != stays.PID {
		t.Errorf("%+v, before %+v", p, stays)
	}
}

// Fails where a program that is to start again alone is left running instead, as if its
// supervisor ended: two would run then.
func TestARestartDoesNotLeaveTheProgram(t *testing.T) {
	k := testkit.Keeper(t)
	s, stop := follow(t, k, nil, sleeper("a"))
	before := running(t, s, 0)
	if err := s.Restart("a"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "another process", func() bool { p := s.Programs()[0]; return p.State == "running" && p.PID != before.PID })
	if err := syscall.Kill(before.PID, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the former runs on: %v", err)
	}
	_, end := follow(t, ends(k), stop(), sleeper("a"))
	end()
}

// Fails where a supervisor that is to end at once forgets what it was left: it would be run
// twice, or never be asked to end. One that is new among those it comes after is not ready.
func TestASupervisorThatEndsAtOnceLeavesOrEndsWhatItWasLeft(t *testing.T) {
	k := testkit.Keeper(t)
	first, stop := follow(t, k, nil, sleeper("a"))
	pid := running(t, first, 0).PID
	left := stop()
	for _, k := range []proc.Keeper{k, k, ends(k)} {
		never := sleeper("new")
		never.Ready = func(context.Context) error { return errors.New("not yet") }
		s, err := New(slog.New(slog.DiscardHandler), Around{}, sleeper("a", "new"), never)
		if err != nil {
			t.Fatal(err)
		}
		s.Keep(k, left)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Run(ended); err != nil {
			t.Fatal(err)
		}
		left = s.Left()
		switch {
		case k.Leaving != nil && (len(left) != 1 || left[0].Child.PID != pid || left[0].Status.PID != pid):
			t.Fatalf("left %+v", left)
		case k.Leaving == nil && (len(left) != 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)):
			t.Fatalf("not ended; left %+v", left)
		}
	}
}

// Fails where a program that is to be started anew goes on, or is left to the next
// supervisor in place of being ended; where it is asked of one that was not left; and where
// one that need not be started anew is.
func TestALeftProgramIsStartedAnewWhereItIsOld(t *testing.T) {
	k := testkit.Keeper(t)
	first, stop := follow(t, k, nil, sleeper("old"), sleeper("new"))
	old, current := running(t, first, 0), running(t, first, 1)
	left := stop()
	asked := make(chan int, 8)
	renewed := func(name, why string) Program {
		p := sleeper(name)
		p.Renew = func(_ context.Context, pid int) string { asked <- pid; return why }
		return p
	}
	second, _ := follow(t, ends(k), left, renewed("old", "another script"), renewed("new", ""))
	testkit.Eventually(t, "another process", func() bool { p := second.Programs()[0]; return p.PID != old.PID && p.State == "running" })
	testkit.Eventually(t, "the old one is gone", func() bool { return syscall.Kill(old.PID, 0) != nil })
	pids := []int{testkit.Receive(t, "asked", asked), testkit.Receive(t, "asked", asked)}
	if !slices.Contains(pids, old.PID) || !slices.Contains(pids, current.PID) || len(asked) != 0 {
		t.Errorf("asked of %v, and %d more", pids, len(asked))
	}
	if p := second.Programs()[1]; p.PID != current.PID || p.Restarts != 0 {
		t.Errorf("%+v, before %+v", p, current)
	}
}
