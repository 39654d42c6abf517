package stream

import "sync/atomic"

// chunk is a piece of the stream that never changes once it is linked in. The
// chunks form a list: a listener that holds one walks on from it, and the garbage
// collector frees those behind the last listener.
type chunk struct {
	unit
	off uint64 // stream position of data[0]
	// more is closed once next is set or the stream has ended here.
	more  chan struct{}
	next  atomic.Pointer[chunk]
	ended atomic.Bool
}

// ring is the live end of the list. Its owner locks.
type ring struct {
	burst int    // bytes a new listener should get at once
	head  *chunk // newest; nil when the stream has ended or not begun
	join  *chunk // where a new listener starts
	size  uint64 // stream position behind head
}

// add links a unit in at the live end.
func (r *ring) add(u unit) {
	c := &chunk{unit: u, off: r.size, more: make(chan struct{})}
	r.size += uint64(len(u.data))
	if r.head == nil {
		r.head, r.join = c, c
		return
	}
	r.head.next.Store(c)
	close(r.head.more)
	r.head = c
	r.moveJoin()
}

// moveJoin moves join to the newest place where a decoder can start cleanly and
// still gets a whole burst.
func (r *ring) moveJoin() {
	for c := r.join.next.Load(); c != nil && r.size-c.off >= uint64(r.burst); c = c.next.Load() {
		if c.joinable {
			r.join = c
		}
	}
	// If there was no clean place for two bursts, join moves anywhere: a decoder
	// skips to the next packet.
	if r.size-r.join.off > uint64(2*r.burst) {
		for c := r.join.next.Load(); c != nil && r.size-c.off >= uint64(r.burst); c = c.next.Load() {
			r.join = c
		}
	}
}

// end finishes the stream: listeners get what there is and are then done.
func (r *ring) end() {
	if r.head == nil {
		return
	}
	r.head.ended.Store(true)
	close(r.head.more)
	r.head, r.join = nil, nil
}
