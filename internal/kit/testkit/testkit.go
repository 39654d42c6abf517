// Package testkit holds what tests of many packages need: waiting for a
// condition, running something for the length of a test, ports, logs, and a
// network in memory. It knows nothing of radio, and only tests import it.
package testkit

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/athir-radio/athir/internal/kit/port"
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

// Port returns a loopback port that nobody holds and that no outgoing
// connection will be given: see port.Free. For what can listen on port 0, use that.
func Port(t testing.TB) int {
	t.Helper()
	address, err := port.Free("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	_, number, _ := net.SplitHostPort(address)
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
