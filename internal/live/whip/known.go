package whip

import (
	"crypto/sha256"
	"sync"
	"time"
)

// knownFor is for how long a key counts as a publisher's after the control plane last said so.
const knownFor = 24 * time.Hour

// known remembers the keys that were admitted, hashed: whoever shows one again is given a
// way to the media that strangers do not share, without the control plane being asked, which
// nobody could do who only guesses. There are no more of them than accounts.
type known struct {
	mu   sync.Mutex
	keys map[[32]byte]time.Time // when each was last admitted
}

// admitted remembers a key.
func (k *known) admitted(token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for key, at := range k.keys {
		if now.Sub(at) >= knownFor {
			delete(k.keys, key)
		}
	}
	k.keys[sha256.Sum256([]byte(token))] = now
}

// refused forgets a key that is no good any more.
func (k *known) refused(token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, sha256.Sum256([]byte(token)))
}

// has reports whether a key was admitted lately.
func (k *known) has(token string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.keys[sha256.Sum256([]byte(token))]
	return ok && time.Since(at) < knownFor
}
