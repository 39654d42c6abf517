package libretime

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

const (
	mostWindows = 50 // of a playlist, as rotation allows
	// A show that is not weekly becomes single days, so many and so far ahead.
	mostDates, aheadDays = 26, 366
)

// How a show repeats (cc_show_days.repeat_type).
const (
	never          = -1
	weekly         = 0
	everyTwoWeeks  = 1
	monthlyByDate  = 2
	monthlyByDay   = 3
	everyThreeWeek = 4
	everyFourWeeks = 5
)

// show is a show that is still to come.
type show struct {
	row
	name  string
	when  []rotation.Window
	notes []model.Note
}

// shows are those that have a time ahead, by id.
func (r *reading) shows() map[string]*show {
	out := map[string]*show{}
	names := map[string]row{}
	for s := range r.db.each("cc_show") {
		names[s.raw("id")] = s
	}
	over := map[string]bool{}
	for d := range r.db.each("cc_show_days") {
		id := d.raw("show_id")
		of, known := names[id]
		if !known {
			continue
		}
		when, notes := r.windows(d)
		if len(when) == 0 {
			over[id] = true
			continue
		}
		if out[id] == nil {
			out[id] = &show{row: of, name: of.str("name")}
		}
		out[id].when = append(out[id].when, when...)
		for _, n := range notes {
			if !slices.Contains(out[id].notes, n) {
				out[id].notes = append(out[id].notes, n)
			}
		}
	}
	for id, s := range out {
		s.when = merged(s.when)
		delete(over, id)
	}
	r.leave("past shows", len(over), note("They are over.", "انتهت مواعيدها."))
	return out
}

// windows are the times of a row of cc_show_days that are still to come, in the station's zone.
func (r *reading) windows(d row) (out []rotation.Window, notes []model.Note) {
	first, last := day(d.raw("first_show")), day(d.raw("last_show"))
	starts, ok := clock(d.raw("start_time"))
	length := interval(d.raw("duration"))
	if first == 0 || !ok || starts >= 24*time.Hour || length < time.Minute {
		return nil, nil
	}
	if length > 24*time.Hour {
		length = 24 * time.Hour
		notes = append(notes, note("A show lasted longer than a day; its first 24 hours come over.", "مدة أحد البرامج أطول من يوم، فيُنقل منه أول 24 ساعة."))
	}
	zone, err := time.LoadLocation(d.str("timezone"))
	if err != nil || d.raw("timezone") == "" || d.raw("timezone") == "Local" {
		zone = r.zone
	}
	// on is the window on a day of the show's calendar.
	on := func(date station.Date) (rotation.Window, time.Time) {
		m := midnight(date, zone)
		begin := time.Date(m.Year(), m.Month(), m.Day(), 0, int(starts/time.Minute), 0, 0, zone).In(r.zone)
		minute := begin.Hour()*60 + begin.Minute()
		return rotation.Window{Start: rotation.TimeOfDay(minute), End: rotation.TimeOfDay((minute + int(length/time.Minute)) % (24 * 60))}, begin
	}
	today := station.DateOf(r.now.In(zone))
	ahead := func(date station.Date) bool { return date >= today && (last == 0 || date < last) } // last_show is the day after the last
	repeat := d.int("repeat_type")
	if d.raw("repeat_type") == "" {
		repeat = never
	}
	if repeat == weekly {
		next := first
		if next < today {
			days := int(midnight(today, time.UTC).Sub(midnight(first, time.UTC)).Hours() / 24)
			next = station.DateOf(midnight(first, time.UTC).AddDate(0, 0, (days+6)/7*7))
		}
		if !ahead(next) {
			return nil, nil
		}
		w, begin := on(next)
		w.Days = []rotation.Weekday{rotation.Weekday(begin.Weekday())}
		if first > today {
			w.From = station.DateOf(begin)
		}
		if last != 0 {
			_, end := on(station.DateOf(midnight(last, time.UTC).AddDate(0, 0, -1)))
			w.Until = station.DateOf(end)
		}
		if zone.String() != r.zone.String() {
			notes = append(notes, note("A show was planned in another time zone; when clocks change, look at its times again.", "أحد البرامج مضبوط على منطقة زمنية أخرى. راجع مواعيده عند تغيير التوقيت."))
		}
		return []rotation.Window{w}, notes
	}
	for i := 0; len(out) < mostDates; i++ {
		date, more := occurrence(first, repeat, i)
		if !more || date > station.DateOf(r.now.AddDate(0, 0, aheadDays)) || last != 0 && date >= last {
			break
		}
		if date == 0 || !ahead(date) { // a month without such a day; over
			continue
		}
		w, begin := on(date)
		w.From = station.DateOf(begin)
		w.Until = w.From
		out = append(out, w)
	}
	if len(out) > 0 && repeat != never {
		notes = append(notes, note("A show that is not on each week comes over as single days, for a year at most.", "أحد البرامج لا يُذاع كل أسبوع، فتُنقل مواعيده يومًا يومًا، لسنة على الأكثر."))
	}
	return out, notes
}

// occurrence is the n-th day of a show; more is false after the last. A day that there is not
// in its month is 0.
func occurrence(first station.Date, repeat, n int) (_ station.Date, more bool) {
	begin := midnight(first, time.UTC)
	weeks := 0
	switch repeat {
	case never:
		return first, n == 0
	case everyTwoWeeks:
		weeks = 2
	case everyThreeWeek:
		weeks = 3
	case everyFourWeeks:
		weeks = 4
	case monthlyByDate:
		d := time.Date(begin.Year(), begin.Month()+time.Month(n), begin.Day(), 0, 0, 0, 0, time.UTC)
		if d.Day() != begin.Day() {
			return 0, n < 12*100
		}
		return station.DateOf(d), n < 12*100
	case monthlyByDay: // the second Friday, say
		month := time.Date(begin.Year(), begin.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
		days := (int(begin.Weekday())-int(month.Weekday())+7)%7 + (begin.Day()-1)/7*7
		d := month.AddDate(0, 0, days)
		if d.Month() != month.Month() {
			return 0, n < 12*100
		}
		return station.DateOf(d), n < 12*100
	default:
		return 0, false
	}
	return station.DateOf(begin.AddDate(0, 0, 7*weeks*n)), n < 53*100
}

// merged puts windows that differ in their days alone into one, and leaves out doubles.
func merged(all []rotation.Window) (out []rotation.Window) {
	for _, w := range all {
		i := slices.IndexFunc(out, func(o rotation.Window) bool {
			return o.Start == w.Start && o.End == w.End && o.From == w.From && o.Until == w.Until && (len(o.Days) == 0) == (len(w.Days) == 0)
		})
		if i < 0 {
			w.Days = slices.Clone(w.Days)
			out = append(out, w)
			continue
		}
		out[i].Days = append(out[i].Days, w.Days...)
		slices.Sort(out[i].Days)
		out[i].Days = slices.Compact(out[i].Days)
	}
	return out
}
