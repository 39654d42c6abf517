package rotation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// TimeOfDay is a time of day in minutes after midnight, in the station's zone.
type TimeOfDay int

// MarshalText writes HH:MM.
func (c TimeOfDay) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// String is HH:MM.
func (c TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// key is the hour, with minutes unless they are zero: 22, 6h30.
func (c TimeOfDay) key() string {
	if c%60 == 0 {
		return strconv.Itoa(int(c) / 60)
	}
	return fmt.Sprintf("%dh%02d", int(c)/60, int(c)%60)
}

// UnmarshalJSON reads "HH:MM", or a number of hours; 24 is the end of the day.
func (c *TimeOfDay) UnmarshalJSON(b []byte) error {
	var hours float64
	var text string
	if json.Unmarshal(b, &hours) == nil {
		if !(hours >= 0 && hours <= 24) {
			return fmt.Errorf("time of day %s: must be 0 to 24 hours", b)
		}
		*c = TimeOfDay(math.Round(hours * 60))
		return nil
	}
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("time of day: %w", err)
	}
	h, m, ok := strings.Cut(text, ":")
	hh, err1 := strconv.Atoi(h)
	mm, err2 := strconv.Atoi(m)
	if !ok || err1 != nil || err2 != nil || hh < 0 || hh > 24 || mm < 0 || mm > 59 || hh*60+mm > 24*60 {
		return fmt.Errorf("time of day %q: must be HH:MM", text)
	}
	*c = TimeOfDay(hh*60 + mm)
	return nil
}

// Daypart is a window of the day with its own music.
type Daypart struct {
	Name  string    `json:"name,omitempty"`
	Start TimeOfDay `json:"start"`
	End   TimeOfDay `json:"end"` // exclusive; at or before Start it lies on the next day
	// Hard is the only category that music may come from; empty means no gate.
	Hard station.Category `json:"hard,omitempty"`
	// Weights multiply GENRE_SPLIT, and MASHUP_CHANCE for mashups; the default is 1.
	Weights map[station.Category]float64 `json:"weights,omitempty"`
}

// builtIn returns the dayparts with the mission's boundaries (*Rotation rebuild*): 02,
// 05, 11, 16, 23. The mission gives no multipliers: these favour Arabic in the morning
// and the early evening, and English and mashups late. English is below one because three
// hours of the night are English alone: over a day every category has its share of
// GENRE_SPLIT within a point, so no deck airs more often than its operator asked for.
func builtIn() []Daypart {
	w := func(arabic, english, mashups float64) map[station.Category]float64 {
		return map[station.Category]float64{station.ArabicHits: arabic, station.English: english, station.Mashups: mashups}
	}
	return []Daypart{
		{Name: "overnight", Start: 2 * 60, End: 5 * 60, Hard: station.English},
		{Name: "morning", Start: 5 * 60, End: 11 * 60, Weights: w(1.2, 0.5, 0.6)},
		{Name: "midday", Start: 11 * 60, End: 16 * 60, Weights: w(1.1, 0.65, 1)},
		{Name: "evening", Start: 16 * 60, End: 23 * 60, Weights: w(1.15, 0.6, 1.25)},
		{Name: "late", Start: 23 * 60, End: 2 * 60, Weights: w(0.95, 0.9, 1.5)},
	}
}

// covers reports whether the window contains this time of day.
func (d Daypart) covers(at TimeOfDay) bool {
	if d.Start < d.End {
		return d.Start <= at && at < d.End
	}
	return at >= d.Start || at < d.End
}

// dayparts returns the windows in force.
func (c Config) dayparts() []Daypart {
	if c.Dayparts != nil {
		return c.Dayparts
	}
	return builtIn()
}

// openDaypart is the daypart of times that no window covers.
const openDaypart = "open"

// covering returns the window that covers a time; false if none does.
func covering(parts []Daypart, now time.Time) (Daypart, bool) {
	at := timeOfDay(now)
	for _, d := range parts {
		if d.covers(at) {
			return d, true
		}
	}
	return Daypart{Name: openDaypart}, false
}

func timeOfDay(t time.Time) TimeOfDay { return TimeOfDay(t.Hour()*60 + t.Minute()) }

// same reports whether two windows are the same: windows with equal bounds do not
// differ otherwise.
func (d Daypart) same(o Daypart) bool {
	return d.Name == o.Name && d.Start == o.Start && d.End == o.End && d.Hard == o.Hard && maps.Equal(d.Weights, o.Weights)
}

// DaypartKey names the window that covers now: the name of a built-in one,
// custom:<start>-<end>:<hard>:<weights> for an operator's (mission: *Rotation and
// scheduler configuration*), open if none does. Any change of a window changes its
// key, and so rebuilds the rotation.
func DaypartKey(cfg Config, now time.Time) string {
	d, covered := covering(cfg.dayparts(), now)
	if cfg.Dayparts == nil || !covered {
		return d.Name
	}
	var weights []string
	for _, c := range slices.Sorted(maps.Keys(d.Weights)) {
		weights = append(weights, string(c)+"="+strconv.FormatFloat(d.Weights[c], 'g', -1, 64))
	}
	return fmt.Sprintf("custom:%s-%s:%s:%s", d.Start.key(), d.End.key(), d.Hard, strings.Join(weights, ","))
}

func validDayparts(parts []Daypart) (errs []error) {
	for i, d := range parts {
		field := fmt.Sprintf("DAYPARTS[%d]", i)
		bad := func(wrong bool, name, want string) {
			if wrong {
				errs = append(errs, fmt.Errorf("%s.%s: %s: %w", field, name, want, station.ErrInvalid))
			}
		}
		bad(d.Start < 0 || d.Start >= 24*60, "start", "must be 00:00 to 23:59")
		bad(d.End < 0 || d.End > 24*60, "end", "must be 00:00 to 24:00")
		bad(d.Hard != "" && !d.Hard.Music(), "hard", "must be a music category, or empty")
		for _, c := range slices.Sorted(maps.Keys(d.Weights)) {
			bad(!c.Music(), "weights."+string(c), "must be a music category")
			bad(!weight(d.Weights[c]), "weights."+string(c), "must be 0 to 1000")
		}
	}
	return errs
}

// DaypartsInForce returns the windows of the day, those built in included: what a playlist's
// window may name.
func (c Config) DaypartsInForce() []Daypart { return slices.Clone(c.dayparts()) }
