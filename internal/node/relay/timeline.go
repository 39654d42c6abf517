package relay

import "time"

// The timeline decides *when* each AAC frame was on air, from nothing but the
// order of frames, their timestamps and the moment they arrived. It is pure:
// no clock, no lock.
//
// A frame was on air no later than it arrived, so of all estimates "arrival
// minus position" the earliest is the best.
//
//	hold     nothing is known yet. Frames are kept back while they may still
//	         be arriving faster than real time: an Icecast client first gets a
//	         burst of some seconds.
//	         No better estimate for a while: -> running
//	running  the time of a frame follows from the count of samples alone,
//	         corrected by at most maxSlew every slewEvery.
//	         timestamps jump by more than maxJump      -> hold, then a break
//	         arrival is off by more than maxLag, or nothing came for
//	         longer than maxSilence                    -> hold, then a break
//	                    unless the estimate agrees after all (a busy machine)
//	         another publisher                         -> hold, then a break
//
// A break starts a new run of frames behind a discontinuity. After a change of
// publisher, frames that were already relayed (the burst overlaps what the
// former bridge sent) are left out, so a quick restart is nearly seamless.
const (
	quietFirst = 300 * time.Millisecond // the first listener is waiting
	// Icecast passes a slow stream on in lumps of up to a second.
	quietAgain = 1200 * time.Millisecond
	better     = 20 * time.Millisecond // an estimate has to be, to count
	maxHold    = 5 * time.Second
	maxHeld    = 2 * time.Minute // of audio
	maxJump    = 500 * time.Millisecond
	maxLag     = 3 * time.Second
	maxSilence = 1500 * time.Millisecond // longer than a lump
	agreement  = 750 * time.Millisecond  // audio that much later than it should be: it was away
	slewEvery  = 10 * time.Second
	maxSlew    = 250 * time.Millisecond

	samplesPerFrame = 1024 // AAC-LC, ISO/IEC 14496-3
)

// piece is a few frames, in each rendition, with the time of day of the first.
type piece struct {
	frames []set
	at     time.Time
	fresh  bool // a break lies before it
}

type timeline struct {
	rate    int
	running bool
	fresh   bool // the hold ends in a break whatever the estimate says
	trim    bool // leave out what was on air before end

	start   time.Time // time of day of sample 0 of this run
	samples int64     // relayed or left out since start
	nextPTS time.Duration
	arrived time.Time // when frames last came
	end     time.Time // of the last frame relayed; zero before the first

	held      []set
	heldSince time.Time
	best      time.Time // earliest estimate of when held[0] was on air
	improved  time.Time // when the estimate last became better

	least  time.Duration // smallest lag since slewed
	slewed time.Time
}

// restart begins a new publisher's run with its sample rate.
func (t *timeline) restart(rate int) {
	t.rate, t.running, t.fresh, t.trim = rate, false, true, true
	t.held, t.nextPTS = nil, -1
}

// push takes frames with their presentation time and returns what is settled.
func (t *timeline) push(arrived time.Time, pts time.Duration, frames []set) []piece {
	var out []piece
	if jump := pts - t.nextPTS; t.nextPTS >= 0 && (jump > maxJump || jump < -maxJump) {
		out = t.settle()
		t.running, t.fresh = false, true
	}
	t.nextPTS = pts + t.duration(len(frames))
	silence := arrived.Sub(t.arrived)
	t.arrived = arrived

	if t.running {
		lag := arrived.Sub(t.at().Add(t.duration(len(frames))))
		if lag <= maxLag && lag >= -maxLag && silence <= maxSilence {
			t.slew(arrived, lag)
			return append(out, t.emit(frames)...)
		}
		t.running = false
	}
	t.hold(arrived, frames)
	quiet := quietAgain
	if t.end.IsZero() {
		quiet = quietFirst
	}
	if arrived.Sub(t.improved) >= quiet || arrived.Sub(t.heldSince) >= maxHold || t.duration(len(t.held)) >= maxHeld {
		out = append(out, t.settle()...)
	}
	return out
}

// slew follows better estimates, and clocks that drift apart, in steps no
// player minds.
func (t *timeline) slew(arrived time.Time, lag time.Duration) {
	if t.slewed.IsZero() {
		t.slewed, t.least = arrived, lag
	}
	t.least = min(t.least, lag)
	if arrived.Sub(t.slewed) >= slewEvery {
		t.start = t.start.Add(max(-maxSlew, min(t.least, maxSlew)))
		t.slewed = time.Time{}
	}
}

func (t *timeline) hold(arrived time.Time, frames []set) {
	first := len(t.held) == 0
	t.held = append(t.held, frames...)
	estimate := arrived.Add(-t.duration(len(t.held)))
	if first {
		t.heldSince, t.improved, t.best = arrived, arrived, estimate
	}
	if estimate.Before(t.best.Add(-better)) {
		t.improved = arrived
	}
	if estimate.Before(t.best) {
		t.best = estimate
	}
}

// settle ends a hold; the end of a publisher does so as well.
func (t *timeline) settle() []piece {
	if len(t.held) == 0 {
		return nil
	}
	if !t.fresh {
		// Audio that comes earlier than it should never was away: a busy machine had dated
		// the run too late, and slew mends that without a break.
		off := t.best.Sub(t.at())
		t.fresh = off > agreement || off < -maxLag
	}
	if t.fresh {
		t.start, t.samples = t.best, 0
	}
	frames := t.held
	t.held, t.running, t.slewed = nil, true, time.Time{}
	return t.emit(frames)
}

// emit gives frames their time and drops those that were relayed before.
func (t *timeline) emit(frames []set) []piece {
	half := t.span(samplesPerFrame / 2)
	for t.trim && len(frames) > 0 && t.at().Before(t.end.Add(-half)) {
		frames = frames[1:]
		t.samples += samplesPerFrame
	}
	if len(frames) == 0 {
		return nil
	}
	p := piece{frames: frames, at: t.at(), fresh: t.fresh}
	t.fresh, t.trim = false, false
	t.samples += int64(len(frames)) * samplesPerFrame
	t.end = t.at()
	return []piece{p}
}

// at is the time of day of the next sample.
func (t *timeline) at() time.Time { return t.start.Add(t.span(t.samples)) }

func (t *timeline) duration(frames int) time.Duration { return t.span(int64(frames) * samplesPerFrame) }

func (t *timeline) span(samples int64) time.Duration { return samplesSpan(samples, t.rate) }

// samplesSpan is how long samples last, rounded down.
func samplesSpan(samples int64, rate int) time.Duration {
	n := int64(rate)
	return time.Duration(samples/n)*time.Second + time.Duration(samples%n*int64(time.Second)/n)
}
