// Package retry tries again until something works. It decides nothing about what
// is worth another try: that is the caller's.
package retry

import (
	"context"
	"time"
)

// Doubled is the pause after so many failures in a row: first after one, twice as long
// after each further one, and most at the longest.
func Doubled(first, most time.Duration, failures int) time.Duration {
	return min(first<<min(max(failures-1, 0), 16), most)
}

// Until repeats try, ever more slowly, until it returns nil or ctx ends. Then the
// error is that of the last try.
func Until(ctx context.Context, try func(context.Context) error) error {
	for pause := 25 * time.Millisecond; ; pause = min(pause*5/4, 500*time.Millisecond) {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if Pause(ctx, pause) != nil {
			return err
		}
	}
}

// Pause waits, or returns ctx's error if that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
