// Package testkit holds what tests of many packages need: waiting for a
// condition, running something for the length of a test, ports, logs, and a
// network in memory. It knows nothing of radio, and only tests import it.
package testkit

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait. It is far beyond what any condition takes on a
// machine with many times more work than processors: whatever reaches it will
// never come true.
const patience = 2 * time.Minute

// poll is the time between two looks at a condition.
const poll = 5 * time.Millisecond

// Main runs the tests of a package and fails when a goroutine outlives them.
// It is the body of TestMain.
func Main(m *testing.M, options ...goleak.Option) { goleak.VerifyTestMain(m, options...) }

// Eventually waits until ok reports true. A condition that never comes true
// fails the test with what was waited for and what every goroutine was doing.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	EventuallyNil(t, what, func() error {
		if !ok() {
			return errors.New("not so")
		}
		return nil
	})
}

// EventuallyNil waits until check returns nil; the last error says why it never did.
func EventuallyNil(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never: %s: %v\n%s", what, err, stacks())
		}
		time.Sleep(poll)
	}
}

// Receive takes the next value of a channel; a test in which none comes fails.
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case v := <-from:
		return v
	case <-late.C:
		t.Fatalf("never: %s\n%s", what, stacks())
		panic("unreachable")
	}
}

// Held returns once open is closed, or ctx's error if that ends first: what work calls
// that is held up while the machine is short.
func Held(ctx context.Context, open <-chan struct{}) error {
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}

// Background runs something until stop is called, at the latest when the test
// ends. The test fails when it ended with an error. Stop may be called often.
func Background(t testing.TB, run func(ctx context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with an error: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}
