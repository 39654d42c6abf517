package rotation

import (
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const recentKept = 40 // mission: *Anti-repeat state*

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
	// Engines are the last that sent markers, the latest to do so first.
	Engines []Engine `json:"engines,omitempty"`
	// Turns outlive the history: see Turn.
	Turns Turns `json:"turns"`
}

// Engine is one boot of a playout engine, and the newest marker it sent.
type Engine struct {
	ID  string `json:"engine"`
	Seq uint64 `json:"seq"`
}

// enginesKept is of how many engines a marker that comes again is known for one.
const enginesKept = 8

// Heard is one entry of _recentOnAir.
type Heard struct {
	Path     string           `json:"path"`
	Artist   string           `json:"artist"`
	Category station.Category `json:"category"`
	At       time.Time        `json:"at"`
	Engine   string           `json:"engine"`
	Seq      uint64           `json:"seq"`
	// Due is when it was to start, of a timed event.
	Due time.Time `json:"due,omitzero"`
}

// Remember adds one play to history and turns, and nothing else.
func (s State) Remember(path string, at time.Time) State {
	return s.remember(Play{Path: path, At: at})
}

func (s State) remember(p Play) State {
	s.History, s.Turns = s.History.add(p.Path, p.At), s.Turns.add(p)
	return s
}

// RememberAll adds plays, oldest first, to history and turns, and nothing else.
func (s State) RememberAll(plays []Play) State {
	all := s.History.All()
	for _, p := range plays {
		all[p.Path] = withStart(all[p.Path], p.At)
	}
	s.History = History{ledgerOf(all)}
	return s.RememberTurns(plays)
}

// RememberTurns adds plays to the turns only: they may be older than the history.
func (s State) RememberTurns(plays []Play) State {
	all := s.Turns.All()
	for _, p := range plays {
		all[p.Path] = p.next(all[p.Path])
	}
	s.Turns = Turns{ledgerOf(all)}
	return s
}

// Fresh is the state right after a commit: a new rotation stands at its first
// entry, and what aired is kept.
func (s State) Fresh() State {
	s.Consumed = 0
	return s
}

// WithoutHistory leaves trackHistory and turns out, for those who keep plays elsewhere.
func (s State) WithoutHistory() State {
	s.History, s.Turns = History{}, Turns{}
	return s
}
