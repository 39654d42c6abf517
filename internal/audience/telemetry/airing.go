package telemetry

import (
	"cmp"
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
	// Lasts is how long it can be heard at most, by its own length; zero where nobody knows,
	// as of what is live. It is not stored.
	Lasts time.Duration
	Release
}

// Release is what names a recording beside title and artist; what is unknown is empty.
type Release struct {
	Album    string
	ISRC     string // without hyphens
	Label    string
	Composer string
}

// or fills in what is empty.
func (r Release) or(other Release) Release {
	return Release{cmp.Or(r.Album, other.Album), cmp.Or(r.ISRC, other.ISRC), cmp.Or(r.Label, other.Label), cmp.Or(r.Composer, other.Composer)}
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
	// restored: now is from the disk, and nobody said in this run that it is on the air.
	restored bool
}

// tail is how much longer than its own length an airing may be: the engine and the node may
// hang for a moment.
const tail = time.Minute

// settle learns from a poll how long the restored airing lasts, and whether it goes on.
func (t *tracker) settle(air []Airing) {
	if !t.restored || len(air) == 0 {
		return
	}
	i := slices.IndexFunc(air, func(a Airing) bool { return a.ID == t.now.ID })
	if i >= 0 {
		t.now.Lasts = air[i].Lasts
	}
	t.restored = i != 0
}

// latest is when the airing that is on the air must be over: a machine or an engine that was
// off for a night is followed by an airing whose begin says nothing of the end of the one
// before. Zero: nobody knows.
func (t *tracker) latest() time.Time {
	switch a := t.now; {
	case a.Lasts > 0:
		return a.StartedAt.Add(a.Lasts + tail)
	case t.restored: // the last poll of the run before was about then
		return a.StartedAt.Add(time.Duration(a.samples)*Every + tail)
	default:
		return time.Time{}
	}
}

// over ends the airing that is on the air where it must be over by now.
func (t *tracker) over(now time.Time) {
	if at := t.latest(); !t.restored && t.now.EndedAt.IsZero() && !at.IsZero() && now.After(at) {
		t.now.EndedAt = at
	}
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
	if t.now != nil {
		t.settle(air)
	}
	for _, next := range t.since(air) {
		if t.now != nil {
			at := t.latest()
			if t.now.EndedAt = next.StartedAt; !at.IsZero() && at.Before(next.StartedAt) {
				t.now.EndedAt = at
			}
			ended = append(ended, *t.now)
			t.restored = false
		}
		t.now = &Aired{Airing: next, Counted: t.seen || counted}
		// The count before the airing's begin is nearer to it than the one after.
		if t.now.Start = t.last; !t.seen {
			t.now.Start = c.Parts.Total
		}
		t.now.End = t.now.Start
	}
	if t.now != nil {
		t.over(c.At)
	}
	t.seen = counted
	if !counted {
		return ended
	}
	t.last = c.Parts.Total
	if t.now != nil && !t.restored && t.now.EndedAt.IsZero() {
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
