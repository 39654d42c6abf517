package bus

import (
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// What is believed of a source, and for how long (docs: rules of the air).
const (
	// HoleAfter is for how long nothing has come when its buffer is dry: then it is a hole,
	// and not a packet that is late.
	HoleAfter = 120 * time.Millisecond
	// LostAfter is the longest hole on the air; MutedAfter that of one muted on purpose.
	LostAfter  = 5 * time.Second
	MutedAfter = 60 * time.Second
	// SilentAfter is the longest time below Silence on the air.
	SilentAfter = 20 * time.Second
	// LateAfter is for how long a source that was called may send nothing at all.
	LateAfter = 8 * time.Second
)

// Event is what has happened to a source.
type Event int

// The events of a source.
const (
	Nothing   Event = iota
	Audio           // audio comes
	Called          // the order wants it on the air
	Dismissed       // the order no longer does
	Sound           // it was called and is heard
	Taken           // the bus turned to it without waiting for a sound: a failover
	Hole            // its buffer is dry, and nothing has come for HoleAfter
	Lost            // the hole lasts longer than it may
	Silent          // it has been below Silence for longer than it may
	Late            // it was called, and no audio has come for LateAfter
	Ended           // its input is over, and all that it sent was heard
)

func (e Event) String() string {
	return [...]string{"nothing", "audio", "called", "dismissed", "sound", "taken", "hole", "lost", "silent", "late", "ended"}[e]
}

// next is the state machine of a source. What is not in the table changes nothing.
//
//	state       event      next        also
//	connecting  audio      ready
//	connecting  late       gone        a start fails
//	connecting  ended      gone
//	ready       called     waiting     the rotation, or who is on the air, goes on
//	ready       taken      on air      failover: at once, whatever it sounds like
//	ready       hole       connecting
//	ready       ended      gone
//	waiting     sound      on air      heard from before the sound on
//	waiting     taken      on air
//	waiting     dismissed  ready
//	waiting     hole       connecting
//	waiting     ended      gone
//	on air      hole       grace       silence, or the bed of a show, fills it
//	on air      silent     gone
//	on air      dismissed  ready
//	on air      ended      gone
//	grace       audio      on air
//	grace       lost       gone
//	grace       silent     gone
//	grace       dismissed  connecting
//	grace       ended      gone
//	gone        audio      ready       it may be called again, and never takes the air itself
//	gone        called     connecting
func next(s live.State, e Event) live.State {
	switch s {
	case live.Connecting:
		return table(e, s, Audio, live.Ready, Late, live.Gone, Ended, live.Gone)
	case live.Ready:
		return table(e, s, Called, live.Waiting, Taken, live.OnAir, Hole, live.Connecting, Ended, live.Gone)
	case live.Waiting:
		return table(e, s, Sound, live.OnAir, Taken, live.OnAir, Dismissed, live.Ready, Hole, live.Connecting, Ended, live.Gone)
	case live.OnAir:
		return table(e, s, Hole, live.Grace, Silent, live.Gone, Dismissed, live.Ready, Ended, live.Gone)
	case live.Grace:
		return table(e, s, Audio, live.OnAir, Lost, live.Gone, Silent, live.Gone, Dismissed, live.Connecting, Ended, live.Gone)
	case live.Gone:
		return table(e, s, Audio, live.Ready, Called, live.Connecting)
	}
	return s
}

func table(e Event, stay live.State, rows ...any) live.State {
	for i := 0; i+1 < len(rows); i += 2 {
		if rows[i] == e {
			return rows[i+1].(live.State) //nolint:forcetypeassert // the table above
		}
	}
	return stay
}

// View is what is known of a source at a moment.
type View struct {
	State  live.State
	Called bool          // the order wants it on the air, and it has not had its turn
	Heard  bool          // called, and a sound was found
	Dry    bool          // on the air, and its buffer has been used up
	Ended  bool          // its input is over
	Muted  bool          // on purpose
	Any    bool          // audio has come within HoleAfter
	Quiet  time.Duration // since audio last came, or since it is known
	Silent time.Duration // since it was last above Silence
	Asked  time.Duration // since it was called
}

// observe tells which event a view is. It is asked again until it returns Nothing.
func observe(v View) Event {
	switch v.State {
	case live.Connecting:
		switch {
		case v.Ended:
			return Ended
		case v.Any:
			return Audio
		case v.Called && min(v.Asked, v.Quiet) >= LateAfter:
			return Late
		}
	case live.Ready, live.Waiting:
		switch {
		case v.Ended && !v.Any:
			return Ended
		case !v.Any:
			return Hole
		case v.State == live.Ready && v.Called:
			return Called
		case v.State == live.Waiting && !v.Called:
			return Dismissed
		case v.State == live.Waiting && v.Heard:
			return Sound
		}
	case live.OnAir:
		switch {
		case v.Dry && v.Ended:
			return Ended
		case v.Dry && v.Quiet >= HoleAfter:
			return Hole
		case v.Silent >= patience(v, SilentAfter):
			return Silent
		}
	case live.Grace:
		switch {
		case v.Ended:
			return Ended
		case v.Any:
			return Audio
		case v.Quiet >= patience(v, LostAfter):
			return Lost
		}
	case live.Gone:
		switch {
		case v.Any && !v.Ended:
			return Audio
		case v.Called:
			return Called
		}
	}
	return Nothing
}

// patience is how long a fault on the air may last.
func patience(v View, usually time.Duration) time.Duration {
	if v.Muted {
		return MutedAfter
	}
	return usually
}
