package takeover

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// A publisher who may take the air by itself does so once for each connection, when
// nothing is live or what is live is its own. It is held down when it comes and goes:
//
//	times it took the air by itself | it may again, after it left the air
//	in the last 5 min, without      |
//	having lasted a minute          |
//	--------------------------------|-------------------------------------
//	1, 2                            | at once
//	3, 4, 5, 6 and more             | after 15, 30, 60, 120 s
//	stopped or disconnected by the  | after 10 min, or when the studio starts it
//	studio                          |
//
// The belief behind it is that a connection which broke three times in five minutes breaks
// again, and each time the rotation is cut twice. If that is wrong, the presenter waits for
// two minutes at most, or the studio starts the stream.
const (
	takesIn     = 5 * time.Minute
	freeTakes   = 2
	firstHold   = 15 * time.Second
	longestHold = 2 * time.Minute
	stoppedFor  = 10 * time.Minute
	// comeBack is for how long a stream whose connection went may stay on the air, which
	// the desk fills with silence: a page that is loaded again is back by then.
	comeBack = 5 * time.Second
)

// cast is who is connected.
type cast struct {
	sessions  map[string]*session // by id of the session
	holds     map[string]*hold    // by publisher, or stream of none
	publisher map[string]string   // of a stream, the last that sent it
	leaving   map[string]time.Time
	announce  map[string]bool // of a phones' stream: its presenter wants listeners to be told
	turned    turn
	census    census
	// strangers are the sessions of the last roll that are not known, and whether it was logged
	// that one cannot be registered.
	strangers map[live.Protocol]map[string]bool
}

// turn is when the pipe of the stream on the air went from one publisher to another.
type turn struct {
	stream, from string
	at           time.Time
}

// turnedNow is for how long after it went the one before may be told to have left: then it
// was the WHIP server that passed the pipe on to who waited, and not the studio.
const turnedNow = 2 * time.Second

type session struct {
	live.Arrival
	stream string
	since  time.Time
	tried  bool // has had the air, or was stopped: it does not take it by itself
	waits  bool // for the phones' pipe, which another holds
	spent  bool // listeners were told of it, if they were to be
	missed int  // rolls in a row that lacked it
	bare   bool // it was logged that it cannot be registered again
}

type hold struct {
	takes []time.Time
	until time.Time
	taken time.Time // as until, where the studio has taken the air back
	out   time.Time // until when the studio alone puts it on the air
}

func newCast() cast {
	return cast{sessions: map[string]*session{}, holds: map[string]*hold{}, publisher: map[string]string{}, leaving: map[string]time.Time{}, announce: map[string]bool{},
		strangers: map[live.Protocol]map[string]bool{}}
}

func (k *cast) hold(publisher string) *hold {
	h, ok := k.holds[publisher]
	if !ok {
		h = &hold{}
		k.holds[publisher] = h
	}
	return h
}

// mostSessions bounds what is remembered; the servers that take them have bounds of their
// own far below.
const mostSessions = 200

// waitsFor reports that an arrival will not be heard yet: all phones have one pipe, which
// one of them holds at a time. The WHIP server tells of a session when it connects, and
// again when it gets the pipe from another publisher; a publisher's own next session has
// it at once, also for a while after a connection broke.
func (k *cast) waitsFor(a live.Arrival) (stream string, waits bool) {
	if _, known := k.sessions[a.Session]; known || a.Protocol != live.WHIP {
		return "", false
	}
	for _, s := range k.sessions {
		if s.URL != a.URL || s.Protocol != live.WHIP {
			continue
		}
		stream = s.stream
		waits = waits || !s.waits && s.Publisher != a.Publisher
	}
	for id := range k.leaving {
		waits = waits || id == stream && k.publisher[id] != a.Publisher
	}
	return stream, waits && k.publisher[stream] != a.Publisher
}

func (k *cast) arrived(stream string, a live.Arrival, waits bool, now time.Time) {
	k.census.news++
	s := &session{Arrival: a, stream: stream, since: now, waits: waits}
	old, known := k.sessions[a.Session]
	if known {
		s.since, s.tried, s.spent, s.Push = old.since, old.tried, old.spent, s.Push || old.Push
	} else if len(k.sessions) >= mostSessions {
		delete(k.sessions, k.ordered()[0].Session)
	}
	k.sessions[a.Session] = s
	if waits {
		return
	}
	for _, other := range k.sessions { // it has the pipe now
		other.waits = other.waits || a.Protocol == live.WHIP && other.stream == stream && other.Publisher != a.Publisher
	}
	// A connection that takes the place of another of the same publisher asks for nothing,
	// nor does one that is told of again.
	if wish := s.Push && !s.spent; wish || !k.follows(s) && !(known && !old.waits) {
		k.announce[stream] = wish
	}
	k.publisher[stream] = a.Publisher
	delete(k.leaving, stream)
}

// follows reports that a session takes the place of another of the same publisher.
func (k *cast) follows(s *session) bool {
	if k.publisher[s.stream] != s.Publisher {
		return false
	}
	_, left := k.leaving[s.stream]
	for _, other := range k.sessions {
		left = left || other != s && other.stream == s.stream && other.Publisher == s.Publisher
	}
	return left
}

// announced notes that a broadcast is over: its presenter's wish was for this one.
func (k *cast) announced(stream string) {
	delete(k.announce, stream)
	for _, s := range k.sessions {
		s.spent = s.spent || s.stream == stream && !s.waits
	}
}

// studio reports that a session is the studio's own microphone.
func (k *cast) studio(session string) bool {
	s, ok := k.sessions[session]
	return ok && s.Protocol == live.Internal
}

// gone takes a session out and returns its stream, and whether nothing comes on that any
// longer by the publisher whose it was. A session that is not known began before the
// control plane did.
func (k *cast) gone(l live.Leaving) (stream string, last bool) {
	k.census.news++
	for _, sessions := range k.strangers {
		delete(sessions, l.Session)
	}
	s, known := k.sessions[l.Session]
	if !known {
		s = &session{Arrival: live.Arrival{Publisher: l.Publisher}, stream: l.ID}
		// One that broke, and whose publisher turns out to have ended it.
		_, known = k.leaving[l.ID]
	}
	delete(k.sessions, l.Session)
	if s.waits || s.stream == "" || known && k.publisher[s.stream] != s.Publisher {
		return s.stream, false
	}
	for _, other := range k.sessions {
		if other.stream == s.stream && (!known || other.Publisher == s.Publisher) {
			return s.stream, false
		}
	}
	return s.stream, true
}

// ordered are the sessions, the oldest first.
func (k *cast) ordered() []*session {
	out := make([]*session, 0, len(k.sessions))
	for _, s := range k.sessions {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *session) int {
		if c := a.since.Compare(b.since); c != 0 {
			return c
		}
		return compare(a.Session, b.Session)
	})
	return out
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// sending are the streams that somebody sends. A phone that waits for the pipe does not.
func (k *cast) sending() map[string]bool {
	on := map[string]bool{}
	for _, s := range k.sessions {
		if !s.waits {
			on[s.stream] = true
		}
	}
	return on
}

// connected are those that somebody sends, or waits for.
func (k *cast) connected() map[string]bool {
	on := map[string]bool{}
	for _, s := range k.sessions {
		on[s.stream] = true
	}
	return on
}

// aired notes that a stream has the air.
func (k *cast) aired(stream string) {
	for _, s := range k.sessions {
		if s.stream == stream && !s.waits {
			s.tried = true
		}
	}
}

// left notes that a stream has left the air.
func (k *cast) left(stream string, now time.Time) {
	delete(k.leaving, stream)
	h, ok := k.holds[k.publisher[stream]]
	if !ok {
		return
	}
	h.takes = slices.DeleteFunc(h.takes, func(t time.Time) bool { return now.Sub(t) >= takesIn })
	if n := len(h.takes) - freeTakes; n > 0 {
		h.until = later(h.until, now.Add(min(firstHold<<min(n-1, 10), longestHold)))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// well forgets that a publisher came and went.
func (k *cast) well(stream string) {
	if h, ok := k.holds[k.publisher[stream]]; ok {
		h.takes = nil
	}
}

// stopped is the studio's stop: nobody who is connected takes the air by itself, and who
// was stopped not for a while.
func (k *cast) stopped(stream string, now time.Time) {
	for _, s := range k.sessions {
		s.tried = true
	}
	if p := k.publisher[stream]; p != "" && stream != "" {
		h := k.hold(p)
		h.until = now.Add(stoppedFor)
		h.taken = h.until
	}
}

// wanted is the studio's start: it lifts what was held.
func (k *cast) wanted(stream string) {
	delete(k.holds, k.whose(stream))
}

// may tells whether the sender of a session may be on the air, and take it by itself. The
// studio's own microphone is opened by who steers the station.
func (c *control) may(s *session) live.Admission {
	switch {
	case s.Protocol == live.Internal:
		return live.Admission{Allowed: true, Publisher: live.Presenter{Name: byStudio, Auto: true}}
	case s.Publisher == "":
		return live.Admission{}
	}
	return c.t.opt.Presenter(s.Publisher)
}

// consider lets one sender take the air, if one is there who may. The studio takes it from
// whoever has it.
func (k *cast) consider(c *control) {
	now := c.now()
	if !c.known {
		return
	}
	for _, s := range k.ordered() {
		a, studio := c.may(s), s.Protocol == live.Internal
		if s.tried || s.waits || !c.registered(s) || !a.Allowed || !a.Publisher.Auto || !studio && now.Before(k.hold(s.Publisher).until) {
			continue
		}
		own := c.state.Phase == onAir && (studio || k.publisher[c.state.Active] == s.Publisher)
		if c.state.Phase != mix && !own {
			continue
		}
		s.tried = true
		if own && c.state.Active == s.stream {
			continue
		}
		if !studio {
			h := k.hold(s.Publisher)
			h.takes = append(h.takes, now)
		}
		by := orElse(a.Publisher.Name, s.Publisher)
		c.happens(event{What: askStart, ID: s.stream, Mode: live.Replace, By: by, Why: by + " is connected and may take the air"})
		return
	}
}

// refused is the stream on the air whose publisher may not be on the air now.
func (k *cast) refused(c *control) (stream string) {
	id := c.state.Active
	p := k.publisher[id]
	if id == "" || p == "" || c.t.opt.Presenter(p).Allowed {
		return ""
	}
	return id
}

// leftBy is when the first of those who left is given up.
func (k *cast) leftBy() (at time.Time) {
	for _, t := range k.leaving {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	return at
}

// away are the streams that left and did not come back in time.
func (k *cast) away(now time.Time) (out []string) {
	for id, t := range k.leaving {
		if !now.Before(t) {
			out = append(out, id)
			delete(k.leaving, id)
		}
	}
	slices.Sort(out)
	return out
}
