package bus

import (
	"math"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/sound/loudness"
)

// Tick moves the bus on by 20 ms. now must not go back.
func (m *Mixer) Tick(now time.Time) Frame {
	for _, s := range m.sources {
		s.look(now)
		s.listen()
		m.learnFrom(s)
		m.step(s, now)
	}
	m.lookAtBed(now)
	m.apply(choose(m.scene(now)), now)
	return m.mix(now)
}

// step lets events happen to a source until there is none left.
func (m *Mixer) step(s *source, now time.Time) {
	var v *voice
	if m.on != nil && m.on.s == s {
		v = m.on
	}
	for range 4 {
		e := observe(s.view(v, now))
		if s.state == live.Waiting && e == Sound {
			return // it is the bus that takes it: see apply
		}
		after := next(s.state, e)
		if after == s.state {
			return
		}
		switch e {
		case Late, Lost, Silent, Ended, Hole:
			s.why = s.reason(e)
		case Audio:
			s.why = ""
		}
		if e == Late {
			s.spent, s.called = true, false
		}
		if e == Hole {
			s.searching, s.heard = false, false
		}
		m.set(s, after, now)
	}
}

// learnFrom lets the rider of a source that is not on the air listen, so that its gain is
// right when it comes.
func (m *Mixer) learnFrom(s *source) {
	if s.rider == nil || s.tape == nil {
		return
	}
	if m.on != nil && m.on.s == s {
		s.listened = s.seen
		return
	}
	from, _ := s.tape.Span()
	s.listened = max(s.listened, from)
	var raw [frameLen]float32
	for ; s.listened+live.FrameSamples <= s.seen; s.listened += live.FrameSamples {
		m.sinc.read(s.tape, float64(s.listened), 1, raw[:])
		s.rider.Process(raw[:])
	}
}

// scene is what the decision depends on.
func (m *Mixer) scene(now time.Time) Scene {
	c := Scene{Open: m.Opened()}
	if m.order.Air != nil {
		c.Air = m.order.Air.ID
		if s := m.sources[c.Air]; s != nil {
			c.AirHeard = s.state == live.Waiting && s.heard && !s.spent
		}
	}
	if m.on != nil {
		s := m.on.s
		c.On, c.OnState, c.OnMuted, c.OnOver = s.src.ID, s.state, s.muted, s.state == live.OnAir && s.ended != ""
		if s.state == live.Grace {
			c.OnHole = now.Sub(s.since)
		}
	} else if c.Open {
		c.Idle = now.Sub(m.idle)
	}
	if s := m.follower(now, wellFor); s != nil {
		c.Fit, c.FitHeard = s.src.ID, now.Sub(s.sounded) < time.Second
	} else if s := m.follower(now, backFor); s != nil {
		c.Back = s.src.ID
	}
	if m.Show(now) != nil {
		c.Show, c.Bed = true, m.bedPlays(now)
	}
	return c
}

// follower is the best candidate that is fit; nil for none.
func (m *Mixer) follower(now time.Time, well time.Duration) *source {
	for _, src := range m.order.Next {
		if s := m.sources[src.ID]; s != nil && (m.on == nil || m.on.s != s) && s.fit(now, well) {
			return s
		}
	}
	return nil
}

// apply carries a decision out.
func (m *Mixer) apply(d Decision, now time.Time) {
	switch d.Act {
	case Open, Turn:
		m.take(m.sources[d.ID], d, now)
	case Hold:
		m.leave(d, "", cross, now)
		m.idle, m.mode = now, live.Replace
		m.version++
	case Close:
		m.leave(d, "", fadeOut, now)
		m.fadeCarts("", fadeOut)
		m.closing = true
		m.version++
	}
}

// take puts a source on the bus. One that waited for its first sound is heard from before
// that; one that jumps in, from what is in hand. Where another has failed nothing may be
// waited for: who has been speaking unheard for long jumps in, too.
func (m *Mixer) take(s *source, d Decision, now time.Time) {
	at, lead, fade := uint64(0), 0, cross
	_, end := s.tape.Span()
	if s.heard && s.state == live.Waiting && !(d.Failed && end-s.onset*block > keptBehind) {
		const before = uint64(PreRoll*3/2) * live.Rate / uint64(time.Second)
		sound := s.onset * block
		from, _ := s.tape.Span()
		at = min(max(sound-min(sound, before), from, s.aired), sound)
		fade = min(fadeIn, time.Duration(sound-at)*time.Second/live.Rate)
		// What is missing before the sound is silence, and while that lasts more comes in.
		if lead = max(0, frames(s.cushion)-int(end-at)); !d.Failed {
			lead = max(lead, frames(PreRoll)-int(sound-at))
		}
	} else {
		at = end - min(end, uint64(frames(max(s.cushion, s.gap))))
	}
	m.opened = now
	if !m.Opened() {
		m.counters.Broadcasts++
	}
	if !m.open {
		m.open = true
		m.limiter = loudness.NewLimiter(live.Rate, live.Channels, 0, Ceiling)
		m.bedGain = 0
	} else {
		m.leave(d, s.src.ID, cross, now)
		if d.Failed {
			m.counters.Failovers++
		}
	}
	m.closing, m.why = false, ""
	if m.order.Air != nil && m.order.Air.ID == s.src.ID {
		m.mode = m.order.Mode
	}
	m.on = m.newVoice(s, at, lead, fade, now)
	s.called, s.why = false, ""
	m.set(s, live.OnAir, now)
	m.version++
}

// leave takes who is on the bus from it.
func (m *Mixer) leave(d Decision, follower string, fade time.Duration, now time.Time) {
	v := m.on
	if v == nil {
		if m.why = m.order.Why; m.order.Air != nil {
			m.why = "the show is over"
		}
		return
	}
	m.on = nil
	v.fade(0, fade)
	v.leaving = true
	m.out = append(m.out, v)
	s := v.s
	if s.rider != nil {
		s.learned, s.known = v.rider.Remembered(), true
		s.rider.Recall(s.learned)
	}
	if v.tape == s.tape {
		s.aired = uint64(v.at)
	}
	s.dismiss()
	why := m.order.Why
	switch {
	case d.Failed && s.why != "":
		why = s.why
	case d.Failed:
		why = "no audio comes"
	case follower != "":
		why = "handed over"
	}
	m.why = why
	s.spent, s.doubted = d.Failed, d.Failed && (s.ended == "" || s.broken)
	m.ended = &live.Ending{ID: s.src.ID, At: now.UnixMilli(), Why: why, Failed: d.Failed, Next: follower}
	switch {
	case s.ended != "" || d.Failed:
		m.set(s, live.Gone, now)
		s.why = why
	case s.state == live.Grace:
		m.set(s, next(s.state, Dismissed), now)
	default:
		m.set(s, live.Ready, now)
	}
	if s.ended != "" || s.broken {
		m.learn(s)
		s.tape, s.rider, s.broken = nil, nil, false
	}
}

// mix is the audio of a tick.
func (m *Mixer) mix(now time.Time) Frame {
	f := Frame{Open: m.open, Mode: m.mode, Why: m.why}
	if !m.open {
		return f
	}
	clear(m.sum[:])
	if m.on != nil {
		m.on.mix(m.sum[:], now, &m.counters)
		f.Air = m.on.s.src
	}
	keep := m.out[:0]
	for _, v := range m.out {
		v.mixTail(m.sum[:], now)
		if !v.over() {
			keep = append(keep, v)
		}
	}
	left := len(keep) < len(m.out)
	clear(m.out[len(keep):])
	if m.out = keep; left {
		m.forget()
	}
	m.addBed(now)
	m.addCarts()
	m.pcm = m.pcm[:0]
	m.pcm = toPCM(m.pcm, m.limiter.Process(m.sum[:]))
	if m.closing && len(m.out) == 0 && len(m.carts) == 0 && m.bedGain == 0 {
		m.pcm = toPCM(m.pcm, m.limiter.Flush())
		m.open, m.closing, m.limiter = false, false, nil
		f.Open = false
		m.version++
		m.forget()
	}
	f.PCM = m.pcm
	return f
}

func toPCM(to []int16, samples []float32) []int16 {
	for _, v := range samples {
		to = append(to, int16(math.Round(float64(min(max(v, -1), 32767.0/32768))*32768)))
	}
	return to
}

// Report is a snapshot of the bus; the parts that are not its own are left empty.
func (m *Mixer) Report(now time.Time) live.Report {
	r := live.Report{
		Version: m.version, Epoch: m.order.Epoch, Number: m.order.Number, Mode: m.order.Mode,
		Sources: []live.SourceReport{}, Counters: m.counters,
		Carts: live.CartReport{Open: m.Opened(), Playing: m.playing()},
	}
	if m.ended != nil {
		e := *m.ended
		r.Ended = &e
	}
	if m.Opened() && m.on != nil {
		r.Air, r.AirSince = m.on.s.src.ID, m.opened.UnixMilli()
	}
	for _, s := range m.sources {
		var v *voice
		if m.on != nil && m.on.s == s {
			v = m.on
		}
		r.Sources = append(r.Sources, s.report(v, now))
	}
	m.sort(r.Sources)
	return r
}
