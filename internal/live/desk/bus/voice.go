package bus

import (
	"math"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
)

const (
	frameLen = live.FrameSamples * live.Channels // samples of a tick

	// PreRoll is how much is heard before the first sound, at least.
	PreRoll = 100 * time.Millisecond
	fadeIn  = 20 * time.Millisecond
	fadeOut = 300 * time.Millisecond
	// cross joins two sources, and the edges of a hole, without a click.
	cross = 10 * time.Millisecond

	// mostBehind is how far the bus may be behind a source; what is older is dropped, down
	// to keptBehind.
	mostBehind = 2 * live.Rate
	keptBehind = live.Rate
	// mostCushion bounds what is kept in hand against an uneven source.
	mostCushion = 1200 * time.Millisecond
	// ease is within what distance of its cushion a source is left alone, in frames.
	ease = live.Rate / 50
	// mostBend bounds how much faster or slower a source is read.
	mostBend = 0.005
	// window is over how many ticks the least in hand is taken: 2 s.
	window = 100
)

func frames(d time.Duration) int { return int(d * live.Rate / time.Second) }

// voice is a source as it is being heard: a place on its tape that moves on by one tick
// at a time, its rider, and a fade.
type voice struct {
	s     *source
	tape  *tape.Ring
	at    float64 // the next frame to read
	lead  int     // frames of silence that come first
	most  int     // how far it may be behind, in frames
	rider Rider
	ready []float32
	sinc  *sinc

	gain, slope float32 // the fade: gain now, and change a frame
	step        float64
	least       [window]int // in hand at each of the last ticks
	lows        [2]int      // the least of the window before, and of that before it
	tick        int
	ticks       int
	dry         bool
	dried       time.Time
	begun       time.Time
	mended      time.Time // when a hole last ended, or the cushion was last made smaller
	dip         int       // by how many frames less was in hand, at the worst of late, than usually
	dipped      time.Time // when it was about so much
	skipped     bool      // the block before was left out
	leaving     bool      // it fades out, and nothing brings it back
}

// newVoice starts to read a source at a place.
func (m *Mixer) newVoice(s *source, at uint64, lead int, fade time.Duration, now time.Time) *voice {
	v := &voice{s: s, at: float64(at), lead: lead, step: 1, sinc: m.sinc, mended: now, begun: now, tape: s.tape}
	v.needed(frames(s.cushion), now)
	v.most = max(mostBehind, v.inHand()+live.Rate/10)
	v.rider = m.opt.Rider()
	if s.rider != nil && (s.known || s.spoke > acquainted) {
		v.rider.Recall(s.rider.Remembered())
	}
	v.fade(1, fade)
	return v
}

// fade moves the gain to a value within d.
func (v *voice) fade(to float32, d time.Duration) {
	if n := frames(d); n > 0 {
		v.slope = (to - v.gain) / float32(n)
		return
	}
	v.gain, v.slope = to, 0
}

// over reports that a fade to nothing has ended.
func (v *voice) over() bool { return v.gain <= 0 && v.slope <= 0 }

// inHand is how much there is to read, in frames.
func (v *voice) inHand() int {
	_, end := v.tape.Span()
	n := float64(end) - v.at
	if v.step != 1 || v.at != math.Floor(v.at) {
		n -= reach
	}
	return int(n)
}

// mix adds one tick of the voice to out.
func (v *voice) mix(out []float32, now time.Time, c *live.Counters) {
	v.keepUp(now, c)
	for len(v.ready) < len(out) {
		v.fetch(now, c)
	}
	for i := 0; i < len(out); i += live.Channels {
		out[i] += v.ready[i] * v.gain
		out[i+1] += v.ready[i+1] * v.gain
		if v.slope != 0 {
			if v.gain += v.slope; v.gain >= 1 || v.gain <= 0 {
				v.gain, v.slope = min(max(v.gain, 0), 1), 0
			}
		}
	}
	v.ready = v.ready[:copy(v.ready, v.ready[len(out):])]
}

// mixTail adds the end of a voice that leaves: what it has, and then silence.
func (v *voice) mixTail(out []float32, now time.Time) {
	var c live.Counters // it is no longer on the air
	v.mix(out, now, &c)
}

// keepUp sets how fast the source is read, so that what is in hand stays near its
// cushion, and drops what is too much.
func (v *voice) keepUp(now time.Time, c *live.Counters) {
	hand := v.inHand()
	if hand > v.most && !v.leaving {
		v.most = mostBehind
		v.at += float64(hand - keptBehind)
		c.DroppedMS += uint64(hand-keptBehind) * 1000 / live.Rate
		hand = keptBehind
		v.ticks, v.gain = 0, 0
		v.fade(1, cross)
	}
	v.least[v.tick] = hand
	v.tick = (v.tick + 1) % window
	if v.ticks++; v.ticks < window || v.dry {
		v.step = 1
		return
	}
	if v.ticks%window == 0 {
		v.lows = [2]int{v.low(), v.lows[0]}
	}
	v.needed(max(v.lows[0], v.lows[1])-hand, now)
	excess := v.low() - frames(v.s.cushion)
	switch {
	case excess > ease:
		v.step = 1 + min(float64(excess-ease)*bendPerFrame, mostBend)
	case excess < -ease:
		v.step = 1 + max(float64(excess+ease)*bendPerFrame, -mostBend)
	default:
		v.step = 1
	}
	if v.s.cushion > v.s.usual && now.Sub(v.mended) > 10*time.Second {
		v.settle(now)
		v.mended = now
	}
}

// needed notes by how many frames less was in hand than usually.
func (v *voice) needed(dip int, now time.Time) {
	if dip >= v.dip*3/4 {
		v.dip, v.dipped = max(v.dip, dip), now
	}
}

// settle makes the cushion smaller where less was needed lately: what a machine that was
// short needed for a minute is not kept for the rest of the show, and what an uneven line
// needs again and again is.
func (v *voice) settle(now time.Time) {
	if now.Sub(v.dipped) > time.Minute {
		v.dip -= v.dip / 4
	}
	unused := v.s.cushion - time.Duration(v.dip+2*ease)*time.Second/live.Rate
	v.s.cushion = max(v.s.usual, v.s.cushion-max(0, unused/4))
}

// bendPerFrame is the bend for each frame of excess: half a percent for 0.2 s.
const bendPerFrame = mostBend / (live.Rate / 5)

// low is the least in hand within the window: what a late packet would find.
func (v *voice) low() int {
	low := v.least[0]
	for _, n := range v.least[1:] {
		low = min(low, n)
	}
	return low
}

// fetch reads one tick of the source, or what there is of it, through the rider.
func (v *voice) fetch(now time.Time, c *live.Counters) {
	var raw [frameLen]float32
	switch hand := v.inHand(); {
	case v.lead > 0:
		n := min(v.lead, live.FrameSamples)
		v.lead -= n
		v.ready = append(v.ready, v.rider.Process(raw[:n*live.Channels])...)
		return
	case v.dry && !v.refilled(hand, now):
		c.FilledMS += uint64(live.Tick / time.Millisecond)
	case float64(hand) < live.FrameSamples*v.step+1:
		v.runDry(raw[:], hand, now)
	default:
		v.leaveOut(hand, c)
		v.sinc.read(v.tape, v.at, v.step, raw[:])
		v.at += live.FrameSamples * v.step
		if v.dry {
			v.dry = false
			ramp(raw[:], frames(cross/2), false)
		}
	}
	v.ready = append(v.ready, v.rider.Process(raw[:])...)
}

// refilled reports that there is enough in hand again after a hole.
func (v *voice) refilled(hand int, now time.Time) bool {
	if hand < live.FrameSamples+reach || hand < frames(v.s.cushion) {
		return false
	}
	// A source that is uneven gets more in hand; one that was away does not.
	if hole := now.Sub(v.dried); hole < time.Second {
		v.s.cushion = min(v.s.cushion+hole/2, mostCushion)
	}
	v.mended, v.ticks = now, 0
	v.needed(frames(v.s.cushion), now)
	return true
}

// runDry gives what is left, with its end rounded off.
func (v *voice) runDry(raw []float32, hand int, now time.Time) {
	n := max(0, min(hand, live.FrameSamples))
	if n > 0 {
		part := raw[:n*live.Channels]
		v.sinc.read(v.tape, v.at, 1, part)
		v.at += float64(n)
		ramp(part, frames(cross/2), true)
	}
	v.at = math.Ceil(v.at)
	v.dry, v.dried, v.step = true, now, 1
}

// leaveOut shortens a pause by one tick where more is in hand than should be. Every
// second tick of it stays, so that a pause remains one.
func (v *voice) leaveOut(hand int, c *live.Counters) {
	if v.skipped || v.ticks < window || v.low()-frames(v.s.cushion) < 2*live.FrameSamples || hand < 3*live.FrameSamples {
		v.skipped = false
		return
	}
	for b := uint64(v.at) / block; b <= uint64(v.at+2*live.FrameSamples)/block; b++ {
		if v.s.levels.level(b) > Silence {
			return
		}
	}
	v.at += live.FrameSamples
	v.skipped = true
	for i := range v.least {
		v.least[i] -= live.FrameSamples
	}
	for i := range v.lows {
		v.lows[i] -= live.FrameSamples
	}
	c.TrimmedMS += uint64(live.Tick / time.Millisecond)
}

// ramp fades the first n frames of x in, or its last n out.
func ramp(x []float32, n int, out bool) {
	all := len(x) / live.Channels
	n = min(n, all)
	for i := range n {
		g := float32(i) / float32(n)
		at := i
		if out {
			at = all - 1 - i
		}
		x[2*at] *= g
		x[2*at+1] *= g
	}
}
