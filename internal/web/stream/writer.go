package stream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxPieces bounds one vectored write; a burst of Liquidsoap's pages is 16.
const maxPieces = 64

// listener is a connection that was taken over from net/http.
type listener struct {
	cursor
	socket
	caller             // for the door
	progress time.Time // when it last took something, or had nothing to take
}

// writer serves many listeners from one goroutine, with writes that never wait.
type writer struct {
	f    *Fanout
	wake chan struct{} // receives when listeners are incoming

	mu       sync.Mutex
	incoming []*listener
	closed   bool

	// The rest is used by run's goroutine only.
	set   []*listener
	title titleBlock
	out   [][]byte // what is sent next
}

func newWriter(f *Fanout) *writer { return &writer{f: f, wake: make(chan struct{}, 1)} }

// add hands a listener over; false when the writer has ended.
func (w *writer) add(l *listener) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.incoming = append(w.incoming, l)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return true
}

// run writes to everyone whenever the stream has grown, but not more often than
// once in Options.Batch: one write of two pages costs half of two writes.
func (w *writer) run(ctx context.Context) {
	defer w.closeAll()
	if len(w.set) > 0 { // handed over
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var (
		last  time.Time       // when the last pass began
		armed bool            // the timer will start a pass
		grown <-chan struct{} // nil while armed, and without listeners
	)
	arm := func(d time.Duration) {
		timer.Reset(d)
		armed, grown = true, nil
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			w.admit(time.Now())
			if !armed {
				arm(w.f.opt.Batch)
			}
		case <-grown:
			arm(max(0, w.f.opt.Batch-time.Since(last)))
		case <-timer.C:
			armed, last = false, time.Now()
			newest := w.f.newest() // before the pass, so that what comes during it counts as grown
			switch waiting := w.pass(last); {
			case waiting:
				arm(w.f.opt.Batch)
			case newest != nil && len(w.set) > 0:
				grown = newest.more
			}
		}
	}
}

// admit gives newcomers their response and burst at once.
func (w *writer) admit(now time.Time) {
	w.mu.Lock()
	incoming := w.incoming
	w.incoming = nil
	w.mu.Unlock()
	w.title = w.f.titleNow()
	for _, l := range incoming {
		l.progress = now
		if w.serve(l, now) != gone {
			w.set = append(w.set, l)
		}
	}
}

// pass serves every listener once and reports whether a connection is full.
func (w *writer) pass(now time.Time) (waiting bool) {
	w.title = w.f.titleNow()
	kept := w.set[:0]
	for _, l := range w.set {
		switch w.serve(l, now) {
		case gone:
			continue
		case full:
			waiting = true
		}
		kept = append(kept, l)
	}
	clear(w.set[len(kept):])
	w.set = kept
	return waiting
}

// outcome is how serving one listener went.
type outcome int

const (
	upToDate outcome = iota
	full             // the kernel takes no more for now
	gone             // disconnected, by either side
)

// serve sends all a listener can take.
func (w *writer) serve(l *listener, now time.Time) outcome {
	for {
		w.out = l.gather(w.out[:0], maxPieces, w.title)
		if len(w.out) == 0 {
			l.progress = now
			if l.ended() {
				return w.drop(l)
			}
			return upToDate
		}
		total := 0
		for _, b := range w.out {
			total += len(b)
		}
		sent, err := l.write(w.out)
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			return w.drop(l)
		}
		if sent > 0 {
			l.progress = now
			l.advance(sent, w.title)
			w.f.count.out.Add(uint64(sent))
		}
		if sent < total {
			if w.f.tooSlow(&l.cursor) || now.Sub(l.progress) > w.f.opt.Stall {
				return w.cut(l)
			}
			return full
		}
	}
}

// cut drops a listener that does not keep up, and what the kernel still holds for it.
func (w *writer) cut(l *listener) outcome {
	l.reset()
	w.f.count.slow.Add(1)
	return w.drop(l)
}

func (w *writer) drop(l *listener) outcome {
	l.close()
	w.f.door.leave(l.caller)
	return gone
}

func (w *writer) closeAll() {
	w.mu.Lock()
	w.closed = true
	if w.f.leaving() {
		w.mu.Unlock()
		return
	}
	all := slices.Concat(w.set, w.incoming)
	w.set, w.incoming = nil, nil
	w.mu.Unlock()
	for _, l := range all {
		w.drop(l)
	}
}
