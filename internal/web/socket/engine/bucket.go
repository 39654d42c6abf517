package engine

import "time"

// bucket limits the packets of a session: full at first, it gains rate tokens a
// second up to burst, and every packet takes one.
type bucket struct {
	tokens float64
	at     int64 // unix nanoseconds
}

// take takes a token and reports whether there was one. A rate of 0 is no limit.
func (b *bucket) take(now time.Time, rate float64, burst int) bool {
	if rate <= 0 {
		return true
	}
	at := now.UnixNano()
	if b.at != 0 && at > b.at {
		b.tokens = min(float64(burst), b.tokens+rate*float64(at-b.at)/float64(time.Second))
	}
	b.at = at
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// allowed takes a token from the session's bucket, and ends the session if there
// is none.
func (s *Session) allowed() bool {
	if s.server.opts.PacketRate <= 0 {
		return true
	}
	s.mu.Lock()
	ok := s.bucket.take(time.Now(), s.server.opts.PacketRate, s.server.opts.PacketBurst)
	s.mu.Unlock()
	if !ok {
		s.End(ReasonRate)
	}
	return ok
}
