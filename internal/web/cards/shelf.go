package cards

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

const (
	// mostKept and mostBytes bound the pictures in memory.
	mostKept  = 64
	mostBytes = 16 << 20
)

// picture is one that is kept.
type picture struct {
	key, tag string
	body     []byte
	at       time.Time // when it was taken; of those that came from elsewhere
}

// shelf keeps the pictures that were last asked for. The zero value is empty.
type shelf struct {
	mu    sync.Mutex
	order list.List // of *picture, the last asked for in front
	all   map[string]*list.Element
	bytes int
}

func (s *shelf) get(key string) *picture {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.all[key]
	if e == nil {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*picture) //nolint:forcetypeassert,errcheck // nothing else is on it
}

// put keeps a picture, and puts away those that were not asked for the longest.
func (s *shelf) put(key string, body []byte) *picture { return s.putAt(key, body, time.Time{}) }

func (s *shelf) putAt(key string, body []byte, at time.Time) *picture {
	sum := sha256.Sum256(body)
	p := &picture{key: key, tag: `"` + hex.EncodeToString(sum[:8]) + `"`, body: body, at: at}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*list.Element{}
	}
	if e := s.all[key]; e != nil {
		s.drop(e)
	}
	s.all[key] = s.order.PushFront(p)
	s.bytes += len(body)
	for s.order.Len() > 1 && (s.order.Len() > mostKept || s.bytes > mostBytes) {
		s.drop(s.order.Back())
	}
	return p
}

func (s *shelf) drop(e *list.Element) {
	p := s.order.Remove(e).(*picture) //nolint:forcetypeassert,errcheck // nothing else is on it
	delete(s.all, p.key)
	s.bytes -= len(p.body)
}
