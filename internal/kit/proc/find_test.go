package proc_test

import (
	"context"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
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

	if found := proc.Find("tail", "/dev/null"); len(found) == 0 || !contains(found, pid) {
		t.Errorf("found %v, want %d among them", found, pid)
	}
	if found := proc.Find("tail", "/dev/nul"); contains(found, pid) {
		t.Errorf("part of an argument found %v", found)
	}
	if found := proc.Find("cat", "/dev/null"); contains(found, pid) {
		t.Errorf("another program's name found %v", found)
	}
	if proc.RSS(pid) < 64<<10 {
		t.Errorf("RSS of a running process is %d bytes", proc.RSS(pid))
	}
}

func contains(pids []int, pid int) bool {
	for _, p := range pids {
		if p == pid {
			return true
		}
	}
	return false
}
