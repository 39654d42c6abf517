package relay

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxAddresses bounds what the turnstile remembers.
const maxAddresses = 4096

// turnstile limits how often an address may begin a session, so that one
// machine cannot fill the table.
type turnstile struct {
	atOnce int
	every  time.Duration

	mu        sync.Mutex
	byAddress map[string]*rate.Limiter
}

func newTurnstile(atOnce int, every time.Duration) *turnstile {
	return &turnstile{atOnce: atOnce, every: every, byAddress: map[string]*rate.Limiter{}}
}

// pass reports whether the address may begin another session now.
func (t *turnstile) pass(address string, now time.Time) bool {
	if address == "" {
		return true // nobody to tell from the others
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	limiter := t.byAddress[address]
	if limiter == nil {
		for other := range t.byAddress {
			if len(t.byAddress) < maxAddresses {
				break
			}
			delete(t.byAddress, other)
		}
		limiter = rate.NewLimiter(rate.Every(t.every), t.atOnce)
		t.byAddress[address] = limiter
	}
	return limiter.AllowN(now, 1)
}
