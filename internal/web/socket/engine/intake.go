package engine

import (
	"cmp"
	"errors"
	"io"
	"sync"
)

// allowance is how much of a message is received without asking the intake, in bytes.
const allowance = 16 << 10

// intake bounds the memory of messages being received that are longer than the
// allowance. One client gets at most its share, so that some is left for others.
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

// take asks for n bytes; the empty client is not bounded by a share.
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

// Hold asks for n bytes of MaxIncoming, for a receiver that keeps messages until
// the rest has come. Free gives them back, once.
func (s *Session) Hold(n int) bool { return s.server.intake.take(cmp.Or(s.wider, s.client), n) }

// Free gives back n bytes that Hold took.
func (s *Session) Free(n int) { s.server.intake.give(cmp.Or(s.wider, s.client), n) }

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
