package loudness

import (
	"math"
	"slices"
	"time"
)

// offsetWindow is how long the mean of the samples is taken over, in blocks. The mean of
// a tone of 30 Hz over it is at most a thousandth of the tone.
const offsetWindow = 10 * perSecond

// offsets finds a direct-current offset: the largest mean of a channel over a window.
type offsets struct {
	sum     []float64 // by channel, of the window in progress
	frames  int64     // in it
	blocks  int
	whole   int // windows
	highest float64
}

// endBlock ends a window if it is full.
func (o *offsets) endBlock() {
	if o.blocks++; o.blocks == offsetWindow {
		o.endWindow()
		o.whole++
	}
}

func (o *offsets) endWindow() {
	for c, sum := range o.sum {
		o.highest = math.Max(o.highest, math.Abs(sum)/math.Max(1, float64(o.frames)))
		o.sum[c] = 0
	}
	o.frames, o.blocks = 0, 0
}

// result is the offset. A last window that is not full only counts where it is the
// only one: the shorter it is, the more a bass note leaves in its mean.
func (o *offsets) result() float64 {
	if o.whole == 0 {
		o.endWindow()
	}
	return o.highest
}

// Displaced reports whether the audio lies so far off zero that it clicks where it begins
// and ends, and loses headroom: by more than 0.005 of full scale (-46 dBFS), and more
// where less than ten seconds make the mean uncertain.
func (r *Measurement) Displaced() bool {
	const least, most = 0.005, 0.03
	return r.Offset > min(most, least*math.Max(1, float64(offsetWindow)/perSecond/math.Max(r.Duration.Seconds(), 1e-3)))
}

const (
	blockerHz   = 7
	blockerLook = 200 * time.Millisecond // from whose mean it starts
)

// Blocker removes an offset of interleaved audio: a Butterworth high-pass of second order
// at 7 Hz, 0.01 dB down at 32 Hz. It starts as though the mean of the first 200 ms had
// always been there, so that the first frame does not jump. Frame n of the input is frame
// n of the output, returned up to 200 ms of audio later.
type Blocker struct {
	channels int
	f        biquad
	state    [][2]float64 // by channel
	held     []float32    // frames before it has started
	look     int          // frames
	started  bool
	out      []float32
}

// NewBlocker returns a Blocker for audio of rate Hz.
func NewBlocker(rate, channels int) *Blocker {
	k := math.Tan(math.Pi * blockerHz / float64(rate))
	a0 := 1 + math.Sqrt2*k + k*k
	return &Blocker{
		channels: channels, look: int(blockerLook.Seconds() * float64(rate)), state: make([][2]float64, channels),
		f: biquad{b0: 1 / a0, b1: -2 / a0, b2: 1 / a0, a1: 2 * (k*k - 1) / a0, a2: (1 - math.Sqrt2*k + k*k) / a0},
	}
}

// Process takes whole frames and returns those that are ready, valid until the next call.
func (b *Blocker) Process(frames []float32) []float32 {
	if !b.started {
		b.held = append(b.held, frames...)
		if len(b.held) < b.look*b.channels {
			return nil
		}
		frames = b.start()
	}
	return b.filter(frames)
}

// Flush returns what is left.
func (b *Blocker) Flush() []float32 {
	if b.started {
		return nil
	}
	return b.filter(b.start())
}

// start sets the state to that of a constant input, and returns the frames held. The
// mean is weighted by a Hann window, so that bass notes do not count as an offset.
func (b *Blocker) start() []float32 {
	n := min(len(b.held)/b.channels, b.look)
	for c := range b.state {
		var sum, weights float64
		for i := range n {
			w := 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(n))
			sum += w * float64(b.held[i*b.channels+c])
			weights += w
		}
		mean := calm(sum / math.Max(weights, 1e-9))
		// Of a constant input the output is 0: s1 = -b0 x, s2 = b2 x.
		b.state[c] = [2]float64{-b.f.b0 * mean, b.f.b2 * mean}
	}
	held := b.held
	b.held, b.started = nil, true
	return held
}

func (b *Blocker) filter(frames []float32) []float32 {
	b.out = slices.Grow(b.out[:0], len(frames))[:len(frames)]
	for c := range b.state {
		s1, s2 := b.state[c][0], b.state[c][1]
		for i := c; i < len(frames); i += b.channels {
			x := float64(frames[i])
			y := b.f.b0*x + s1
			s1 = b.f.b1*x - b.f.a1*y + s2
			s2 = b.f.b2*x - b.f.a2*y
			b.out[i] = float32(y)
		}
		b.state[c] = [2]float64{calm(s1), calm(s2)}
	}
	return b.out
}
