package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

func TestAPauseDoublesUpToItsBound(t *testing.T) {
	want := []time.Duration{3, 3, 6, 12, 24, 48, 60, 60}
	for failures, w := range want {
		if got := retry.Doubled(3*time.Second, time.Minute, failures); got != w*time.Second {
			t.Errorf("after %d failures %s, want %s", failures, got, w*time.Second)
		}
	}
	if got := retry.Doubled(time.Hour, 24*time.Hour, math.MaxInt); got != 24*time.Hour {
		t.Errorf("after very many failures %s", got)
	}
}
