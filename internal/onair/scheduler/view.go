package scheduler

import (
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Kind says where the sound on air comes from.
type Kind string

// The kinds, as the playout engine names them in its markers.
const (
	Rotation  Kind = "rotation"
	Live      Kind = "live"
	Emergency Kind = "emergency"
	// Boot is no sound: it reports that the node is starting the engine.
	Boot Kind = "boot"
)

// OnAir is one thing that is, or was, heard.
type OnAir struct {
	Kind  Kind          `json:"kind"`
	Track station.Track `json:"track"`
	Type  string        `json:"type"`
	// StartedAt is by the wall clock as it is set now: it follows one that is set within a
	// second.
	StartedAt time.Time `json:"startedAt"`
	// Index is the position in the rotation; -1 outside the rotation.
	Index int `json:"index"`
	// Engine and Seq are those of the marker.
	Engine string `json:"engine"`
	Seq    uint64 `json:"seq"`
	// Cross is how much of its end the next entry overlaps.
	Cross time.Duration `json:"-"`
}

// ID identifies an airing by its marker, independent of clocks.
func (a OnAir) ID() string { return a.Engine + "/" + strconv.FormatUint(a.Seq, 10) }

// ends returns when the first of the entries left should start: the engine
// overlaps neighbours by the shorter of their crosses.
func (a OnAir) ends(left []rotation.Entry) time.Time {
	cross := a.Cross
	if len(left) > 0 {
		cross = min(cross, left[0].Cross)
	}
	return a.StartedAt.Add(max(a.Track.Duration-cross, 0))
}

// Item is one entry of the rotation as it stands on air.
type Item struct {
	rotation.Entry
	Index int
	OnAir bool
	Aired bool
	// Failed says why the entry was passed over; empty for all others.
	Failed string
	// ExpectedAt is when an entry that is still to come should start; zero
	// while that is unknown, as during a takeover.
	ExpectedAt time.Time
}

// View is the on-air state at one moment. It is shared and never changed.
type View struct {
	Rotation rotation.Rotation
	Consumed int             // entries heard or passed over
	OnAir    OnAir           // zero before anything was heard
	Past     []OnAir         // heard before it, newest first
	Reason   string          // of the last rebuild
	Problem  string          // why the rotation could not be renewed; empty when all is well
	Config   rotation.Config // in force: of the next rebuild
	// Notes say where the library cannot give what Config asks for; empty before the
	// first rotation is built.
	Notes []rotation.Note
	// Waiting says that the library is empty and no scan is adding to it; Beginning, that
	// there is no rotation yet because the library is only being taken in.
	Waiting, Beginning bool

	// Queued are paths that open the next rotations until they were heard, next first.
	Queued []string

	rest    []rotation.Entry // follows Rotation, once the node has its media
	failed  map[int]string   // why entries could not be aired, by index
	deeds   []done           // changes by hand that can be taken back, the newest last
	before  []replaced       // what the engine may still open of earlier rotations
	history rotation.History
	turns   rotation.Turns
	lists   map[int64]rotation.ListState
}

// ListAired returns when something of a playlist last began; zero: not yet.
func (v *View) ListAired(id int64) time.Time { return v.lists[id].At }

// Items returns the whole rotation.
func (v *View) Items() []Item {
	out := make([]Item, len(v.Rotation.Entries))
	first := min(v.Consumed, len(out))
	next := v.NextStart()
	expected := rotation.Expected(v.Rotation.Entries[first:], next)
	for i, e := range v.Rotation.Entries {
		it := Item{Entry: e, Index: i, OnAir: v.OnAir.Kind == Rotation && i == v.OnAir.Index}
		if it.Failed = v.failed[i]; it.Failed == "" {
			it.Aired = i < first && !it.OnAir
		}
		if i >= first && !next.IsZero() {
			it.ExpectedAt = expected[i-first]
		}
		out[i] = it
	}
	return out
}

// Left returns the entries that are still to come, next first; it is shared.
func (v *View) Left() []rotation.Entry {
	return v.Rotation.Entries[min(v.Consumed, len(v.Rotation.Entries)):]
}

// Upcoming returns what is still to come, next first.
func (v *View) Upcoming() []Item { return v.Items()[min(v.Consumed, len(v.Rotation.Entries)):] }

// NextStart returns when what is on air should end; zero if that is unknown.
func (v *View) NextStart() time.Time {
	switch {
	case v.OnAir.StartedAt.IsZero():
		return v.Rotation.Starts
	case v.OnAir.Kind != Rotation:
		return time.Time{}
	}
	return v.OnAir.ends(v.Left())
}

// Near are the paths of what is on the air, of what comes, and of what was heard before: in
// that order.
func (v *View) Near() []string {
	out := []string{v.OnAir.Track.Path}
	for _, it := range v.Upcoming() {
		out = append(out, it.Track.Path)
	}
	for _, past := range v.Past {
		out = append(out, past.Track.Path)
	}
	return slices.DeleteFunc(out, func(path string) bool { return path == "" })
}

// Planned reports that a track is on air, was on air last, or is still to come. It
// is called for thousands of tracks in a row.
func (v *View) Planned(rel string) bool {
	if v.OnAir.Track.Path == rel || len(v.Past) > 0 && v.Past[0].Track.Path == rel {
		return true
	}
	return slices.ContainsFunc(v.Left(), func(e rotation.Entry) bool { return e.Track.Path == rel })
}

// LastAired returns when a track last began within rotation.HistoryKept; zero when it
// did not.
func (v *View) LastAired(path string) time.Time {
	starts := v.history.Starts(path)
	if len(starts) == 0 {
		return time.Time{}
	}
	return starts[len(starts)-1]
}

// Starts returns when a track began within rotation.HistoryKept, the newest last. The list is
// not to be changed.
func (v *View) Starts(path string) []time.Time { return v.history.Starts(path) }

// Aired returns when a track last began, zero if it never did, and how often it was heard within
// rotation.HistoryKept. It is called for thousands of tracks in a row.
func (v *View) Aired(path string) (last time.Time, plays int) {
	starts := v.history.Starts(path)
	if n := len(starts); n > 0 {
		return starts[n-1], n
	}
	return v.turns.Of(path).At, 0
}
