package check

import (
	"math"
	"math/bits"
	"math/cmplx"
)

const (
	frameSize = 2048          // samples of one spectrum
	frameHop  = frameSize / 2 // from one to the next: 21 to 32 ms
	bandCount = 48
	lowestHz  = 50
	highestHz = 16_000
)

// spectra turns mono sound into powers of bands, frame by frame.
type spectra struct {
	window [frameSize]float64
	turn   [frameSize / 4]complex128 // of the transform of half the size
	unpack [frameSize / 4]complex128
	swap   [frameSize / 2]int
	edge   [bandCount + 1]int // bins of the transform
	packed [frameSize / 2]complex128

	recent [frameSize]float32
	filled int

	bands [][bandCount]float32 // power, full scale 1
}

func newSpectra(rate int) *spectra {
	s := &spectra{}
	for i := range s.window {
		s.window[i] = (0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/frameSize)) * 2 / frameSize
	}
	for i := range s.turn {
		s.turn[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/(frameSize/2))
		s.unpack[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/frameSize)
	}
	for i := range s.swap {
		s.swap[i] = int(bits.Reverse32(uint32(i)) >> (32 - bits.Len(frameSize/2-1)))
	}
	for b := range s.edge {
		hz := lowestHz * math.Pow(highestHz/lowestHz, float64(b)/bandCount)
		s.edge[b] = min(int(math.Round(hz*frameSize/float64(rate))), frameSize/2-1-(bandCount-b))
		if b > 0 { // under 400 Hz a band is a bin
			s.edge[b] = max(s.edge[b], s.edge[b-1]+1)
		}
	}
	return s
}

// add takes mono samples.
func (s *spectra) add(mono []float32) {
	for len(mono) > 0 {
		n := copy(s.recent[s.filled:], mono)
		mono, s.filled = mono[n:], s.filled+n
		if s.filled == frameSize {
			s.frame()
			copy(s.recent[:frameHop], s.recent[frameHop:])
			s.filled = frameHop
		}
	}
}

func (s *spectra) frame() {
	for i := range s.packed {
		s.packed[s.swap[i]] = complex(float64(s.recent[2*i])*s.window[2*i], float64(s.recent[2*i+1])*s.window[2*i+1])
	}
	s.transform()
	var powers [bandCount]float32
	for b := range powers {
		sum := 0.0
		for k := s.edge[b]; k < s.edge[b+1]; k++ {
			sum += s.power(k)
		}
		powers[b] = float32(sum)
	}
	s.bands = append(s.bands, powers)
}

// power is that of one bin of the whole transform, of which packed holds two halves in one.
func (s *spectra) power(k int) float64 {
	const half = frameSize / 2
	a, b := s.packed[k], cmplx.Conj(s.packed[(half-k)%half])
	even, odd := (a+b)/2, (a-b)/complex(0, 2)
	turn := complex(0, -1)
	switch {
	case k < half/2:
		turn = s.unpack[k]
	case k > half/2:
		turn = -cmplx.Conj(s.unpack[half-k])
	}
	v := even + turn*odd
	return real(v)*real(v) + imag(v)*imag(v)
}

// transform is the discrete Fourier transform of packed, whose samples are in the order of
// reversed bits (Cooley and Tukey, radix 2).
func (s *spectra) transform() {
	const n = frameSize / 2
	for size := 2; size <= n; size <<= 1 {
		half, step := size/2, n/size
		for i := 0; i < n; i += size {
			low, high := s.packed[i:i+half], s.packed[i+half:i+size]
			for k := range half {
				u, v := low[k], high[k]*s.turn[k*step]
				low[k], high[k] = u+v, u-v
			}
		}
	}
}
