package testkit

import (
	"errors"
	"runtime"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Keeper leaves children to the next one. All those of a test start them on one thread, as
// the programs of one process do, which is served until the test ends. Then none may be left.
func Keeper(t *testing.T) proc.Keeper {
	t.Helper()
	thread, done, served := proc.NewThread(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(served)
		runtime.LockOSThread() // and never unlocked: the thread ends, and what it started
		thread.Serve(done)
	}()
	t.Cleanup(func() {
		close(done)
		<-served
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
			t.Errorf("a child is left: %d, %v", pid, err)
		}
	})
	return proc.Keeper{Thread: thread, Leaving: func() bool { return true }}
}
