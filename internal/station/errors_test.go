package station_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

func TestReasonLeavesTheKindOut(t *testing.T) {
	down := errors.New("dial: refused")
	for want, err := range map[string]error{
		`channel "x" is there already`:        fmt.Errorf("channel %q is there already: %w", "x", station.ErrConflict),
		"push: playout engine: dial: refused": fmt.Errorf("push: %w", fmt.Errorf("playout engine: %w: %w", station.ErrUnavailable, down)),
		"url: no host":                        fmt.Errorf("%w: url: no host", station.ErrInvalid),
		"invalid":                             station.ErrInvalid,
		"track \"a: conflict\": not found":    fmt.Errorf("track %q: %w", "a: conflict", station.ErrNotFound),
		"mood: conflict":                      errors.New("mood: conflict"),
	} {
		if got := station.Reason(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
