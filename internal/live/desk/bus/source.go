package bus

import (
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

// Rider brings a voice to one loudness. It is not used by several goroutines at once.
type Rider interface {
	// Process takes interleaved stereo, full scale 1, and returns as many samples, a fixed
	// time later; they are valid until the next call.
	Process(samples []float32) []float32
	// Recall begins a voice that was here before, with the gain that Remembered told.
	Recall(gain float64)
	Remembered() float64
	Gain() float64 // dB
	LUFS() float64 // short-term, as it came
}

// source is what the bus knows of a stream.
type source struct {
	src    live.Source
	tape   *tape.Ring // nil while nothing brings its audio
	levels levels
	state  live.State
	since  time.Time
	why    string

	seen      uint64 // frames of the tape when it was last looked at
	aired     uint64 // the frame up to which it has been on the air
	listened  uint64 // frames that its rider has heard off the air
	came      time.Time
	sounded   time.Time
	flowing   time.Time     // since when audio has come without a hole
	gap       time.Duration // the longest between two arrivals lately
	gapAt     time.Time
	usual     time.Duration // what is kept in hand of a source of its kind
	cushion   time.Duration // of this one
	ended     string        // why its input is over; empty: it is not
	broken    bool          // its connection broke; another may come
	muted     bool
	unmuted   time.Time // silence is counted from then on
	called    bool
	calledAt  time.Time
	search    uint64 // block from which on its first sound is looked for
	searching bool
	onset     uint64
	heard     bool
	spent     bool          // it had its turn on the air, and ended by itself
	doubted   bool          // it failed there: it was late, silent, or its connection broke
	rider     Rider         // listens while the source is not on the air
	spoke     time.Duration // for how long that has heard a sound
	learned   float64       // the rider's gain when it was last on the air
	known     bool
}

// look takes in what has come since the last tick.
func (s *source) look(now time.Time) {
	if s.tape == nil {
		return
	}
	_, end := s.tape.Span()
	if end == s.seen {
		return
	}
	if s.seen > 0 {
		s.wait(now.Sub(s.came), now)
	}
	if now.Sub(s.came) > HoleAfter+s.gap || s.flowing.IsZero() {
		s.flowing = now
	}
	s.seen, s.came = end, later(s.came, now)
	if s.levels.measure(s.tape) {
		s.sounded = later(s.sounded, now)
		s.spoke += live.Tick
	}
}

// later keeps what Stalled has put off: a clock that catches up is behind it for a while.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// wait learns how uneven a source is. A hole is no unevenness.
func (s *source) wait(d time.Duration, now time.Time) {
	if d >= s.gap && d < mostCushion {
		s.gap, s.gapAt = d, now
	} else if now.Sub(s.gapAt) > 10*time.Second {
		s.gap, s.gapAt = max(d, s.gap*3/4), now
	}
}

// any reports that audio comes.
func (s *source) any(now time.Time) bool {
	return s.tape != nil && s.seen > 0 && now.Sub(s.came) < HoleAfter+s.gap
}

// fit reports that a source may follow another at once. One that was on the air and
// failed must have been well for a while.
func (s *source) fit(now time.Time, well time.Duration) bool {
	return s.state == live.Ready && s.ended == "" && s.any(now) && now.Sub(s.sounded) < SilentAfter &&
		(!s.doubted || now.Sub(s.flowing) >= well)
}

// wellFor is how long a source that failed must have sent audio to be preferred to one that
// has only just become late; backFor, to one that has been late for as long, and to the
// rotation.
const wellFor, backFor = 10 * time.Second, time.Second

// acquainted is for how long a rider must have heard a source to know its gain. Before that
// it is better followed quickly, as a voice that nobody knows.
const acquainted = 3 * time.Second

// call looks for the first sound of a source that the order wants.
func (s *source) call(now time.Time) {
	s.called, s.calledAt, s.heard, s.searching = true, now, false, false
}

func (s *source) dismiss() { s.called, s.heard, s.searching = false, false, false }

// listen finds the first sound of a source that waits for the air.
func (s *source) listen() {
	if !s.called || s.tape == nil || s.state != live.Waiting && s.state != live.Ready {
		return
	}
	if !s.searching {
		s.search, s.searching = s.levels.searchFrom(s.tape, s.aired), true
	}
	if !s.heard {
		s.onset, s.heard = s.levels.onset(s.search)
	}
}

// view is the source at a moment. v is its voice on the bus; nil for none.
func (s *source) view(v *voice, now time.Time) View {
	view := View{
		State: s.state, Called: s.called, Heard: s.heard, Ended: s.ended != "", Muted: s.muted, Any: s.any(now),
		Quiet: now.Sub(s.came), Silent: now.Sub(s.sounded), Asked: now.Sub(s.calledAt), Dry: v != nil && v.dry,
	}
	view.Quiet, view.Silent = min(view.Quiet, now.Sub(s.unmuted)), min(view.Silent, now.Sub(s.unmuted))
	if s.state == live.OnAir || s.state == live.Grace {
		view.Any = view.Any && !(v != nil && v.dry && now.Sub(s.came) >= HoleAfter)
		if v != nil {
			view.Silent = min(view.Silent, now.Sub(v.begun))
		}
	}
	return view
}

// reason says in words why an event ended a source.
func (s *source) reason(e Event) string {
	limit := func(usually time.Duration) string { return patience(View{Muted: s.muted}, usually).String() }
	switch e {
	case Late:
		return "no audio came within " + LateAfter.String()
	case Lost:
		return "no audio came for " + limit(LostAfter)
	case Silent:
		return "nothing was heard for " + limit(SilentAfter)
	case Ended:
		return s.ended
	case Hole:
		return "no audio comes"
	}
	return ""
}

// report is the source as the control plane sees it.
func (s *source) report(v *voice, now time.Time) live.SourceReport {
	r := live.SourceReport{
		ID: s.src.ID, URL: s.src.URL, Title: s.src.Title, Creator: s.src.Creator,
		State: s.state, Since: s.since.UnixMilli(), Why: s.why, PeakDBFS: noPeak, LUFS: noPeak,
	}
	rider := s.rider
	if v != nil {
		rider = v.rider
		r.BufferedMS = int64(max(0, v.inHand())) * 1000 / live.Rate
	}
	if rider != nil && s.tape != nil {
		r.LUFS, r.GainDB = rider.LUFS(), rider.Gain()
	}
	if s.any(now) {
		r.PeakDBFS = s.levels.peak()
	}
	r.SilentMS = now.Sub(s.sounded).Milliseconds()
	return r
}
