package media

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/station"
)

// On a machine that is always short a scan ends all the same; one that is next in turn,
// and any while there is little to air, is not held up.
func TestAScanIsHeldUpForSoLongAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Library{opt: Options{Hold: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}, registry: &registry{tracks: make([]station.Track, shed.Enough)}, scannedAt: time.Now()}
		waits := func() time.Duration {
			hold, end := l.held(t.Context())
			defer end()
			begin := time.Now()
			for range 10 {
				hold()
			}
			return time.Since(begin)
		}
		if got := waits(); got != shed.Most {
			t.Errorf("held up for %s", got)
		}
		end := l.hurry.begin()
		if got := waits(); got != 0 {
			t.Errorf("held up for %s though somebody waits", got)
		}
		end()
		if got := waits(); got != shed.Most {
			t.Errorf("held up for %s once nobody waits", got)
		}
		for name, first := range map[string]func(){
			"few files":           func() { l.registry = &registry{tracks: make([]station.Track, shed.Enough-1)} },
			"a new folder":        func() { l.elsewhere = true },
			"never scanned whole": func() { l.scannedAt, l.elsewhere = time.Time{}, false },
		} {
			kept := *l.registry
			at := l.scannedAt
			first()
			if got := waits(); got != 0 {
				t.Errorf("%s: held up for %s", name, got)
			}
			l.registry, l.scannedAt, l.elsewhere = &kept, at, false
		}
	})
}
