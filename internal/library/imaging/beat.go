package imaging

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// BeatSource says how a beat was found.
type BeatSource string

// The sources.
const (
	FromScore   BeatSource = "score" // composed: the beat is known
	FromTracker BeatSource = "aubio" // the beat tracker of aubio
	FromOnsets  BeatSource = "onset" // no steady beat: what is struck hardest
)

// trackTime is how long the tracker may take for the half minute about a cut.
const trackTime = time.Minute

// errLate says that the tracker was not done in time: the machine's fault, and not that
// the song has no steady beat.
var errLate = errors.New("aubiotrack was not done in time")

// findBeats returns the beats of a mono signal in seconds. Where the tracker is
// not installed, fails or hears nothing steady, the strongest onsets stand for
// beats. They are returned with errLate too.
func findBeats(ctx context.Context, mono []float32, dir string, limit time.Duration) ([]float64, BeatSource, error) {
	novel := novelty(mono)
	tracked, err := track(ctx, mono, dir, limit)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, "", err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, proc.ErrCut):
		return onsets(novel), FromOnsets, errLate
	}
	if beats := grid(tracked, novel); len(beats) > 0 {
		return beats, FromTracker, nil
	}
	return onsets(novel), FromOnsets, nil
}

// track runs aubio's beat tracker.
func track(ctx context.Context, mono []float32, dir string, limit time.Duration) ([]float64, error) {
	f, err := os.CreateTemp(dir, "beats-*.wav")
	if err != nil {
		return nil, fmt.Errorf("find beats: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // the folder goes with all that is in it
	_, err = f.Write(wav.Float32(synth.Rate, 1, mono))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("find beats: %w", err)
	}
	path, err := filepath.Abs(f.Name())
	if err != nil {
		return nil, fmt.Errorf("find beats: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := proc.Output(ctx, proc.Spec{Name: "aubiotrack", Path: "aubiotrack", Nice: 10, Args: []string{"-i", path}}, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("find beats: %w", err)
	}
	return seconds(string(out)), nil
}

// seconds reads aubio's lists of times.
func seconds(list string) []float64 {
	var out []float64
	for _, word := range strings.Fields(list) {
		if at, err := strconv.ParseFloat(word, 64); err == nil {
			out = append(out, at)
		}
	}
	return out
}

const (
	hopSize  = synth.Rate * 5 / 1000         // samples
	perHop   = float64(hopSize) / synth.Rate // seconds; 4.99 ms
	slowest  = 60.0 / 58                     // seconds a beat
	quickest = 60.0 / 190
)

// novelty is one value each hop: how much louder it has become, over three
// bands that drums, voices and cymbals are told apart by.
func novelty(mono []float32) []float64 {
	out := make([]float64, len(mono)/hopSize)
	for _, band := range []struct {
		band synth.Band
		hz   float64
	}{{synth.LowPass, 160}, {synth.BandPass, 900}, {synth.HighPass, 3500}} {
		x := synth.Filter(slices.Clone(mono), band.band, synth.Flat(band.hz), 0.71)
		last := 0.0
		for i := range out {
			var sum float64
			for _, v := range x[i*hopSize : (i+1)*hopSize] {
				sum += float64(v) * float64(v)
			}
			now := math.Log10(1e-7+sum/hopSize) / 7 // -70 dBFS and below is nothing
			if i > 0 && now > last {
				out[i] += now - last
			}
			last = max(now, last-0.012) // a decay is followed, its ripple is no onset
		}
	}
	return out
}

// grid fits an even grid to tracked beats and draws it to what is struck. It
// returns nothing where the beats are not steady.
func grid(tracked, novel []float64) []float64 {
	period := periodOf(tracked)
	if period == 0 {
		return nil
	}
	length := float64(len(novel)) * perHop
	best, bestAt, bestPeriod := 0.0, 0.0, 0.0
	for stretch := -0.015; stretch <= 0.0151; stretch += 0.0015 {
		p := period * (1 + stretch)
		for phase := 0.0; phase < p; phase += perHop {
			score := comb(novel, phase, p)
			if score > best {
				best, bestAt, bestPeriod = score, phase, p
			}
		}
	}
	if best == 0 {
		return nil
	}
	var out []float64
	for at := bestAt; at < length; at += bestPeriod {
		out = append(out, drawn(novel, at))
	}
	if !steady(tracked, out, bestPeriod) {
		return nil
	}
	return out
}

// periodOf is the commonest interval of tracked beats in seconds, the slow ones
// halved and the quick ones doubled into what one claps to; 0 when few agree.
func periodOf(tracked []float64) float64 {
	var intervals []float64
	for i := 1; i < len(tracked); i++ {
		d := tracked[i] - tracked[i-1]
		for d > slowest && d < 4*slowest {
			d /= 2
		}
		for d < quickest && d > quickest/4 {
			d *= 2
		}
		intervals = append(intervals, d)
	}
	best, members := 0, []float64(nil)
	for _, d := range intervals {
		var near []float64
		for _, e := range intervals {
			if math.Abs(e-d) < 0.06*d {
				near = append(near, e)
			}
		}
		if len(near) > best {
			best, members = len(near), near
		}
	}
	if best < 5 || 2*best < len(intervals) {
		return 0
	}
	slices.Sort(members)
	return members[len(members)/2]
}

// comb is the mean novelty at the teeth of a grid.
func comb(novel []float64, phase, period float64) float64 {
	var sum float64
	n := 0
	for at := phase; ; at += period {
		i := int(at / perHop)
		if i+1 >= len(novel) {
			break
		}
		sum += max(novel[i], novel[i+1])
		n++
	}
	return sum / float64(max(n, 1))
}

// drawn moves a beat onto what is struck within 35 ms of it, if anything is.
func drawn(novel []float64, at float64) float64 {
	const reach = 7
	middle := int(at / perHop)
	best, where := 0.0, at
	for i := max(0, middle-reach); i <= middle+reach && i < len(novel); i++ {
		near := 1 - 0.4*math.Abs(float64(i-middle))/reach
		if v := novel[i] * near; v > best {
			best, where = v, float64(i)*perHop
		}
	}
	if best < 0.03 {
		return at
	}
	return where
}

// steady tells whether most tracked beats lie on the grid or halfway between.
func steady(tracked, beats []float64, period float64) bool {
	on := 0
	for _, t := range tracked {
		off := math.Abs(t - nearest(beats, t))
		if off < 0.13*period || math.Abs(off-period/2) < 0.07*period {
			on++
		}
	}
	return 3*on >= 2*len(tracked)
}

// onsets are the strongest onsets, none within a quarter second of a stronger.
func onsets(novel []float64) []float64 {
	const apart = 50 // hops
	var out []float64
	for i, v := range novel {
		if v < 0.04 {
			continue
		}
		if v >= slices.Max(novel[max(0, i-apart):min(len(novel), i+apart)]) {
			out = append(out, float64(i)*perHop)
		}
	}
	return out
}

// nearest is the one of beats nearest to a time; -1 when there are none.
func nearest(beats []float64, at float64) float64 {
	best := -1.0
	for _, b := range beats {
		if best < 0 || math.Abs(b-at) < math.Abs(best-at) {
			best = b
		}
	}
	return best
}
