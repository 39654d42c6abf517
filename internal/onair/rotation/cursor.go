package rotation

import (
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Marker reports that the playout engine started to play a track (mission: *Track
// completion*; the cursor follows what is on air, DESIGN *Reload and prefetch*).
type Marker struct {
	Engine   string // boot id of the engine
	Seq      uint64 // counts the markers of one boot
	Path     string // relative to the media root
	Artist   string
	Category station.Category
	At       time.Time
	// Submitter is station.Track.Submitter: not empty for a listener's post.
	Submitter string
}

// Kind is what a marker did.
type Kind int

// What a marker can do.
const (
	Advanced Kind = iota // the cursor moved past the entry on air
	Repeated             // the marker was a repeat: nothing changed
	Late                 // the marker was older than the newest: history recorded, cursor unmoved
	Unknown              // no entry matches: recorded as aired, cursor unmoved
	Wrapped              // the engine started the list again: all of it is consumed but what is held
)

// String names the kind.
func (k Kind) String() string {
	names := [...]string{"advanced", "repeated", "late", "unknown", "wrapped"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Outcome of a marker. Index is the entry on air, -1 if it is none of the rotation.
type Outcome struct {
	Kind  Kind
	Index int
}

// Advance applies a marker to the state. Entries passed over are consumed, but not put
// on cooldown. By case:
//
//	seen before                       Repeated
//	older than its engine's newest    Late; so is one from before the present engine's first marker
//	a new engine, path anywhere       Advanced: it reads the list from its head, so the cursor may go back
//	path at or ahead of the cursor    Advanced, to the nearest
//	path only behind the cursor       Wrapped: a rebuild follows, which aligns engine and cursor again; what is held by hand is still to come
//	path in no entry                  Unknown
//	in flight across a commit         Unknown: it belongs to the previous rotation, even if this one has its path
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
		st.Guests = st.Guests.note(m, slices.Contains(rot.Asked, m.Path))
		return st.heardOfList(rot, m, Late, 0, -1), Outcome{Late, -1}
	}
	out := locate(rot, st, m)
	var e Entry
	if out.Index >= 0 {
		e = rot.Entries[out.Index]
	}
	from := max(st.Consumed, 0)
	if st.Engine != "" && st.Engine != m.Engine {
		from = len(rot.Entries) // what a new engine passes over was heard before
	}
	st = st.heardOfList(rot, m, out.Kind, from, out.Index)
	switch out.Kind {
	case Advanced:
		st.Consumed = out.Index + 1
	case Wrapped:
		if !slices.ContainsFunc(rot.Entries[min(max(st.Consumed, 0), len(rot.Entries)):], func(e Entry) bool { return e.Held }) {
			st.Consumed = len(rot.Entries)
		}
	}
	st = st.remember(Play{m.Path, m.At, e.Round})
	st.Guests = st.Guests.note(m, e.Guest == GuestRequest || out.Index < 0 && slices.Contains(rot.Asked, m.Path))
	st.Recent = insert(st.Recent, 0, m, e.Due)
	st.LastTrackPlayed = m.Path
	st.Engine, st.Seq = m.Engine, m.Seq
	if m.Category.Music() {
		st.LastMusicArtist = m.Artist
	}
	return st, out
}

// locate finds the entry on air.
func locate(rot Rotation, st State, m Marker) Outcome {
	// A track that began before this rotation was built belongs to the previous
	// one, even if it is in both.
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

// stillInFlight reports whether m is for a track that the engine had taken from the
// previous rotation, even if it is in this one, too.
func stillInFlight(rot Rotation, st State, m Marker) bool {
	if len(rot.Entries) > 0 && rot.Entries[0].Track.Path == m.Path {
		return false
	}
	return slices.Contains(rot.InFlight, m.Path) && !(st.LastTrackPlayed == m.Path)
}

// seen reports whether this marker is a repeat.
func seen(st State, m Marker) bool {
	if st.Engine != "" && st.Engine == m.Engine && st.Seq == m.Seq {
		return true
	}
	return slices.ContainsFunc(st.Recent, func(h Heard) bool { return h.Engine == m.Engine && h.Seq == m.Seq })
}

// late reports whether a newer marker was applied, from the same engine or from one
// that began later. A new marker from an earlier engine is not late if its track began
// after the present engine: then two engines run, or the present one was none.
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

// note moves m's engine to the front and keeps its newest marker.
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

// insert puts m into recent at an index; -1 means the end.
func insert(recent []Heard, at int, m Marker, due time.Time) []Heard {
	if at < 0 {
		at = len(recent)
	}
	out := slices.Insert(slices.Clone(recent), at, Heard{m.Path, m.Artist, m.Category, m.At, m.Engine, m.Seq, due})
	return out[:min(len(out), recentKept)]
}
