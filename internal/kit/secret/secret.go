// Package secret keeps what opens a door while it is replaced: the one in force, and those
// before it, each until its time. Whoever compares asks Matches, and whoever presents a
// secret asks Current each time, so that both go on when another takes its place.
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync/atomic"
	"time"
)

// Old is a secret that was replaced, and holds beside the new one until a time.
type Old struct {
	Text  string
	Until time.Time
}

// Secret may be used from any goroutine. A nil one is empty: nothing matches it.
type Secret struct {
	clock func() time.Time
	held  atomic.Pointer[held]
}

type held struct {
	text string
	old  []Old // newest first
}

// New makes one that ages by a clock, time.Now when nil. The old ones are newest first.
func New(text string, clock func() time.Time, old ...Old) *Secret {
	if clock == nil {
		clock = time.Now
	}
	s := &Secret{clock: clock}
	s.Take(text, old...)
	return s
}

// Of is a secret that nothing was before.
func Of(text string) *Secret { return New(text, nil) }

// Take puts another in force, and those that hold beside it in place of all before.
func (s *Secret) Take(text string, old ...Old) {
	s.held.Store(&held{text, append([]Old(nil), old...)})
}

// Current is the one in force; empty where there is none.
func (s *Secret) Current() string {
	if s == nil {
		return ""
	}
	return s.held.Load().text
}

// Set reports whether there is one.
func (s *Secret) Set() bool { return s.Current() != "" }

// Valid are all that hold now, newest first: the one in force, if there is one, and the old
// ones whose time has not come.
func (s *Secret) Valid() (all []string) {
	for _, o := range s.Held() {
		all = append(all, o.Text)
	}
	return all
}

// Held are those that hold, as Valid has them, each with its end: the zero time for the one
// in force.
func (s *Secret) Held() (all []Old) {
	if s == nil {
		return nil
	}
	now, h := s.clock(), s.held.Load()
	if h.text != "" {
		all = append(all, Old{Text: h.text})
	}
	for _, o := range h.old {
		if o.holds(now) {
			all = append(all, o)
		}
	}
	return all
}

// Matches reports whether what was given is one that holds now. The time it takes does not
// tell how much of a guess was right, nor which of them it was like.
func (s *Secret) Matches(given string) bool { return Among(given, s.Valid()) }

// Among is Matches for secrets that were derived from those that hold.
func Among(given string, valid []string) bool {
	found, sum := 0, sha256.Sum256([]byte(given))
	for _, text := range valid {
		want := sha256.Sum256([]byte(text))
		found |= subtle.ConstantTimeCompare(sum[:], want[:])
	}
	return found == 1 && given != ""
}

func (o Old) holds(now time.Time) bool { return o.Text != "" && now.Before(o.Until) }
