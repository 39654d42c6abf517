package demo

import (
	"math"
	"math/rand/v2"
)

// The instruments return mono sounds with a peak of about 1. Chance comes from
// the caller, so that the same recipe always sounds the same.

// pluck is a string plucked (Karplus and Strong, 1983): a burst of noise going
// round a delay line that loses its highs. bright is 0 to 1; ring is how long
// it takes to fall by 60 dB, in seconds.
func pluck(freq, seconds, bright, ring float64, rng *rand.Rand) []float32 {
	period := rate/freq - 0.5 // the loop's averaging adds half a sample
	size := int(period)
	frac := period - float64(size)
	line := make([]float64, size+1)
	var low float64
	for i := range line {
		low += (0.15 + 0.85*bright) * (rng.Float64()*2 - 1 - low)
		line[i] = low
	}
	// Plucked near the bridge: every seventh harmonic is missing.
	for i := len(line) - 1; i >= size/7; i-- {
		line[i] -= line[i-size/7]
	}
	damp := math.Pow(10, -3/(freq*ring))
	out := make([]float32, samples(seconds))
	var before, peak float64
	for i, j := 0, 0; i < len(out); i++ {
		next := j + 1
		if next == len(line) {
			next = 0
		}
		y := frac*line[j] + (1-frac)*line[next]
		line[j] = damp * 0.5 * (y + before)
		before = y
		out[i] = float32(y)
		peak = max(peak, math.Abs(y))
		j = next
	}
	release(out, 0.03)
	return scale(out, 1/max(peak, 1e-9))
}

// oud is a double course: two strings a few cents apart.
func oud(freq, seconds float64, rng *rand.Rand) []float32 {
	a := pluck(freq, seconds, 0.35, 2.2, rng)
	b := pluck(freq*1.0025, seconds, 0.3, 2.0, rng)
	for i := range a {
		a[i] = 0.55*a[i] + 0.45*b[i]
	}
	return a
}

// qanun is bright and rings long.
func qanun(freq, seconds float64, rng *rand.Rand) []float32 {
	return pluck(freq, seconds, 0.85, 3, rng)
}

// ney is a reed flute: few harmonics, breath, and a vibrato that comes late.
func ney(freq, seconds float64, rng *rand.Rand) []float32 {
	out := make([]float32, samples(seconds))
	breath := noiseBand(seconds, freq*2, freq*2, 0.25, rng)
	var phase float64
	for i := range out {
		t := float64(i) / rate
		vibrato := 0.006 * min(max(t-0.25, 0)*3, 1) * math.Sin(2*math.Pi*5.2*t)
		phase += 2 * math.Pi * freq * (1 + vibrato) / rate
		tone := math.Sin(phase) + 0.35*math.Sin(2*phase) + 0.12*math.Sin(3*phase)
		env := min(t/0.07, 1) * min((seconds-t)/0.12, 1)
		out[i] = float32(env * (0.6*tone + 0.25*float64(breath[i])))
	}
	return out
}

// dum is the low stroke in the middle of a darbuka, tek the high one at its rim.
func dum() []float32 {
	return sweep(0.38, 150, 68, func(t float64) float64 { return math.Exp(-t * 11) })
}

func tek(rng *rand.Rand) []float32 {
	out := noiseBand(0.12, 3800, 3000, 0.6, rng)
	ring := sweep(0.12, 560, 520, func(t float64) float64 { return math.Exp(-t * 45) })
	for i := range out {
		t := float64(i) / rate
		out[i] = 0.7*out[i]*float32(math.Exp(-t*50)) + 0.4*ring[i]
	}
	return out
}

// riq is a tambourine's jingle.
func riq(rng *rand.Rand) []float32 {
	out := noiseBand(0.09, 9000, 8000, 0.5, rng)
	for i := range out {
		out[i] *= float32(math.Exp(-float64(i) / rate * 60))
	}
	return out
}

// pad is a soft chord that swells.
func pad(freqs []float64, seconds float64) []float32 {
	out := make([]float32, samples(seconds))
	for n, freq := range freqs {
		detune := 1 + 0.002*float64(n%3-1)
		first, second, third := newTone(freq), newTone(freq*2*detune), newTone(freq*3)
		swell := newTone(0.13)
		for i := range out {
			v := first.next() + 0.4*second.next() + 0.15*third.next()
			out[i] += float32(v * (0.8 + 0.2*swell.next()) / float64(2*len(freqs)))
		}
	}
	attack(out, min(0.6, seconds/3))
	release(out, min(0.8, seconds/3))
	return out
}

// tone is a steady sine made by turning a vector, a tenth of the work of a
// call of math.Sin for each sample.
type tone struct{ sin, cos, stepSin, stepCos float64 }

func newTone(freq float64) *tone {
	sin, cos := math.Sincos(2 * math.Pi * freq / rate)
	return &tone{sin: 0, cos: 1, stepSin: sin, stepCos: cos}
}

func (t *tone) next() float64 {
	v := t.sin
	t.sin, t.cos = t.sin*t.stepCos+t.cos*t.stepSin, t.cos*t.stepCos-t.sin*t.stepSin
	return v
}

// sweep is a sine gliding exponentially between two frequencies in Hz, under
// an envelope of the time in seconds.
func sweep(seconds, from, to float64, env func(t float64) float64) []float32 {
	out := make([]float32, samples(seconds))
	var phase float64
	for i := range out {
		t := float64(i) / rate
		phase += 2 * math.Pi * from * math.Pow(to/from, t/seconds) / rate
		out[i] = float32(math.Sin(phase) * env(t))
	}
	release(out, 0.005)
	return out
}

// noiseBand is white noise through a band-pass whose centre glides between two
// frequencies in Hz; width is about 0.1 (a whistle) to 1 (wide).
func noiseBand(seconds, from, to, width float64, rng *rand.Rand) []float32 {
	out := make([]float32, samples(seconds))
	var low, band float64
	for i := range out {
		f := from * math.Pow(to/from, float64(i)/float64(len(out)))
		k := 2 * math.Sin(math.Pi*min(f, rate/7)/rate)
		low += k * band
		high := rng.Float64()*2 - 1 - low - width*band
		band += k * high
		out[i] = float32(band * math.Sqrt(width) * 0.8)
	}
	return out
}

func attack(mono []float32, seconds float64) {
	n := samples(seconds)
	for i := range min(n, len(mono)) {
		mono[i] *= float32(i) / float32(n)
	}
}

func release(mono []float32, seconds float64) {
	n := samples(seconds)
	for i := range min(n, len(mono)) {
		mono[len(mono)-1-i] *= float32(i) / float32(n)
	}
}

func scale(mono []float32, gain float64) []float32 {
	for i := range mono {
		mono[i] *= float32(gain)
	}
	return mono
}
