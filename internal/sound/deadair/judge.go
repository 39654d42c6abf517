// Package deadair judges by its samples alone whether a sound is a programme: its level,
// how long it has been silent, and whether it repeats itself. It knows neither streams
// nor stations; onair/guard decides what is a fault.
package deadair

import (
	"math"
	"time"
)

// Rate is the rate, in Hz, of the mono samples that a Judge hears. It takes
// frequencies it cannot hear for silence, and broadcast music ends near 15 kHz.
const Rate = 32000

const (
	// block is the resolution of levels.
	block     = 100 * time.Millisecond
	blockSize = Rate / 10
	// kept is how far back levels are remembered: the longest silence reported.
	kept = 2 * time.Minute
	// Nothing is the level of no sound at all, dBFS.
	Nothing = -120
	// clicks is the part of a silence that may sound: a ticking line is as dead
	// as a quiet one, and music is never this sparse for seconds.
	clicks = 0.1
	// A stretch of recent blocks of which so many sound is no click: silence ends there,
	// however long it was.
	recent, sounds = 10, 7
)

// Verdict is a Judge's view of what it heard last.
type Verdict struct {
	// Level of the last second in dBFS (RMS, a full-scale square wave is 0),
	// ignoring a constant offset.
	Level float64
	// Sounding reports that something is heard now.
	Sounding bool
	// Silent is how long nothing has been heard; 0 while there is sound.
	Silent time.Duration
	// Looping is how long the same Period has repeated; 0 without a loop.
	Looping time.Duration
	Period  time.Duration
}

// Judge decides whether samples are a programme. Its only clock is the count of
// samples. Make one with NewJudge.
type Judge struct {
	limit  float64 // mean square below which a block is silent
	levels []float64
	sum    float64
	square float64
	have   int // samples of the block begun
	loop   looper
}

// NewJudge returns a Judge that takes what is below level (dBFS) for silence.
func NewJudge(level float64) *Judge {
	return &Judge{limit: math.Pow(10, level/10), loop: newLooper()}
}

// Add hears more samples, at Rate.
func (j *Judge) Add(samples []int16) {
	for _, s := range samples {
		v := float64(s) / 32768
		j.sum += v
		j.square += v * v
		if j.have++; j.have == blockSize {
			j.endBlock()
		}
	}
	if j.loop.add(samples) {
		v := j.Verdict()
		j.loop.look(v.Sounding)
	}
}

func (j *Judge) endBlock() {
	mean := j.sum / blockSize
	j.levels = append(j.levels, max(0, j.square/blockSize-mean*mean))
	if most := int(kept / block); len(j.levels) >= 2*most {
		j.levels = append(j.levels[:0], j.levels[len(j.levels)-most:]...)
	}
	j.sum, j.square, j.have = 0, 0, 0
}

// Verdict of all that was heard so far.
func (j *Judge) Verdict() Verdict {
	v := Verdict{Level: j.level(10), Sounding: j.sounding(), Silent: j.silent()}
	if v.Silent == 0 {
		v.Looping, v.Period = j.loop.state()
	}
	return v
}

// level returns the level of the last n blocks, at least -120 dBFS.
func (j *Judge) level(n int) float64 {
	n = min(n, len(j.levels))
	power := 0.0
	for _, p := range j.levels[len(j.levels)-n:] {
		power += p / float64(n)
	}
	return 10 * math.Log10(max(power, 1e-12))
}

// sounding reports more than a click.
func (j *Judge) sounding() bool {
	const last, most = 5, 3
	loud := 0
	for i := max(0, len(j.levels)-last); i < len(j.levels); i++ {
		if j.levels[i] >= j.limit {
			loud++
		}
	}
	return loud >= most
}

// silent returns the longest time up to now that began in silence and holds no more
// than clicks: of sound as much as a tenth of it, and never most of a second. Without the
// second bound, a minute of silence would outlast six seconds of the music after it.
func (j *Judge) silent() time.Duration {
	loud, lately, longest := 0, 0, 0
	for n := 1; n <= len(j.levels); n++ {
		if n > recent && j.levels[len(j.levels)-n+recent] >= j.limit {
			lately--
		}
		if j.levels[len(j.levels)-n] < j.limit {
			if float64(loud) <= clicks*float64(n) {
				longest = n
			}
			continue
		}
		loud++
		if lately++; lately == sounds {
			break
		}
	}
	return time.Duration(longest) * block
}
