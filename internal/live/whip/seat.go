package whip

import (
	"slices"
	"time"
)

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
//	arrives   free, it does not wait            held by it
//	          free, it waits                    held by it if it may, else free
//	          reserved for its publisher        held by it
//	          reserved for another              reserved; it waits
//	          held by another of its publisher  held by it; that one is replaced
//	          held by another publisher         held; it waits
//	ends      held by it, on purpose            held by who may and waits longest, or free
//	          held by it, broken                reserved for its publisher
//	          otherwise                         unchanged; it waits no more
//	meant     reserved since it broke           held by who may and waits longest, or free
//	handed    any                               held by it; who held it waits first
//	expires   reserved, its time is over        held by who may and waits longest, or free
//	may       free, it waits                    held by it
//
// May is who takes the air without the studio. The pipe may be on the air when its holder
// ends, and the control plane, which would take it off, may be away: all others wait until
// the studio hands it to them, also who had it and lost it to another.
//
// Every other pair changes nothing. The publisher's other sessions that wait are
// replaced by one that arrives, too: a second phone means that the first is put away.
type seat struct {
	holder    string // session; empty: free or reserved
	may       bool   // the holder takes the air without the studio
	publisher string // of the holder, or whom it is reserved for
	until     time.Time
	broke     string   // session since whose end it is reserved
	waiting   []waiter // the longest first
}

type waiter struct {
	session, publisher string
	may                bool
}

// arrives returns the sessions that the new one replaces.
func (s *seat) arrives(session, publisher string, may bool) (replaced []string) {
	if session == s.holder {
		return nil // a new track of the same session
	}
	if s.free() && !may && s.waits(session) {
		return nil
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
		s.waiting = append(s.waiting, waiter{session, publisher, may})
		return replaced
	}
	s.hold(waiter{session, publisher, may})
	return replaced
}

func (s *seat) free() bool { return s.holder == "" && s.publisher == "" }

func (s *seat) waits(session string) bool {
	return slices.ContainsFunc(s.waiting, func(w waiter) bool { return w.session == session })
}

// allows notes whether a session that is here may take the air without the studio.
func (s *seat) allows(session string, may bool) {
	if session == s.holder {
		s.may = may
	}
	for i := range s.waiting {
		if s.waiting[i].session == session {
			s.waiting[i].may = may
		}
	}
	if s.free() {
		s.next()
	}
}

// ends notes that a session is over. Broken: not by anybody's will.
func (s *seat) ends(session string, broken bool, until time.Time) {
	s.forget(session)
	switch {
	case session != s.holder:
	case broken:
		s.holder, s.broke, s.until = "", session, until
	default:
		s.next()
	}
}

// meant notes that a session which broke was ended on purpose.
func (s *seat) meant(session string) {
	if s.holder == "" && s.publisher != "" && s.broke == session {
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
				s.waiting = append([]waiter{{s.holder, s.publisher, s.may}}, s.waiting...)
			}
			s.hold(w)
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
	s.hold(waiter{})
	for _, w := range s.waiting {
		if w.may {
			s.forget(w.session)
			s.hold(w)
			return
		}
	}
}

func (s *seat) hold(w waiter) {
	s.holder, s.publisher, s.may, s.until, s.broke = w.session, w.publisher, w.may, time.Time{}, ""
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
