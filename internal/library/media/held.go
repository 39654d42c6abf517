package media

import (
	"context"
	"sync"

	"github.com/athir-radio/athir/internal/kit/shed"
)

// While the machine is short of what the air needs, a scan waits between two files
// (Options.Hold), for shed.Most in all, so that each ends. The first scan of a folder does
// not wait, nor any while few files are registered: the station would have nothing to air.
// Nor does one that somebody has asked for (Scan), or that keeps such a one from its turn.

// hurry tells the scan under way whether somebody waits for the registry.
type hurry struct {
	mu      sync.Mutex
	waiting int
	release context.CancelFunc // ends the waits of the scan under way; nil: there is none
}

// begin says that somebody waits, until they call end.
func (h *hurry) begin() (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting++
	if h.release != nil {
		h.release()
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.waiting--
	}
}

// under sets what ends the waits of the scan under way, nil at its end.
func (h *hurry) under(release context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release = release
	if release != nil && h.waiting > 0 {
		release()
	}
}

// held returns what a pass calls between two files, and what it calls at its end. The
// caller holds turn.
func (l *Library) held(ctx context.Context) (hold, end func()) {
	if l.scannedAt.IsZero() || l.elsewhere || len(l.registry.tracks) < shed.Enough {
		return func() {}, func() {}
	}
	bounded := shed.AtMost(l.opt.Hold, shed.Most)
	ctx, release := context.WithCancel(ctx)
	l.hurry.under(release)
	return func() { _ = bounded(ctx) }, func() {
		l.hurry.under(nil)
		release()
	}
}
