package fingerprint

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/fourier"
)

const (
	// ShortAtMost is how much of a file a Short hears, from its start.
	ShortAtMost = 8 * time.Second
	// SameShort is the difference in dB up to which two short sounds are one.
	SameShort = 1.3

	shortRate  = 22050 // Hz
	shortHop   = 220   // samples: a frame each 10 ms
	shortFFT   = 1024
	bands      = 16
	lowest     = 80.0   // Hz, where the bands begin
	highest    = 9000.0 // Hz, where they end: what every encoder keeps
	depth      = 60     // dB below the loudest band that are heard
	steps      = 4      // of a level in a dB
	heard      = 20     // dB above the floor from which a level counts
	capped     = 8      // dB of a difference that count: an attack a few ms beside is no other sound
	shortForm  = 1      // of the stored bytes
	mostFrames = 810
	slips      = 6 // frames by which the first that is heard may be another
)

// Short is what a sound too short for a Print is compared by, an effect or a drop:
// its samples where they are the same, else how loud it is in each of sixteen bands
// every 10 ms.
type Short struct {
	samples [sha256.Size]byte
	frames  [][bands]uint8 // steps of a dB above the floor, from the first that is heard to the last
}

// ErrShortForm says that stored bytes are no Short.
var ErrShortForm = errors.New("not the stored form of a short sound")

// ShortOf listens to a file's first ShortAtMost. Silence is ErrPlain.
func ShortOf(ctx context.Context, path string) (Short, error) {
	var pcm []float32
	sum, buf := sha256.New(), []byte(nil)
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: shortRate, Channels: 1, First: ShortAtMost, Nice: 10}, func(samples []float32) error {
		pcm, buf = append(pcm, samples...), sixteen(buf[:0], samples)
		_, _ = sum.Write(buf) // a hash takes everything
		return nil
	})
	if err != nil {
		return Short{}, err
	}
	s := Short{frames: levels(pcm)}
	sum.Sum(s.samples[:0])
	if len(s.frames) == 0 {
		return Short{}, ErrPlain
	}
	return s, nil
}

// levels are those of each frame in each band, without the silence at both ends.
func levels(pcm []float32) [][bands]uint8 {
	power := make([][bands]float64, 0, len(pcm)/shortHop+3)
	loudest := 0.0
	for at := -shortFFT / 2; at < len(pcm); at += shortHop {
		p := frame(pcm, at)
		for _, v := range p {
			loudest = max(loudest, v)
		}
		power = append(power, p)
	}
	if loudest < 1e-9 {
		return nil
	}
	var out [][bands]uint8
	end := 0
	for _, p := range power {
		var row [bands]uint8
		audible := false
		for i, v := range p {
			row[i] = uint8(steps * max(0, depth+10*math.Log10(v/loudest+1e-12)))
			audible = audible || row[i] >= steps*heard
		}
		if audible || len(out) > 0 {
			out = append(out, row)
		}
		if audible {
			end = len(out)
		}
	}
	return out[:min(end, mostFrames)]
}

// frame is the power in each band around shortFFT samples from at on.
func frame(pcm []float32, at int) (out [bands]float64) {
	var a [shortFFT]complex128
	for i := range a {
		if at+i >= 0 && at+i < len(pcm) {
			a[i] = complex(float64(pcm[at+i])*(0.5-0.5*math.Cos(2*math.Pi*float64(i)/shortFFT)), 0)
		}
	}
	fourier.Transform(a[:])
	for i := range out {
		from := lowest * math.Pow(highest/lowest, float64(i)/bands) * shortFFT / shortRate
		to := lowest * math.Pow(highest/lowest, float64(i+1)/bands) * shortFFT / shortRate
		for k := int(from); k <= int(to); k++ { // bins by the share of them that lies in the band
			part := min(to, float64(k)+1) - max(from, float64(k))
			out[i] += part * real(a[k]*cmplx.Conj(a[k])) / shortFFT
		}
	}
	return out
}

// Far is the difference of sounds that have nothing in common.
const Far = float64(depth)

// Difference is by how many dB the levels of two sounds differ on average, where either
// is heard, over their best alignment and whatever their gain: 0 where the samples are
// the same, Far where the lengths differ by a fifth.
func (s Short) Difference(other Short) float64 {
	if s.Equal(other) {
		return 0
	}
	if !s.Head().MayEqual(other.Head()) {
		return Far
	}
	apart := max(len(s.frames), len(other.frames)) - min(len(s.frames), len(other.frames))
	best := Far
	for by := -apart - slips; by <= apart+slips; by++ {
		best = min(best, beside(s.frames, other.frames, by))
	}
	return best
}

// Equal reports the same samples, whatever file they are in.
func (s Short) Equal(other Short) bool { return s.samples == other.samples }

// beside is the mean difference with b's first frame by frames after a's. Every other
// frame is compared: the finer ones are there for the alignment.
func beside(a, b [][bands]uint8, by int) float64 {
	var silent [bands]uint8
	var count [512]uint16 // of the differences, from -256 on
	sum, both, all := 0, 0, 0
	for i := min(0, by); i < max(len(a), by+len(b)); i += 2 {
		x, y := &silent, &silent
		if i >= 0 && i < len(a) {
			x = &a[i]
		}
		if i-by >= 0 && i-by < len(b) {
			y = &b[i-by]
		}
		for k := range x {
			v, w := int(x[k]), int(y[k])
			if max(v, w) < steps*heard {
				continue
			}
			all++
			count[(v-w+256)&511]++
			if min(v, w) >= steps*heard {
				sum += v - w
				both++
			}
		}
	}
	if both == 0 {
		return Far
	}
	gain, total := sum/both, 0
	for i, n := range count {
		d := i - 256 - gain
		total += int(n) * min(max(d, -d), steps*capped)
	}
	return float64(total) / float64(steps*all)
}

// Head is the part of a Short, its length and the hash of its samples, by which most others
// are told from it. It is small, and can be kept where the Shorts cannot.
type Head struct {
	samples [sha256.Size]byte
	frames  int
}

// Head returns that of a Short.
func (s Short) Head() Head { return Head{s.samples, len(s.frames)} }

// MayEqual reports whether the Difference of two may be less than Far.
func (h Head) MayEqual(other Head) bool {
	if h.samples == other.samples {
		return true
	}
	short, long := min(h.frames, other.frames), max(h.frames, other.frames)
	return short > 0 && long-short <= slips+long/5
}

// Bytes is a Short as it is stored: a version, the hash of its samples, and its levels.
func (s Short) Bytes() []byte {
	out := append(make([]byte, 0, 1+sha256.Size+2+bands*len(s.frames)), shortForm)
	out = append(out, s.samples[:]...)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(s.frames)))
	for _, f := range s.frames {
		out = append(out, f[:]...)
	}
	return out
}

// ShortFromBytes is the Short that was stored.
func ShortFromBytes(b []byte) (Short, error) {
	h, err := HeadFromBytes(b)
	if err != nil {
		return Short{}, err
	}
	if len(b) != HeadBytes+h.frames*bands {
		return Short{}, fmt.Errorf("%w: %d frames in %d bytes", ErrShortForm, h.frames, len(b))
	}
	s := Short{samples: h.samples, frames: make([][bands]uint8, h.frames)}
	for i := range s.frames {
		copy(s.frames[i][:], b[HeadBytes+i*bands:])
	}
	return s, nil
}

// HeadBytes is how many bytes at the front of a stored Short its Head is read from.
const HeadBytes = 1 + sha256.Size + 2

// HeadFromBytes is the Head of the Short whose stored form begins so.
func HeadFromBytes(b []byte) (Head, error) {
	if len(b) < HeadBytes || b[0] != shortForm {
		return Head{}, fmt.Errorf("%w: %d bytes", ErrShortForm, len(b))
	}
	h := Head{frames: int(binary.LittleEndian.Uint16(b[HeadBytes-2:]))}
	copy(h.samples[:], b[1:])
	if h.frames == 0 || h.frames > mostFrames {
		return Head{}, fmt.Errorf("%w: %d frames", ErrShortForm, h.frames)
	}
	return h, nil
}
