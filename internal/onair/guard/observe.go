package guard

import "time"

const (
	// stalled is how long no audio may come. The engine sends some four pages a
	// second; a starved machine holds them up for two now and then.
	stalled = 3 * time.Second
	// stale is the age from which the last audio says nothing about now.
	stale = time.Second
	// settled is how long the engine may play emergency audio by itself, and the
	// playlist file may differ: both happen briefly in a start or a push.
	settled = 1500 * time.Millisecond
)

// scene is what is known apart from the sound.
type scene struct {
	now    time.Time
	began  time.Time // of the watch
	alarm  bool      // an alarm is on: only sound ends it, not the absence of a fault
	source Source
	// sourceAt is since when source is on air.
	sourceAt time.Time
	cut      bool      // the standby audio was heard since the last look
	held     bool      // the guard put the emergency audio on air
	altered  time.Time // since when the playlist file is not ours; zero: it is
	loops    bool      // the recording on air repeats itself, not the station
	rests    bool      // the recording is silent itself, for a short time
	limits   limits
}

type limits struct {
	silence time.Duration // of the rotation
	live    time.Duration // of a live source, whose silence may be intended
}

// observe turns what was heard into an event, the worst fault first.
func observe(h hearing, s scene) event {
	kind, began := s.fault(h)
	e := event{at: s.now, kind: kind, began: began}
	switch {
	case kind != None:
		e.what = fault
	case !h.Sounding, s.now.Sub(h.pcm) >= stale:
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
	switch {
	case !h.standby.IsZero(): // heard only because the engine's stream is missing
		return Gone, h.standby
	case s.cut:
		return Gone, s.now
	case h.pcm.IsZero():
		return Gone, s.began
	case s.now.Sub(h.pcm) >= stalled:
		return Gone, h.pcm
	case s.now.Sub(h.pcm) >= stale:
		return None, time.Time{}
	case h.Silent >= limit && !s.rests, s.alarm && !h.Sounding:
		return Silence, s.now.Add(-h.Silent)
	case s.frozen(h, limit):
		return Frozen, s.now.Add(-h.Looping)
	}
	return None, time.Time{}
}

// frozen reports a repetition that is not intended.
func (s scene) frozen(h hearing, limit time.Duration) bool {
	return h.Looping > 0 && !s.loops && s.source != EmergencySource && (s.source != Live || h.Looping >= limit || s.alarm)
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
