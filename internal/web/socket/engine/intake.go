package engine

import (
	"cmp"
	"errors"
	"io"
	"sync"
)

// allowance is how much of a message is received, and how much waits for one session,
// without asking a budget, in bytes.
const allowance = 16 << 10

// budget bounds the memory of messages on their way, in or out, beyond the allowance.
// One client gets at most its share, so that some is left for others.
type budget struct {
	mu       sync.Mutex
	most     int // bytes
	share    int // bytes of one client
	used     int
	byClient map[string]int
}

func (b *budget) init(most int) {
	b.most, b.share, b.byClient = most, most/4, map[string]int{}
}

// take asks for n bytes; the empty client is not bounded by a share.
func (b *budget) take(client string, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n > b.most || client != "" && b.byClient[client]+n > b.share {
		return false
	}
	b.used += n
	if client != "" {
		b.byClient[client] += n
	}
	return true
}

func (b *budget) give(client string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if client == "" {
		return
	}
	if b.byClient[client] -= n; b.byClient[client] <= 0 {
		delete(b.byClient, client)
	}
}

func (b *budget) now() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// payer is whose share of a budget the session takes.
func (s *Session) payer() string { return cmp.Or(s.wider, s.client) }

// Hold asks for n bytes of MaxIncoming, for a receiver that keeps messages until
// the rest has come. Free gives them back, once.
func (s *Session) Hold(n int) bool { return s.server.intake.take(s.payer(), n) }

// Free gives back n bytes that Hold took.
func (s *Session) Free(n int) { s.server.intake.give(s.payer(), n) }

// room is the memory of one message being received. It grows as bytes arrive, not
// as they are announced.
type room struct {
	session *Session
	held    int // bytes beyond the allowance
}

// grow returns data with space for some of the left bytes still to come; false when
// there is no room. The message never gets longer than limit.
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

// free gives the message's memory back.
func (r *room) free() {
	if r.held > 0 {
		r.session.Free(r.held)
		r.held = 0
	}
}

// readAll reads a body of some announced length (-1: none) to its end, but of a
// body longer than limit only limit+1 bytes. roomy is false when there is no room.
func (r *room) readAll(body io.Reader, announced int64, limit int) (data []byte, roomy bool, err error) {
	for {
		left := max(int(announced)+1-len(data), 512) // one more, to read the body's end
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
