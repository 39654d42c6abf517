package census

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// A file on a disk that hangs keeps neither the station from starting nor its end from coming.
func TestADiskThatHangsKeepsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		var looks atomic.Int32
		a := &Atlas{path: "/far/c.mmdb", log: slog.New(slog.DiscardHandler)}
		a.begin(func() { looks.Add(1); <-hangs })
		if s := a.State(); s.On || !strings.Contains(s.Problem, "does not answer") || a.Country("41.33.1.2") != (Country{}) {
			t.Errorf("%+v", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*lookEvery)
		defer cancel()
		if err := a.Run(ctx); err != nil || looks.Load() != 1 {
			t.Errorf("%v after %d looks at once", err, looks.Load())
		}
		close(hangs)
	})
}
