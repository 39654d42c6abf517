package harbor

import "sync"

// frameBytes is the length of an MP3 frame: at 48,000 Hz and 128 kbit/s it is always the
// same, and lasts 24 ms.
const frameBytes = 144 * 128_000 / 48_000

// splitter cuts what an encoder writes into whole frames, so that one that is killed, or a
// connection that breaks, leaves no part of a frame in front of what follows.
type splitter struct {
	rest []byte
	give func(frame []byte)
}

func (s *splitter) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	at := 0
	for len(s.rest)-at >= frameBytes {
		if s.rest[at] != 0xFF || s.rest[at+1]&0xFE != 0xFA {
			at++ // not in step
			continue
		}
		frame := make([]byte, frameBytes)
		copy(frame, s.rest[at:])
		s.give(frame)
		at += frameBytes
	}
	s.rest = s.rest[:copy(s.rest, s.rest[at:])]
	return len(p), nil
}

// queue holds frames for the connection, the newest when there are too many.
type queue struct {
	mu      sync.Mutex
	frames  [][]byte
	most    int
	dropped int
	ended   bool // no more will come
	change  chan struct{}
}

func newQueue(most int) *queue { return &queue{most: most, change: make(chan struct{}, 1)} }

func (q *queue) put(frame []byte) {
	q.mu.Lock()
	q.frames = append(q.frames, frame)
	if over := len(q.frames) - q.most; over > 0 {
		q.frames = append(q.frames[:0], q.frames[over:]...)
		q.dropped += over
	}
	q.mu.Unlock()
	q.tell()
}

func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.tell()
}

func (q *queue) tell() {
	select {
	case q.change <- struct{}{}:
	default:
	}
}

// take returns all that waits.
func (q *queue) take() (all []byte, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, f := range q.frames {
		all = append(all, f...)
	}
	q.frames = q.frames[:0]
	return all, q.ended
}

// clear drops all that waits.
func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += len(q.frames)
	q.frames = q.frames[:0]
}

func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
