package rotation

import (
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// follow adds what the clock wants next; false when there is nothing to play.
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

// slackOf returns how early an event may air.
func slackOf(tolerance time.Duration) time.Duration { return tolerance / 3 }

// lead adds an entry before a timed event that is gap away.
func (p *plan) lead(ev event, gap time.Duration) bool {
	slack := slackOf(ev.tolerance())
	category, at := p.step()
	switch {
	case p.isMusic(category):
	case p.wheel.idle(len(p.out)): // a playlist brings imaging, for which no room is left
		category, at = anyMusic, p.wheel.next
	default:
		p.wheel.next = at
		if p.meanStep(category) > gap+slack || p.lists.crowded(p, category, gap+slack) {
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
	if p.lists.newsBetween(p, gap) {
		return true
	}
	p.wheel.next = at
	p.fit = p.fitting(category, room, slack, n)
	defer func() { p.fit = nil }()
	return p.play(category)
}

// imagingAhead returns the airtime of the imaging that the steps have before the event.
func (p *plan) imagingAhead(gap time.Duration) time.Duration {
	w, sum, left := p.wheel, time.Duration(0), gap
	for i := w.next; i < len(w.steps) && !w.steps[i].timed && left > 0; i++ {
		mean := p.meanStep(w.steps[i].category)
		if !p.isMusic(w.steps[i].category) && mean <= left {
			sum += mean
		}
		left -= mean
	}
	return sum
}

// fitting returns what the next music entry should fill if n of them fit before the
// event.
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
	default: // the entries that follow can make up for the rest
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
			fits := p.airtime(card) <= gap+slack && !onCooldown(p, card) && !justPlayed(p, card) && !p.held(card)
			if fits && (best == nil || p.airtime(card) > p.airtime(best)) {
				best = card
			}
		}
	}
	if best == nil || p.airtime(best) <= 0 {
		return false
	}
	p.wanted = best.hand.category
	slot, _ := p.openSlot()
	p.place(&choice{card: best, seen: seen}, slot)
	p.out[len(p.out)-1].Why.Reason = fmt.Sprintf("fills %s before a timed event", gap.Round(time.Second))
	return true
}

// isMusic reports whether a step asks for music: also in place of a playlist, which has to air
// something.
func isMusic(category string) bool {
	_, listed := listOf(category)
	return listed || category == anyMusic || station.Category(category).Music()
}

// isMusic reports whether a step brings music now: a playlist may bring imaging.
func (p *plan) isMusic(category string) bool {
	if name, listed := listOf(category); listed {
		_, music := p.lists.meanOf(p, name)
		return music
	}
	return isMusic(category)
}

// step returns the category of the next step and the wheel's position after it. If the
// steps before a timed event, or all steps of the hour, are used up too early, they are
// repeated.
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

// hasMusic reports whether the steps up to the next timed event contain music, without
// which they would not fill the time.
func (w *wheel) hasMusic() bool {
	for i := w.from; i < len(w.steps) && !w.steps[i].timed; i++ {
		if isMusic(w.steps[i].category) {
			return true
		}
	}
	return false
}

// strike adds a timed event, early by at most slackOf its tolerance, or late.
func (p *plan) strike(ev event) {
	p.wheel.tried = 0
	if ev.list != nil {
		p.lists.strike(p, ev)
		return
	}
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
		if p.free.open {
			p.free.due, p.free.tolerance = s.due, s.tolerance
		}
		return // nothing of the category may air now
	}
	e := &p.out[n]
	e.Due, e.Tolerance = s.due, s.tolerance
	reason := fmt.Sprintf("timed event of %s, planned %s off", s.due.Format("15:04:05"), off.Round(time.Second))
	if _, listed := listOf(s.category); listed {
		reason = e.Why.Reason + "; " + reason
	}
	e.Why.Reason = reason
	p.lists.struck(e)
	p.missed(e, off)
}

// missed notes that a timed event is out of its tolerance, if it is.
func (p *plan) missed(e *Entry, off time.Duration) {
	if off.Abs() > e.Tolerance && !slices.Contains(e.Relaxed, TimedEvent) {
		lesser := func(r Rule) bool { return bit(p.rules, r) < p.bits.timed }
		at := slices.IndexFunc(append(slices.Clip(e.Relaxed), Turnover), lesser)
		e.Relaxed = slices.Insert(e.Relaxed, at, TimedEvent)
	}
}

// inTime removes TimedEvent from the relaxed rules of the entries before an event that
// is in time after all.
func (p *plan) inTime() {
	for i := len(p.out) - 1; i >= 0 && p.out[i].Due.IsZero(); i-- {
		e := &p.out[i]
		e.Relaxed = slices.DeleteFunc(e.Relaxed, func(r Rule) bool { return r == TimedEvent })
	}
}

// play adds what a step wants; false when there is nothing to play at all.
func (p *plan) play(category string) bool {
	if name, listed := listOf(category); listed {
		return p.position(name)
	}
	switch c := station.Category(category); {
	case category == anyMusic:
		return p.music()
	case category == anyBreak:
		p.pace.sinceBreak = p.pace.breakGap
		size := p.breakSize()
		p.openBreak(size, p.wheel.open() && p.newsDue(size))
	case c.Music():
		p.wanted = c
		return p.lists.place(p, false) || p.musicOf() != nil
	default:
		p.stepElement(c)
	}
	return true
}

// stepElement adds an imaging element or news, if any may air now.
func (p *plan) stepElement(c station.Category) {
	n := len(p.out)
	slot, opened := p.openSlot()
	if c == station.News {
		p.news(slot)
	} else {
		p.element(c, slot)
	}
	if opened && len(p.out) == n { // an empty break does not count
		p.pace.slot--
		p.pace.sinceJingle--
	}
}

// openSlot returns the number of the break that the next element belongs to, and
// counts the break if it is new.
func (p *plan) openSlot() (slot int, opened bool) {
	if n := len(p.out); n > 0 && p.out[n-1].Slot > 0 {
		return p.out[n-1].Slot, false
	}
	p.pace.slot++
	p.pace.sinceJingle++
	return p.pace.slot, true
}
