package bus

import (
	"math"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

const (
	// Onset is what the first sound of a source must reach, Silence what a pause stays
	// below: half of the swing within 10 ms, so that a constant offset is silence.
	Onset   = 0.0031622777 // -50 dBFS
	Silence = 0.001        // -60 dBFS

	block      = live.Rate / 100 // frames
	blocks     = tape.Frames/block - 1
	noPeak     = -120.0
	peakBlocks = 50 // half a second
)

// levels keeps the level of the newest blocks of 10 ms.
type levels struct {
	ring [blocks]float32
	n    uint64 // blocks measured
	buf  [block * live.Channels]int16
}

// measure takes what has come since the last call, and reports whether any of it was
// above Silence.
func (l *levels) measure(t *tape.Ring) (sound bool) {
	from, end := t.Span()
	if l.n*block < from {
		l.n = (from + block - 1) / block
	}
	for ; (l.n+1)*block <= end; l.n++ {
		t.Copy(l.n*block, l.buf[:])
		v := swing(l.buf[:])
		l.ring[l.n%blocks] = v
		sound = sound || v > Silence
	}
	return sound
}

// swing is half the distance between the lowest and the highest sample, the greater of
// both channels.
func swing(pcm []int16) float32 {
	low, high := [live.Channels]int16{math.MaxInt16, math.MaxInt16}, [live.Channels]int16{math.MinInt16, math.MinInt16}
	for i, v := range pcm {
		c := i % live.Channels
		low[c], high[c] = min(low[c], v), max(high[c], v)
	}
	widest := 0
	for c := range low {
		widest = max(widest, int(high[c])-int(low[c]))
	}
	return float32(widest) / 65536
}

// level is that of a block; 0 where it is not known.
func (l *levels) level(b uint64) float32 {
	if b >= l.n || b+blocks < l.n+1 {
		return 0
	}
	return l.ring[b%blocks]
}

// peak is the highest level of the last half second, in dBFS.
func (l *levels) peak() float64 {
	top := float32(0)
	for b := l.n - min(l.n, peakBlocks); b < l.n; b++ {
		top = max(top, l.level(b))
	}
	return decibels(top)
}

func decibels(v float32) float64 {
	if v <= 0 {
		return noPeak
	}
	return max(noPeak, 20*math.Log10(float64(v)))
}

const (
	// pause is the silence that separates what is said now from what was said before, and
	// longAgo how far back the beginning of what is being said is looked for.
	pause   = 20  // blocks
	longAgo = 100 // blocks
)

// searchFrom is the block from which on the first sound is looked for when the source is
// called. heard is the frame up to which it has been on the air: nothing is heard twice.
// All that a writer has sent since it came belongs to it; of one that has been there for
// longer, or was on the air, what it has begun to say within the last second.
func (l *levels) searchFrom(t *tape.Ring, heard uint64) uint64 {
	from, _ := t.Span()
	if began := t.Began(); from <= began && heard <= began {
		return began / block
	}
	return max(l.pauseBefore(), (heard+block-1)/block)
}

// pauseBefore is the end of the last pause of a second, or shortly before now.
func (l *levels) pauseBefore() uint64 {
	quiet := uint64(0)
	for b := l.n; b > l.n-min(l.n, longAgo); b-- {
		if l.level(b-1) > Onset {
			quiet = 0
			continue
		}
		if quiet++; quiet == pause {
			return b - 1 + pause
		}
	}
	return l.n - min(l.n, 10) // it sounds all the time
}

// onset is the first block from there on that has a sound.
func (l *levels) onset(from uint64) (b uint64, ok bool) {
	if l.n > blocks {
		from = max(from, l.n-blocks)
	}
	for b := from; b < l.n; b++ {
		if l.level(b) > Onset {
			return b, true
		}
	}
	return 0, false
}
