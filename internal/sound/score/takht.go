package score

import (
	"math/rand/v2"

	"github.com/athir-radio/athir/internal/sound/synth"
)

// Rhythm is a bar of eight eighths, a letter each: D dum, T tek, k a light tek.
type Rhythm string

// The rhythms.
const (
	Maqsum Rhythm = "DT-TD-Tk"
	Saidi  Rhythm = "DT-DD-Tk"
	Baladi Rhythm = "DD-TD-Tk"
	Wahda  Rhythm = "D--kT-k-"
)

// Takht is an instrumental for a small ensemble: phrases of two bars in which
// oud, qanun and ney take turns over a darbuka. One of 8 bars or more begins
// with an unmeasured opening on the oud.
type Takht struct {
	Scale  Maqam
	Tonic  float64 // Hz
	Rhythm Rhythm
	Tempo  float64 // quarters a minute
	Bars   int
}

// held is a note of a phrase, in eighths from its start.
type held struct {
	at, length float64
	degree     int
}

// Play composes and plays the piece.
func (t Takht) Play(rng *rand.Rand) synth.Sound {
	eighth, opening := 30/t.Tempo, 6.0
	if t.Bars < 8 {
		opening = 0
	}
	end := opening + float64(t.Bars*8)*eighth
	out := synth.Silence(end + 3)
	out.Add(0, drone([]float64{t.Tonic / 2, t.Tonic * 0.75, t.Tonic}, out.Seconds()), 0.16, 0)
	motif := t.phrase(rng)
	if opening > 0 {
		t.open(out, motif, rng)
	}
	strokes := map[byte][]float32{'D': dum(), 'T': tek(rng), 'r': riq(rng)}
	strokes['k'] = synth.Gain(append([]float32(nil), strokes['T']...), 0.5)
	for bar := 0; bar < t.Bars; bar += 2 {
		at := opening + float64(bar*8)*eighth
		if bar%8 == 4 {
			motif = answer(motif, rng)
		}
		t.melody(out, at, eighth, t.cadence(motif, bar), bar, rng)
		for e := range 8 * min(2, t.Bars-bar) {
			start := at + float64(e)*eighth
			stroke := t.Rhythm[e%8]
			out.Add(start, strokes[stroke], map[byte]float64{'D': 0.75, 'T': 0.4, 'k': 0.4}[stroke], 0.1)
			out.Add(start, strokes['r'], 0.06+0.06*float64(1-e%2), 0.4)
		}
	}
	out.Add(end, oud(t.Tonic, 2.8, rng), 0.7, 0)
	out.Add(end+0.03, oud(t.Tonic/2, 2.8, rng), 0.6, -0.1)
	out.Add(end, strokes['D'], 0.7, 0)
	out.Mix(0, synth.Room{Size: 0.7, Decay: 1.2, Damp: 4800, Predelay: 0.012}.Of(out), 0.3)
	out.Fade(0.01, 1.2)
	return out
}

// phrase invents two bars: steps more often than leaps, near the tonic.
func (t Takht) phrase(rng *rand.Rand) []held {
	shapes := [][]float64{{2, 1, 1, 2, 2}, {1, 1, 2, 2, 2}, {3, 1, 2, 2}, {2, 2, 1, 1, 2}, {4, 2, 1, 1}}
	var out []held
	degree, at := rng.IntN(5), 0.0
	for range 2 {
		for _, length := range shapes[rng.IntN(len(shapes))] {
			out = append(out, held{at: at, length: length, degree: degree})
			at += length
			degree = min(max(degree+[]int{-2, -1, -1, 1, 1, 2, 0}[rng.IntN(7)], -2), 8)
		}
	}
	return out
}

// answer keeps a phrase's rhythm and moves its notes.
func answer(motif []held, rng *rand.Rand) []held {
	shift := 1 + rng.IntN(3)
	out := make([]held, len(motif))
	for i, n := range motif {
		n.degree = min(n.degree+shift-i%2, 9)
		out[i] = n
	}
	return out
}

// cadence ends every other phrase on the tonic and the others on the fifth.
func (t Takht) cadence(motif []held, bar int) []held {
	out := append([]held(nil), motif...)
	last := &out[len(out)-1]
	last.degree = 4
	if bar%4 == 2 || bar+2 >= t.Bars {
		last.degree = 0
		out[len(out)-2].degree = 1
	}
	return out
}

// open plays a motif without a beat; the pick trembles on its fourth note.
func (t Takht) open(out synth.Sound, motif []held, rng *rand.Rand) {
	at := 0.2
	for i, n := range motif[:min(len(motif), 8)] {
		length, hz := 0.35+0.4*rng.Float64(), t.Scale.hz(t.Tonic, n.degree)
		out.Add(at, oud(hz, 2.2, rng), 0.6, -0.1)
		if i == 3 {
			for k := range 6 {
				out.Add(at+float64(k)*0.09, oud(hz, 1, rng), 0.3, -0.1)
			}
			length += 0.4
		}
		if at += length; at > 5.6 {
			return
		}
	}
}

func (t Takht) melody(out synth.Sound, at, eighth float64, notes []held, bar int, rng *rand.Rand) {
	for _, n := range notes {
		start, length := at+n.at*eighth, n.length*eighth
		hz := t.Scale.hz(t.Tonic, n.degree)
		switch bar / 8 % 3 {
		case 1: // the ney leads, the oud answers an octave below
			out.Add(start, ney(hz*2, length+0.05, rng), 0.3, 0.25)
			out.Add(start, oud(hz, length+0.8, rng), 0.35, -0.2)
		case 2: // the qanun doubles, a breath late, as a takht does
			out.Add(start+0.015, qanun(hz*2, length+1, rng), 0.3, 0.35)
			fallthrough
		default:
			out.Add(start, oud(hz, length+0.9, rng), 0.6, -0.15)
		}
	}
	out.Add(at, oud(t.Tonic/2, 2.5, rng), 0.4, 0)
}

// Clock is what news are read over: a string that ticks over a held fifth.
func Clock(seconds float64, rng *rand.Rand) synth.Sound {
	out := synth.Silence(seconds)
	out.Add(0, drone([]float64{73.4, 110, 146.8, 220}, seconds), 0.35, 0)
	low := dum()
	for i := 0; float64(i)*0.25 < seconds; i++ {
		at := float64(i) * 0.25
		out.Add(at, pluck(Nahawand().hz(293.7, []int{0, 4, 2, 4}[i%4]), 0.4, 0.7, 0.6, rng), 0.22, 0.3)
		if i%4 == 0 {
			out.Add(at, low, 0.3, 0)
		}
	}
	out.Mix(0, synth.Room{Size: 0.6, Decay: 1, Damp: 4800, Predelay: 0.01}.Of(out), 0.2)
	return out
}

// drone is a soft chord that swells and sinks, and stays.
func drone(chord []float64, seconds float64) []float32 {
	out := make([]float32, synth.Frames(seconds))
	for n, hz := range chord {
		for partial, level := range []float64{1, 0.4} {
			detune := 1 + 0.001*float64((n+partial)%3-1)
			for i, v := range synth.Sine(seconds, synth.Flat(hz*float64(partial+1)*detune), 0) {
				out[i] += v * float32(level/float64(2*len(chord)))
			}
		}
	}
	synth.Shape(out, synth.Times(synth.Wave(0.13, 0.4, 0), synth.Swell(min(0.6, seconds/3), 1)))
	fadeOut(out, min(0.8, seconds/3))
	return out
}

// ney is a reed flute: few harmonics, breath, and a vibrato that comes late.
func ney(hz, seconds float64, rng *rand.Rand) []float32 {
	shake := synth.Times(synth.Line(0, 1, 0.6), synth.Wave(5.2, 2, 0.25)) // -1 to 1, growing
	pitch := func(partial float64) synth.Curve {
		return func(t float64) float64 { return partial * hz * (1 + 0.006*shake(t)) }
	}
	out := synth.Filter(synth.White(seconds, rng), synth.BandPass, synth.Flat(2*hz), 4)
	for i := range out {
		out[i] *= 0.25
	}
	for partial, level := range []float64{0.6, 0.21, 0.07} {
		for i, v := range synth.Sine(seconds, pitch(float64(partial+1)), 0) {
			out[i] += v * float32(level)
		}
	}
	synth.Shape(out, synth.Swell(0.07, 1))
	fadeOut(out, 0.12)
	return out
}
