//go:build soak

package e2e

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// harmed is a station that a fault is put into, as one cell sees it.
type harmed struct {
	*station
	audience *audience
	links    map[string]*link // of a station whose control plane and node are apart
	parts    map[string]*part
	// keep is the test that it ends with, which may outlive the cell.
	keep *testing.T
	seen int // lines of the log before the fault
}

func (h *harmed) lines() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.log)
}

// pool holds the stations that several faults are put into, one after the other. Its zero
// value holds none: each cell has its own.
type pool struct {
	t    *testing.T
	mu   sync.Mutex
	free map[string]*harmed
}

func (p *pool) shares(f fault) bool { return shortForm() && !f.marks && p.t != nil }

func (p *pool) key(f fault, side int) string { return fmt.Sprint(f.far, side) }

// take returns a station that is on the air.
func (p *pool) take(t *testing.T, f fault, side int) *harmed {
	t.Helper()
	if !p.shares(f) {
		return begin(t, t, f, side)
	}
	p.mu.Lock()
	h := p.free[p.key(f, side)]
	delete(p.free, p.key(f, side))
	p.mu.Unlock()
	if h == nil {
		return begin(p.t, t, f, side)
	}
	again := *h
	again.station = &station{t, h.machine}
	again.showLog()
	return &again
}

// put gives it back for the next fault, if this one left nothing behind.
func (p *pool) put(h *harmed, f fault, side int, healed bool) {
	switch {
	case !p.shares(f):
	case healed || f.fit == nil: // what was stopped goes on when the cell ends
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free[p.key(f, side)] = h
	case h.cmd != nil:
		h.audience.leave()
		if err := h.halt(); err != nil {
			h.t.Error(err)
		}
	}
}

// begin starts a station that ends with a test, and brings everybody to listen.
func begin(keep, t *testing.T, f fault, side int) *harmed {
	t.Helper()
	dir := keep.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // the streaming server's user looks in
		t.Fatal(err)
	}
	h := &harmed{station: prepare(t, dir, slices.Concat([]option{withKeys, tenSeconds}, f.with, []option{sides[side].opt})...), keep: keep}
	keep.Cleanup(h.forget)
	h.showLog()
	if f.far {
		h.startApart()
	} else {
		h.launch()
		keep.Cleanup(func() {
			if err := h.halt(); err != nil {
				keep.Error(err)
			}
		})
		h.onAir()
	}
	h.hlsReady()
	h.standbyReady()
	h.audience = h.gather(keep)
	return h
}
