package engine

import (
	"errors"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// readyList holds the WebSocket sessions that have something to write, each at most
// once: a session enters when its writing flag is set.
type readyList struct {
	mu         sync.Mutex
	some       sync.Cond
	head, tail *Session
	closed     bool
}

func (l *readyList) init() { l.some.L = &l.mu }

// push appends the chain from head to tail.
func (l *readyList) push(head, tail *Session) {
	l.mu.Lock()
	tail.next = nil
	if l.tail == nil {
		l.head = head
	} else {
		l.tail.next = head
	}
	l.tail = tail
	l.mu.Unlock()
	if head == tail {
		l.some.Signal()
	} else {
		l.some.Broadcast()
	}
}

// take waits for a session; nil once the list is closed and empty.
func (l *readyList) take() *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.head == nil {
		if l.closed {
			return nil
		}
		l.some.Wait()
	}
	s := l.head
	l.head = s.next
	if l.head == nil {
		l.tail = nil
	}
	s.next = nil
	return s
}

func (l *readyList) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.some.Broadcast()
}

// Batch collects the sessions of a broadcast and hands them to the writers in
// groups. The zero Batch is ready; call Flush at the end.
type Batch struct {
	server     *Server
	head, tail *Session
	n          int
}

// batchSize is small enough that the first sessions are written while the last are
// queued, and large enough that the list's lock costs little.
const batchSize = 256

// Send queues packets for s, with none between them.
func (b *Batch) Send(s *Session, packets []*Packet) {
	if !s.enqueue(packets) {
		return
	}
	s.next = nil
	if b.head == nil {
		b.server, b.head = s.server, s
	} else {
		b.tail.next = s
	}
	b.tail = s
	if b.n++; b.n == batchSize {
		b.Flush()
	}
}

// Flush hands the remaining sessions to the writers.
func (b *Batch) Flush() {
	if b.head != nil {
		b.server.ready.push(b.head, b.tail)
		b.head, b.tail, b.n = nil, nil, 0
	}
}

// writev is one vectored write that never waits.
type writev struct {
	packets []*Packet
	frames  [][]byte
	size    int
	own     int

	n       int
	err     error
	attempt func(fd uintptr) bool
}

// maxVector is the most frames in one write.
const maxVector = 64

func newWritev() *writev {
	v := &writev{packets: make([]*Packet, 0, maxVector), frames: make([][]byte, 0, maxVector)}
	v.attempt = func(fd uintptr) bool {
		for {
			if len(v.frames) == 1 {
				v.n, v.err = unix.Write(int(fd), v.frames[0])
			} else {
				v.n, v.err = unix.Writev(int(fd), v.frames)
			}
			if !errors.Is(v.err, unix.EINTR) {
				return true // done: do not wait until it is writable
			}
		}
	}
	return v
}

// load takes up to maxVector packets from the session's queue.
func (v *writev) load(s *Session) {
	n := min(len(s.queue), maxVector)
	v.packets = append(v.packets[:0], s.queue[:n]...)
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	if rest == 0 && cap(s.queue) > 8 {
		s.queue = nil // unusually long: its memory is not kept
	}
	v.frames, v.size = v.frames[:0], 0
	for _, p := range v.packets {
		v.frames = append(v.frames, p.frame)
		v.size += p.size()
	}
	v.own = ownOf(v.packets)
	s.taken(v.packets)
}

// try writes what the kernel takes at once.
func (v *writev) try(raw syscall.RawConn) error {
	v.n = 0
	if err := raw.Write(v.attempt); err != nil {
		return err
	}
	if errors.Is(v.err, unix.EAGAIN) {
		v.n, v.err = 0, nil
	}
	return v.err
}

// rest returns a copy of the frames that remain to be written.
func (v *writev) rest() net.Buffers {
	out, skip := net.Buffers{}, max(v.n, 0)
	for _, frame := range v.frames {
		cut := min(skip, len(frame))
		skip -= cut
		if cut < len(frame) {
			out = append(out, frame[cut:])
		}
	}
	return out
}

func (v *writev) forget() {
	clear(v.packets)
	clear(v.frames)
}

// write is one of the server's writers: it serves each ready session with one
// vectored write and never waits for any.
func (s *Server) write() {
	v := newWritev()
	for session := s.ready.take(); session != nil; session = s.ready.take() {
		session.flush(v)
		v.forget()
	}
}

// flush writes as much of the queue as the kernel takes. If something remains, the
// session gets a goroutine of its own until it is written.
func (s *Session) flush(v *writev) {
	s.mu.Lock()
	v.load(s)
	conn, raw := s.conn, s.raw
	s.mu.Unlock()
	if len(v.frames) == 0 {
		s.wrote(written{})
		return
	}
	v.n = 0
	if raw != nil {
		if err := v.try(raw); err != nil {
			s.broke()
			return
		}
		if v.n == v.size {
			s.wrote(written{len(v.frames), v.size, v.own})
			return
		}
	}
	rest, all := v.rest(), written{len(v.frames), v.size, v.own}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != gone {
		s.server.work.Go(func() { s.drain(conn, rest, all) })
	}
}

// drain writes the rest to a slow connection. It ends with the connection: one that takes
// nothing is closed when the next heartbeat, which waits behind the rest, is overdue.
func (s *Session) drain(conn net.Conn, rest net.Buffers, all written) {
	if _, err := rest.WriteTo(conn); err != nil {
		s.broke()
		return
	}
	s.wrote(all)
}

// written is what a write has sent.
type written struct {
	packets, size int
	own           int
}

// wrote marks packets as written and, if there is more, puts the session on the
// ready list again.
func (s *Session) wrote(w written) {
	s.server.stats.packetsOut.Add(uint64(w.packets))
	s.server.stats.bytesOut.Add(uint64(w.size))
	s.mu.Lock()
	s.pending -= w.size
	s.charge(s.own - w.own)
	s.writing = false
	again := s.wantsWriter()
	over, conn := s.state == ending && !again, s.conn
	s.mu.Unlock()
	if again {
		s.server.ready.push(s, s)
	}
	if over {
		halfClose(conn)
	}
}

// broke ends a session whose connection no longer takes writes. The writing flag
// stays set, so that nothing is written again.
func (s *Session) broke() { s.End(ReasonTransportClose) }
