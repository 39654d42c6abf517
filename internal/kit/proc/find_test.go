package proc_test

import (
	"context"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestFindTellsAWorkerByItsArgument(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started, done := make(chan int, 1), make(chan error, 1)
	go func() {
		_, err := proc.Run(ctx, proc.Spec{Name: "tail", Path: "tail", Args: []string{"-f", "/dev/null", t.TempDir()}}, func(pid int) { started <- pid })
		done <- err
	}()
	pid := <-started
	defer func() { cancel(); <-done }()

	// A program that has just begun shows its arguments a moment later.
	testkit.Eventually(t, "the program among those found", func() bool { return slices.Contains(proc.Find("tail", "/dev/null"), pid) })
	if found := proc.Find("tail", "/dev/nul"); slices.Contains(found, pid) {
		t.Errorf("part of an argument found %v", found)
	}
	if found := proc.Find("cat", "/dev/null"); slices.Contains(found, pid) {
		t.Errorf("another program's name found %v", found)
	}
	// So are its first pages.
	testkit.Eventually(t, "64 KiB of a running process", func() bool { return proc.RSS(pid) >= 64<<10 })
}
