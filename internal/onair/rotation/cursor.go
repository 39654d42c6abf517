package rotation

import (
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Marker says that the playout engine started to play a track (mission: *Track
// completion*; the cursor follows what is heard, DESIGN *Reload and prefetch*).
type Marker struct {
	Engine   string // boot id of the engine
	Seq      uint64 // counts the markers of one boot
	Path     string // relative to the media root
	Artist   string
	Category station.Category
	At       time.Time
}

// Kind is what a marker did.
type Kind int

// What a marker can do.
const (
	Advanced Kind = iota // the cursor went past the entry that is heard
	Repeated             // the marker came before: nothing changed
	Late                 // an older marker: history recorded, cursor unmoved
	Unknown              // no entry ahead: recorded as aired, cursor unmoved
	Wrapped              // the engine went round the list: all of it is consumed
)

// String names the kind.
func (k Kind) String() string {
	names := [...]string{"advanced", "repeated", "late", "unknown", "wrapped"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Outcome of a marker. Index is the entry heard, -1 when it is none.
type Outcome struct {
	Kind  Kind
	Index int
}

// Advance takes a marker. Entries passed over are consumed, not put on
// cooldown. By case:
//
//	seen before                       Repeated
//	older than the newest marker      Late: of its engine, or than the first of the engine that is on
//	a new engine, path anywhere       Advanced: it reads the list from its head, so the cursor may go back
//	path at or ahead of the cursor    Advanced, to the nearest
//	path only behind the cursor       Wrapped: a rebuild follows, which puts engine and cursor together again
//	path in no entry                  Unknown
//	in flight across a commit         Unknown: it is of the rotation before, wherever it stands in this one
func Advance(rot Rotation, st State, m Marker) (State, Outcome) {
	if seen(st, m) {
		return st, Outcome{Repeated, -1}
	}
	old := late(st, m)
	st.Engines = note(st.Engines, m)
	if old {
		st = st.Remember(m.Path, m.At)
		at := slices.IndexFunc(st.Recent, func(h Heard) bool { return !h.At.After(m.At) })
		st.Recent = insert(st.Recent, at, m, time.Time{})
		return st, Outcome{Late, -1}
	}
	out := locate(rot, st, m)
	var e Entry
	if out.Index >= 0 {
		e = rot.Entries[out.Index]
	}
	switch out.Kind {
	case Advanced:
		st.Consumed = out.Index + 1
	case Wrapped:
		st.Consumed = len(rot.Entries)
	}
	st = st.remember(Play{m.Path, m.At, e.Round})
	st.Recent = insert(st.Recent, 0, m, e.Due)
	st.LastTrackPlayed = m.Path
	st.Engine, st.Seq = m.Engine, m.Seq
	if m.Category.Music() {
		st.LastMusicArtist = m.Artist
	}
	return st, out
}

// locate finds the entry that is heard.
func locate(rot Rotation, st State, m Marker) Outcome {
	// What began before this rotation was built belongs to the one before it,
	// though the same track may stand in both.
	if m.At.Before(rot.BuiltAt) {
		return Outcome{Unknown, -1}
	}
	from := min(max(st.Consumed, 0), len(rot.Entries))
	if st.Engine != "" && st.Engine != m.Engine {
		from = 0
	}
	here := func(e Entry) bool { return e.Track.Path == m.Path }
	if from == 0 && st.Engine == m.Engine && stillInFlight(rot, st, m) {
		return Outcome{Unknown, -1}
	}
	if i := slices.IndexFunc(rot.Entries[from:], here); i >= 0 {
		return Outcome{Advanced, from + i}
	}
	if i := slices.IndexFunc(rot.Entries[:from], here); i >= 0 {
		return Outcome{Wrapped, i}
	}
	return Outcome{Unknown, -1}
}

// stillInFlight reports that m is what the engine had taken from the rotation
// before, which may also stand somewhere in this one.
func stillInFlight(rot Rotation, st State, m Marker) bool {
	if len(rot.Entries) > 0 && rot.Entries[0].Track.Path == m.Path {
		return false
	}
	return slices.Contains(rot.InFlight, m.Path) && !(st.LastTrackPlayed == m.Path)
}

// seen reports that this very marker was taken before.
func seen(st State, m Marker) bool {
	if st.Engine != "" && st.Engine == m.Engine && st.Seq == m.Seq {
		return true
	}
	return slices.ContainsFunc(st.Recent, func(h Heard) bool { return h.Engine == m.Engine && h.Seq == m.Seq })
}

// late reports that a newer marker was taken: of the same engine, or of one that
// had begun since. What an engine known before plays anew after another began is
// late no more: there are two, or the other never was an engine.
func late(st State, m Marker) bool {
	if st.Engine == m.Engine {
		return m.Seq < st.Seq
	}
	known := slices.IndexFunc(st.Engines, func(e Engine) bool { return e.ID == m.Engine })
	if known < 0 {
		return false
	}
	began := time.Time{}
	for _, h := range st.Recent { // the newest first
		if h.Engine == st.Engine {
			began = h.At
		}
	}
	return m.Seq <= st.Engines[known].Seq || !m.At.After(began)
}

// note keeps m as its engine's newest marker, if it is.
func note(engines []Engine, m Marker) []Engine {
	out := []Engine{{m.Engine, m.Seq}}
	for _, e := range engines {
		if e.ID == m.Engine {
			out[0].Seq = max(out[0].Seq, e.Seq)
		} else if len(out) < enginesKept {
			out = append(out, e)
		}
	}
	return out
}

// insert puts m at a place of the recent ones, at the end when it is -1.
func insert(recent []Heard, at int, m Marker, due time.Time) []Heard {
	if at < 0 {
		at = len(recent)
	}
	out := slices.Insert(slices.Clone(recent), at, Heard{m.Path, m.Artist, m.Category, m.At, m.Engine, m.Seq, due})
	return out[:min(len(out), recentKept)]
}
