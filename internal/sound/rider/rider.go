// Package rider brings live voices to one loudness while they speak: a whisper across
// the room and a shouting encoder come out alike, with true peaks under a ceiling.
//
// A Rider measures what comes by ITU-R BS.1770-5, moves a gain slowly towards what the
// voice needs, evens out syllables with a soft compressor and holds peaks with the
// look-ahead limiter of package loudness. In pauses the gain stands still: room noise is
// never raised, and where the gain is high it is hushed after a while.
//
// It starts no goroutine and reads no clock: time is counted in frames, so that the same
// input gives the same output, however it is cut into calls.
package rider

import (
	"math"

	"github.com/athir-radio/athir/internal/sound/loudness"
)

const (
	// Ceiling is what true peaks are held under, in dBTP.
	Ceiling = -1.5
	// MostGain and LeastGain bound what a Rider adds, in dB. A voice at -44 LUFS needs
	// +30 dB, and some more for what compressor and limiter take away.
	MostGain, LeastGain = 34.0, -24.0
	// StartGain is what a voice that nobody knows begins with, in dB: phones are mostly
	// at -30 to -20 LUFS, encoders louder, and down is quicker than up.
	StartGain = 6.0
	// Nothing is the level of silence, in LUFS and dBFS: a number, because JSON has no
	// infinity.
	Nothing = -120.0

	stepsPerSecond = 200 // of 5 ms: gains are decided once in each and ramp through it
	hopSteps       = 20  // 100 ms
	mostSample     = 16  // +24 dBFS: no decoder means more
)

// Rider is the gain of one live source. It is not for use by several goroutines at once.
type Rider struct {
	target float64
	step   int // frames
	delay  int // frames

	block []float32 // the step in the making
	ready []float32 // made and not returned yet
	out   []float32 // what the last call returned

	in, after weighting // K-weighting before and behind
	limiter   *loudness.Limiter

	ear    ear
	gain   float64    // dB
	known  float64    // dB, slowly: what is worth remembering
	goal   float64    // dB, where the gain is going
	speed  float64    // dB a step
	spent  [2]float64 // power of the voice before compressor and limiter, and behind
	even   evener
	hush   hush
	factor float64 // linear, at the end of the last step

	peaks  [stepsPerSecond / 2]float32 // highest sample of each step of the last half second
	steps  int64
	wanted float64 // power behind the gain since the last hop
	heard  float64 // the same behind the limiter
	given  int     // frames in that
}

// New returns a Rider for a voice that nobody knows. rate is in Hz, target in LUFS.
func New(rate int, target float64) *Rider {
	r := &Rider{
		target: target, step: rate / stepsPerSecond,
		in: newWeighting(float64(rate)), after: newWeighting(float64(rate)),
		limiter: loudness.NewLimiter(rate, 2, 0, Ceiling-margin),
	}
	r.block = make([]float32, 0, 2*r.step)
	// The limiter holds back the same number of frames at every call; a call may end one
	// frame before a step does.
	held := 2*r.step - len(r.limiter.Process(make([]float32, 4*r.step)))/2
	r.limiter = loudness.NewLimiter(rate, 2, 0, Ceiling-margin)
	r.delay = r.step - 1 + held
	r.ready = make([]float32, 2*r.delay, 2*(r.delay+2*r.step))
	r.start(StartGain)
	r.ear.quick = quickHops
	return r
}

// margin is what a limiter's true peak may be beyond its ceiling by another meter's
// reckoning, in dB.
const margin = 0.1

func (r *Rider) start(gain float64) {
	r.gain, r.known, r.goal, r.speed = gain, gain, gain, 0
	r.ear = newEar()
}

// Recall tells that a voice begins that was here before, with the gain that Remembered
// returned then, in dB. What has been heard so far is forgotten.
func (r *Rider) Recall(gain float64) {
	if math.IsNaN(gain) {
		gain = StartGain
	}
	r.start(min(max(gain, LeastGain), MostGain))
}

// Remembered is the gain with which this voice should begin the next time, in dB.
func (r *Rider) Remembered() float64 { return r.known }

// Latency is by how many frames the output is behind the input: under 10 ms.
func (r *Rider) Latency() int { return r.delay }

// Gain is what is added now, in dB, without compressor and limiter.
func (r *Rider) Gain() float64 { return r.gain }

// LUFS is the short-term loudness (3 s) of the input as it came; Nothing for silence.
func (r *Rider) LUFS() float64 { return max(r.ear.shortTerm(), Nothing) }

// Peak is the highest sample of the input's last half second, in dBFS; Nothing for silence.
func (r *Rider) Peak() float64 {
	top := float32(0)
	for _, p := range r.peaks {
		top = max(top, p)
	}
	for _, v := range r.block {
		top = max(top, v, -v)
	}
	return max(20*math.Log10(float64(top)), Nothing)
}

// Process takes whole frames of interleaved stereo, full scale 1, and returns as many,
// Latency frames later; they are valid until the next call. What is no number, or not a
// finite one, is silence.
func (r *Rider) Process(frames []float32) []float32 {
	n := len(frames) &^ 1
	for _, v := range frames[:n] {
		if v != v || v > math.MaxFloat32 || v < -math.MaxFloat32 || v < 1e-20 && v > -1e-20 {
			v = 0
		}
		r.block = append(r.block, min(max(v, -mostSample), mostSample))
		if len(r.block) == cap(r.block) {
			r.make()
			r.block = r.block[:0]
		}
	}
	r.out = append(r.out[:0], r.ready[:n]...)
	r.ready = r.ready[:copy(r.ready, r.ready[n:])]
	return r.out
}

// make turns the whole step in block into output.
func (r *Rider) make() {
	top := float32(0)
	for _, v := range r.block {
		top = max(top, v, -v)
	}
	r.peaks[r.steps%int64(len(r.peaks))] = top
	power := r.in.power(r.block) / float64(r.step)
	r.steps++
	r.ear.add(power)
	if r.steps%hopSteps == 0 {
		r.decide()
	}
	r.gain += min(max(r.goal-r.gain, -r.speed), r.speed)

	r.wanted += power * math.Pow(10, r.gain/10)
	over := lufs(power) + r.gain - r.target
	db := r.gain + r.even.turn(over) + r.hush.turn(lufs(power), r.ear.floor(), r.gain, r.ear.pause)
	to := math.Pow(10, db/20)
	if r.steps == 1 {
		r.factor = to
	}
	ramp := (to - r.factor) / float64(r.step)
	for i := 0; i < len(r.block); i += 2 {
		r.factor += ramp
		g := float32(r.factor)
		r.block[i] *= g
		r.block[i+1] *= g
	}
	r.factor = to

	const most = 0.8413951 // -1.5 dBFS
	done := r.limiter.Process(r.block)
	for i, v := range done {
		done[i] = min(max(v, -most), most) // rounding; the limiter has left nothing to clip
	}
	r.heard += r.after.power(done)
	r.given += len(done) / 2
	r.ready = append(r.ready, done...)
}
