package mastering

import (
	"cmp"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/sound/loudness"
)

const (
	// What is under sound by this much more than at cue points is silence: a
	// quiet introduction and the end of a fade stay.
	quieter = 10 // LU
	leadIn  = 30 * time.Millisecond
	tail    = 300 * time.Millisecond // after the sound has fallen below

	// Less than this is not worth cutting, nor a copy of a file that is fit.
	leastIn  = 300 * time.Millisecond
	leastOut = 700 * time.Millisecond

	fadeIn  = 5 * time.Millisecond
	fadeOut = 100 * time.Millisecond
)

// cut is what is left out of a source at its ends.
type cut struct{ in, out time.Duration }

func (m *Master) cutOf(job Job, found *loudness.Measurement) cut {
	from, to := job.From, job.To
	if to >= found.Duration {
		to = 0
	}
	if from >= cmp.Or(to, found.Duration) { // of another file than this
		from, to = 0, 0
	}
	c := cut{in: from}
	if to > 0 {
		c.out = found.Duration - to
	}
	if !job.Trim {
		return c
	}
	begin, end := found.Sound(m.opt.Below + quieter)
	if in := begin - leadIn; in >= leastIn && from == 0 {
		c.in = in
	}
	if out := found.Duration - end - tail; end > 0 && out >= leastOut && to == 0 {
		c.out = out
	}
	return c
}

// fit reports that a source may air as it is: at the profile's loudness, without an
// offset or silence to cut, and in the format that mastering makes.
func (s *source) fit(p Profile, found *loudness.Measurement, c cut) bool {
	held := Plan{Held: true}
	if s.probe.Tags["encoded_by"] != mark(p, held) {
		held.Held = false
	}
	airs, _ := Judge(p, held, p.LevelsOf(found))
	return airs && c == cut{} && s.offset == 0 && s.probe.Format == "mp3" && s.probe.Codec == "mp3" && strings.EqualFold(filepath.Ext(s.path), ".mp3") &&
		s.probe.SampleRate == s.rate && s.probe.Channels <= 2
}

// cutter lets through what is between two frames, and fades it at each end that
// was cut, so that nothing clicks.
type cutter struct {
	from, to   int // frames of the source
	rise, fall int // frames of fading; 0: none
	at         int // the next frame to come
	out        []float32
}

func newCutter(c cut, whole time.Duration, rate int) *cutter {
	frames := func(d time.Duration) int { return int(math.Round(d.Seconds() * float64(rate))) }
	k := &cutter{to: math.MaxInt}
	if c.in > 0 {
		k.from, k.rise = frames(c.in), frames(fadeIn)
	}
	if c.out > 0 {
		k.to, k.fall = frames(whole-c.out), frames(fadeOut)
	}
	return k
}

// apply takes the next stereo frames and returns those that stay, valid until
// the next call.
func (k *cutter) apply(frames []float32) []float32 {
	first := k.at
	k.at += len(frames) / 2
	from, to := min(max(first, k.from), k.at), max(min(k.at, k.to), first)
	if from >= to {
		return nil
	}
	frames = frames[2*(from-first) : 2*(to-first)]
	if from >= k.from+k.rise && (k.fall == 0 || to <= k.to-k.fall) {
		return frames
	}
	k.out = append(k.out[:0], frames...)
	for i := range k.out {
		k.out[i] *= k.gain(from + i/2)
	}
	return k.out
}

// gain is half a cosine at each end.
func (k *cutter) gain(frame int) float32 {
	share := 1.0
	if k.rise > 0 {
		share = min(share, float64(frame-k.from)/float64(k.rise))
	}
	if k.fall > 0 {
		share = min(share, float64(k.to-1-frame)/float64(k.fall))
	}
	if share >= 1 {
		return 1
	}
	return float32(0.5 - 0.5*math.Cos(math.Pi*share))
}
