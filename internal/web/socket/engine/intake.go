package engine

import (
	"cmp"
	"errors"
	"io"
	"sync"
)

// allowance is the memory that a message on its way is given without asking.
const allowance = 16 << 10

// intake is the memory of messages on their way that are longer than the
// allowance. One client has at most a part of it, so that others get theirs.
type intake struct {
	mu       sync.Mutex
	most     int // bytes
	share    int // bytes of one client
	used     int
	byClient map[string]int
}

func (i *intake) init(most, share int) {
	i.most, i.share, i.byClient = most, share, map[string]int{}
}

// take asks for n bytes; the empty client has no share of its own.
func (i *intake) take(client string, n int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.used+n > i.most || client != "" && i.byClient[client]+n > i.share {
		return false
	}
	i.used += n
	if client != "" {
		i.byClient[client] += n
	}
	return true
}

func (i *intake) give(client string, n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.used -= n
	if client == "" {
		return
	}
	if i.byClient[client] -= n; i.byClient[client] <= 0 {
		delete(i.byClient, client)
	}
}

func (i *intake) now() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.used
}

// Hold asks for n bytes of MaxIncoming, for what a receiver keeps of messages
// until the rest has come. Free gives them back, once.
func (s *Session) Hold(n int) bool { return s.server.intake.take(cmp.Or(s.wider, s.client), n) }

// Free gives back what Hold has given.
func (s *Session) Free(n int) { s.server.intake.give(cmp.Or(s.wider, s.client), n) }

// room is the memory of one message on its way: it grows as bytes come, not as
// they are announced.
type room struct {
	session *Session
	held    int // beyond the allowance
}

// grow answers data with space for some of the left bytes that are to come;
// false when there is none. The whole is not longer than limit.
func (r *room) grow(data []byte, left, limit int) ([]byte, bool) {
	if len(data) < cap(data) {
		return data, true
	}
	size := min(limit, max(2*len(data), len(data)+min(left, allowance)))
	if more := size - allowance - r.held; more > 0 {
		if !r.session.Hold(more) {
			return nil, false
		}
		r.held += more
	}
	grown := make([]byte, len(data), size)
	copy(grown, data)
	return grown, true
}

// free lets go of the message.
func (r *room) free() {
	if r.held > 0 {
		r.session.Free(r.held)
		r.held = 0
	}
}

// readAll reads a body of some announced length (-1: none) to its end; of one
// that is longer than limit, one byte more than that.
func (r *room) readAll(body io.Reader, announced int64, limit int) (data []byte, roomy bool, err error) {
	for {
		left := max(int(announced)+1-len(data), 512) // with a place to find its end at
		if data, roomy = r.grow(data, left, limit+1); !roomy {
			return nil, false, nil
		}
		n, err := body.Read(data[len(data):min(cap(data), limit+1)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) || len(data) > limit {
			return data, true, nil
		}
		if err != nil {
			return nil, true, err
		}
	}
}
