package rotation

import (
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const recentKept = 40 // mission: *Anti-repeat state*

// State is the mission's anti-repeat state and the cursor. It is a value: no method
// changes it, and copies may be kept.
type State struct {
	History         History `json:"trackHistory"`
	LastTrackPlayed string  `json:"lastTrackPlayed"`
	// Recent is what was on air, newest first.
	Recent []Heard `json:"_recentOnAir"`
	// LastMusicArtist is the artist of the last music track, as tagged.
	LastMusicArtist string `json:"_lastMusicArtist"`
	// Consumed counts the entries of the rotation heard or passed over.
	Consumed int `json:"rotationConsumed"`
	// Engine and Seq identify the newest marker.
	Engine string `json:"engine"`
	Seq    uint64 `json:"seq"`
	// Engines are the last engines that sent markers, the latest first.
	Engines []Engine `json:"engines,omitempty"`
	// Guests is what listeners had on the air.
	Guests Guests `json:"guests"`
	// Lists is what of each playlist was heard, by its ID.
	Lists map[int64]ListState `json:"lists,omitempty"`
	// Turns reach back further than the history: see Turns.
	Turns Turns `json:"turns"`
}

// Engine is one boot of a playout engine, and the newest marker it sent.
type Engine struct {
	ID  string `json:"engine"`
	Seq uint64 `json:"seq"`
}

// enginesKept is for how many engines a repeated marker is recognised.
const enginesKept = 8

// Heard is one entry of _recentOnAir.
type Heard struct {
	Path     string           `json:"path"`
	Artist   string           `json:"artist"`
	Category station.Category `json:"category"`
	At       time.Time        `json:"at"`
	Engine   string           `json:"engine"`
	Seq      uint64           `json:"seq"`
	// Due is when a timed event should have started.
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

// Fresh returns the state after a commit: the cursor is at the first entry of the new
// rotation, and what aired is kept.
func (s State) Fresh() State {
	s.Consumed = 0
	return s
}

// WithoutHistory returns the state without trackHistory and turns, for callers that
// store plays elsewhere.
func (s State) WithoutHistory() State {
	s.History, s.Turns = History{}, Turns{}
	return s
}
