package demo

import (
	"encoding/binary"
	"fmt"
	"math"
)

// rate is the sample rate of everything made here, in Hz.
const rate = 44100

// pcm is stereo audio at rate, full scale ±1.
type pcm struct{ l, r []float32 }

func silence(seconds float64) pcm {
	n := samples(seconds)
	return pcm{l: make([]float32, n), r: make([]float32, n)}
}

func samples(seconds float64) int { return int(seconds * rate) }

func (p pcm) seconds() float64 { return float64(len(p.l)) / rate }

// add mixes a mono sound in at a time, with a linear gain and a pan from -1
// (left) to 1 (right). What would reach past the end is cut.
func (p pcm) add(at float64, mono []float32, gain, pan float64) {
	start := max(samples(at), 0)
	if start >= len(p.l) {
		return
	}
	// Constant power, so that a sound keeps its loudness wherever it stands.
	angle := (pan + 1) * math.Pi / 4
	left, right := float32(gain*math.Cos(angle)), float32(gain*math.Sin(angle))
	for i, v := range mono[:min(len(mono), len(p.l)-start)] {
		p.l[start+i] += v * left
		p.r[start+i] += v * right
	}
}

// mix adds another stereo sound at a time with a linear gain.
func (p pcm) mix(at float64, other pcm, gain float64) {
	start := max(samples(at), 0)
	if start >= len(p.l) {
		return
	}
	for i := range min(len(other.l), len(p.l)-start) {
		p.l[start+i] += other.l[i] * float32(gain)
		p.r[start+i] += other.r[i] * float32(gain)
	}
}

// fade ramps the first in and the last out seconds linearly.
func (p pcm) fade(in, out float64) {
	nin, nout, n := samples(in), samples(out), len(p.l)
	for i := range min(nin, n) {
		g := float32(i) / float32(nin)
		p.l[i] *= g
		p.r[i] *= g
	}
	for i := range min(nout, n) {
		g := float32(i) / float32(nout)
		p.l[n-1-i] *= g
		p.r[n-1-i] *= g
	}
}

// duck lowers the bed by up to depth (0 to 1) while the voice, which begins at
// a time, speaks. Quick down, slow up: the ear follows the words, not the bed.
func (p pcm) duck(at float64, voice []float32, depth float64) {
	const attack, release, threshold = 0.02, 0.45, 0.02
	up, down := coefficient(release), coefficient(attack)
	gain, start, hold := 1.0, samples(at), 0
	for i := max(start-samples(0.15), 0); i < len(p.l); i++ {
		ahead := i - start + samples(0.15)
		if ahead < len(voice) && math.Abs(float64(voice[ahead])) > threshold {
			hold = samples(0.3)
		}
		target, k := 1.0, up
		if hold > 0 {
			target, k, hold = 1-depth, down, hold-1
		}
		gain += (target - gain) * k
		p.l[i] *= float32(gain)
		p.r[i] *= float32(gain)
	}
}

// coefficient is that of a one-pole smoother with a time constant in seconds.
func coefficient(seconds float64) float64 { return 1 - math.Exp(-1/(seconds*rate)) }

// reverb adds a small room: four combs and two allpasses a side (Schroeder),
// lengths apart from left to right so that it has width.
func (p pcm) reverb(amount float64) {
	for side, buf := range [][]float32{p.l, p.r} {
		wet := make([]float32, len(buf))
		for _, d := range []int{1116, 1188, 1277, 1356} {
			comb(buf, wet, d+side*23, 0.80)
		}
		for _, d := range []int{556, 441} {
			allpass(wet, d+side*23)
		}
		for i := range buf {
			buf[i] += wet[i] * float32(amount*0.25)
		}
	}
}

func comb(in, out []float32, delay int, feedback float32) {
	line := make([]float32, delay)
	var low float32
	for i, j := 0, 0; i < len(in); i++ {
		y := line[j]
		low += (y - low) * 0.7 // the room swallows the highs first
		line[j] = in[i] + low*feedback
		out[i] += y
		if j++; j == delay {
			j = 0
		}
	}
}

func allpass(buf []float32, delay int) {
	line := make([]float32, delay)
	for i, j := 0, 0; i < len(buf); i++ {
		y := line[j]
		line[j] = buf[i] + y*0.5
		buf[i] = y - buf[i]
		if j++; j == delay {
			j = 0
		}
	}
}

// highpass removes what lies below a frequency in Hz, in place.
func highpass(mono []float32, hz float64) {
	k := float32(1 - math.Exp(-2*math.Pi*hz/rate))
	var low float32
	for i, v := range mono {
		low += (v - low) * k
		mono[i] = v - low
	}
}

// compress evens a voice out, in place: everything above the threshold is
// brought down by the ratio, then the peak is set to 0.9.
func compress(mono []float32, threshold, ratio float64) {
	up, down := coefficient(0.005), coefficient(0.12)
	var env, peak float64
	for i, v := range mono {
		a := math.Abs(float64(v))
		k := down
		if a > env {
			k = up
		}
		env += (a - env) * k
		if env > threshold {
			v *= float32(math.Pow(env/threshold, 1/ratio-1))
		}
		mono[i] = v
		peak = max(peak, math.Abs(float64(v)))
	}
	if peak == 0 {
		return
	}
	for i := range mono {
		mono[i] *= float32(0.9 / peak)
	}
}

// bytes is the audio as interleaved 32-bit little-endian floats.
func (p pcm) bytes() []byte {
	b := make([]byte, 0, len(p.l)*8)
	for i := range p.l {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(p.l[i]))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(p.r[i]))
	}
	return b
}

// fromSpeech decodes what espeak-ng writes, a 16-bit mono WAV at 22050 Hz, to
// mono at rate. Its length fields are those of a stream, so they are ignored.
func fromSpeech(wav []byte) ([]float32, error) {
	const header = 44
	if len(wav) <= header || string(wav[:4]) != "RIFF" || string(wav[36:40]) != "data" {
		return nil, fmt.Errorf("decode speech: %d bytes are not the WAV expected", len(wav))
	}
	if hz := binary.LittleEndian.Uint32(wav[24:]); hz*2 != rate {
		return nil, fmt.Errorf("decode speech: sample rate is %d Hz, not %d", hz, rate/2)
	}
	body := wav[header:]
	half := make([]float32, len(body)/2)
	for i := range half {
		half[i] = float32(int16(binary.LittleEndian.Uint16(body[i*2:]))) / 32768
	}
	return trim(double(half)), nil
}

// double doubles the sample rate with a 31-tap half-band interpolator.
func double(in []float32) []float32 {
	const reach = 8
	taps := make([]float64, 2*reach)
	for i := range taps {
		x := float64(i) - reach + 0.5
		window := 0.5 + 0.5*math.Cos(math.Pi*x/reach)
		taps[i] = math.Sin(math.Pi*x) / (math.Pi * x) * window
	}
	out := make([]float32, 2*len(in))
	for i, v := range in {
		out[2*i] = v
		var between float64
		for t, tap := range taps {
			if j := i + t - reach + 1; j >= 0 && j < len(in) {
				between += float64(in[j]) * tap
			}
		}
		out[2*i+1] = float32(between)
	}
	return out
}

// trim cuts the silence before and after a voice.
func trim(mono []float32) []float32 {
	const quiet = 0.003
	from, to := 0, len(mono)
	for from < to && math.Abs(float64(mono[from])) < quiet {
		from++
	}
	for to > from && math.Abs(float64(mono[to-1])) < quiet {
		to--
	}
	return mono[from:to]
}
