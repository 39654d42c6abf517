// Package bus has the one bus for everything live: it decides which source is on the air,
// and mixes its audio, 20 ms at a time.
//
// It starts no goroutine, reads no clock and opens nothing: a Mixer is told the time with
// each tick, so that hours of live audio can be tried in seconds. Where audio comes from
// and where it goes is not its business.
package bus

import (
	"cmp"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/tape"
	"github.com/athir-radio/athir/internal/sound/loudness"
)

// Ceiling is what true peaks are held under, in dBTP.
const Ceiling = -1.5

// Options of a Mixer.
type Options struct {
	// Rider makes the rider of one source; nil: audio passes as it comes.
	Rider func() Rider
}

// Mixer is the bus. It is not for use by several goroutines at once; tapes may be
// written meanwhile.
type Mixer struct {
	opt      Options
	sinc     *sinc
	sources  map[string]*source // by id
	learned  map[string]memory  // of sources that are no longer known
	lessons  uint64             // so many were learned
	order    live.Order
	showEnds time.Time // that of the order
	open     bool
	on       *voice
	out      []*voice  // those that fade out
	closing  bool      // all fade out, and then the bus closes
	why      string    // of the order that closes it
	opened   time.Time // for the source that is on it
	idle     time.Time // since when nobody is on the open bus
	bed      *tape.Ring
	bedAt    uint64
	bedGain  float32
	bedEnd   uint64    // of its tape
	bedCame  time.Time // when that moved last
	carts    []*cart
	mode     live.Mode // of who is on the bus
	limiter  *loudness.Limiter
	version  uint64
	ended    *live.Ending
	counters live.Counters
	pcm      []int16
	sum      [frameLen]float32
}

// New makes a Mixer.
func New(opt Options) *Mixer {
	if opt.Rider == nil {
		opt.Rider = func() Rider { return plain{} }
	}
	return &Mixer{opt: opt, sinc: newSinc(), sources: map[string]*source{}, learned: map[string]memory{}, version: 1}
}

// plain passes audio as it comes.
type plain struct{}

func (plain) Process(s []float32) []float32 { return s }
func (plain) Recall(float64)                {}
func (plain) Remembered() float64           { return 0 }
func (plain) Gain() float64                 { return 0 }
func (plain) LUFS() float64                 { return noPeak }

// Frame is what a tick brings.
type Frame struct {
	// PCM goes to the engine; valid until the next tick, and empty while the bus is closed.
	PCM []int16
	// Open: the engine should have the bus. It is false with the last audio already.
	Open bool
	// Air is the source on the bus, Mode what it does to the rotation.
	Air  live.Source
	Mode live.Mode
	// Why is the reason of the last change, in words.
	Why string
}

// Order takes what the control plane wants. Of one epoch, an older order than the one
// that holds changes nothing.
func (m *Mixer) Order(o live.Order, now time.Time) {
	before := m.order
	if o.Epoch == before.Epoch && o.Number < before.Number {
		return
	}
	if o.Epoch != before.Epoch && before.Epoch != "" && o.Air == nil && o.Why == "" {
		o.Why = "the control plane was restarted"
	}
	if o.Mode == "" {
		o.Mode = live.Replace
	}
	m.order, m.showEnds = o, showEnds(o, now)
	m.version++
	if o.Air != nil {
		s := m.want(*o.Air, now)
		if m.on != nil && m.on.s == s {
			m.mode = o.Mode
		}
		// An order that repeats the last one does not bring back who ended meanwhile.
		if before.Air == nil || before.Air.ID != o.Air.ID {
			s.spent, s.doubted, s.why = false, false, ""
			if m.on == nil || m.on.s != s {
				s.call(now)
			}
		}
	}
	for _, src := range o.Next {
		m.want(src, now)
	}
	for _, s := range m.sources {
		if o.Air == nil || s.src.ID != o.Air.ID {
			s.dismiss()
		}
	}
	m.forget()
}

// showEnds is when the show of an order that has just come ends.
func showEnds(o live.Order, now time.Time) time.Time {
	switch {
	case o.Show == nil:
		return time.Time{}
	case o.Sent == 0:
		return time.UnixMilli(o.Show.Until)
	}
	return now.Add(time.Duration(o.Show.Until-o.Sent) * time.Millisecond)
}

// Show is the show that holds the air; nil for none.
func (m *Mixer) Show(now time.Time) *live.Show {
	if !now.Before(m.showEnds) {
		return nil
	}
	return m.order.Show
}

// want finds or makes a source that the order names.
func (m *Mixer) want(src live.Source, now time.Time) *source {
	s := m.sources[src.ID]
	if s == nil {
		s = &source{state: live.Connecting, since: now, came: now, sounded: now}
		past, known := m.learned[src.ID]
		s.learned, s.known, s.doubted = past.gain, known && past.heard, past.doubted
		m.sources[src.ID] = s
	}
	title, creator := s.src.Title, s.src.Creator
	s.src = src
	// An encoder's own words are newer; a pipe has none, and passes from phone to phone.
	if s.tape != nil && title != "" && !live.Piped(src.URL) {
		s.src.Title, s.src.Creator = title, creator
	}
	return s
}

// named reports that the order has a source.
func (m *Mixer) named(id string) bool {
	return m.order.Air != nil && m.order.Air.ID == id || slices.ContainsFunc(m.order.Next, func(s live.Source) bool { return s.ID == id })
}

// forget drops sources that nobody names and nothing feeds.
func (m *Mixer) forget() {
	for id, s := range m.sources {
		if m.named(id) || s.tape != nil || m.on != nil && m.on.s == s || slices.ContainsFunc(m.out, func(v *voice) bool { return v.s == s }) {
			continue
		}
		m.learn(s)
		delete(m.sources, id)
	}
}

// memory is what is kept of a source that is no longer known.
type memory struct {
	number  uint64  // the newest has the highest
	gain    float64 // of its rider
	heard   bool    // there is one
	doubted bool    // it failed on the air
}

// mostLearned bounds what is kept. The oldest is forgotten for the newest: addresses that
// come once and never again would else leave no place for who comes each week.
const mostLearned = 1000

func (m *Mixer) learn(s *source) {
	past, known := m.learned[s.src.ID]
	if !known && s.rider == nil && !s.doubted {
		return
	}
	if !known && len(m.learned) >= mostLearned {
		oldest := ""
		for id, l := range m.learned {
			if oldest == "" || l.number < m.learned[oldest].number {
				oldest = id
			}
		}
		delete(m.learned, oldest)
	}
	m.lessons++
	past.number = m.lessons
	if past.doubted = s.doubted; s.rider != nil {
		past.gain, past.heard = s.rider.Remembered(), true
	}
	m.learned[s.src.ID] = past
}

// Attach gives a source the tape that its audio comes on, and how much of it should be
// kept in hand against unevenness. The last tape of a source holds.
func (m *Mixer) Attach(src live.Source, tape *tape.Ring, cushion time.Duration, now time.Time) {
	s := m.sources[src.ID]
	if s == nil {
		s = m.want(src, now)
	}
	s.src.Title, s.src.Creator = src.Title, src.Creator
	if s.tape == tape {
		return
	}
	s.tape, s.seen, s.aired, s.listened, s.levels, s.ended = tape, 0, 0, 0, levels{}, ""
	s.broken, s.spoke = false, 0
	s.came, s.sounded, s.flowing = now, now, time.Time{}
	s.usual, s.cushion, s.gap = cushion, cushion, 0
	s.searching, s.heard, s.muted = false, false, false
	if s.rider = m.opt.Rider(); s.known {
		s.rider.Recall(s.learned)
	}
	if m.on != nil && m.on.s == s { // the same source goes on on another tape
		m.on.tape, m.on.at, m.on.dry, m.on.dried, m.on.step = tape, 0, true, now, 1
	}
	m.version++
}

// Detach tells that nothing brings a source's audio any longer, and why; without a why it
// has not failed, nobody needs it now. What it has sent is still heard. A tape that was
// replaced meanwhile is none of the source's.
func (m *Mixer) Detach(id string, tape *tape.Ring, why string, now time.Time) {
	s := m.sources[id]
	if s == nil || s.tape != tape {
		return
	}
	s.ended, s.broken = why, false
	m.version++
	if m.on == nil || m.on.s != s {
		if s.why = why; why == "" {
			m.set(s, live.Connecting, now)
		} else {
			m.set(s, live.Gone, now)
		}
		m.learn(s)
		s.tape, s.rider = nil, nil
		m.forget()
	}
}

// Break is Detach for a source whose connection broke: on the air that is a hole, which
// another tape of the same source may end.
func (m *Mixer) Break(id string, tape *tape.Ring, why string, now time.Time) {
	s := m.sources[id]
	if s == nil || s.tape != tape || m.on == nil || m.on.s != s {
		m.Detach(id, tape, why, now)
		return
	}
	s.broken, s.why = true, why
	m.version++
}

// Trouble says why a source that is tried again brings nothing, for the report.
func (m *Mixer) Trouble(id, why string) {
	if s := m.sources[id]; s != nil && s.why != why && s.state != live.OnAir {
		s.why = why
		m.version++
	}
}

// Name gives a source the title that its encoder tells.
func (m *Mixer) Name(id, title, creator string) {
	if s := m.sources[id]; s != nil && (s.src.Title != title || s.src.Creator != creator) {
		s.src.Title, s.src.Creator = title, creator
		m.version++
	}
}

// Stalled tells that the clock, and so perhaps all that feeds the tapes, had no processor
// for d. What did not come meanwhile is no fault of the sources: without this, a machine
// that is short for a moment would take every one of them from the air.
func (m *Mixer) Stalled(d time.Duration) {
	for _, s := range m.sources {
		s.came, s.sounded = s.came.Add(d), s.sounded.Add(d)
	}
}

// Mute tells that the sources of an address are muted on purpose, or no longer.
func (m *Mixer) Mute(url string, muted bool, now time.Time) (known bool) {
	for _, s := range m.sources {
		if s.src.URL == url {
			known = true
			if s.muted != muted {
				if s.muted = muted; !muted {
					s.unmuted = now
				}
				m.version++
			}
		}
	}
	return known
}

// set changes a source's state.
func (m *Mixer) set(s *source, state live.State, now time.Time) {
	if s.state != state {
		s.state, s.since = state, now
		m.version++
	}
}

// Version grows with every change of the report that is worth waking up for.
func (m *Mixer) Version() uint64 { return m.version }

// sort puts the sources in the order of the order: the air, those that follow, the rest by id.
func (m *Mixer) sort(sources []live.SourceReport) {
	rank := map[string]int{}
	for i, src := range m.order.Next {
		rank[src.ID] = i - len(m.order.Next)
	}
	if m.order.Air != nil {
		rank[m.order.Air.ID] = -len(m.order.Next) - 1
	}
	slices.SortFunc(sources, func(a, b live.SourceReport) int {
		return cmp.Or(cmp.Compare(rank[a.ID], rank[b.ID]), cmp.Compare(a.ID, b.ID))
	})
}

// Ordered is the order that holds.
func (m *Mixer) Ordered() live.Order { return m.order }

// On is the source on the bus.
func (m *Mixer) On() (src live.Source, ok bool) {
	if m.on == nil {
		return live.Source{}, false
	}
	return m.on.s.src, true
}

// Heard are the sources that are heard now, those that fade out included.
func (m *Mixer) Heard() []live.Source {
	var out []live.Source
	if m.on != nil {
		out = append(out, m.on.s.src)
	}
	for _, v := range m.out {
		out = append(out, v.s.src)
	}
	return out
}

// Fit reports that a source could follow at once.
func (m *Mixer) Fit(id string, now time.Time) bool {
	s := m.sources[id]
	return s != nil && (s.state == live.OnAir || s.state == live.Waiting || s.fit(now, wellFor))
}

// Tape is what a source's audio comes on; nil while nothing brings it.
func (m *Mixer) Tape(id string) *tape.Ring {
	if s := m.sources[id]; s != nil {
		return s.tape
	}
	return nil
}
