package client

import (
	"container/heap"
	"fmt"
	"sync"
	"time"
)

// LimitError means that a client has used all its turns.
type LimitError struct{ RetryAfter time.Duration }

func (e *LimitError) Error() string {
	return fmt.Sprintf("too many requests: try again in %d s", e.Seconds())
}

// Seconds is RetryAfter in whole seconds, at least one.
func (e *LimitError) Seconds() int {
	return max(1, int((e.RetryAfter+time.Second-1)/time.Second))
}

// Limits gives each client some turns at once and a new one now and then. All
// networks of one Wider network together have eight times as many.
//
// A client is known by the time at which it has all its turns again (the generic
// cell rate algorithm of ITU-T I.371): a turn moves it on, and what lies in the
// past need not be remembered.
type Limits struct {
	every time.Duration
	whole time.Duration // in which all turns come back
	now   func() time.Time

	mu      sync.Mutex
	clients map[string]*spender
	soonest spenders // the same, by the time at which they have all turns again
}

// mostClients bounds what the limits remember, and so their memory.
const mostClients = 10_000

// wideFactor is how many clients a Wider network counts for.
const wideFactor = 8

// NewLimits gives every client burst turns, and one more each time every has passed.
func NewLimits(burst int, every time.Duration, now func() time.Time) *Limits {
	return &Limits{every: every, whole: time.Duration(burst) * every, now: now, clients: map[string]*spender{}}
}

// Take uses one turn of a client, or returns a *LimitError. A client without a
// name, as Address gives to this machine, has no limit.
func (l *Limits) Take(client string) error {
	return l.TakeIf(client, func() bool { return true })
}

// TakeIf is Take for a turn that only counts if costs says so. Where no turn is
// left costs is not called; for one client it is never called twice at once, so
// that many requests together get no more tries than one after another.
func (l *Limits) TakeIf(client string, costs func() bool) error {
	if client == "" {
		costs()
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	wide := Wider(client)
	wait := l.wait(client, l.every, now)
	if wide != "" {
		wait = max(wait, l.wait(wide, l.every/wideFactor, now))
	}
	if wait > 0 {
		return &LimitError{wait}
	}
	if !costs() {
		return nil
	}
	l.spend(client, l.every, now)
	if wide != "" {
		l.spend(wide, l.every/wideFactor, now)
	}
	return nil
}

// Give gives a turn back that Take took, for a try that takes long and turned out not to count.
func (l *Limits) Give(client string) {
	if client == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refund(client, l.every)
	if wide := Wider(client); wide != "" {
		l.refund(wide, l.every/wideFactor)
	}
}

func (l *Limits) refund(name string, step time.Duration) {
	if s := l.clients[name]; s != nil {
		s.full = s.full.Add(-step)
		heap.Fix(&l.soonest, s.at)
	}
}

// wait is how long a client has no turn; each of its turns takes step to come back.
func (l *Limits) wait(name string, step time.Duration, now time.Time) time.Duration {
	if known := l.clients[name]; known != nil {
		return l.full(known, now).Add(step).Sub(now) - l.whole
	}
	return 0
}

// spend uses a turn. Where there are too many clients a new one takes the place
// of the one that has all turns again, or will soonest: however many come, the
// turns that somebody has spent are forgotten last.
func (l *Limits) spend(name string, step time.Duration, now time.Time) {
	s := l.clients[name]
	switch {
	case s != nil:
	case len(l.clients) < mostClients:
		s = &spender{}
		heap.Push(&l.soonest, s)
	default:
		s = l.soonest[0]
		delete(l.clients, s.name)
		s.full = now
	}
	s.name = name
	l.clients[name] = s
	s.full = l.full(s, now).Add(step)
	heap.Fix(&l.soonest, s.at)
}

// full is when a client has all its turns again, not before now. More than all
// cannot be missing: where it seems so the clock was set back, and locks nobody out.
func (l *Limits) full(s *spender, now time.Time) time.Time {
	if s.full.Before(now) || s.full.Sub(now) > l.whole {
		return now
	}
	return s.full
}

// spender is a client that has used a turn.
type spender struct {
	name string
	full time.Time // when it has all its turns again
	at   int       // in spenders
}

// spenders is a heap.
type spenders []*spender

func (s spenders) Len() int           { return len(s) }
func (s spenders) Less(i, j int) bool { return s[i].full.Before(s[j].full) }
func (s spenders) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].at, s[j].at = i, j
}

func (s *spenders) Push(x any) {
	one := x.(*spender) //nolint:forcetypeassert // ours alone
	one.at = len(*s)
	*s = append(*s, one)
}

func (s *spenders) Pop() any { panic("a place is taken over, never given up") }
