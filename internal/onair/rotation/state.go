package rotation

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const (
	historyKept = 72 * time.Hour // mission: *Anti-repeat state*
	recentKept  = 40
	tailKept    = 64 // plays added before the history's map is made anew
)

// State is the mission's anti-repeat state and the cursor. A State is a value:
// no method changes one, and copies may be kept.
type State struct {
	History         History `json:"trackHistory"`
	LastTrackPlayed string  `json:"lastTrackPlayed"`
	// Recent is what was on air, newest first.
	Recent []Heard `json:"_recentOnAir"`
	// LastMusicArtist is the artist of the last music track, as tagged.
	LastMusicArtist string `json:"_lastMusicArtist"`
	// Consumed counts the entries of the rotation heard or passed over.
	Consumed int `json:"rotationConsumed"`
	// Engine and Seq are those of the newest marker.
	Engine string `json:"engine"`
	Seq    uint64 `json:"seq"`
}

// Heard is one entry of _recentOnAir.
type Heard struct {
	Path     string           `json:"path"`
	Artist   string           `json:"artist"`
	Category station.Category `json:"category"`
	At       time.Time        `json:"at"`
	Engine   string           `json:"engine"`
	Seq      uint64           `json:"seq"`
}

// Play is one airing of a track.
type Play struct {
	Path string
	At   time.Time
	// Round is Entry.Round of the entry that aired; 0 counts on from the play before.
	Round int
}

// Aired is what the history knows of a track: when it last started, and how
// many turns it has had in its deck. Tracks of a deck keep within a turn or two
// of each other, which is what makes their plays even.
type Aired struct {
	At    time.Time `json:"at"`
	Round int       `json:"round"`
}

// History is the mission's trackHistory: the last airing of each path within
// 72 hours. The zero value is empty. It is shared between copies of a State
// and never changed: adding copies a short tail, and now and then the map.
type History struct {
	base map[string]Aired
	tail []Play
}

// Last returns the last airing of path.
func (h History) Last(path string) (Aired, bool) {
	for i := len(h.tail) - 1; i >= 0; i-- {
		if h.tail[i].Path == path {
			return Aired{h.tail[i].At, h.tail[i].Round}, true
		}
	}
	a, ok := h.base[path]
	return a, ok
}

// All returns every path and its last airing. The map is the caller's.
func (h History) All() map[string]Aired {
	all := make(map[string]Aired, len(h.base)+len(h.tail))
	maps.Copy(all, h.base)
	for _, p := range h.tail {
		all[p.Path] = Aired{p.At, p.Round}
	}
	return all
}

// add records a play. The tail holds, for each path, values that only grow.
func (h History) add(p Play) History {
	was, known := h.Last(p.Path)
	if p.Round == 0 {
		p.Round = was.Round + 1
	}
	p.Round = max(p.Round, was.Round)
	if known && was.At.After(p.At) {
		p.At = was.At
	}
	if len(h.tail) < tailKept {
		return History{h.base, append(slices.Clip(slices.Clone(h.tail)), p)}
	}
	all := h.All()
	all[p.Path] = Aired{p.At, p.Round}
	prune(all, p.At)
	return History{base: all}
}

func prune(all map[string]Aired, now time.Time) {
	oldest := now.Add(-historyKept)
	maps.DeleteFunc(all, func(_ string, a Aired) bool { return a.At.Before(oldest) })
}

// MarshalJSON writes an object of path to airing.
func (h History) MarshalJSON() ([]byte, error) { return json.Marshal(h.All()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (h *History) UnmarshalJSON(b []byte) error {
	h.tail = nil
	h.base = nil
	return json.Unmarshal(b, &h.base)
}

// Remember adds one play to the history and nothing else.
func (s State) Remember(path string, at time.Time) State {
	s.History = s.History.add(Play{Path: path, At: at})
	return s
}

// RememberAll adds plays, oldest first, to the history and nothing else.
func (s State) RememberAll(plays []Play) State {
	all := s.History.All()
	for _, p := range plays {
		was := all[p.Path]
		if p.Round == 0 {
			p.Round = was.Round + 1
		}
		if was.At.After(p.At) {
			p.At = was.At
		}
		all[p.Path] = Aired{p.At, max(p.Round, was.Round)}
	}
	s.History = History{base: all}
	return s
}

// Fresh is the state right after a commit: a new rotation stands at its first
// entry, and what aired is kept.
func (s State) Fresh() State {
	s.Consumed = 0
	return s
}

// WithoutHistory leaves trackHistory out, for those who keep plays elsewhere.
func (s State) WithoutHistory() State {
	s.History = History{}
	return s
}

// Prune forgets what aired more than 72 hours before now.
func (s State) Prune(now time.Time) State {
	all := s.History.All()
	prune(all, now)
	s.History = History{base: all}
	return s
}
