package webhooks_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

// A hook that is removed while it is tested is not found: nothing is broken.
func TestHookRemovedDuringItsTest(t *testing.T) {
	t.Parallel()
	h := open(t, options(database(t)))
	for range 40 {
		k := add(t, h, "http://127.0.0.1:1/", "*")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := h.Test(t.Context(), k.ID); err != nil && !errors.Is(err, station.ErrNotFound) {
					t.Errorf("test: %v", err)
				}
			})
		}
		all.Go(func() {
			if err := h.Remove(t.Context(), k.ID); err != nil {
				t.Errorf("remove: %v", err)
			}
		})
		all.Wait()
	}
}
