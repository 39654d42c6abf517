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
	// Counted reports whether listeners were counted during the airing; otherwise
	// the numbers below mean nothing.
	Counted    bool
	Start, End int // listeners when it began and ended, or now
	Came, Went int // listeners who arrived and left during the airing
	samples    int64
	sum        int64
}

// Average is the mean number of listeners during the airing. For an airing shorter
// than the time between two polls it is the number at its begin.
func (a *Aired) Average() float64 {
	if a.samples == 0 {
		return float64(a.Start)
	}
	return float64(a.sum) / float64(a.samples)
}

// tracker turns polls into airings.
//
//	nothing ──airing──► on air ──next airing──► on air …
//
// Airings shorter than the time between two polls are not missed: each step gets
// everything that was on air recently.
type tracker struct {
	now  *Aired // nil before anything was on air
	last int    // listeners at the poll before
	seen bool   // last is known
}

// open returns a copy of the airing that is on air; nil without one.
func (t *tracker) open() []Aired {
	if t.now == nil {
		return nil
	}
	return []Aired{*t.now}
}

// step takes one poll: what is and was on air, newest first, and the count, which
// is valid if counted. It returns the airings that have ended.
func (t *tracker) step(air []Airing, c Count, counted bool) (ended []Aired) {
	for _, next := range t.since(air) {
		if t.now != nil {
			t.now.EndedAt = next.StartedAt
			ended = append(ended, *t.now)
		}
		t.now = &Aired{Airing: next, Counted: t.seen || counted}
		// The count before the airing's begin is nearer to it than the one after.
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
	if !a.Counted { // the control plane came back during the airing
		a.Counted, a.Start = true, c.Parts.Total
	}
	a.End = c.Parts.Total
	a.samples++
	a.sum += int64(c.Parts.Total)
	a.Came += c.came
	a.Went += c.went
}

// since returns the airings that began after the current one, oldest first. At
// the very first start it returns only what is on air.
func (t *tracker) since(air []Airing) []Airing {
	newer := air[:min(1, len(air))]
	if t.now != nil {
		end := slices.IndexFunc(air, func(a Airing) bool { return a.ID == t.now.ID })
		if end < 0 && len(air) > 0 && t.now.StartedAt.After(air[0].StartedAt) {
			end = 1 // the clock was set back: start anew
		}
		if end < 0 { // the current airing is too long ago to be listed
			end = slices.IndexFunc(append(air[:len(air):len(air)], t.now.Airing), func(a Airing) bool { return !a.StartedAt.After(t.now.StartedAt) })
		}
		newer = air[:end]
	}
	newer = slices.Clone(newer)
	slices.Reverse(newer)
	return newer
}
