package bulletin

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// rate of the joined bulletin, in Hz.
const rate = 44100

const (
	gap  = 550 * time.Millisecond // between segments
	lead = 100 * time.Millisecond // before the first word
	tail = 400 * time.Millisecond // after the last: the next track crosses in over half a second

	// prepass is the loudness every segment is brought to before they are
	// joined, in LUFS of one channel: with two it is 3 louder.
	prepass     = -21.0
	prepassPeak = -2.0 // dBFS; a segment stays below it instead

	segmentTime = time.Minute
)

// The length of a whole bulletin, and how far the tempo is bent to keep it:
// not so far that it sounds hurried or tired.
const (
	shortest, longest  = 34 * time.Second, 37 * time.Second
	margin             = 200 * time.Millisecond
	mostSlow, mostFast = 0.88, 1.15
)

// sound is mono samples, full scale ±1.
type sound struct {
	rate    int
	samples []float32
}

func (s sound) length() time.Duration {
	if s.rate == 0 {
		return 0
	}
	return time.Duration(float64(len(s.samples)) / float64(s.rate) * float64(time.Second))
}

// read reads what a voice gave: one channel of 16 bit, at any usual rate.
func read(file []byte) (sound, error) {
	a, err := wav.Read(file)
	switch {
	case err != nil:
		return sound{}, fmt.Errorf("read the voice: %w", err)
	case a.Channels != 1:
		return sound{}, fmt.Errorf("read the voice: %d channels, not one", a.Channels)
	}
	return sound{a.Rate, a.Samples}, nil
}

// stereoWAV is the sound on both channels. A mono file would be measured as one
// loudspeaker and come out 3 LU too loud from two.
func (s sound) stereoWAV() []byte {
	both := make([]int16, 0, 2*len(s.samples))
	for _, v := range s.samples {
		n := wav.Quantize(float64(v))
		both = append(both, n, n)
	}
	return wav.PCM16(s.rate, 2, both)
}

// join levels the segments that were spoken and puts them one after the other.
// It enters where each begins and how long it is.
func join(ctx context.Context, segments []Segment, voices []sound) (sound, float64, error) {
	tempo := tempoFor(voices)
	out := sound{rate: rate, samples: make([]float32, samplesIn(lead))}
	first := true
	for i, v := range voices {
		if len(v.samples) == 0 {
			continue
		}
		level, err := prepassed(ctx, v, tempo)
		if err != nil {
			return sound{}, 0, fmt.Errorf("level the %s: %w", segments[i].Kind, err)
		}
		if !first {
			out.samples = append(out.samples, make([]float32, samplesIn(gap))...)
		}
		first = false
		level.soften()
		segments[i].At, segments[i].Length = out.length(), level.length()
		out.samples = append(out.samples, level.samples...)
	}
	out.samples = append(out.samples, make([]float32, samplesIn(tail))...)
	return out, tempo, nil
}

// soften fades the first and last hundredth of a second, so that a voice with
// breath or hiss in it does not begin and end with a click.
func (s sound) soften() {
	n := min(s.rate/100, len(s.samples)/2)
	for i := range n {
		g := float32(i) / float32(n)
		s.samples[i] *= g
		s.samples[len(s.samples)-1-i] *= g
	}
}

func samplesIn(d time.Duration) int { return int(d.Seconds() * rate) }

// tempoFor is how much faster a bulletin must go to be of its length, within these
// limits; 1 for one that lacks so much that it cannot be.
func tempoFor(voices []sound) float64 {
	spoken, silence := spokenLength(voices)
	wanted := max(shortest+margin, min(longest-margin, spoken+silence)) - silence
	if tempo := float64(spoken) / float64(wanted); tempo >= mostSlow {
		return min(mostFast, tempo)
	}
	return 1
}

// spokenLength returns how long voices are, and the silence before, between and after
// them.
func spokenLength(voices []sound) (spoken, silence time.Duration) {
	silence = lead + tail - gap
	for _, v := range voices {
		if len(v.samples) > 0 {
			spoken, silence = spoken+v.length(), silence+gap
		}
	}
	return spoken, silence
}

var integrated = regexp.MustCompile(`(?m)^\s+I:\s+(-?[\d.]+|nan) LUFS`)

// prepassed takes the rumble out of a voice, evens it out, sets its tempo, and
// brings it to the loudness all segments share.
func prepassed(ctx context.Context, v sound, tempo float64) (sound, error) {
	raw := make([]byte, 0, 4*len(v.samples))
	for _, s := range v.samples {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(s))
	}
	ctx, cancel := context.WithTimeout(ctx, segmentTime)
	defer cancel()
	var out, said bytes.Buffer
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Nice: 10, Stdin: bytes.NewReader(raw), Stdout: &out, Stderr: &said, Drain: proc.DrainWhole,
		Args: []string{
			"-hide_banner", "-nostats", "-f", "f32le", "-ar", strconv.Itoa(v.rate), "-ac", "1", "-i", "pipe:0",
			"-af", fmt.Sprintf("aresample=%d,highpass=f=90,acompressor=threshold=0.09:ratio=2.5:attack=8:release=120,atempo=%.4f,ebur128=framelog=verbose", rate, tempo),
			"-ar", strconv.Itoa(rate), "-ac", "1", "-f", "f32le", "pipe:1",
		},
	}, nil)
	switch {
	case err != nil:
		return sound{}, err
	case ctx.Err() != nil:
		return sound{}, context.Cause(ctx)
	case !exit.OK():
		return sound{}, fmt.Errorf("ffmpeg: %s", exit)
	}
	level := sound{rate: rate, samples: make([]float32, out.Len()/4)}
	for i := range level.samples {
		level.samples[i] = math.Float32frombits(binary.LittleEndian.Uint32(out.Bytes()[4*i:]))
	}
	loud := math.NaN()
	if found := integrated.FindSubmatch(said.Bytes()); found != nil {
		loud, _ = strconv.ParseFloat(string(found[1]), 64)
	}
	level.amplify(loud)
	return level, nil
}

// amplify brings a sound of a measured loudness to that of the pre-pass, or as
// near as its peaks allow. One too short to be measured keeps its level.
func (s sound) amplify(loud float64) {
	if math.IsNaN(loud) || loud < -69 {
		return
	}
	var peak float64
	for _, v := range s.samples {
		peak = max(peak, math.Abs(float64(v)))
	}
	gain := min(math.Pow(10, (prepass-loud)/20), math.Pow(10, prepassPeak/20)/max(peak, 1e-6))
	for i := range s.samples {
		s.samples[i] *= float32(gain)
	}
}
