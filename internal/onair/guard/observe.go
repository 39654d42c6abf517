package guard

import "time"

const (
	// stalled is how long no audio may come. The engine sends some four pages a second.
	stalled = 2 * time.Second
	// stale is from when on what was heard last says nothing of now.
	stale = time.Second
	// settled is how long the engine may play emergency audio by itself, and how
	// long the playlist file may be another: both pass within a start or a push.
	settled = 1500 * time.Millisecond
)

// scene is what is known beside the sound.
type scene struct {
	now    time.Time
	began  time.Time // of the watch
	alarm  bool      // a fault is told: what is asked for is sound, not the absence of it
	source Source
	// sourceAt is since when source is on air.
	sourceAt time.Time
	cut      bool      // the standby audio was heard since the last look
	held     bool      // the emergency audio is on air by our order
	altered  time.Time // since when the playlist file is not ours; zero: it is
	loops    bool      // the recording on air repeats itself, not the station
	rests    bool      // it is silent itself, and soon will not be
	limits   limits
}

type limits struct {
	silence time.Duration // of the rotation
	live    time.Duration // of a live source, which may be meant
}

// observe says what the sound means, the worst first.
func observe(h hearing, s scene) event {
	e := event{at: s.now}
	is := func(k Kind, began time.Time) event {
		e.what, e.kind, e.began = fault, k, began
		return e
	}
	limit := s.limits.silence
	if s.source == Live {
		limit = s.limits.live
	}
	looping := h.Looping > 0 && !s.loops && s.source != EmergencySource && (s.source != Live || h.Looping >= limit || s.alarm)
	switch {
	case !h.standby.IsZero(): // heard for no other reason than that the engine's stream is not there
		return is(Gone, h.standby)
	case s.cut:
		return is(Gone, s.now)
	case h.pcm.IsZero():
		return is(Gone, s.began)
	case s.now.Sub(h.pcm) >= stalled:
		return is(Gone, h.pcm)
	case s.now.Sub(h.pcm) >= stale:
		e.what = unsure
	case h.Silent >= limit && !s.rests, s.alarm && !h.Sounding:
		return is(Silence, s.now.Add(-h.Silent))
	case looping:
		return is(Frozen, s.now.Add(-h.Looping))
	case !h.Sounding:
		e.what = unsure
	case !s.altered.IsZero() && s.now.Sub(s.altered) >= settled:
		return is(Playlist, s.altered)
	case s.source == EmergencySource && !s.held && s.now.Sub(s.sourceAt) >= settled:
		return is(Emergency, s.sourceAt)
	}
	return e
}
