package whip

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

const (
	// pollEvery is how often the control plane is asked for a publisher's facts.
	pollEvery = time.Second
	// saidEvery is how often a page is told something, changed or not.
	saidEvery = 5 * time.Second
	// mostPages may follow one session.
	mostPages = 4
	// pageWait is how long a page may take to read an event.
	pageWait = 10 * time.Second
	// mostWhy bounds what a page is told of why, in bytes.
	mostWhy = 300
)

// told is what a page is told: the control plane's facts and this process's own.
type told struct {
	live.Facts

	Session string `json:"session"`
	Holds   bool   `json:"holds"`
	Ended   string `json:"ended"`
	Why     string `json:"why"`
}

// arrived is what a new track means: the registry is told, and a free pipe is its own at
// once. Where another holds it, that one is heard until the new one's sound is there.
func (s *Server) arrived(one *session) {
	one.log.Info("publisher's audio arrived")
	s.herald.arrived(one)
	if s.feed.takes(one.id, one.publisher, one.may()) {
		s.seated(one.id)
	}
}

// heard is what the first sound of a session means: it takes the pipe from its
// publisher's other sessions, which are over, or waits.
func (s *Server) heard(one *session) {
	replaced := s.feed.arrives(one.id, one.publisher, one.may())
	s.seated(one.id)
	for _, id := range replaced {
		if other := s.byID(id); other != nil {
			other.end(endedReplaced, "another device of the same publisher")
		}
	}
}

// seated tells what a change of the holder means to those it concerns. Arriving is the
// session that has just been registered; empty: none.
func (s *Server) seated(arriving string) {
	s.seating.Lock()
	defer s.seating.Unlock()
	holder := s.feed.holder()
	if holder == s.seatTold {
		return
	}
	s.seatTold = holder
	for _, one := range s.all() {
		one.changes.Tell()
		if one.id != holder {
			continue
		}
		one.log.Info("publisher feeds the pipe")
		s.muting.changes()
		if holder != arriving {
			s.herald.arrived(one) // the registry's one entry is this publisher's from now on
		}
	}
}

// keepSeat watches the time of a reservation.
func (s *Server) keepSeat(ctx context.Context) {
	ticker := time.NewTicker(5 * live.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.feed.expires(time.Now())
		s.seated("")
	}
}

// poll asks for the facts of every publisher who has sessions, one question at a time
// for each.
func (s *Server) poll(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	var mu sync.Mutex
	asked := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		of := map[string][]*session{}
		for _, one := range s.all() {
			of[one.publisher] = append(of[one.publisher], one)
		}
		for publisher, sessions := range of {
			mu.Lock()
			under := asked[publisher]
			asked[publisher] = true
			mu.Unlock()
			if under {
				continue
			}
			wg.Go(func() {
				s.ask(ctx, publisher, sessions)
				mu.Lock()
				delete(asked, publisher)
				mu.Unlock()
			})
		}
	}
}

// ask takes the facts of one publisher. Without an answer the last ones stand: nobody is
// cut because the control plane restarts.
func (s *Server) ask(ctx context.Context, publisher string, sessions []*session) {
	stream := ""
	for _, one := range sessions {
		one.mu.Lock()
		if one.stream != "" {
			stream = one.stream
		}
		one.mu.Unlock()
	}
	facts, err := s.opt.Control.Facts(ctx, publisher, stream)
	if err != nil {
		s.log.Debug("no facts from the control plane", "publisher", publisher, "error", err)
		return
	}
	for _, one := range sessions {
		one.mu.Lock()
		old, had := one.facts, one.hasFacts
		one.facts, one.hasFacts = facts, true
		one.mu.Unlock()
		if !facts.Allowed {
			how := endedRevoked
			if facts.Code == "late" || facts.Code == "early" {
				how = endedLate
			}
			one.end(how, facts.Detail)
			continue
		}
		s.feed.allows(one.id, one.may())
		if !had || !same(old, facts) {
			one.changes.Tell()
		}
	}
	s.seated("")
}

// may reports whether the publisher takes the air without the studio, by the last facts.
func (s *session) may() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasFacts && s.facts.Allowed && s.facts.Auto
}

// same compares what a page shows; the clock alone is no news.
func same(a, b live.Facts) bool {
	a.Now, b.Now = 0, 0
	x, _ := json.Marshal(a) //nolint:errchkjson // plain data
	y, _ := json.Marshal(b) //nolint:errchkjson // plain data
	return string(x) == string(y)
}

// told returns what the session's page is told now, and whether that is the last word.
func (s *session) told() (told, bool) {
	holds := s.server.feed.holder() == s.id
	s.mu.Lock()
	defer s.mu.Unlock()
	t := told{Facts: s.facts, Session: s.id, Holds: holds && !s.over, Ended: s.ended, Why: s.why}
	t.Why = t.Why[:min(len(t.Why), mostWhy)]
	if !s.hasFacts {
		t.Allowed, t.Now = true, time.Now().UnixMilli()
		t.State = "connecting"
		if s.tracks > 0 {
			t.State = "waiting"
		}
	}
	if t.Next == nil {
		t.Next = []live.FactsTrack{}
	}
	return t, s.over
}

// serveFacts follows a session by Server-Sent Events, until it ends.
func (s *Server) serveFacts(w http.ResponseWriter, r *http.Request, one *session) {
	if one.pages.Add(1) > mostPages {
		one.pages.Add(-1)
		refuse(w, http.StatusTooManyRequests, problem{Detail: "too many pages follow this session"})
		return
	}
	defer one.pages.Add(-1)
	changed, cancel := one.changes.Subscribe()
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	rc := http.NewResponseController(w)
	ticker := time.NewTicker(saidEvery)
	defer ticker.Stop()
	for {
		news, over := one.told()
		text, err := json.Marshal(news)
		if err != nil {
			return
		}
		_ = rc.SetWriteDeadline(time.Now().Add(pageWait))
		if _, err := w.Write(append(append([]byte("data: "), text...), "\n\n"...)); err != nil || rc.Flush() != nil || over {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-ticker.C:
		}
	}
}
