package bus

import (
	"math"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

const (
	taps   = 32 // of the filter between two frames
	phases = 256
	// reach is how many frames beyond its place a resampled frame needs.
	reach = taps/2 + 1
)

// sinc reads a tape a little faster or slower than it was written, which is how the
// clock of a phone or an encoder is followed: at most half a percent, which nobody hears.
type sinc struct {
	table [phases + 1][taps]float32
	buf   []int16

	left, right []float32
}

func newSinc() *sinc {
	s := &sinc{}
	for p := range s.table {
		sum := 0.0
		var h [taps]float64
		for k := range h {
			x := float64(k-taps/2+1) - float64(p)/phases
			h[k] = kernel(x)
			sum += h[k]
		}
		for k := range h {
			s.table[p][k] = float32(h[k] / sum)
		}
	}
	return s
}

// kernel is a sinc of 0.97 of the band in a Blackman window.
func kernel(x float64) float64 {
	const cut = 0.97
	w := 0.42 + 0.5*math.Cos(2*math.Pi*x/taps) + 0.08*math.Cos(4*math.Pi*x/taps)
	if math.Abs(x) < 1e-9 {
		return cut * w
	}
	if math.Abs(x) >= taps/2 {
		return 0
	}
	return math.Sin(math.Pi*cut*x) / (math.Pi * x) * w
}

// read fills dst with frames from place at on, step frames of the tape for each.
func (s *sinc) read(t *tape.Ring, at float64, step float64, dst []float32) {
	frames := len(dst) / live.Channels
	whole := math.Floor(at)
	if step == 1 && at == whole {
		s.fetch(t, uint64(whole), frames)
		for i, v := range s.buf {
			dst[i] = float32(v) / 32768
		}
		return
	}
	// Before the tape began there is nothing: silence stands for it.
	early := max(0, taps/2-1-int(whole))
	first := uint64(max(whole-taps/2+1, 0))
	s.fetch(t, first, int(float64(frames)*step)+taps+2)
	s.left, s.right = s.left[:0], s.right[:0]
	for range early {
		s.left, s.right = append(s.left, 0), append(s.right, 0)
	}
	for i := 0; i+1 < len(s.buf); i += live.Channels {
		s.left, s.right = append(s.left, float32(s.buf[i])/32768), append(s.right, float32(s.buf[i+1])/32768)
	}
	for i := range frames {
		place := at - whole + float64(i)*step
		base := int(place)
		phase := (place - float64(base)) * phases
		p := int(phase)
		mix := float32(phase - float64(p))
		a, b := &s.table[p], &s.table[min(p+1, phases)]
		x, y := (*[taps]float32)(s.left[base:]), (*[taps]float32)(s.right[base:])
		var l, r float32
		for k := range taps {
			h := a[k] + (b[k]-a[k])*mix
			l += h * x[k]
			r += h * y[k]
		}
		dst[2*i], dst[2*i+1] = l, r
	}
}

func (s *sinc) fetch(t *tape.Ring, at uint64, frames int) {
	n := frames * live.Channels
	if cap(s.buf) < n {
		s.buf = make([]int16, n)
	}
	s.buf = s.buf[:n]
	t.Copy(at, s.buf)
}
