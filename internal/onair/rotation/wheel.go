package rotation

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// wheel is a clock and its position within one hour.
type wheel struct {
	clock *HourClock
	hour  time.Time // beginning of the hour
	steps []step
	next  int // step to follow
	from  int // first step after the last timed event
	// beyond is the first timed event of the next hour; nil until it was looked
	// for, without a wheel if there is none.
	beyond *event
	// tried counts the steps before an event since the entry added that came to nothing.
	tried, added int
}

// idle reports whether each step before an event, and more, came to nothing since the last of
// so many entries. Without playlists one of them is music, which always adds something.
func (w *wheel) idle(entries int) bool {
	if w.added != entries {
		w.added, w.tried = entries, 0
	}
	w.tried++
	return w.tried > len(w.steps)
}

// step is one position of an hour.
type step struct {
	category  string
	timed     bool
	due       time.Time
	tolerance time.Duration
}

// event is a timed event ahead.
type event struct {
	wheel *wheel
	step  int
	list  *listing // whose event it is, in place of a clock's
	at    time.Time
}

func (e event) due() time.Time {
	if e.list != nil {
		return e.at
	}
	return e.wheel.steps[e.step].due
}

func (e event) tolerance() time.Duration {
	if e.list != nil {
		return listTolerance
	}
	return e.wheel.steps[e.step].tolerance
}

// mostLate is how long after its time a timed event is still worth airing.
const mostLate = 10 * time.Minute

func newWheel(c *HourClock, hour time.Time) *wheel {
	w := &wheel{clock: c, hour: hour}
	for _, pos := range c.Hour {
		s := step{category: pos.category()}
		if pos.At != nil {
			s.timed, s.due = true, hour.Add(time.Duration(*pos.At)*time.Second)
			s.tolerance = time.Duration(pos.Tolerance) * time.Second
			if pos.Tolerance == 0 {
				s.tolerance = defaultTolerance * time.Second
			}
		}
		for range max(pos.Count, 1) {
			w.steps = append(w.steps, s)
		}
	}
	return w
}

// hourOf returns the beginning of the clock hour of t, in the station's zone.
func hourOf(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
}

// turnWheel changes to the wheel of the current hour. A wheel that was entered early, for
// an event at the hour's beginning, stays; so does one that owes an event.
func (p *plan) turnWheel() {
	if len(p.cfg.Clocks) == 0 && (p.lists == nil || !p.lists.timed) {
		return
	}
	hour := hourOf(p.time())
	if p.joins.IsZero() {
		p.joins = hour
		p.wheel = p.enter(hourOf(hour.Add(-time.Nanosecond)))
	}
	if p.wheel != nil && (!p.wheel.hour.Before(hour) || p.owes(p.wheel)) {
		return
	}
	if p.wheel = p.enter(hour); p.wheel == nil {
		p.wheel = p.approach(hour)
	}
}

// enter returns the wheel of an hour; nil if no clock holds.
func (p *plan) enter(hour time.Time) *wheel {
	c := p.clockOf(hour)
	if c == nil {
		return nil
	}
	w := newWheel(c, hour)
	if !hour.After(p.joins) {
		p.rejoin(w)
	}
	return w
}

// owes reports whether a timed event ahead is not yet too late to air.
func (p *plan) owes(w *wheel) bool {
	return slices.ContainsFunc(w.steps[w.next:], func(s step) bool {
		return s.timed && p.time().Sub(s.due) <= mostLate
	})
}

// heeded is how long before a timed event an hour without a clock is planned for it.
const heeded = 15 * time.Minute

// approach lays out the end of an hour that has no clock, so that the first timed event
// of the next hour is in time.
func (p *plan) approach(hour time.Time) *wheel {
	spacing := HourClock{Hour: []Position{{Category: anyMusic, Count: 3}, {Category: anyBreak}}}
	w := newWheel(&spacing, hour)
	w.next = min(p.pace.sinceBreak, 3)
	if ev, timed := p.ahead(w); !timed || ev.due().Sub(p.time()) > heeded {
		return nil
	}
	return w
}

// open reports whether the wheel is approach's, of no clock: every clock has a name.
func (w *wheel) open() bool { return w.clock.Name == "" }

// rejoin moves to the present step of an hour that has begun: past the timed events that
// are over, then as far as entries of mean length would have come.
func (p *plan) rejoin(w *wheel) {
	now, at := p.time(), w.hour
	for i, s := range w.steps {
		if s.timed && (p.airedFor(s) || now.Sub(s.due) > mostLate) {
			w.next, w.from, at = i+1, i+1, s.due
		}
	}
	for w.next < len(w.steps) && !w.steps[w.next].timed {
		mean := p.meanStep(w.steps[w.next].category)
		if at.Add(mean / 2).After(now) {
			return
		}
		at = at.Add(mean)
		w.next++
	}
}

// airedFor reports whether a timed event has aired; or, if a rebuild came between plan
// and marker, whether its category aired at its time.
func (p *plan) airedFor(s step) bool {
	asked := func(c station.Category) bool { return string(c) == s.category || s.category == anyMusic && c.Music() }
	return p.lists.airedAt(s) || slices.ContainsFunc(p.recent, func(h Heard) bool {
		return h.Due.Equal(s.due) || asked(h.Category) && h.At.Sub(s.due).Abs() <= s.tolerance
	})
}

// meanStep returns the mean airtime of a step of that category.
func (p *plan) meanStep(category string) time.Duration {
	if name, listed := listOf(category); listed {
		if mean, _ := p.lists.meanOf(p, name); mean > 0 {
			return mean
		}
	}
	switch {
	case isMusic(category):
		return p.meanAirtime(p.source(category))
	case category == anyBreak:
		return p.meanAirtime(p.hand(station.Sweepers, false)) * 2
	}
	return p.meanAirtime(p.hand(station.Category(category), false))
}

// source returns the hand that music for a step should come from. If the category has
// none or may not air now, it is another category's.
func (p *plan) source(category string) *hand {
	if h := p.lists.hand(p); h != nil {
		return h
	}
	if c := station.Category(category); p.weights[c] > 0 {
		if h := p.hand(c, false); len(h.cards) > 0 {
			return h
		}
	}
	return p.hand(p.mix.heaviest(), false)
}

// ahead returns the next timed event of an hour, or of the next one's clock, or of a playlist.
func (p *plan) ahead(w *wheel) (event, bool) {
	ev, timed := p.clockAhead(w)
	return p.lists.sooner(p, ev, timed)
}

// clockAhead returns the next timed event of clocks.
func (p *plan) clockAhead(w *wheel) (event, bool) {
	for i := w.next; i < len(w.steps); i++ {
		if w.steps[i].timed {
			return event{wheel: w, step: i}, true
		}
	}
	if w.beyond == nil { // made once: steps of an empty category call this again and again
		w.beyond = &event{}
		hour := hourOf(w.hour.Add(time.Hour))
		if c := p.clockOf(hour); c != nil {
			after := newWheel(c, hour)
			*w.beyond = event{wheel: after, step: slices.IndexFunc(after.steps, func(s step) bool { return s.timed && !p.airedFor(s) })}
		}
	}
	return *w.beyond, w.beyond.wheel != nil && w.beyond.step >= 0
}
