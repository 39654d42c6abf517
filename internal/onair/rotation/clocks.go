package rotation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// HourClock is an hour template ("clock wheel"): it lays out, by category and
// position, the hours in which it holds. If several clocks hold, the first applies. An
// empty condition always holds.
type HourClock struct {
	Name string `json:"name"`
	// Days on which it holds, by the day on which the hour begins.
	Days []Weekday `json:"days,omitempty"`
	// Daypart in which it holds, by the hour's beginning.
	Daypart string `json:"daypart,omitempty"`
	// Start and End bound the hours, by their beginning. End is exclusive; at or
	// before Start it lies on the next day. If they are equal, the whole day counts.
	Start TimeOfDay  `json:"start"`
	End   TimeOfDay  `json:"end"`
	Hour  []Position `json:"hour"`
}

// Position is one place of an hour, or several equal ones.
type Position struct {
	// Category is one of the ten, or music (the daypart's mix draws one), or
	// break (an imaging break as without a clock), or playlist.
	Category string `json:"category"`
	// List is the name of the playlist, of category playlist.
	List string `json:"list,omitempty"`
	// Count is how many entries in a row it stands for; 0 means one.
	Count int `json:"count,omitempty"`
	// At makes it a timed event: minutes and seconds after the hour.
	At *Offset `json:"at,omitempty"`
	// Tolerance is how far off a timed event may start, in seconds; 0 means 30.
	Tolerance int `json:"tolerance,omitempty"`
}

// What a position may ask for besides a category.
const (
	anyMusic = "music"
	anyBreak = "break"
)

const (
	mostClocks       = 200
	mostPositions    = 500 // of an hour
	defaultTolerance = 30  // seconds
	mostTolerance    = 600
	longestClockName = 60 // bytes
)

// Offset is a time after the full hour, in seconds.
type Offset int

// String is MM:SS.
func (o Offset) String() string { return fmt.Sprintf("%02d:%02d", int(o)/60, int(o)%60) }

// MarshalText writes MM:SS.
func (o Offset) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads MM:SS, or :MM.
func (o *Offset) UnmarshalText(b []byte) error {
	text := string(b)
	if strings.HasPrefix(text, ":") {
		text = text[1:] + ":00"
	}
	var m, s int
	if n, err := fmt.Sscanf(text, "%d:%d", &m, &s); n != 2 || err != nil || fmt.Sprintf("%02d:%02d", m, s) != text || m < 0 || m > 59 || s < 0 || s > 59 {
		return fmt.Errorf("time after the hour %q: must be MM:SS, 00:00 to 59:59", b)
	}
	*o = Offset(m*60 + s)
	return nil
}

// Weekday is a day of the week, written in three letters.
type Weekday time.Weekday

// MarshalText writes sun, mon, tue, wed, thu, fri, sat.
func (d Weekday) MarshalText() ([]byte, error) {
	return []byte(strings.ToLower(time.Weekday(d).String()[:3])), nil
}

// UnmarshalText reads what MarshalText writes, and whole names.
func (d *Weekday) UnmarshalText(b []byte) error {
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := strings.ToLower(day.String())
		if text := strings.ToLower(string(b)); text == name || text == name[:3] {
			*d = Weekday(day)
			return nil
		}
	}
	return fmt.Errorf("day %q: must be sun, mon, tue, wed, thu, fri or sat", b)
}

// holds reports whether the clock applies to the hour that begins at a time.
func (c *HourClock) holds(hour time.Time, part string) bool {
	if len(c.Days) > 0 && !slices.Contains(c.Days, Weekday(hour.Weekday())) {
		return false
	}
	if c.Daypart != "" && c.Daypart != part {
		return false
	}
	return c.Start == c.End || Daypart{Start: c.Start, End: c.End}.covers(timeOfDay(hour))
}

// clockOf returns the clock of the hour that begins at a time; nil if none holds.
func (p *plan) clockOf(hour time.Time) *HourClock {
	part, _ := covering(p.parts, hour)
	for i := range p.cfg.Clocks {
		if c := &p.cfg.Clocks[i]; c.holds(hour, part.Name) {
			return c
		}
	}
	return nil
}

// validClocks returns an error for every invalid field, with what would be valid.
func validClocks(clocks []HourClock, parts []Daypart) (errs []error) {
	bad := func(wrong bool, field, want string) {
		if wrong {
			errs = append(errs, fmt.Errorf("%s: %s: %w", field, want, station.ErrInvalid))
		}
	}
	bad(len(clocks) > mostClocks, "CLOCKS", fmt.Sprintf("must be at most %d", mostClocks))
	names := map[string]bool{}
	for i, c := range clocks[:min(len(clocks), mostClocks)] {
		field := fmt.Sprintf("CLOCKS[%d]", i)
		bad(strings.TrimSpace(c.Name) == "" || len(c.Name) > longestClockName, field+".name", "must be 1 to 60 bytes")
		bad(names[c.Name], field+".name", "must differ from the other clocks' names")
		names[c.Name] = true
		for j, d := range c.Days {
			bad(d < 0 || d > 6, fmt.Sprintf("%s.days[%d]", field, j), "must be a day of the week")
		}
		known := slices.ContainsFunc(parts, func(d Daypart) bool { return d.Name == c.Daypart })
		bad(c.Daypart != "" && !known, field+".daypart", "must be the name of a daypart")
		bad(c.Start < 0 || c.Start >= 24*60, field+".start", "must be 00:00 to 23:59")
		bad(c.End < 0 || c.End > 24*60, field+".end", "must be 00:00 to 24:00")
		errs = append(errs, validHour(c.Hour, field)...)
	}
	return errs
}

func validHour(hour []Position, clock string) (errs []error) {
	total, last := 0, Offset(-1)
	bad := func(wrong bool, field, want string) {
		if wrong {
			errs = append(errs, fmt.Errorf("%s.%s: %s: %w", clock, field, want, station.ErrInvalid))
		}
	}
	bad(len(hour) == 0, "hour", "needs a position")
	for i, pos := range hour[:min(len(hour), mostPositions)] {
		field := fmt.Sprintf("hour[%d].", i)
		c := station.Category(pos.Category)
		bad(pos.Category != anyMusic && pos.Category != anyBreak && pos.Category != listCategory && !c.Valid(), field+"category", "must be a category, music, break or playlist")
		bad(pos.Category == listCategory && (strings.TrimSpace(pos.List) == "" || len(pos.List) > LongestListName), field+"list", "must be the name of a playlist")
		bad(pos.Category != listCategory && pos.List != "", field+"list", "belongs to category playlist")
		bad(pos.Count < 0 || pos.Count > 60, field+"count", "must be 1 to 60")
		bad(pos.Tolerance < 0 || pos.Tolerance > mostTolerance, field+"tolerance", "must be 1 to 600 seconds")
		total += max(pos.Count, 1)
		if pos.At == nil {
			bad(pos.Tolerance != 0, field+"tolerance", "belongs to a timed event: set at")
			continue
		}
		bad(pos.Category == anyBreak, field+"at", "a break cannot be timed: name its category")
		bad(pos.Count > 1, field+"count", "a timed event is one entry")
		bad(*pos.At <= last, field+"at", "must be later than the timed event before it")
		last = *pos.At
	}
	bad(len(hour) > mostPositions || total > mostPositions, "hour", fmt.Sprintf("must be at most %d positions", mostPositions))
	return errs
}
