package mastering

import (
	"fmt"
	"math"
	"time"

	"github.com/athir-radio/athir/internal/sound/loudness"
)

// Method says what was done to a file's sound.
type Method string

const (
	// Linear is one gain from the first sample to the last.
	Linear Method = "linear"
	// Limited is one gain, and a limiter where peaks would not fit under it.
	Limited Method = "limited"
)

// Levels are a file's measured levels.
type Levels struct {
	Integrated float64 // LUFS
	TruePeak   float64 // dBTP
	// Sustained is the level (dBTP) that peaks exceed no more often than lone clicks do;
	// TruePeak at most.
	Sustained float64
	Range     float64 // LU
	// Behind predicts the loudness behind a gain (dB) and a limiter with a
	// ceiling (dBTP). It never falls as the gain rises.
	Behind func(gain, ceiling float64) float64
}

// clicks is the share of 10 ms blocks that may lie over Levels.Sustained: six clicks of
// two blocks in four minutes. What is shorter than 20 s has none.
const clicks = 0.0005

// LevelsOf takes the levels of a measurement, as the profile has them: Integrated, and
// what Behind predicts, are those of Profile.Brief where it applies.
func (p Profile) LevelsOf(m *loudness.Measurement) Levels {
	l := Levels{Integrated: m.Integrated, TruePeak: m.TruePeak, Sustained: m.PeakBut(clicks), Range: m.Range, Behind: m.Limited}
	if shift := p.shift(m); shift != 0 {
		l.Integrated += shift
		l.Behind = func(gain, ceiling float64) float64 { return m.Limited(gain, ceiling) + shift }
	}
	return l
}

// shift is what (LU) the loudness of something brief lies under its integrated one.
func (p Profile) shift(m *loudness.Measurement) float64 {
	if !p.Brief || m.Duration >= briefly || math.IsInf(m.Integrated, 0) {
		return 0
	}
	return max(m.Alone(briefly)-m.Integrated, -mostBrief)
}

const (
	briefly   = 3 * time.Second // the short-term window of EBU Tech 3341
	mostBrief = 6               // LU: the shortest are not to be as loud as they can be
)

// Plan is how a file is to be made.
type Plan struct {
	Method  Method
	Gain    float64 // dB
	Ceiling float64 // dBTP, of the limiter; 0 when linear
	// Held says that Profile.MaxDepth holds the gain down: the file comes out quieter
	// than the target.
	Held bool
	bias float64 // LU by which the prediction has missed the encoded file
	peak float64 // dBTP, of the file encoded before this one, if it was over; else 0
	drop float64 // LU given up, because a lower ceiling did not lower the peak
}

const (
	// Encoding moves peaks: up a little where they were left alone, more where
	// a limiter has lined many of them up.
	linearRoom  = 0.3
	limitedRoom = 0.9
	// guard keeps peaks under the limit on other meters too: two good ones differ
	// by a tenth on audio rich in treble.
	guard = 0.15
)

// Decide plans a file by its levels: one linear gain if the peak then fits under the
// limit, else a gain and a limiter that goes no deeper than MaxDepth. It keeps the loudness range: a station that wants
// it narrower uses a compressor afterwards.
func Decide(p Profile, l Levels) (Plan, error) {
	switch {
	case math.IsInf(l.Integrated, -1) || math.IsInf(l.TruePeak, -1) || l.Integrated <= -70:
		return Plan{}, refuse(Silent, "it is silent")
	case math.IsNaN(l.Integrated) || math.IsNaN(l.TruePeak) || math.IsInf(l.TruePeak, 1):
		return Plan{}, refuse(Damaged, "its samples are not numbers")
	}
	plan := Plan{Method: Linear, Gain: p.Target - l.Integrated}
	if plan.Gain > p.MaxGain {
		return Plan{}, refuse(TooQuiet, fmt.Sprintf("it is too quiet: at %.1f LUFS it would need %.0f dB of gain; at most %.0f are allowed",
			l.Integrated, plan.Gain, p.MaxGain))
	}
	if l.TruePeak+plan.Gain <= p.MaxPeak-linearRoom {
		return plan, nil
	}
	return limited(p, l, p.MaxPeak-limitedRoom, 0), nil
}

// limited finds the gain that lands on the target behind the limiter, or the highest
// that MaxDepth allows. The prediction chooses a gain and refuses nothing: what comes
// out is measured.
func limited(p Profile, l Levels, ceiling, bias float64) Plan {
	want := p.Target + bias
	low := p.Target - l.Integrated + min(bias, 0)
	most := ceiling + p.MaxDepth - l.Sustained
	plan := Plan{Method: Limited, Ceiling: ceiling, bias: bias}
	if low >= most || l.Behind(most, ceiling) < want {
		plan.Gain, plan.Held = most, true
		return plan
	}
	high := most
	for range 24 {
		middle := (low + high) / 2
		if l.Behind(middle, ceiling) < want {
			low = middle
		} else {
			high = middle
		}
	}
	plan.Gain = (low + high) / 2
	return plan
}

// Judge reports whether a file encoded by plan may air, and whether it needs no further
// attempt.
func Judge(p Profile, plan Plan, encoded Levels) (airs, good bool) {
	off := encoded.Integrated - p.Target
	airs = off <= p.Tolerance && (off >= -p.Tolerance || plan.Held) && encoded.TruePeak <= p.MaxPeak-guard
	return airs, airs && (math.Abs(off) <= p.Aim || plan.Held && off < 0)
}

// Correct plans the next attempt by the result of the last.
func Correct(p Profile, l Levels, last Plan, encoded Levels) Plan {
	missed := p.Target - encoded.Integrated
	over := encoded.TruePeak - (p.MaxPeak - guard)
	switch {
	case last.Method == Linear && over+max(missed, 0) <= 0:
		last.Gain += missed
		return last
	case last.Method == Linear:
		// What encoding has added to the peak, it will add again.
		added := encoded.TruePeak - (l.TruePeak + last.Gain)
		return limited(p, l, p.MaxPeak-guard-max(added, linearRoom)-0.1, missed)
	}
	ceiling, peak, drop := last.Ceiling, 0.0, last.drop
	if over > 0 {
		ceiling -= over + 0.1
		peak = encoded.TruePeak
		// Where a file begins or ends abruptly, encoding makes a peak that no limiter
		// sees: it falls with the gain alone.
		if last.peak != 0 && peak > last.peak-over/2 {
			drop += over + 0.1
		}
	}
	missed -= last.drop
	p.Target -= drop
	bias := last.bias
	if !last.Held || missed < 0 { // of a gain that was held down, the miss says nothing of the prediction
		bias += missed
	}
	plan := limited(p, l, ceiling, bias)
	plan.peak, plan.drop, plan.Held = peak, drop, plan.Held || drop > p.Tolerance-p.Aim
	return plan
}

// TurnDown plans an attempt that was too loud, or over the peak, as the same sound at a
// lower level, and says how far (LU) under the target that comes out. Gain and ceiling go
// down together, so that the limiter does what it did: where the loudness hardly follows
// the gain any more, or encoding moves the peaks each time, correcting them finds no end.
func TurnDown(p Profile, plan Plan, encoded Levels) (Plan, float64) {
	off := encoded.Integrated - p.Target
	by := max(off, encoded.TruePeak-(p.MaxPeak-guard), 0) + 0.1
	return plan.down(by), by - off
}

// down is the plan for the same sound at a level lower by so many dB.
func (p Plan) down(by float64) Plan {
	p.Gain -= by
	if p.Method == Limited {
		p.Ceiling -= by
	}
	p.Held = true
	return p
}
