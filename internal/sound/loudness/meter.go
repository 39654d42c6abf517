// Package loudness measures programme loudness, loudness range and true peak
// (ITU-R BS.1770-5, EBU R 128, Tech 3341, Tech 3342) of decoded audio in one
// pass, and holds true peaks under a ceiling with a look-ahead limiter.
//
// It reads no files and runs no program: samples come in as interleaved
// 32-bit floats, full scale 1. It is an order of magnitude cheaper than a
// filter chain at 192 kHz because it oversamples only where a peak can matter.
package loudness

import (
	"math"
	"time"
)

// Channel weights of BS.1770-5 Annex 1 Table 3, in the usual order of channels.
var (
	Mono       = []float64{1}
	Stereo     = []float64{1, 1}
	Surround50 = []float64{1, 1, 1, 1.41, 1.41}    // L R C Ls Rs
	Surround51 = []float64{1, 1, 1, 0, 1.41, 1.41} // L R C LFE Ls Rs
)

const (
	perSecond = 100 // blocks a second: Tech 3341's shortest cases need windows that start anywhere
	chunk     = 2048
)

// Meter takes audio in pieces of any size. The zero value is unusable.
type Meter struct {
	rate            int
	weights         []float64
	shelf, highPass biquad
	state           []kState
	peaks           interpolator
	planes          [][]float32 // per channel: context samples, then the chunk
	filled          int         // frames in planes behind the context
	highest         float32     // true peak so far
	silent          []float32

	frames   int64 // measured
	boundary int64 // frame at which the block in progress ends
	began    int64
	sum      float64
	top      float32
	blocks   blocks
	offsets  offsets
}

// blocks holds 10 ms each: K-weighted power summed over channels, and the
// largest sample.
type blocks struct {
	power []float32
	peak  []float32
}

// NewMeter returns a meter for audio of rate Hz with one weight a channel.
func NewMeter(rate int, weights []float64) *Meter {
	m := &Meter{
		rate: rate, weights: weights, peaks: newInterpolator(), silent: make([]float32, chunk),
		state: make([]kState, len(weights)+1), boundary: boundary(1, rate),
	}
	m.offsets.sum = make([]float64, len(weights))
	m.shelf, m.highPass = kWeighting(float64(rate))
	for range weights {
		m.planes = append(m.planes, make([]float32, context+chunk+segment))
	}
	return m
}

// boundary is the frame at which block n ends.
func boundary(n int64, rate int) int64 { return (n*int64(rate) + perSecond/2) / perSecond }

// Write takes whole frames of interleaved samples.
func (m *Meter) Write(frames []float32) {
	channels := len(m.weights)
	for len(frames) >= channels {
		n := min(len(frames)/channels, chunk-m.filled)
		deinterleave(m.planes, context+m.filled, frames[:n*channels])
		m.filled += n
		frames = frames[n*channels:]
		if m.filled == chunk {
			m.measure(chunk)
		}
	}
}

func deinterleave(planes [][]float32, at int, frames []float32) {
	if len(planes) == 2 {
		n := len(frames) / 2
		l, r := planes[0][at:at+n], planes[1][at:at+n]
		for i := range l {
			l[i], r[i] = frames[2*i], frames[2*i+1]
		}
		return
	}
	for c, plane := range planes {
		for i := range len(frames) / len(planes) {
			plane[at+i] = frames[i*len(planes)+c]
		}
	}
}

// measure takes n frames out of the planes and keeps the last as context.
func (m *Meter) measure(n int) {
	for _, plane := range m.planes {
		m.highest = m.truePeak(plane[:context+n], m.highest)
	}
	for at := 0; at < n; {
		run := int(min(int64(n-at), m.boundary-m.frames))
		m.power(context+at, run)
		at += run
		m.frames += int64(run)
		if m.frames == m.boundary {
			m.endBlock()
		}
	}
	for _, plane := range m.planes {
		copy(plane[:context], plane[n:n+context])
	}
	m.filled = 0
}

// power adds the K-weighted power of n frames to the block in progress.
func (m *Meter) power(at, n int) {
	m.offsets.frames += int64(n)
	for c := 0; c < len(m.planes); c += 2 {
		left, right, weight := m.planes[c][at:at+n], m.silent[:n], 0.0
		if c+1 < len(m.planes) {
			right, weight = m.planes[c+1][at:at+n], m.weights[c+1]
			m.top = max(m.top, biggest(right))
			m.offsets.sum[c+1] += total(right)
		}
		l, r := m.kSquares(left, right, &m.state[c], &m.state[c+1])
		m.sum += l*m.weights[c] + r*weight
		m.top = max(m.top, biggest(left))
		m.offsets.sum[c] += total(left)
	}
}

// total sums samples; four at a time, so that one addition does not wait for the last.
func total(x []float32) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+float64(x[0]), b+float64(x[1]), c+float64(x[2]), d+float64(x[3])
	}
	for _, v := range x {
		a += float64(v)
	}
	return calm(a + b + c + d)
}

func (m *Meter) endBlock() {
	m.blocks.power = append(m.blocks.power, float32(m.sum/float64(m.frames-m.began)))
	m.blocks.peak = append(m.blocks.peak, m.top)
	m.began, m.sum, m.top = m.frames, 0, 0
	m.boundary = boundary(int64(len(m.blocks.power)+1), m.rate)
	m.offsets.endBlock()
}

// truePeak finds peaks between the samples of x. The last half serve only as
// neighbours: they come again at the start of the next piece.
func (m *Meter) truePeak(x []float32, highest float32) float32 {
	var near [3]float32 // largest samples of three segments in a row
	for at := 0; at+taps <= len(x); at += segment {
		// Points between at+half-1 … at+half-1+segment need samples up to at+taps-1+segment.
		end := min(at+segment, len(x)-taps+1)
		if at == 0 {
			near[1] = biggest(x[:segment])
		} else {
			near[1] = near[2]
		}
		near[2] = biggest(x[min(at+segment, len(x)):min(at+2*segment, len(x))])
		loudest := max(near[1], near[2])
		highest = max(highest, loudest)
		if loudest*m.peaks.reach <= highest {
			continue
		}
		for i := at; i < end; i++ {
			highest = max(highest, m.peaks.between((*[taps]float32)(x[i:])))
		}
	}
	return highest
}

// Result measures what has been written so far and ends the measurement.
func (m *Meter) Result() *Measurement {
	if m.filled > 0 {
		m.measure(m.filled)
	}
	whole := len(m.blocks.power)
	if m.frames > m.began && whole < momentary { // of a short file every sample counts
		m.endBlock()
	}
	for _, plane := range m.planes { // silence after the last samples, for the filter
		clear(plane[context : 2*context])
		m.highest = m.truePeak(plane[:2*context], m.highest)
	}
	r := &Measurement{
		Duration: time.Duration(float64(m.frames) / float64(m.rate) * float64(time.Second)),
		TruePeak: decibels(float64(m.highest)), Offset: m.offsets.result(), blocks: m.blocks, whole: whole,
	}
	for _, p := range m.blocks.peak {
		r.SamplePeak = math.Max(r.SamplePeak, float64(p))
	}
	r.SamplePeak = decibels(math.Max(r.SamplePeak, float64(m.top)))
	r.evaluate()
	return r
}

// decibels of an amplitude; -Inf for none.
func decibels(amplitude float64) float64 { return 20 * math.Log10(amplitude) }
