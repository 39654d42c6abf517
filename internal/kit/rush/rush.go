// Package rush gives memory back to the system after a rush of connections. What many
// handshakes in a short time leave behind (buffers, parsed requests, grown stacks) is
// as much again as what the connections keep, and without work that allocates no
// collection comes for it: then it stays for hours.
//
// It counts arrivals; whether they stay does not matter.
package rush

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Many arrivals make a rush: fewer leave little behind.
	Many = 500
	// calm is how long a rush has been over when fewer than few came meanwhile.
	calm = time.Second
	few  = Many / 10
)

// Watch waits for the end of each rush. Make one with New.
type Watch struct {
	free    func()
	arrived atomic.Int64 // since it was last calm

	mu    sync.Mutex
	seen  int64 // arrivals at the last look
	timer *time.Timer
}

// New makes a Watch that calls free after each rush; nil stands for a collection whose
// pages are given back, some 100 ms of processor time for each GB in use.
func New(free func()) *Watch {
	if free == nil {
		free = debug.FreeOSMemory
	}
	return &Watch{free: free}
}

// Arrived counts one connection. It costs next to nothing.
func (w *Watch) Arrived() {
	if w.arrived.Add(1) > 1 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = 1
	if w.timer == nil {
		w.timer = time.AfterFunc(calm, w.look)
	} else {
		w.timer.Reset(calm)
	}
}

// look runs once in each calm while connections arrive.
func (w *Watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.arrived.Load()
	came := n - w.seen
	if w.seen = n; came >= few {
		w.timer.Reset(calm)
		return
	}
	if n >= Many {
		w.free()
	}
	w.seen = 0
	if w.arrived.Swap(0) > n { // while memory was given back
		w.arrived.Add(1)
		w.timer.Reset(calm)
	}
}
