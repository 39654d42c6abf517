package registry

import (
	"context"
	"time"
)

// A dead stream is left out of the ranking for a while.
//
//	failure | what follows
//	--------|-------------
//	first   | nothing: everybody drops once
//	second  | 30 s
//	each    | twice as long as before, 10 min at most
//	success | all is forgotten; so is a failure that is an hour old
//	by order| left out until the order is taken back, whatever succeeds or fails
//
// The belief is that a stream which failed twice without having lasted will fail again at
// once, and each time costs listeners a hole. If that is wrong it is back within the time
// above, or at once when somebody starts it by name.
const (
	firstPause   = 30 * time.Second
	longestPause = 10 * time.Minute
	forgetAfter  = time.Hour
)

// mark is what is remembered of failures. Times are epoch milliseconds.
type mark struct {
	Failures int   `json:"failures,omitempty"` // in a row
	FailedAt int64 `json:"failedAt,omitempty"`
	Until    int64 `json:"until,omitempty"`
	ByOrder  bool  `json:"byOrder,omitempty"`
}

// holds reports whether the stream is left out of the ranking.
func (m mark) holds(now time.Time) bool { return m.ByOrder || now.UnixMilli() < m.Until }

// failed is m after one more failure.
func (m mark) failed(now time.Time) mark {
	if now.UnixMilli() >= m.FailedAt+forgetAfter.Milliseconds() {
		m.Failures = 0
	}
	m.Failures, m.FailedAt = m.Failures+1, now.UnixMilli()
	if m.Failures > 1 {
		m.Until = now.Add(min(firstPause<<min(m.Failures-2, 10), longestPause)).UnixMilli()
	}
	return m
}

// Blacklisted is a stream's mark as the studio shows it.
type Blacklisted struct {
	Failures int   `json:"failures"`
	Until    int64 `json:"until"`   // epoch milliseconds; 0: until the order is taken back
	ByOrder  bool  `json:"byOrder"` // not by failures
}

// Marks returns the streams that are left out of the ranking now, by id.
func (r *Registry) Marks() map[string]Blacklisted {
	now, out := r.opt.Now(), map[string]Blacklisted{}
	for _, s := range *r.now.Load() {
		if m := s.Dead; m.ByOrder {
			out[s.ID] = Blacklisted{Failures: m.Failures, ByOrder: true}
		} else if m.holds(now) {
			out[s.ID] = Blacklisted{Failures: m.Failures, Until: m.Until}
		}
	}
	return out
}

// Failed notes that a stream ended by itself, or never began. Errors:
// station.ErrNotFound.
func (r *Registry) Failed(ctx context.Context, id string) error {
	_, err := r.edit(ctx, id, func(s *record) {
		s.Dead = s.Dead.failed(r.opt.Now())
		if s.Dead.Until > 0 {
			r.opt.Log.Info("live stream failed again and is left out of the ranking", "id", id, "title", s.Title,
				"failures", s.Dead.Failures, "until", time.UnixMilli(s.Dead.Until).UTC())
		}
	})
	return err
}

// Succeeded forgets a stream's failures. Errors: station.ErrNotFound.
func (r *Registry) Succeeded(ctx context.Context, id string) error {
	s, err := r.find(id)
	if err != nil || s.Dead.Failures == 0 {
		return err
	}
	_, err = r.edit(ctx, id, func(s *record) { s.Dead = mark{ByOrder: s.Dead.ByOrder} })
	return err
}

// Block leaves a stream out of the ranking until Unblock. Errors: station.ErrNotFound.
func (r *Registry) Block(ctx context.Context, id string) error {
	_, err := r.edit(ctx, id, func(s *record) { s.Dead.ByOrder = true })
	return err
}

// Unblock takes back Block, and forgets failures. Errors: station.ErrNotFound.
func (r *Registry) Unblock(ctx context.Context, id string) error {
	_, err := r.edit(ctx, id, func(s *record) { s.Dead = mark{} })
	return err
}
