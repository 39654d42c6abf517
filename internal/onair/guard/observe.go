package guard

import (
	"time"

	"github.com/athir-radio/athir/internal/sound/deadair"
)

const (
	// stalled is how long no audio may arrive. The engine sends some four pages a
	// second; a starved machine holds them up for two now and then.
	stalled = 3 * time.Second
	// stale is the age from which the last audio says nothing about now.
	stale = time.Second
	// settled is how long the engine may play emergency audio by itself, and the
	// playlist file may differ: both happen briefly in a start or a push.
	settled = 1500 * time.Millisecond
	// lost is how long the node may leave the guard without an answer, and lostAtStart in
	// the first minute, in which everything starts and a new library is read.
	lost        = 3 * time.Second
	lostAtStart = 10 * time.Second
	starting    = time.Minute
	// earLate is how much later the ear hears what the engine plays: 1.2 s were measured on
	// two busy cores. For so long after a live source it hears the end of that.
	earLate = 1500 * time.Millisecond
)

// scene is what is known apart from the sound.
type scene struct {
	now    time.Time
	began  time.Time // of the watch
	alarm  Kind      // that is on: only sound ends it, not the absence of a fault
	source Source
	// sourceAt is since when source is on air.
	sourceAt time.Time
	// returned is from when on what is heard is not a live source any more; zero: none was
	// on air.
	returned time.Time
	cut      bool      // the standby audio was heard since the last look
	held     bool      // the guard put the emergency audio on air
	altered  time.Time // since when the playlist file is not ours; zero: it is
	loops    bool      // the recording on air repeats itself, not the station
	rests    bool      // the recording is silent itself, for a short time
	limits   limits
}

type limits struct {
	silence time.Duration // of the rotation
	// Of a live source, whose silence may be intended. The live desk ends one that is silent
	// sooner: after a minute where it is muted (live/desk/bus: MutedAfter).
	live time.Duration
}

// observe turns what the node heard into an event, the worst fault first.
func observe(h hearing, s scene) event {
	kind, began := s.fault(h)
	e := event{at: s.now, kind: kind, began: began}
	switch {
	case kind != None:
		e.what = fault
	case s.now.Sub(h.told) >= stale, h.told.Sub(h.arrived) >= stale:
		e.what = unsure
	case h.told.Sub(h.decoded) >= stale:
		// Audio comes, and the ear does not keep up with it: of a fault in how it sounds that
		// says nothing, and one in whether it comes is over.
		if e.what = heard; s.alarm == Silence || s.alarm == Frozen {
			e.what = unsure
		}
	case !h.Sounding:
		e.what = unsure
	default:
		e.kind, e.began = s.disorder()
		if e.kind != None {
			e.what = fault
		}
	}
	return e
}

// fault returns why the programme is not heard, and since when.
func (s scene) fault(h hearing) (Kind, time.Time) {
	limit := s.limits.silence
	if s.source == Live {
		limit = s.limits.live
	}
	patience := s.patience(h, limit)
	silent := s.counted(h.Silent, patience)
	switch {
	case s.now.Sub(h.told) >= s.lost():
		return Unreachable, latest(h.told, s.began)
	case !h.standby.IsZero(): // heard only because the engine's stream is missing
		return h.missing(), h.standby
	case s.cut:
		return h.missing(), s.now
	case h.Full: // no place for the ear: the listeners have theirs
		return None, time.Time{}
	case h.arrived.IsZero():
		return h.missing(), s.began
	case h.told.Sub(h.arrived) >= stalled: // when the node told: a late report is no silence
		return h.missing(), h.arrived
	case s.now.Sub(h.told) >= stale, h.told.Sub(h.arrived) >= stale, h.told.Sub(h.decoded) >= stale:
		return None, time.Time{}
	case silent >= patience && !s.rests, (s.alarm == Silence || s.alarm == Frozen) && !h.Sounding:
		return Silence, s.now.Add(-silent)
	case s.frozen(h, limit):
		return Frozen, s.now.Add(-h.Looping)
	}
	return None, time.Time{}
}

// counted is how much of a silence, or of a loop, counts towards an alarm that has the
// patience. What a live source sent is its own and the live desk's business, also while the
// ear still hears the end of it: after one the count begins anew. As a whole it is never
// longer than both patiences allow, so that a live source that seems to come and go, and is
// never heard, does not disarm the guard.
func (s scene) counted(lasted, patience time.Duration) time.Duration {
	if s.source == Live || lasted >= s.limits.live+earLate+patience {
		return lasted
	}
	return min(lasted, max(0, s.now.Sub(s.returned)))
}

// patience is how long silence may last. Whether the recording rests is asked after half
// the limit, and a machine that is short does not answer in time: there any silence of
// the rotation has the time that a recording's own rest may take.
func (s scene) patience(h hearing, limit time.Duration) time.Duration {
	if h.Short == "" || s.source != Rotation {
		return limit
	}
	return max(limit, limit/2+deadair.LongestRest)
}

// lost is how long the node may leave the guard without an answer now.
func (s scene) lost() time.Duration {
	if s.now.Sub(s.began) < starting {
		return lostAtStart
	}
	return lost
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// missing is the kind of fault where no audio comes.
func (h hearing) missing() Kind {
	if h.Short != "" {
		return Starved
	}
	return Gone
}

// frozen reports a repetition that is not intended.
func (s scene) frozen(h hearing, limit time.Duration) bool {
	switch {
	case h.Looping == 0, s.loops, s.source == EmergencySource:
		return false
	case s.source == Live:
		return h.Looping >= limit || s.alarm != None
	}
	counted := s.counted(h.Looping, limit)
	return counted == h.Looping || counted >= limit || s.alarm != None
}

// disorder returns what is wrong although the programme is heard, and since when.
func (s scene) disorder() (Kind, time.Time) {
	switch {
	case !s.altered.IsZero() && s.now.Sub(s.altered) >= settled:
		return Playlist, s.altered
	case s.source == EmergencySource && !s.held && s.now.Sub(s.sourceAt) >= settled:
		return Emergency, s.sourceAt
	}
	return None, time.Time{}
}
