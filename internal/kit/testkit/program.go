package testkit

import (
	"context"
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Program runs a program until stop is called, at the latest when the test ends.
func Program(t testing.TB, spec proc.Spec) (stop func()) {
	t.Helper()
	return Background(t, func(ctx context.Context) error {
		exit, err := proc.Run(ctx, spec, nil)
		if ctx.Err() == nil {
			t.Logf("%s ended by itself: %s", spec.Name, exit)
		}
		return err
	})
}

// maxCrashes is how often Supervised lets a program crash.
const maxCrashes = 3

// Supervised is Program for one that may crash for no fault of ours: it is started
// again, as a node's supervisor does. One that ends without a crash fails the test.
// Icecast 2.4.4 crashes in its first moment on a connection, and without any once in
// some 400 starts on a busy machine.
func Supervised(t testing.TB, spec proc.Spec) (stop func()) {
	t.Helper()
	return Background(t, func(ctx context.Context) error {
		for range maxCrashes {
			exit, err := proc.Run(ctx, spec, nil)
			if err != nil || ctx.Err() != nil {
				return err
			}
			if exit.Signal == 0 {
				return fmt.Errorf("%s ended by itself: %s", spec.Name, exit)
			}
			t.Logf("%s crashed: %s", spec.Name, exit)
		}
		return fmt.Errorf("%s crashed %d times", spec.Name, maxCrashes)
	})
}
