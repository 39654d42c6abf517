package station_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

// What one program of the station refuses another takes for the same kind; a fault is not
// taken for somebody who is away, and is not hidden by what it was met on.
func TestAnErrorKeepsItsKindOverHTTP(t *testing.T) {
	for err, want := range map[error]int{
		station.ErrNotFound: 404, station.ErrInvalid: 422, station.ErrConflict: 409, station.ErrTooLarge: 413,
		station.ErrUnauthentic: 401, station.ErrForbidden: 403, station.ErrUnavailable: 503, station.ErrInternal: 500,
		station.ErrFull: 507,
	} {
		got := station.Status(fmt.Errorf("recording: %w", err))
		if got != want || !errors.Is(station.KindOf(got), err) {
			t.Errorf("%v: %d, and back %v", err, got, station.KindOf(got))
		}
	}
	if got := station.Status(errors.New("a disk")); got != 500 {
		t.Errorf("of no kind: %d", got)
	}
	for status, want := range map[int]error{400: station.ErrInvalid, 429: station.ErrUnavailable, 502: station.ErrUnavailable, 504: station.ErrUnavailable, 405: station.ErrInternal, 418: station.ErrInternal, 501: station.ErrInternal} {
		if got := station.KindOf(status); !errors.Is(got, want) {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
}

// A refusal is not repeated; a fault is, and not for ever.
func TestAFaultIsTriedAgainAFewTimes(t *testing.T) {
	for _, c := range []struct {
		err    error
		asOnce bool
		often  bool
	}{
		{station.ErrUnavailable, true, true},
		{station.ErrInternal, true, false},
		{errors.New("decode answer"), true, false},
		{station.ErrConflict, false, false},
		{station.ErrForbidden, false, false},
		{station.KindOf(station.Status(station.ErrFull)), false, false}, // as told over HTTP
	} {
		err := fmt.Errorf("it left: %w", c.err)
		if station.Again(err, 1) != c.asOnce || station.Again(err, 1000) != c.often {
			t.Errorf("%v: %v after one failure, %v after many", c.err, station.Again(err, 1), station.Again(err, 1000))
		}
	}
}
