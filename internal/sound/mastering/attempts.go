package mastering

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
)

// measure decodes a file and measures it as stereo at rate.
func (m *Master) measure(ctx context.Context, path string, rate int, expected time.Duration, progress func(float64)) (*loudness.Measurement, error) {
	meter := loudness.NewMeter(rate, loudness.Stereo)
	count := counting(expected, rate, progress)
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: rate, Channels: 2, Nice: m.opt.Nice, First: m.opt.Longest + time.Minute},
		func(frames []float32) error {
			meter.Write(frames)
			count(len(frames) / 2)
			return nil
		})
	return meter.Result(), err
}

// hear measures a source. One with an offset is measured a second time, without it, as
// render will make it; all others are heard as they are.
func (m *Master) hear(ctx context.Context, s *source, progress func(float64)) (*loudness.Measurement, error) {
	found, err := m.measure(ctx, s.path, s.rate, s.expected(), progress)
	if err != nil || !found.Displaced() {
		return found, err
	}
	s.offset = found.Offset
	meter := loudness.NewMeter(s.rate, loudness.Stereo)
	err = m.decode(ctx, s, m.opt.Longest+time.Minute, func(frames []float32) error {
		meter.Write(frames)
		return nil
	})
	return meter.Result(), err
}

// decode gives a source to take in pieces, in stereo, without its offset if it has one.
func (m *Master) decode(ctx context.Context, s *source, first time.Duration, take func([]float32) error) error {
	d := ffmpeg.Decoding{Rate: s.rate, Channels: 2, Nice: m.opt.Nice, First: first}
	if s.offset == 0 {
		return ffmpeg.Decode(ctx, s.path, d, take)
	}
	blocker := loudness.NewBlocker(s.rate, 2)
	if err := ffmpeg.Decode(ctx, s.path, d, func(frames []float32) error { return take(blocker.Process(frames)) }); err != nil {
		return err
	}
	return take(blocker.Flush())
}

// counting turns frames into a share of the expected length.
func counting(expected time.Duration, rate int, progress func(float64)) func(frames int) {
	total, sofar := expected.Seconds()*float64(rate), 0
	return func(frames int) {
		if sofar += frames; total > 0 {
			progress(min(1, float64(sofar)/total))
		}
	}
}

func (s *source) expected() time.Duration { return max(s.duration, s.probe.Duration) }

// turnedDown is how many more attempts a file has that none could make fit.
const turnedDown = 3

// attempts encodes the file until it meets the profile, and returns the best that may air.
func (m *Master) attempts(ctx context.Context, s *source, job Job, found *loudness.Measurement, plan Plan, rec Record, progress func(float64)) (*temp, Record, error) {
	if err := os.MkdirAll(filepath.Dir(job.Out), 0o755); err != nil {
		return nil, rec, plainer(err)
	}
	picture, err := cover(ctx, s, filepath.Dir(job.Out))
	if err != nil {
		return nil, rec, err
	}
	defer picture.discard()
	e := ffmpeg.Encoding{Rate: s.rate, Kbps: m.opt.Kbps, Nice: m.opt.Nice}
	if picture != nil {
		e.Cover = picture.path()
	}
	var best *temp
	bestRec := rec
	var lower Plan // of the attempt that has to be turned down least, if none may air
	loss := math.Inf(1)
	for n := 1; n <= m.opt.Attempts+turnedDown; n++ {
		if n > m.opt.Attempts {
			if best != nil {
				break
			}
			plan = lower.down(0.5 * float64(n-m.opt.Attempts-1)) // further each time: encoding moves peaks again
		}
		t, err := newTemp(filepath.Dir(job.Out), ".part")
		if err != nil {
			return best, rec, err
		}
		e.Tags = tagsFor(s, job.Tags, mark(job.Profile, plan))
		reduction, err := m.render(ctx, s, plan, newCutter(cut{rec.TrimmedIn, rec.TrimmedOut}, found.Duration, s.rate), e, t.path(), func(share float64) { progress(0.12 + 0.73*share) })
		if err != nil {
			t.discard()
			return best, rec, err
		}
		made, err := m.measure(ctx, t.path(), s.rate, found.Duration, func(share float64) { progress(0.85 + 0.15*share) })
		if err != nil {
			t.discard()
			return best, rec, fmt.Errorf("measure the encoded file: %w", err)
		}
		m.fill(job.Profile, &rec, made)
		rec.Attempts, rec.Gain, rec.Method, rec.Reduction = n, plan.Gain, plan.Method, reduction
		m.opt.Log.Debug("mastering attempt", "file", filepath.Base(s.path), "attempt", n, "lufs", rec.Integrated, "dbtp", rec.TruePeak,
			"gain", plan.Gain, "ceiling", plan.Ceiling, "method", plan.Method)
		got := job.Profile.LevelsOf(made)
		airs, good := Judge(job.Profile, plan, got)
		if !airs && n >= m.opt.Attempts && best == nil { // better quieter than not at all
			plan.Held = true
			airs, _ = Judge(job.Profile, plan, got)
		}
		if rec.Short = 0; plan.Held {
			rec.Short = max(0, job.Profile.Target-rec.Loudness)
		}
		if airs && (best == nil || closer(job.Profile, rec, bestRec)) {
			best.discard()
			best, bestRec = t, rec
		} else {
			t.discard()
		}
		if good {
			break
		}
		if down, lost := TurnDown(job.Profile, plan, got); lost < loss {
			lower, loss = down, lost
		}
		plan = Correct(job.Profile, job.Profile.LevelsOf(found), plan, got)
	}
	if best == nil {
		return nil, rec, refuse(Unreachable, "it is still at %.1f LUFS, %.1f dBTP after %d attempts", rec.Integrated, rec.TruePeak, rec.Attempts)
	}
	bestRec.Attempts = rec.Attempts
	return best, bestRec, nil
}

func closer(p Profile, a, b Record) bool {
	off := func(r Record) float64 { return max(r.Loudness-p.Target, p.Target-r.Loudness) }
	return off(a) < off(b)
}

// render decodes, applies the plan and encodes, in one stream.
func (m *Master) render(ctx context.Context, s *source, plan Plan, ends *cutter, e ffmpeg.Encoding, to string, progress func(float64)) (reduction float64, err error) {
	ceiling := plan.Ceiling
	if plan.Method == Linear {
		ceiling = 200 // never reached
	}
	limiter := loudness.NewLimiter(s.rate, 2, plan.Gain, ceiling)
	count := counting(s.expected(), s.rate, progress)
	err = ffmpeg.EncodeMP3(ctx, to, e, func(write func([]float32) error) error {
		err := m.decode(ctx, s, 0, func(frames []float32) error {
			count(len(frames) / 2)
			return write(limiter.Process(ends.apply(frames)))
		})
		if err != nil {
			return err
		}
		return write(limiter.Flush())
	})
	return limiter.Reduction(), err
}
