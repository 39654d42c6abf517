package client

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// LimitError says that a client has done enough for now.
type LimitError struct{ RetryAfter time.Duration }

func (e *LimitError) Error() string {
	return fmt.Sprintf("too many requests: try again in %d s", e.Seconds())
}

// Seconds is RetryAfter in whole seconds, at least one.
func (e *LimitError) Seconds() int {
	return max(1, int((e.RetryAfter+time.Second-1)/time.Second))
}

// Limits gives each client some turns at once and a new one now and then.
type Limits struct {
	every rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	clients map[string]*rate.Limiter // of those that have used a turn of late
}

// mostClients bounds what the limits remember, and so their memory.
const mostClients = 10_000

// NewLimits gives every client burst turns, and one more each time every has passed.
func NewLimits(burst int, every time.Duration, now func() time.Time) *Limits {
	return &Limits{every: rate.Every(every), burst: burst, now: now, clients: map[string]*rate.Limiter{}}
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
	turns, known := l.clients[client]
	if known && turns.TokensAt(now) < 1 {
		wait := (1 - turns.TokensAt(now)) / float64(l.every)
		return &LimitError{time.Duration(wait * float64(time.Second))}
	}
	if !costs() {
		return nil
	}
	if !known {
		l.makeRoom(now)
		turns = rate.NewLimiter(l.every, l.burst)
		l.clients[client] = turns
	}
	turns.AllowN(now, 1)
	return nil
}

// makeRoom forgets clients that have all their turns again. Where that is not
// enough it forgets half of the others: a flood from so many networks is not
// held by a limit per client, and must not cost a search at each request.
func (l *Limits) makeRoom(now time.Time) {
	if len(l.clients) < mostClients {
		return
	}
	for name, turns := range l.clients {
		if turns.TokensAt(now) >= float64(l.burst) {
			delete(l.clients, name)
		}
	}
	for name := range l.clients {
		if len(l.clients) <= mostClients/2 {
			return
		}
		delete(l.clients, name)
	}
}
