package check

import (
	"math"
	"time"

	"github.com/athir-radio/athir/internal/sound/loudness"
)

// ear hears a file once, from its start to its end, and keeps what the judgement needs:
// about 30 KB a second of sound at most.
type ear struct {
	rate, channels int
	meter          *loudness.Meter
	spectra        *spectra
	mono           []float32

	frames  int64
	clips   [2]int // samples in a row at full scale, by channel
	clipped int64  // of all samples
	broken  bool   // a sample is no number, or absurdly large

	block   block // in progress
	inBlock int
	blocks  []block // of blockTime each
}

// block is what is kept of 10 ms.
type block struct {
	peak        float32
	left, right float32 // mean squares
	middle      float32 // of their mean, which is what one loudspeaker plays
}

const (
	blockTime = 10 * time.Millisecond
	perSecond = int(time.Second / blockTime)

	fullScale = 0.9995 // 16-bit audio ends at 0.99997
	shortRun  = 3      // fewer samples in a row may be a peak

	// absurd is a sample that no recording has: 60 dB over full scale.
	absurd = 1000
)

func newEar(rate, channels int) *ear {
	weights := loudness.Stereo
	if channels == 1 {
		weights = loudness.Mono
	}
	return &ear{rate: rate, channels: channels, meter: loudness.NewMeter(rate, weights), spectra: newSpectra(rate)}
}

// hear takes whole frames of interleaved samples.
func (e *ear) hear(samples []float32) {
	e.mono = e.mono[:0]
	for len(samples) > 0 {
		n := min(len(samples)/e.channels, e.rate/perSecond-e.inBlock)
		e.some(samples[:n*e.channels])
		samples, e.inBlock, e.frames = samples[n*e.channels:], e.inBlock+n, e.frames+int64(n)
		if e.inBlock == e.rate/perSecond {
			e.endBlock()
		}
	}
	if !e.broken {
		e.spectra.add(e.mono)
	}
}

// some takes samples of one block.
func (e *ear) some(samples []float32) {
	e.meter.Write(samples)
	b := &e.block
	if e.channels == 1 {
		for _, v := range samples {
			e.clip(0, v)
			b.peak = max(b.peak, v, -v)
			b.middle += v * v
		}
		b.left, b.right = b.middle, b.middle
		e.mono = append(e.mono, samples...)
		return
	}
	for i := 1; i < len(samples); i += 2 {
		l, r := samples[i-1], samples[i]
		e.clip(0, l)
		e.clip(1, r)
		b.peak = max(b.peak, l, -l, r, -r)
		m := (l + r) / 2
		b.left += l * l
		b.right += r * r
		b.middle += m * m
		e.mono = append(e.mono, m)
	}
}

func (e *ear) clip(channel int, v float32) {
	if v < fullScale && v > -fullScale {
		e.clips[channel] = 0
		return
	}
	switch e.clips[channel]++; {
	case e.clips[channel] == shortRun:
		e.clipped += shortRun
	case e.clips[channel] > shortRun:
		e.clipped++
	}
	if !(v < absurd && v > -absurd) {
		e.broken = true
	}
}

func (e *ear) endBlock() {
	n := float32(e.inBlock)
	b := e.block
	b.left, b.right, b.middle = b.left/n, b.right/n, b.middle/n
	e.blocks = append(e.blocks, b)
	e.block, e.inBlock = block{}, 0
}

// heard is what an ear has heard, of which everything is told between begin and end, where
// its sound is.
type heard struct {
	levels     *loudness.Measurement
	begin, end time.Duration
	broken     bool
	stereo     bool
	clipped    float64 // share of the samples
	silent     float64 // share of the time
	// The powers of the left, the right and the mean of both, of all sound.
	left, right, middle float64
	blocks              []block
	bands               [][bandCount]float32
	frameTime           time.Duration
}

// Where sound begins and ends, and what silence within it is: under the loudness by so much,
// as mastering has it when it trims.
const quiet = 40 // LU

func (e *ear) result() *heard {
	if e.inBlock > 0 {
		e.endBlock()
	}
	h := &heard{
		levels: e.meter.Result(), broken: e.broken, stereo: e.channels == 2,
		frameTime: time.Duration(frameHop) * time.Second / time.Duration(e.rate),
	}
	h.clipped = float64(e.clipped) / math.Max(1, float64(e.frames)*float64(e.channels))
	h.begin, h.end = h.levels.Sound(quiet)
	h.blocks = part(e.blocks, h.begin, h.end, blockTime)
	h.bands = part(e.spectra.bands, h.begin, h.end, h.frameTime)
	gate := math.Pow(10, (math.Max(h.levels.Integrated, -75+quiet)-quiet)/10)
	for _, b := range h.blocks {
		if power := float64(b.left + b.right); power < gate {
			h.silent++
		}
		h.left += float64(b.left)
		h.right += float64(b.right)
		h.middle += float64(b.middle)
	}
	h.silent /= math.Max(1, float64(len(h.blocks)))
	return h
}

// part is what lies between two times of a list with an entry for each step.
func part[T any](all []T, begin, end, step time.Duration) []T {
	from := min(int(begin/step), len(all))
	to := min(int((end+step-1)/step), len(all))
	return all[from:max(from, to)]
}
