package procs

import (
	"context"
	"runtime"
	"testing"
)

// A process has one processor until it is nearly full, one more at each look while it
// is, and gives it back once one less has long been plenty.
func TestProcessorsFollowTheLoad(t *testing.T) {
	g := governor{most: 4, now: 1}
	for i, step := range []struct {
		used  float64
		times int
		want  int
	}{
		{0.1, 100, 1},
		{0.69, 100, 1},
		{0.75, 1, 2},
		{0.75, 100, 2}, // between: neither full nor idle
		{1.5, 1, 3},
		{9, 1, 4},
		{9, 100, 4}, // no more than there are
		{1.3, 100, 4},
		{0.3, patience - 1, 4},
		{1.3, 1, 4}, // not in a row
		{0.3, patience - 1, 4},
		{0.3, 1, 3},
		{0.3, 2 * patience, 1},
		{0, 100, 1},
	} {
		got := 0
		for range step.times {
			got = g.next(step.used)
		}
		if got != step.want {
			t.Errorf("step %d, %.2f for %d looks: %d processors, want %d", i, step.used, step.times, got, step.want)
		}
	}
}

// What the process had is restored, and the operator's setting stands.
func TestTheProcessGetsItsProcessorsBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := runtime.GOMAXPROCS(0)
	Spare(ctx)
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors, had %d", n, before)
	}
	t.Setenv("GOMAXPROCS", "3")
	runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	Spare(t.Context())
	if n := runtime.GOMAXPROCS(0); n != 3 {
		t.Errorf("%d processors, the operator gave 3", n)
	}
}
