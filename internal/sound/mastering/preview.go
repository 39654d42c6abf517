package mastering

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
)

// Preview is what a file, or a few parts of a long one, tell of it.
type Preview struct {
	// Gain (dB) brings it to the profile's loudness, as far as the parts are like the rest.
	// It takes a limiter at the profile's peak no deeper than MaxDepth; there must be one
	// after it, because the rest may be louder.
	Gain       float64
	Integrated float64       // LUFS, of the parts
	TruePeak   float64       // dBTP, of the parts
	Offset     float64       // direct current, of full scale
	Lead, Tail time.Duration // silence at the ends as it airs, as far as the first and the last part reach
	Heard      time.Duration // length of the parts together
}

const (
	// previewWhole is up to which length a file is heard whole. Starting a decoder for each
	// part of it would take as long, and parts misjudge a song by 2 LU now and then.
	previewWhole = 6 * time.Minute
	// previewParts of previewPart each stand for a longer file: its two ends and what lies
	// evenly between. The start alone misjudges what begins softly by 10 LU and more.
	previewParts = 10
	previewPart  = 8 * time.Second
	// silentBelow is the level (dBFS) of what airs under which an end of a file is silent: that
	// of the dead-air guard, which takes the last seconds of a long fade for nothing as well.
	silentBelow = -50.0
	// silentBlocks is how many blocks of a second are judged one by one.
	silentBlocks = 20
)

// Preview measures parts of a file of a known length, so that it can air by its own gain
// before it was mastered. It takes a second of one core at most. Errors are those of Do; a
// *RefusedError says nothing of what lies between the parts.
func (m *Master) Preview(ctx context.Context, path string, p Profile, length time.Duration, nice int) (Preview, error) {
	const rate = 44100
	heard := &excerpt{meter: loudness.NewMeter(rate, loudness.Stereo), block: rate / silentBlocks}
	parts, each := previewParts, previewPart
	if length <= previewWhole {
		parts, each = 1, 0
	}
	for i := range parts {
		var from time.Duration
		if parts > 1 {
			from = time.Duration(i) * (length - each) / time.Duration(parts-1)
		}
		heard.begin()
		err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: rate, Channels: 2, From: from, First: each, Nice: nice}, func(frames []float32) error {
			heard.take(frames)
			return nil
		})
		if err != nil {
			return Preview{}, unplayable(err)
		}
		if heard.end(); i == 0 {
			heard.first = heard.levels
		}
	}
	found := heard.meter.Result()
	if found.Duration == 0 {
		return Preview{}, refuse(Damaged, "no audio can be decoded from it")
	}
	levels := p.LevelsOf(found)
	plan, err := Decide(p, levels)
	if err != nil {
		return Preview{}, err
	}
	gain := min(plan.Gain, p.MaxPeak+p.MaxDepth-levels.Sustained)
	last := slices.Clone(heard.levels)
	slices.Reverse(last)
	return Preview{
		Gain: gain, Integrated: found.Integrated, TruePeak: found.TruePeak,
		Offset: heard.sum / float64(2*max(heard.frames, 1)), Lead: silence(heard.first, gain), Tail: silence(last, gain), Heard: found.Duration,
	}, nil
}

// silence is how long nothing is heard of levels that air at a gain.
func silence(levels []float64, gain float64) time.Duration {
	n := slices.IndexFunc(levels, func(level float64) bool { return level+gain >= silentBelow })
	if n < 0 {
		n = len(levels)
	}
	return time.Duration(n) * time.Second / silentBlocks
}

// excerpt is what was heard of a file, part by part.
type excerpt struct {
	meter  *loudness.Meter
	sum    float64 // of all samples
	frames int
	block  int       // frames of a block
	levels []float64 // of the part's blocks, both channels as one, dBFS
	first  []float64 // those of the first part
	// Of the block begun, whose constant offset is no sound:
	have       int
	mean, area float64
}

func (e *excerpt) begin() { e.levels = nil }

// end closes the last block of a part.
func (e *excerpt) end() {
	if e.have > 0 {
		n := float64(e.have)
		e.levels = append(e.levels, 10*math.Log10(max(e.area/n-e.mean*e.mean/(n*n), 1e-12)))
	}
	e.have, e.mean, e.area = 0, 0, 0
}

func (e *excerpt) take(frames []float32) {
	e.meter.Write(frames)
	for i := 0; i+1 < len(frames); i += 2 {
		l, r := float64(frames[i]), float64(frames[i+1])
		e.sum += l + r
		mid := (l + r) / 2
		e.mean, e.area = e.mean+mid, e.area+mid*mid
		if e.have++; e.have == e.block {
			e.end()
		}
	}
	e.frames += len(frames) / 2
}
