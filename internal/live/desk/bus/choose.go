package bus

import (
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// Scene is all that the decision of the bus depends on.
type Scene struct {
	Open bool   // the engine hears the bus
	On   string // the source on it; empty while the bed of a show, or silence, holds the air
	// OnState is the state of On.
	OnState live.State
	OnMuted bool          // on purpose: silence is meant, no failover
	OnHole  time.Duration // for how long it has been in grace
	OnOver  bool          // its input is over, and something that it sent is not heard yet
	// Air is the source that the order wants; empty: the rotation.
	Air string
	// AirHeard: it was called by this order, and its first sound has been found.
	AirHeard bool
	// Fit is the best candidate that may follow at once; empty: none.
	Fit string
	// Back, where none is fit, is the best candidate that failed lately and sends again;
	// empty: none.
	Back string
	// FitHeard: it has sound right now.
	FitHeard bool
	// Show: one holds the air. Bed: it has audio to play while nobody speaks.
	Show, Bed bool
	// Idle is for how long nobody has been on the open bus.
	Idle time.Duration
}

// Act is what the bus does at a tick.
type Act int

// The acts of the bus.
const (
	Stay  Act = iota // as it is
	Open             // the engine gets the bus, with Decision.ID on it
	Turn             // another source, without a break
	Hold             // no source: the bed of the show, or silence
	Close            // the rotation
)

func (a Act) String() string { return [...]string{"stay", "open", "turn", "hold", "close"}[a] }

// Decision is what is on the bus from this tick on.
type Decision struct {
	Act Act
	ID  string // of Open and Turn
	// Failed: who was on the bus ended by a fault, not by order.
	Failed bool
}

// choose decides what is on the bus at this tick. The first row that fits holds.
//
//	bus     order           who is on it           else                  act
//	closed  a source        -                      its sound is found    open
//	closed  any             -                                            stay
//	open    another source  sends no more          something is left     stay
//	open    another source  -                      its sound is found    turn
//	open    -               on the air                                   stay
//	open    none            a source or the bed    a show holds the air  hold
//	open    none            a source or the bed                          close
//	open    a source        in grace, not muted    a candidate is fit    turn, failed
//	open    a source        in grace for backFor   one that failed sends turn, failed
//	open    a source        in grace                                     stay
//	open    a source        gone                   a candidate is fit    turn, failed
//	open    a source        gone                   one that failed sends turn, failed
//	open    a source        gone                   a show with a bed     hold, failed
//	open    a source        gone                                         close, failed
//	open    a source        nobody (a show)        a candidate is heard  turn
//	open    a source        nobody                 a show with a bed     stay
//	open    a source        nobody                                       close after LostAfter
//
// A show without a bed holds the air for LostAfter, as a hole does.
func choose(s Scene) Decision {
	if !s.Open {
		if s.Air != "" && s.AirHeard {
			return Decision{Act: Open, ID: s.Air}
		}
		return Decision{}
	}
	holds := s.Show && (s.Bed || s.Idle < LostAfter)
	switch {
	case s.OnOver && s.Air != "" && s.Air != s.On:
		return Decision{}
	case s.Air != "" && s.Air != s.On && s.AirHeard:
		return Decision{Act: Turn, ID: s.Air, Failed: s.On != "" && s.OnState != live.OnAir}
	case s.Air == "" && s.On != "":
		if holds {
			return Decision{Act: Hold}
		}
		return Decision{Act: Close}
	case s.On == "":
		switch {
		case s.Fit != "" && s.FitHeard && s.Air != "":
			return Decision{Act: Turn, ID: s.Fit}
		case holds:
			return Decision{}
		}
		return Decision{Act: Close}
	case s.OnState == live.Grace:
		switch {
		case s.OnMuted:
		case s.Fit != "":
			return Decision{Act: Turn, ID: s.Fit, Failed: true}
		case s.Back != "" && s.OnHole >= backFor:
			return Decision{Act: Turn, ID: s.Back, Failed: true}
		}
		return Decision{}
	case s.OnState != live.OnAir:
		switch {
		case s.Fit != "":
			return Decision{Act: Turn, ID: s.Fit, Failed: true}
		case s.Back != "":
			return Decision{Act: Turn, ID: s.Back, Failed: true}
		case s.Show && s.Bed:
			return Decision{Act: Hold, Failed: true}
		}
		return Decision{Act: Close, Failed: true}
	}
	return Decision{}
}
