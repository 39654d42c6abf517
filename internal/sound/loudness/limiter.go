package loudness

import "math"

const (
	lookSeconds    = 0.004 // the gain comes down over this time, before the peak
	releaseSeconds = 0.080 // and goes back up with this time constant
)

// Limiter applies a gain and holds true peaks under a ceiling: its own gain falls
// smoothly before a peak and recovers after it, the same on all channels. Away from
// peaks the audio is only multiplied. Frame n of the input is frame n of the output,
// returned some milliseconds of audio later.
type Limiter struct {
	gain, ceiling float32
	peaks         interpolator
	look          int     // frames
	recovery      float64 // share of the way back to 1, a frame

	// planes hold the frames not returned yet, after a context of returned
	// ones; need is the gain that each frame needs, on the same index.
	planes [][]float32
	need   []float32
	judged int // frames whose need is known
	due    int // the next frame to give out
	last   int // the last frame judged that needs less than 1

	minima  []int     // frames of falling need within look of the frame in work
	seen    int       // frames that have passed through minima
	held    float64   // the need after release
	recent  []float64 // the last look values of held, a ring
	at      int
	sum     float64 // of recent
	rest    int     // frames in a row for which held was 1
	deepest float64
	skip    int // frames of silence put before the first, still to be left out
	out     []float32
}

// NewLimiter returns a limiter for interleaved audio. gain is in dB, ceiling in dBTP.
func NewLimiter(rate, channels int, gain, ceiling float64) *Limiter {
	l := &Limiter{
		gain: float32(math.Pow(10, gain/20)), ceiling: float32(math.Pow(10, ceiling/20)),
		peaks: newInterpolator(), look: max(1, int(lookSeconds*float64(rate))),
		recovery: 1 - math.Exp(-1/(releaseSeconds*float64(rate))),
		held:     1, deepest: 1, judged: context, due: context, seen: context,
	}
	l.rest, l.recent = l.look, make([]float64, l.look)
	for i := range l.recent {
		l.recent[i] = 1
	}
	l.sum = float64(l.look)
	for range channels {
		l.planes = append(l.planes, make([]float32, context, context+chunk+2*l.look))
	}
	l.need = ones(nil, context)
	// A peak in the first frames needs a gain that has come down before them.
	l.skip = l.look
	l.take(make([]float32, l.look*channels))
	return l
}

func ones(s []float32, n int) []float32 {
	for range n {
		s = append(s, 1)
	}
	return s
}

// Reduction is the deepest the limiter has gone so far, in dB; 0 if it has not acted.
func (l *Limiter) Reduction() float64 { return max(0, -decibels(l.deepest)) }

// Process takes whole frames and returns those that are ready, valid until the
// next call.
func (l *Limiter) Process(frames []float32) []float32 {
	l.out = l.out[:0]
	channels := len(l.planes)
	for len(frames) > 0 {
		n := min(len(frames)/channels, chunk)
		if n == 0 {
			break
		}
		l.take(frames[:n*channels])
		frames = frames[n*channels:]
		l.judge(len(l.need) - half)
		l.give(l.judged - l.look + 1)
	}
	return l.ready()
}

// Flush returns what is left.
func (l *Limiter) Flush() []float32 {
	l.out = l.out[:0]
	end, channels := len(l.need), len(l.planes)
	l.take(make([]float32, (l.look+context)*channels))
	l.judge(len(l.need) - half)
	l.give(end)
	return l.ready()
}

func (l *Limiter) ready() []float32 {
	n := min(l.skip, len(l.out)/len(l.planes))
	l.skip -= n
	return l.out[n*len(l.planes):]
}

func (l *Limiter) take(frames []float32) {
	channels := len(l.planes)
	n := len(frames) / channels
	for c := range l.planes {
		plane := l.planes[c]
		for i := c; i < len(frames); i += channels {
			plane = append(plane, frames[i]*l.gain)
		}
		l.planes[c] = plane
	}
	l.need = ones(l.need, n)
}

// judge finds the gain that each frame before end needs.
func (l *Limiter) judge(end int) {
	for at := l.judged; at < end; at += segment {
		to := min(at+segment, end)
		for _, plane := range l.planes {
			// A point between two frames is judged with the first.
			if biggest(plane[at-half+1:to+half])*l.peaks.reach <= l.ceiling {
				continue
			}
			for i := at; i < to; i++ {
				peak := max(abs(plane[i]), l.peaks.between((*[taps]float32)(plane[i-half+1:])))
				if peak > l.ceiling {
					need := l.ceiling / peak
					l.need[i] = min(l.need[i], need)
					l.need[i+1] = min(l.need[i+1], need)
					l.last = i + 1
				}
			}
		}
	}
	l.judged = max(l.judged, end)
}

// give appends the frames before end to the output and drops what is no longer needed.
func (l *Limiter) give(end int) {
	if l.due >= end {
		return
	}
	if l.last < l.due && l.rest >= l.look {
		l.copyOut(end)
	} else {
		l.turnDown(end)
	}
	l.due = end
	drop := l.due - context
	for c, plane := range l.planes {
		l.planes[c] = plane[:copy(plane, plane[drop:])]
	}
	l.need = l.need[:copy(l.need, l.need[drop:])]
	l.judged, l.due, l.last, l.seen = l.judged-drop, l.due-drop, l.last-drop, l.seen-drop
	for i := range l.minima {
		l.minima[i] -= drop
	}
}

func (l *Limiter) copyOut(end int) {
	for i := l.due; i < end; i++ {
		for _, plane := range l.planes {
			l.out = append(l.out, plane[i])
		}
	}
	l.minima, l.seen = l.minima[:0], end
}

// turnDown is the limiter proper. The gain of a frame is the mean, over the
// last look frames, of the lowest need within the next look frames: at a peak
// all of these are at most what the peak needs.
func (l *Limiter) turnDown(end int) {
	for i := l.due; i < end; i++ {
		for l.seen = max(l.seen, i); l.seen < i+l.look && l.seen < len(l.need); l.seen++ {
			for n := len(l.minima); n > 0 && l.need[l.minima[n-1]] >= l.need[l.seen]; n-- {
				l.minima = l.minima[:n-1]
			}
			l.minima = append(l.minima, l.seen)
		}
		for l.minima[0] < i {
			l.minima = l.minima[:copy(l.minima, l.minima[1:])]
		}
		l.held += (1 - l.held) * l.recovery
		l.held = min(l.held, float64(l.need[l.minima[0]]))
		l.rest++
		if l.held > 1-1e-6 {
			l.held = 1
		} else {
			l.rest = 0
		}
		l.sum += l.held - l.recent[l.at]
		l.recent[l.at] = l.held
		if l.at++; l.at == l.look {
			l.at = 0
		}
		if l.rest == l.look {
			l.sum = float64(l.look) // rounding must not add up over hours
		}
		gain := l.sum / float64(l.look)
		l.deepest = min(l.deepest, gain)
		for _, plane := range l.planes {
			l.out = append(l.out, plane[i]*float32(gain))
		}
	}
}
