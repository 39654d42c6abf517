package telemetry

import (
	"slices"
	"time"
)

// Airing is one thing that is, or was, on air.
type Airing struct {
	ID        string // of this airing, the same after a restart
	Path      string // any bytes; empty for what is no file
	Title     string
	Artist    string
	Category  string
	Type      string // music, or the kind of imaging entry
	Kind      string // rotation, live or emergency
	StartedAt time.Time
}

// Aired is an airing with who listened to it.
type Aired struct {
	Airing
	EndedAt time.Time // zero while on air
	// Counted: somebody counted at its begin or meanwhile. Else the rest says nothing.
	Counted    bool
	Start, End int // listeners when it began and ended, or now
	Came, Went int // meanwhile
	samples    int64
	sum        int64
}

// Average is of the listeners meanwhile, and of its begin for what was shorter
// than the time between two polls.
func (a *Aired) Average() float64 {
	if a.samples == 0 {
		return float64(a.Start)
	}
	return float64(a.sum) / float64(a.samples)
}

// tracker follows what is on air.
//
//	nothing ──airing──► on air ──next airing──► on air …
//
// Entries shorter than the time between two polls are seen all the same: each
// step is shown everything that was on air of late.
type tracker struct {
	now  *Aired // nil before anything was on air
	last int    // listeners at the poll before
	seen bool   // last is known
}

// open is a copy of what is on air; nil for nothing.
func (t *tracker) open() []Aired {
	if t.now == nil {
		return nil
	}
	return []Aired{*t.now}
}

// step takes a poll: what is and was on air, newest first, and a count, if it is
// one. It returns the airings that have ended by then.
func (t *tracker) step(air []Airing, c Count, counted bool) (ended []Aired) {
	for _, next := range t.since(air) {
		if t.now != nil {
			t.now.EndedAt = next.StartedAt
			ended = append(ended, *t.now)
		}
		t.now = &Aired{Airing: next, Counted: t.seen || counted}
		// The count before its begin is nearer to it than the one after, or there
		// is none before.
		if t.now.Start = t.last; !t.seen {
			t.now.Start = c.Parts.Total
		}
		t.now.End = t.now.Start
	}
	t.seen = counted
	if !counted {
		return ended
	}
	t.last = c.Parts.Total
	if t.now != nil {
		t.now.take(c)
	}
	return ended
}

func (a *Aired) take(c Count) {
	if !a.Counted { // the control plane came back within it
		a.Counted, a.Start = true, c.Parts.Total
	}
	a.End = c.Parts.Total
	a.samples++
	a.sum += int64(c.Parts.Total)
	a.Came += c.came
	a.Went += c.went
}

// since returns what began after the airing that is followed, oldest first. At
// the very first start that is what is on air alone.
func (t *tracker) since(air []Airing) []Airing {
	newer := air[:min(1, len(air))]
	if t.now != nil {
		end := slices.IndexFunc(air, func(a Airing) bool { return a.ID == t.now.ID })
		if end < 0 && len(air) > 0 && t.now.StartedAt.After(air[0].StartedAt) {
			end = 1 // the clock was set back since: as at the very first start
		}
		if end < 0 { // long ago
			end = slices.IndexFunc(append(air[:len(air):len(air)], t.now.Airing), func(a Airing) bool { return !a.StartedAt.After(t.now.StartedAt) })
		}
		newer = air[:end]
	}
	newer = slices.Clone(newer)
	slices.Reverse(newer)
	return newer
}
