package simulate

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// usualTolerance is how far off a timed event may start if it has no tolerance.
const usualTolerance = 30 * time.Second

// drift is how far a start may move from the plan because a rebuild changed crosses. An
// event that it moves out of tolerance is missed, but the planner could not know.
const drift = 5 * time.Second

// clockAt returns the first clock that applies to the hour of a time.
func clockAt(cfg rotation.Config, at time.Time) *rotation.HourClock {
	if len(cfg.Clocks) == 0 {
		return nil
	}
	hour := HourOf(at)
	minute := rotation.TimeOfDay(hour.Hour() * 60)
	part := WindowAt(cfg, hour).Name
	for i := range cfg.Clocks {
		c := &cfg.Clocks[i]
		inside := c.Start == c.End || c.Start <= minute && minute < c.End
		if c.Start > c.End {
			inside = minute >= c.Start || minute < c.End
		}
		day := len(c.Days) == 0 || slices.Contains(c.Days, rotation.Weekday(hour.Weekday()))
		if inside && day && (c.Daypart == "" || c.Daypart == part) {
			return c
		}
	}
	return nil
}

// HourOf returns the full hour before a time, in the station's zone.
func HourOf(at time.Time) time.Time {
	past := time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second + time.Duration(at.Nanosecond())
	return at.Add(-past)
}

// clocked reports whether a clock applied to some hour between two entries: there the
// operator decides on what comes regularly.
func (j *judge) clocked(from, to int) bool {
	if len(j.cfg.Clocks) == 0 {
		return false
	}
	for at := HourOf(j.log[from].At); !at.After(j.log[to].At); at = at.Add(time.Hour) {
		if clockAt(j.cfg, at) != nil {
			return true
		}
	}
	return false
}

// clocks checks the log for every timed event of the clocks.
func (j *judge) clocks() {
	if len(j.cfg.Clocks) == 0 || len(j.log) == 0 {
		return
	}
	first, last := j.log[0].At, j.log[len(j.log)-1].At
	for hour := HourOf(first); hour.Before(last); hour = hour.Add(time.Hour) {
		c := clockAt(j.cfg, hour)
		if c == nil {
			continue
		}
		for _, p := range c.Hour {
			if p.At != nil {
				j.event(station.Category(p.Category), hour.Add(time.Duration(*p.At)*time.Second), time.Duration(p.Tolerance)*time.Second)
			}
		}
	}
}

// event looks for one timed event.
func (j *judge) event(c station.Category, due time.Time, tolerance time.Duration) {
	if tolerance == 0 {
		tolerance = usualTolerance
	}
	if !j.possible(c, due, tolerance) {
		return
	}
	j.verdict.Due++
	i, _ := slices.BinarySearchFunc(j.log, due.Add(-tolerance), func(a Aired, t time.Time) int { return a.At.Compare(t) })
	asked := func(a *Aired) bool { return a.Track.Category == c || c == "music" && a.Track.Category.Music() }
	for k := i; k < len(j.log) && !j.log[k].At.After(due.Add(tolerance)); k++ {
		if asked(&j.log[k]) {
			j.verdict.Hit++
			return
		}
	}
	excused := slices.ContainsFunc(j.log[max(i-60, 0):min(i+60, len(j.log))], func(a Aired) bool {
		off := a.At.Sub(due).Abs()
		return a.Due.Equal(due) && asked(&a) && (off <= tolerance+drift || slices.Contains(a.Relaxed, rotation.TimedEvent))
	})
	if !excused {
		j.found(TimedEvent, min(i, len(j.log)-1), "no %s within %s of %s", c, tolerance, due.Format("15:04:05"))
	}
}

// possible reports whether there is material for an event and the rotation was on air.
func (j *judge) possible(c station.Category, due time.Time, tolerance time.Duration) bool {
	if due.Add(-tolerance).Before(j.log[0].At) || due.Add(tolerance).After(j.log[len(j.log)-1].At) {
		return false
	}
	for _, s := range j.live {
		if s.From.Before(due.Add(tolerance)) && s.To.After(due.Add(-tolerance)) {
			return false
		}
	}
	if c == "music" {
		return true
	}
	return j.size[c] > 0 && (!c.Music() || j.allowed(c, WindowAt(j.cfg, due)))
}
