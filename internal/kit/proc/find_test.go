package proc_test

import (
	"context"
	"testing"
	"time"

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

	// A program that has just begun shows its arguments a moment later.
	for end := time.Now().Add(20 * time.Second); !contains(proc.Find("tail", "/dev/null"), pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("found %v, want %d among them", proc.Find("tail", "/dev/null"), pid)
		}
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
