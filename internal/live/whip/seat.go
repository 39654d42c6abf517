package whip

import "time"

// seat is who feeds the pipe. It is a state machine:
//
//	State     Who writes
//	--------  ------------------------------------------------------------------
//	free      nobody
//	held      one session
//	reserved  nobody; kept for a publisher whose connection broke, for a while
//
//	Event     From                              To
//	--------  --------------------------------  -------------------------------
//	arrives   free                              held by it
//	          reserved for its publisher        held by it
//	          reserved for another              reserved; it waits
//	          held by another of its publisher  held by it; that one is replaced
//	          held by another publisher         held; it waits
//	ends      held by it, on purpose            held by who waits longest, or free
//	          held by it, broken                reserved for its publisher
//	          otherwise                         unchanged; it waits no more
//	handed    any                               held by it; who held it waits first
//	expires   reserved, its time is over        held by who waits longest, or free
//
// Every other pair changes nothing. The publisher's other sessions that wait are
// replaced by one that arrives, too: a second phone means that the first is put away.
type seat struct {
	holder    string // session; empty: free or reserved
	publisher string // of the holder, or whom it is reserved for
	until     time.Time
	waiting   []waiter // the longest first
}

type waiter struct{ session, publisher string }

// arrives returns the sessions that the new one replaces.
func (s *seat) arrives(session, publisher string) (replaced []string) {
	if session == s.holder {
		return nil // a new track of the same session
	}
	var rest []waiter
	for _, w := range s.waiting {
		switch {
		case w.session == session:
		case w.publisher == publisher:
			replaced = append(replaced, w.session)
		default:
			rest = append(rest, w)
		}
	}
	s.waiting = rest
	switch {
	case s.holder != "" && s.publisher == publisher:
		replaced = append(replaced, s.holder)
	case s.holder != "" || s.publisher != "" && s.publisher != publisher:
		s.waiting = append(s.waiting, waiter{session, publisher})
		return replaced
	}
	s.hold(session, publisher)
	return replaced
}

// ends notes that a session is over. Broken: not by anybody's will.
func (s *seat) ends(session string, broken bool, until time.Time) {
	s.forget(session)
	switch {
	case session != s.holder:
	case broken:
		s.holder, s.until = "", until
	default:
		s.next()
	}
}

// handed reports whether it is known: only who has arrived can hold.
func (s *seat) handed(session string) bool {
	if session == s.holder {
		return true
	}
	for _, w := range s.waiting {
		if w.session == session {
			s.forget(session)
			if s.holder != "" {
				s.waiting = append([]waiter{{s.holder, s.publisher}}, s.waiting...)
			}
			s.hold(session, w.publisher)
			return true
		}
	}
	return false
}

func (s *seat) expires(now time.Time) {
	if s.holder == "" && s.publisher != "" && !now.Before(s.until) {
		s.next()
	}
}

func (s *seat) next() {
	s.holder, s.publisher = "", ""
	if len(s.waiting) > 0 {
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.hold(w.session, w.publisher)
	}
}

func (s *seat) hold(session, publisher string) {
	s.holder, s.publisher, s.until = session, publisher, time.Time{}
}

func (s *seat) forget(session string) {
	var rest []waiter
	for _, w := range s.waiting {
		if w.session != session {
			rest = append(rest, w)
		}
	}
	s.waiting = rest
}
