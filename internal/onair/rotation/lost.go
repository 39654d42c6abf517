package rotation

import (
	"errors"
	"fmt"

	"github.com/athir-radio/athir/internal/station"
)

// Lost is a stretch of the day in which something that a daypart did no longer holds.
type Lost struct {
	Name  string    `json:"name,omitempty" doc:"Of the daypart that held"`
	Start TimeOfDay `json:"start"`
	End   TimeOfDay `json:"end"`
	// Hard is the category that alone aired; empty if a mix is lost.
	Hard station.Category `json:"hard,omitempty" doc:"Category that alone aired; absent if the daypart had a mix"`
}

// LostBetween returns what a change takes away, in the order of the day: hard windows that
// another category or all music may air in now, and windows that no daypart covers any
// more. A changed mix is none.
func LostBetween(was, is Config) []Lost {
	var out []Lost
	before, after := was.dayparts(), is.dayparts()
	last := -1 // index in before of the stretch that is open
	for at := range TimeOfDay(24 * 60) {
		i, j := indexAt(before, at), indexAt(after, at)
		lost := i >= 0 && (j < 0 || before[i].Hard != "" && after[j].Hard != before[i].Hard)
		switch {
		case !lost:
			last = -1
		case i == last:
			out[len(out)-1].End = at + 1
		default:
			out, last = append(out, Lost{before[i].Name, at, at + 1, before[i].Hard}), i
		}
	}
	// A stretch over midnight is one.
	if n := len(out); n > 1 && out[0].Start == 0 && out[n-1].End == 24*60 && out[0].Name == out[n-1].Name && out[0].Hard == out[n-1].Hard {
		out[n-1].End = out[0].End
		out = out[1:]
	}
	return out
}

// indexAt returns the index of the window that covers a time of day; -1 if none does.
func indexAt(parts []Daypart, at TimeOfDay) int {
	for i, d := range parts {
		if d.covers(at) {
			return i
		}
	}
	return -1
}

// Overlapping returns an error for every hard window that shares time with another one.
// Elsewhere the first that covers a time applies; a gate would hold or not by its place
// in the list.
//
// It is apart from Validate because it refuses changes only: a configuration that has been
// in force does not keep a station from starting.
func (c Config) Overlapping() error {
	var errs []error
	for i, d := range c.Dayparts {
		for j, e := range c.Dayparts[:i] {
			if (d.Hard == "" && e.Hard == "") || !d.covers(e.Start) && !e.covers(d.Start) {
				continue
			}
			errs = append(errs, fmt.Errorf("DAYPARTS[%d].start: overlaps %s, and a window of one category must stand alone: %w",
				i, e.title(j), station.ErrInvalid))
		}
	}
	return errors.Join(errs...)
}

// title names a window for people.
func (d Daypart) title(index int) string {
	name := d.Name
	if name == "" {
		name = fmt.Sprintf("DAYPARTS[%d]", index)
	}
	out := fmt.Sprintf("%s (%s to %s", name, d.Start, d.End)
	if d.Hard != "" {
		out += fmt.Sprintf(", %s alone", d.Hard)
	}
	return out + ")"
}
