package content

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

const (
	listenRate  = 16000            // Hz
	frameLength = listenRate / 50  // 20 ms
	windowOf    = 100              // frames of a window: two seconds
	silenceRMS  = 0.001            // -60 dBFS
	mostSilence = 0.5              // share of a file
	telling     = 20 * time.Second // less is too short to tell speech from music
	frameTime   = 20 * time.Millisecond
)

// heard is the result of decoding a file once.
type heard struct {
	length time.Duration
	silent float64 // share of frames under -60 dBFS
	traits
}

// traits tell speech from music. All are shares or spreads without unit.
type traits struct {
	// low is the share of frames with less than half the mean loudness of their
	// two seconds: speech pauses between syllables (Saunders, "Real-time
	// discrimination of broadcast speech/music", ICASSP 1996; Scheirer and
	// Slaney, "Construction and evaluation of a robust multifeature speech/music
	// discriminator", ICASSP 1997).
	low float64
	// four is the share of the loudness curve's modulation that lies about 4 Hz,
	// the rate of syllables (Scheirer and Slaney).
	four float64
	// zero is the spread of the zero crossing rate over its mean: speech changes
	// between voiced and unvoiced sounds (Saunders).
	zero float64
}

// speech reports that a file is speech beyond doubt: all three say so together.
// Of the music of four Debian packages (docs/content.md has the figures) one
// passes a limit or two; none passes all. Singing alone may, which is why the
// inbox's files are only warned of.
func (t traits) speech() bool {
	return t.low > 0.30 && t.four > 0.40 && t.zero > 0.60 && t.zero < 2
}

// listen decodes a file, at most to a little over longest, and measures it. It calls hold
// between two pieces of audio.
func listen(ctx context.Context, path string, longest time.Duration, hold wait) (heard, error) {
	e := ear{}
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: listenRate, Channels: 1, First: longest + time.Second, Nice: 10}, func(samples []float32) error {
		e.write(samples)
		return hold(ctx)
	})
	if refused := (*ffmpeg.RefusedError)(nil); errors.As(err, &refused) {
		return heard{}, &Refusal{"unreadable", refused.Reason, "لا يمكن قراءة الملف الصوتي"}
	}
	return e.result(), err
}

// ear measures mono samples at listenRate.
type ear struct {
	samples  int
	frame    int // samples of the frame under way
	energy   float64
	crossed  int
	last     float32
	rms, zcr []float32 // by frame
}

func (e *ear) write(samples []float32) {
	e.samples += len(samples)
	for _, v := range samples {
		e.energy += float64(v) * float64(v)
		if (v < 0) != (e.last < 0) {
			e.crossed++
		}
		e.last = v
		if e.frame++; e.frame == frameLength {
			e.rms = append(e.rms, float32(math.Sqrt(e.energy/frameLength)))
			e.zcr = append(e.zcr, float32(e.crossed)/frameLength)
			e.frame, e.energy, e.crossed = 0, 0, 0
		}
	}
}

func (e *ear) result() heard {
	h := heard{length: time.Duration(float64(e.samples) / listenRate * float64(time.Second)).Round(time.Millisecond)}
	if len(e.rms) == 0 {
		if e.samples > 0 && math.Sqrt(e.energy/float64(max(1, e.frame))) < silenceRMS {
			h.silent = 1
		}
		return h
	}
	quiet := 0
	for _, v := range e.rms {
		if v < silenceRMS {
			quiet++
		}
	}
	h.silent = float64(quiet) / float64(len(e.rms))
	if h.length >= telling {
		h.traits = e.traits()
	}
	return h
}

// traits are the medians over windows, so that neither a spoken intro nor a
// pause decides.
func (e *ear) traits() traits {
	var low, four, zero []float64
	for at := 0; at+windowOf <= len(e.rms); at += windowOf {
		rms, zcr := e.rms[at:at+windowOf], e.zcr[at:at+windowOf]
		mean, _ := meanSpread(rms)
		if mean < silenceRMS {
			continue
		}
		n := 0
		for _, v := range rms {
			if float64(v) < mean/2 {
				n++
			}
		}
		low = append(low, float64(n)/windowOf)
		four = append(four, syllabic(rms, mean))
		if m, s := meanSpread(zcr); m > 0 {
			zero = append(zero, s/m)
		}
	}
	return traits{median(low), median(four), median(zero)}
}

// syllabic is the share of a loudness curve's modulation between 2.5 and 6 Hz,
// of all between 0.5 and 24.5 Hz.
func syllabic(curve []float32, mean float64) float64 {
	var within, all float64
	for k := 1; k < windowOf/2; k++ { // k/2 Hz
		var re, im float64
		for i, v := range curve {
			s, c := math.Sincos(2 * math.Pi * float64(k*i%windowOf) / windowOf)
			re += (float64(v) - mean) * c
			im += (float64(v) - mean) * s
		}
		p := re*re + im*im
		all += p
		if k >= 5 && k <= 12 {
			within += p
		}
	}
	if all == 0 {
		return 0
	}
	return within / all
}

func meanSpread(v []float32) (mean, spread float64) {
	for _, x := range v {
		mean += float64(x)
	}
	mean /= float64(len(v))
	for _, x := range v {
		spread += (float64(x) - mean) * (float64(x) - mean)
	}
	return mean, math.Sqrt(spread / float64(len(v)))
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}
