package deadair

import (
	"math"
	"slices"
	"time"
)

// A loop is found by correlation: the last seconds of the sound against what
// came before them. Through a lossy codec the same samples do not come back as
// the same, but they correlate better than any two performances of a bar do.
const (
	loopRate = 2000 // Hz; most of any music lies below 1 kHz
	decimate = Rate / loopRate
	// template is how much of the last sound must have come before.
	template = 2 * loopRate
	// Loops of these lengths are looked for.
	shortest = loopRate / 20 // 0.05 s
	longest  = 5*loopRate + 16
	// pitch is the longest period of a tone, from which on what repeats may be a
	// loop; and below voice nothing is told from its neighbour.
	pitch = shortest
	voice = loopRate / 500
	// same is the correlation from which on two stretches are one.
	same = 0.97
	// parts of a sample are what periods of tones are told to: at 2 kHz that of a few tones
	// together lies between samples.
	parts = 4
	// faint is how much of the power must lie where loops are looked for. Of what lies above,
	// the low-pass leaves a trace, and the trace of a tone repeats as its alias does.
	faint = 1e-4
	// every is how much is heard between two looks.
	every = loopRate
	// come is how long a loop must have gone on, and comeTimes how often it must
	// have come round.
	come      = 3 * time.Second
	comeTimes = 2
)

const (
	looperKept = template + longest
	fftSize    = 1 << 15 // more than looperKept + template: no wrap-around
)

// looper finds a stretch of sound that repeats.
type looper struct {
	fir    []float64 // low-pass before decimation
	line   []float64 // the last samples at Rate, at least as many as fir
	phase  int
	past   []float64 // the last looperKept samples at loopRate
	since  int       // of them, heard after the last look
	heard  float64   // energy of the samples at Rate since then
	period float64   // samples at loopRate; 0: none
	looks  int       // consecutive looks that found it
	turn   [fftSize / 2]complex128
}

func newLooper() looper {
	const taps = 8*decimate + 1
	l := looper{fir: make([]float64, taps), line: make([]float64, taps)}
	total := 0.0
	for i := range l.fir { // windowed sinc, cut at 800 Hz
		x := float64(i) - (taps-1)/2.0
		w := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/(taps-1))
		s := 2 * 800.0 / Rate
		if x != 0 {
			s = math.Sin(2*math.Pi*800*x/Rate) / (math.Pi * x)
		}
		l.fir[i] = s * w
		total += l.fir[i]
	}
	for i := range l.fir {
		l.fir[i] /= total
	}
	for i := range l.turn {
		sin, cos := math.Sincos(-2 * math.Pi * float64(i) / fftSize)
		l.turn[i] = complex(cos, sin)
	}
	return l
}

// add hears samples; true when it is time to look.
func (l *looper) add(samples []int16) bool {
	for _, s := range samples {
		whole := float64(s) / 32768
		l.line = append(l.line, whole)
		l.heard += whole * whole
		if l.phase = (l.phase + 1) % decimate; l.phase != 0 {
			continue
		}
		v := 0.0
		last := l.line[len(l.line)-len(l.fir):]
		for i, c := range l.fir {
			v += c * last[i]
		}
		l.past = append(l.past, v)
		l.since++
	}
	l.line = append(l.line[:0], l.line[len(l.line)-len(l.fir):]...)
	if len(l.past) > 2*looperKept {
		l.past = append(l.past[:0], l.past[len(l.past)-looperKept:]...)
	}
	return l.since >= every
}

// look looks for a loop in what was heard last.
func (l *looper) look(sounding bool) {
	low := 0.0
	for _, v := range l.past[max(0, len(l.past)-l.since):] {
		low += v * v
	}
	if low*decimate < faint*l.heard {
		sounding = false
	}
	l.since, l.heard = l.since%every, 0
	period := 0.0
	if sounding && len(l.past) >= template+pitch+voice {
		period = l.find()
	}
	switch {
	case period == 0:
		l.period, l.looks = 0, 0
	case l.period != 0 && math.Abs(period-l.period) < 2:
		l.looks++
	default:
		l.period, l.looks = period, 1
	}
}

// state returns how long there has been a loop, and its period. When it is first
// found it has already lasted for the template and a period.
func (l *looper) state() (looping, period time.Duration) {
	if l.looks == 0 {
		return 0, 0
	}
	period = seconds(l.period / loopRate)
	again := seconds(float64(template+(l.looks-1)*every) / loopRate)
	if again < come || again < comeTimes*period {
		return 0, 0
	}
	return again + period, period
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// find returns the shortest lag, in samples at loopRate, at which the last sound was
// there before; 0 for none. A tone repeats with each of its periods: a repetition
// faster than a loop can be is not one.
func (l *looper) find() float64 {
	past := slices.Clone(l.past[max(0, len(l.past)-looperKept):])
	mean := 0.0
	for _, v := range past {
		mean += v / float64(len(past))
	}
	for i := range past {
		past[i] -= mean
	}
	lag := top(l.correlate(past)[:len(past)-template], voice)
	if lag < pitch || top(between(past), parts*voice) > 0 {
		return 0
	}
	return lag
}

// top returns where a correlation, from an index on, first has a peak at which the sound is the
// same; 0 for nowhere.
func top(corr []float64, from int) float64 {
	for at := from; at < len(corr)-1; at++ {
		c := corr[at]
		if c < 0.8 || c < corr[at-1] || c < corr[at+1] {
			continue
		}
		// The top of a peak lies between samples.
		a, b := corr[at-1], corr[at+1]
		off, high := 0.0, c
		if d := a - 2*c + b; d < 0 {
			off = 0.5 * (a - b) / d
			high = c - 0.25*(a-b)*off
		}
		if high >= same {
			return float64(at) + off
		}
	}
	return 0
}

// between returns the normalised correlation of the template with what came up to pitch before
// it, at each of the parts of a sample. Of past the mean is nought.
func between(past []float64) []float64 {
	const taps = 32
	first := len(past) - template
	own := 0.0
	for _, v := range past[first:] {
		own += v * v
	}
	out := make([]float64, parts*(pitch-1))
	later := make([]float64, len(past))
	for part := range parts {
		var sinc [taps]float64 // windowed: the sound, later by a part of a sample
		for k := range sinc {
			x := float64(k-taps/2) - float64(part)/parts
			if sinc[k] = 0.5 + 0.5*math.Cos(2*math.Pi*x/(taps+2)); x != 0 {
				sinc[k] *= math.Sin(math.Pi*x) / (math.Pi * x)
			}
		}
		for i := first - pitch; i < len(past); i++ {
			later[i] = 0
			for k, w := range sinc {
				if from := i - (k - taps/2); from >= 0 && from < len(past) {
					later[i] += w * past[from]
				}
			}
		}
		for lag := range pitch - 1 {
			sum, energy := 0.0, 0.0
			for i := first; i < len(past); i++ {
				v := later[i-lag]
				sum += past[i] * v
				energy += v * v
			}
			if energy > 0 && own > 0 {
				out[parts*lag+part] = sum / math.Sqrt(energy*own)
			}
		}
	}
	return out
}

// correlate returns, for every lag, the normalised correlation of the template
// with what came so long before it. Of past the mean is nought.
func (l *looper) correlate(past []float64) []float64 {
	n := len(past)
	// Two real signals in one transform.
	z := make([]complex128, fftSize)
	energy := make([]float64, n+1)
	for i, v := range past {
		t := 0.0
		if i >= n-template {
			t = v
		}
		z[i] = complex(v, t)
		energy[i+1] = energy[i] + v*v
	}
	l.fft(z)
	product := make([]complex128, fftSize)
	for k := range z {
		other := z[(fftSize-k)%fftSize]
		x := (z[k] + conj(other)) / 2
		t := (z[k] - conj(other)) / complex(0, 2)
		product[k] = conj(x * conj(t)) // conjugated: the forward transform is then the inverse
	}
	l.fft(product)
	own := energy[n] - energy[n-template]
	out := make([]float64, n-template+1)
	for lag := range out {
		// The template lies at n-template; so long before it is an index of -lag.
		v := real(product[(fftSize-lag)%fftSize]) / fftSize
		from := n - template - lag
		e := energy[from+template] - energy[from]
		if e > 0 && own > 0 {
			out[lag] = v / math.Sqrt(e*own)
		}
	}
	return out
}

func conj(c complex128) complex128 { return complex(real(c), -imag(c)) }

// fft is the discrete Fourier transform in place (Cooley and Tukey, radix 2).
func (l *looper) fft(a []complex128) {
	for i, j := 1, 0; i < fftSize; i++ {
		bit := fftSize >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		j ^= bit
		if i < j {
			a[i], a[j] = a[j], a[i]
		}
	}
	for size := 2; size <= fftSize; size <<= 1 {
		half, step := size/2, fftSize/size
		for i := 0; i < fftSize; i += size {
			for k := range half {
				u, v := a[i+k], a[i+k+half]*l.turn[k*step]
				a[i+k], a[i+k+half] = u+v, u-v
			}
		}
	}
}
