package proc_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// started runs a program for the length of the test.
func started(t *testing.T, spec proc.Spec) int {
	t.Helper()
	spec.Stop = syscall.SIGKILL // a stopped process heeds nothing milder
	pids := make(chan int, 1)
	testkit.Background(t, func(ctx context.Context) error {
		_, err := proc.Run(ctx, spec, func(pid int) { pids <- pid })
		return err
	})
	return testkit.Receive(t, "the program's start", pids)
}

// A program that is stopped, one that works and one that sleeps are told apart by what
// the kernel says of them, whatever their names hold.
func TestVitalsTellWhatAProcessDoes(t *testing.T) {
	busy := started(t, proc.Spec{Name: "sh", Path: "sh", Args: []string{"-c", "while :; do :; done"}})
	asleep := started(t, proc.Spec{Name: "sleep", Path: "sleep", Args: []string{"600"}})
	testkit.Eventually(t, "a busy process uses processor time", func() bool {
		v, err := proc.VitalsOf(busy)
		return err == nil && v.State == 'R' && v.CPU > 0
	})
	testkit.Eventually(t, "a sleeping process sleeps", func() bool {
		v, err := proc.VitalsOf(asleep)
		return err == nil && v.State == 'S'
	})
	if err := syscall.Kill(busy, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "a stopped process is stopped", func() bool {
		v, err := proc.VitalsOf(busy)
		return err == nil && v.State == 'T'
	})
	a, err := proc.VitalsOf(busy)
	if err != nil {
		t.Fatal(err)
	}
	b, err := proc.VitalsOf(asleep)
	if err != nil || a.Begun == 0 || a.Begun > b.Begun {
		t.Errorf("began at %d and %d, %v", a.Begun, b.Begun, err)
	}
	if _, err := proc.VitalsOf(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a process that is gone: %v", err)
	}
}

// One that is ready to run and gets no processor is seen to wait for it.
func TestVitalsTellWhoWaitsForAProcessor(t *testing.T) {
	if v, err := proc.VitalsOf(os.Getpid()); err != nil || !v.Known {
		t.Skipf("this kernel does not count how long a thread waits for a processor (%v)", err)
	}
	// More busy processes on one processor than it can run at once.
	var crowd []int
	for range 4 {
		crowd = append(crowd, started(t, proc.Spec{Name: "taskset", Path: "taskset", Args: []string{"-c", "0", "sh", "-c", "while :; do :; done"}}))
	}
	testkit.Eventually(t, "each waits longer than it runs", func() bool {
		for _, pid := range crowd {
			v, err := proc.VitalsOf(pid)
			if err != nil || v.Waited < v.CPU || v.CPU == 0 {
				return false
			}
		}
		return true
	})
}
