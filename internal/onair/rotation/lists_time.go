package rotation

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// spell is one stretch of time in which a window is open; to is exclusive.
type spell struct{ from, to time.Time }

func (s spell) covers(at time.Time) bool { return !at.Before(s.from) && at.Before(s.to) }

// windows returns when a playlist may play.
func (l *List) windows() []Window {
	if len(l.When) > 0 {
		return l.When
	}
	return []Window{{}}
}

// spell returns the stretch that is open at a time; of several the one that began last.
func (l *List) spell(parts []Daypart, at time.Time) (spell, bool) {
	best, open := spell{}, false
	today := civil(at)
	for _, w := range l.windows() {
		for _, day := range []time.Time{today.AddDate(0, 0, -1), today} {
			for _, s := range w.spells(parts, day, at.Location()) {
				if s.covers(at) && (!open || s.from.After(best.from)) {
					best, open = s, true
				}
			}
		}
	}
	return best, open
}

// starts returns, ascending, when windows open after a time and before another. Of a playlist
// that is open already, a second window opens only if each counts.
func (l *List) starts(parts []Daypart, after, before time.Time, each bool) (out []time.Time) {
	last := civil(before)
	for _, w := range l.windows() {
		for day := civil(after).AddDate(0, 0, -1); !day.After(last); day = day.AddDate(0, 0, 1) {
			for _, s := range w.spells(parts, day, after.Location()) {
				if s.from.After(after) && s.from.Before(before) {
					out = append(out, s.from)
				}
			}
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	out = slices.CompactFunc(out, time.Time.Equal)
	if each {
		return out
	}
	return slices.DeleteFunc(out, func(at time.Time) bool {
		_, open := l.spell(parts, at.Add(-time.Nanosecond))
		return open
	})
}

// nextDays bounds how far ahead Next looks.
const nextDays = 400

// Next returns when a playlist next opens, in the zone of after: after itself if it is open
// then, and zero if it does not open within 400 days.
func (l List) Next(cfg Config, after time.Time) (next time.Time) {
	parts := cfg.dayparts()
	if _, open := l.spell(parts, after); open {
		return after
	}
	day := civil(after).AddDate(0, 0, -1)
	for range nextDays + 1 {
		if first, _ := instants(day, 0, after.Location()); !next.IsZero() && !first.Before(next) {
			return next
		}
		for _, w := range l.windows() {
			for _, s := range w.spells(parts, day, after.Location()) {
				if s.from.After(after) && (next.IsZero() || s.from.Before(next)) {
					next = s.from
				}
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return next
}

// civil returns the day of a time, as midnight UTC.
func civil(at time.Time) time.Time {
	y, m, d := at.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// spells returns the stretches of the window that begins on a day, ascending. Without a daypart
// there is one at most.
func (w Window) spells(parts []Daypart, day time.Time, zone *time.Location) []spell {
	date := station.DateOf(day)
	if w.From != 0 && date < w.From || w.Until != 0 && date > w.Until {
		return nil
	}
	if len(w.Days) > 0 && !slices.Contains(w.Days, Weekday(day.Weekday())) {
		return nil
	}
	from, _ := instants(day, w.Start, zone)
	last := day
	if w.End <= w.Start {
		last = day.AddDate(0, 0, 1)
	}
	to, _ := instants(last, w.End, zone)
	whole := spell{from, to}
	if !to.After(from) {
		return nil
	}
	if w.Daypart == "" {
		return []spell{whole}
	}
	return whole.within(parts, w.Daypart, day)
}

// within returns the stretches of a spell that lie in a daypart.
func (s spell) within(parts []Daypart, name string, day time.Time) (out []spell) {
	zone := s.from.Location()
	edges := []time.Time{s.from}
	add := func(at time.Time) {
		if at.After(s.from) && at.Before(s.to) {
			edges = append(edges, at)
		}
	}
	for _, d := range []time.Time{day, day.AddDate(0, 0, 1)} {
		for _, part := range parts {
			for _, at := range []TimeOfDay{part.Start, part.End} {
				first, second := instants(d, at, zone)
				add(first)
				add(second)
			}
		}
	}
	_, change := s.from.ZoneBounds() // the clock is set: another time of day from there on
	if !change.IsZero() {
		add(change)
	}
	slices.SortFunc(edges, time.Time.Compare)
	edges = append(slices.CompactFunc(edges, time.Time.Equal), s.to)
	for i, at := range edges[:len(edges)-1] {
		part, _ := covering(parts, at)
		switch n := len(out); {
		case part.Name != name:
		case n > 0 && out[n-1].to.Equal(at):
			out[n-1].to = edges[i+1]
		default:
			out = append(out, spell{at, edges[i+1]})
		}
	}
	return out
}

// instants returns when clocks in a zone show a time of a day: twice where they are set back, and
// where they are set past it, the moment at which they are.
func instants(day time.Time, at TimeOfDay, zone *time.Location) (first, second time.Time) {
	t := time.Date(day.Year(), day.Month(), day.Day(), int(at)/60, int(at)%60, 0, 0, zone)
	from, to := t.ZoneBounds()
	shown := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
	switch want := day.Add(time.Duration(at) * time.Minute); {
	case shown.After(want): // passed over, and told by the time after
		return from.In(zone), from.In(zone)
	case shown.Before(want):
		return to.In(zone), to.In(zone)
	}
	first, second = t, t
	_, offset := t.Zone()
	if !from.IsZero() {
		_, before := from.Add(-time.Nanosecond).Zone()
		if earlier := t.Add(-time.Duration(before-offset) * time.Second); earlier.Before(from) {
			first = earlier
		}
	}
	if !to.IsZero() {
		_, after := to.Zone()
		if later := t.Add(time.Duration(offset-after) * time.Second); !later.Before(to) {
			second = later
		}
	}
	return first, second
}
