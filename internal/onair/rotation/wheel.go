package rotation

import (
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// wheel is a clock at work in one hour.
type wheel struct {
	clock *HourClock
	hour  time.Time // its beginning
	steps []step
	next  int // step to follow
	from  int // first step after the last timed event
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
}

func (e event) due() time.Time           { return e.wheel.steps[e.step].due }
func (e event) tolerance() time.Duration { return e.wheel.steps[e.step].tolerance }

// mostLate is how long after its time a timed event is still worth airing.
const mostLate = 10 * time.Minute

func newWheel(c *HourClock, hour time.Time) *wheel {
	w := &wheel{clock: c, hour: hour}
	for _, pos := range c.Hour {
		s := step{category: pos.Category}
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

// hourOf is the beginning of the clock hour that holds t, as the station reads it.
func hourOf(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
}

// turnWheel puts the wheel of the current hour in place. One that was entered
// early, for an event at its beginning, stays; so does one that owes an event.
func (p *plan) turnWheel() {
	if len(p.cfg.Clocks) == 0 {
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

// enter returns the wheel of an hour, nil where no clock holds.
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

// owes reports that a timed event ahead, due by now, is still worth airing.
func (p *plan) owes(w *wheel) bool {
	return slices.ContainsFunc(w.steps[w.next:], func(s step) bool {
		return s.timed && p.time().Sub(s.due) <= mostLate
	})
}

// heeded is how long before a timed event the hour before it begins to make way.
const heeded = 15 * time.Minute

// approach lays out the end of an hour that has no clock, so that the first
// event of the next hour's is in time.
func (p *plan) approach(hour time.Time) *wheel {
	spacing := HourClock{Hour: []Position{{Category: anyMusic, Count: 3}, {Category: anyBreak}}}
	w := newWheel(&spacing, hour)
	w.next = min(p.pace.sinceBreak, 3)
	if ev, timed := p.ahead(w); !timed || ev.due().Sub(p.time()) > heeded {
		return nil
	}
	return w
}

// open reports that the wheel is of no clock: every clock has a name.
func (w *wheel) open() bool { return w.clock.Name == "" }

// rejoin goes to the step at which an hour under way stands: past the timed
// events that are over, then as far as entries of mean length would have come.
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

// airedFor reports that a timed event was on air; or, where a rebuild came
// between plan and marker, what it asks for was at its time.
func (p *plan) airedFor(s step) bool {
	asked := func(c station.Category) bool { return string(c) == s.category || s.category == anyMusic && c.Music() }
	return slices.ContainsFunc(p.recent, func(h Heard) bool {
		return h.Due.Equal(s.due) || asked(h.Category) && h.At.Sub(s.due).Abs() <= s.tolerance
	})
}

// meanStep is the mean airtime of what a step asks for.
func (p *plan) meanStep(category string) time.Duration {
	switch {
	case isMusic(category):
		return p.meanAirtime(p.source(category))
	case category == anyBreak:
		return p.meanAirtime(p.hand(station.Sweepers, false)) * 2
	}
	return p.meanAirtime(p.hand(station.Category(category), false))
}

// source is the hand that music for a step should come from: of a category that
// has none, or may not air now, what takes its place.
func (p *plan) source(category string) *hand {
	if c := station.Category(category); p.weights[c] > 0 {
		if h := p.hand(c, false); len(h.cards) > 0 {
			return h
		}
	}
	return p.hand(p.mix.heaviest(), false)
}

// ahead returns the next timed event of an hour, or of the next one's clock.
func (p *plan) ahead(w *wheel) (event, bool) {
	for i := w.next; i < len(w.steps); i++ {
		if w.steps[i].timed {
			return event{w, i}, true
		}
	}
	hour := hourOf(w.hour.Add(time.Hour))
	if c := p.clockOf(hour); c != nil {
		w := newWheel(c, hour)
		i := slices.IndexFunc(w.steps, func(s step) bool { return s.timed && !p.airedFor(s) })
		return event{w, i}, i >= 0
	}
	return event{}, false
}

// follow adds what the clock asks for next; false when there is nothing to play.
func (p *plan) follow() bool {
	ev, timed := p.ahead(p.wheel)
	if !timed {
		category, at := p.step()
		p.wheel.next = at
		return p.play(category)
	}
	gap := ev.due().Sub(p.time())
	if gap <= slackOf(ev.tolerance()) {
		p.strike(ev)
		return true
	}
	return p.lead(ev, gap)
}

// slackOf is how early an event is struck rather than waited for.
func slackOf(tolerance time.Duration) time.Duration { return tolerance / 3 }

// lead adds what comes before a timed event that is gap away.
func (p *plan) lead(ev event, gap time.Duration) bool {
	slack := slackOf(ev.tolerance())
	category, at := p.step()
	if !isMusic(category) {
		p.wheel.next = at
		if p.meanStep(category) > gap+slack {
			return true // no room for it any more
		}
		return p.play(category)
	}
	room := gap - p.imagingAhead(gap)
	n := int((room + p.meanStep(category)/2) / max(p.meanStep(category), time.Second))
	if n <= 0 {
		if !p.filler(gap, slack) {
			p.strike(ev)
		}
		return true
	}
	p.wheel.next = at
	p.fit = p.fitting(category, room, slack, n)
	defer func() { p.fit = nil }()
	return p.play(category)
}

// imagingAhead is the airtime of the imaging that the steps hold between here
// and the event.
func (p *plan) imagingAhead(gap time.Duration) time.Duration {
	w, sum, left := p.wheel, time.Duration(0), gap
	for i := w.next; i < len(w.steps) && !w.steps[i].timed && left > 0; i++ {
		mean := p.meanStep(w.steps[i].category)
		if !isMusic(w.steps[i].category) && mean <= left {
			sum += mean
		}
		left -= mean
	}
	return sum
}

// fitting says what the next music entry must leave room for when n of them
// fit before the event.
func (p *plan) fitting(category string, room, slack time.Duration, n int) *fit {
	f := &fit{room: room, slack: slack}
	if n == 1 {
		return f
	}
	after := p.airtimes(p.source(category))
	switch {
	case len(after) == 0:
		return nil
	case n == 2:
		f.after = after
	default: // whatever follows can make up for the rest
		tenth := len(after) / 10
		f.least, f.most = time.Duration(n-1)*after[tenth], time.Duration(n-1)*after[len(after)-1-tenth]
	}
	return f
}

// filler adds imaging that fills a gap too short for music, the longest first.
func (p *plan) filler(gap, slack time.Duration) bool {
	var best *candidate
	seen := 0
	for _, c := range []station.Category{station.Shorts, station.Sweepers, station.Jingles} {
		if c == station.Shorts && !p.shortsMayAir() {
			continue
		}
		for _, card := range p.hand(c, false).cards {
			seen++
			fits := p.airtime(card) <= gap+slack && !onCooldown(p, card) && !justPlayed(p, card)
			if fits && (best == nil || p.airtime(card) > p.airtime(best)) {
				best = card
			}
		}
	}
	if best == nil || p.airtime(best) <= 0 {
		return false
	}
	p.wanted = best.hand.category
	p.place(&choice{card: best, seen: seen}, p.breakSlot())
	p.out[len(p.out)-1].Why.Reason = fmt.Sprintf("fills %s before a timed event", gap.Round(time.Second))
	return true
}

func isMusic(category string) bool {
	return category == anyMusic || station.Category(category).Music()
}

// step is what to follow now, and where the wheel stands after it. Where the
// steps before a timed event, or all of the hour's, are used up too early, they
// come round again.
func (p *plan) step() (category string, next int) {
	w := p.wheel
	at := w.next
	if at >= len(w.steps) || w.steps[at].timed {
		at = w.from
	}
	if at >= len(w.steps) || w.steps[at].timed || !w.hasMusic() {
		return anyMusic, w.next
	}
	return w.steps[at].category, at + 1
}

// hasMusic reports that the steps up to the next timed event would fill time.
func (w *wheel) hasMusic() bool {
	for i := w.from; i < len(w.steps) && !w.steps[i].timed; i++ {
		if isMusic(w.steps[i].category) {
			return true
		}
	}
	return false
}

// strike airs a timed event, early by at most a part of its tolerance, or late.
func (p *plan) strike(ev event) {
	s := ev.wheel.steps[ev.step]
	p.wheel = ev.wheel
	p.wheel.next, p.wheel.from = ev.step+1, ev.step+1
	off := p.time().Sub(s.due)
	if off > mostLate {
		return
	}
	n := len(p.out)
	if off.Abs() <= s.tolerance {
		p.inTime()
	}
	p.play(s.category)
	if len(p.out) == n {
		return // nothing of the category may air now
	}
	e := &p.out[n]
	e.Due, e.Tolerance = s.due, s.tolerance
	e.Why.Reason = fmt.Sprintf("timed event of %s, planned %s off", s.due.Format("15:04:05"), off.Round(time.Second))
	if off.Abs() > s.tolerance {
		e.Relaxed = append(e.Relaxed, TimedEvent)
	}
}

// inTime takes back what entries before an event were thought to cost it.
func (p *plan) inTime() {
	for i := len(p.out) - 1; i >= 0 && p.out[i].Due.IsZero(); i-- {
		e := &p.out[i]
		e.Relaxed = slices.DeleteFunc(e.Relaxed, func(r Rule) bool { return r == TimedEvent })
	}
}

// play adds what a step asks for; false when there is nothing to play at all.
func (p *plan) play(category string) bool {
	switch c := station.Category(category); {
	case category == anyMusic:
		return p.music()
	case category == anyBreak:
		p.pace.sinceBreak = p.pace.breakGap
		size := p.breakSize()
		p.openBreak(size, p.wheel.open() && p.newsDue(size))
	case c.Music():
		p.wanted = c
		return p.musicOf() != nil
	case c == station.News:
		p.news(p.breakSlot())
	default:
		p.element(c, p.breakSlot())
	}
	return true
}

// breakSlot numbers the break an element stands in.
func (p *plan) breakSlot() int {
	if n := len(p.out); n > 0 && p.out[n-1].Slot > 0 {
		return p.out[n-1].Slot
	}
	p.pace.slot++
	p.pace.sinceJingle++
	return p.pace.slot
}
