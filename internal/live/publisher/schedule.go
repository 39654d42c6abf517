package publisher

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Slot is a time of the week in the station's zone. One whose end is not after its
// beginning ends on the next day: 22:00 to 02:00, and 00:00 to 00:00 is the whole day.
type Slot struct {
	Day  string `json:"day"`  // sun, mon, tue, wed, thu, fri or sat: that of its beginning
	From string `json:"from"` // HH:MM
	To   string `json:"to"`   // HH:MM
}

// times is a slot as numbers: day of the week and minutes of the day.
type times struct {
	day      time.Weekday
	from, to int
}

func days() []string { return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} }

// times reads a slot. Errors: station.ErrInvalid, naming the field.
func (s Slot) times() (t times, err error) {
	t.day = -1
	for i, name := range days() {
		if strings.EqualFold(s.Day, name) {
			t.day = time.Weekday(i)
		}
	}
	if t.day < 0 {
		return t, fmt.Errorf("day: must be sun, mon, tue, wed, thu, fri or sat: %w", station.ErrInvalid)
	}
	if t.from, err = minutes(s.From); err != nil {
		return t, fmt.Errorf("from: %w", err)
	}
	if t.to, err = minutes(s.To); err != nil {
		return t, fmt.Errorf("to: %w", err)
	}
	return t, nil
}

func minutes(clock string) (int, error) {
	if len(clock) == 5 {
		if t, err := time.Parse("15:04", clock); err == nil {
			return 60*t.Hour() + t.Minute(), nil
		}
	}
	return 0, fmt.Errorf("must be HH:MM, 00:00 to 23:59: %w", station.ErrInvalid)
}

// The codes of a refusal (live.Admission).
const (
	CodeUnknown = "unknown"
	CodeRevoked = "revoked"
	CodeEarly   = "early"
	CodeLate    = "late"
	CodeLimited = "limited"
)

// opening is what a schedule says of a moment.
type opening struct {
	ok   bool
	code string // early or late, where not ok
	// at is when it opens next, where not ok; zero: never, or that is not known.
	at time.Time
	// until is the end of the slot, without grace, where ok; zero: open.
	until time.Time
	// proper: within the slot itself, or its grace at the end. Who comes in the grace
	// before it may connect, and wait.
	proper bool
}

// open decides whether a publisher may be live at a moment.
//
//	moment                                    | answer
//	------------------------------------------|------------------------------------------
//	before from                               | early, opens at from or its first slot after
//	at until or after                         | late, for good
//	no slots                                  | open, until until
//	in a slot, or within grace of it          | open, until the slot's end or until
//	between slots, the last nearer            | late, opens with the next
//	between slots, the next nearer            | early, opens with the next
//	no slot left before until                 | late, for good
//
// from and until are absolute and have no grace. Slots are times on the wall: where the
// clocks are put forward, one that begins in the hour that is left out begins at its end;
// where they are put back, one that begins or ends in the hour that comes twice begins with
// the first and ends with the second. Slots that touch or overlap are one.
func open(slots []times, from, until time.Time, grace time.Duration, zone *time.Location, now time.Time) opening {
	if !until.IsZero() && !now.Before(until) {
		return opening{code: CodeLate}
	}
	if len(slots) == 0 {
		if now.Before(from) {
			return opening{code: CodeEarly, at: from}
		}
		return opening{ok: true, until: until, proper: true}
	}
	look := now
	if from.After(now) {
		look = from
	}
	s := around(slots, grace, zone, look)
	if look.After(now) { // nothing before from counts
		s.last = time.Time{}
	}
	if s.open && look.Equal(now) {
		end := s.end
		if end.Sub(now) > 7*24*time.Hour { // all week round
			end = time.Time{}
		}
		if !until.IsZero() && (end.IsZero() || until.Before(end)) {
			end = until
		}
		return opening{ok: true, until: end, proper: !now.Before(s.start)}
	}
	out := opening{code: CodeEarly, at: s.next}
	if s.open { // at from it will be
		out.at = from
	}
	if !s.last.IsZero() && now.Sub(s.last) < out.at.Sub(now) {
		out.code = CodeLate
	}
	if !until.IsZero() && !out.at.Before(until) {
		return opening{code: CodeLate}
	}
	return out
}

// surroundings are the slots about a moment.
type surroundings struct {
	open       bool
	start, end time.Time // of the slot that is open, without grace
	last       time.Time // when the last closed, grace included; zero: none in the last week
	next       time.Time // when the next opens, grace included
}

func around(slots []times, grace time.Duration, zone *time.Location, now time.Time) surroundings {
	var s surroundings
	for _, p := range spans(slots, zone, now) {
		opens, closes := p.start.Add(-grace), p.end.Add(grace)
		switch {
		case now.Before(opens):
			if s.next.IsZero() {
				s.next = opens
			}
		case !now.Before(closes):
			s.last = closes
		case s.open: // in the grace of both
			s.end = p.end
		default:
			s.open, s.start, s.end = true, p.start, p.end
		}
	}
	return s
}

type span struct{ start, end time.Time }

// spans are the slots of a week before and after a moment, in order, those that touch or
// overlap joined.
func spans(slots []times, zone *time.Location, now time.Time) []span {
	const week = 9 // days: a week, a slot that began the day before, and the zone's
	var all []span
	year, month, today := now.In(zone).Date()
	for shift := -week; shift <= week; shift++ {
		day := time.Date(year, month, today+shift, 12, 0, 0, 0, time.UTC)
		for _, t := range slots {
			if day.Weekday() != t.day {
				continue
			}
			last := day
			if t.to <= t.from {
				last = day.AddDate(0, 0, 1)
			}
			p := span{wall(day, t.from, zone, false), wall(last, t.to, zone, true)}
			if p.end.After(p.start) { // else the clocks' change swallowed it
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.start.Compare(b.start) })
	var out []span
	for _, p := range all {
		if n := len(out); n > 0 && !p.start.After(out[n-1].end) {
			out[n-1].end = later(out[n-1].end, p.end)
			continue
		}
		out = append(out, p)
	}
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// wall is the moment at which the clocks on the wall show a minute of a day. Of a minute
// that comes twice it is the first, or the second where last is set; one that is left out
// is the moment of the change.
func wall(day time.Time, minute int, zone *time.Location, last bool) time.Time {
	as := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, time.UTC)
	shown := func(t time.Time) bool {
		y, m, d := t.Date()
		return y == as.Year() && m == as.Month() && d == as.Day() && 60*t.Hour()+t.Minute() == minute
	}
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := as.Add(-offset(as.Add(-26*time.Hour))).In(zone), as.Add(-offset(as.Add(26*time.Hour))).In(zone)
	first, second := before, after
	if second.Before(first) {
		first, second = second, first
	}
	switch {
	case shown(first) && shown(second) && last:
		return second
	case shown(first):
		return first
	case shown(second):
		return second
	}
	change, _ := second.ZoneBounds() // left out: the change lies before what it would be
	return change
}
