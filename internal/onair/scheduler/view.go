package scheduler

import (
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
	// Boot is no sound but the node's word that the engine is being started.
	Boot Kind = "boot"
)

// OnAir is one thing that is, or was, heard.
type OnAir struct {
	Kind      Kind          `json:"kind"`
	Track     station.Track `json:"track"`
	Type      string        `json:"type"`
	StartedAt time.Time     `json:"startedAt"`
	// Index is the position in the rotation; -1 when it stands in none.
	Index int `json:"index"`
	// Engine and Seq are those of the marker.
	Engine string `json:"engine"`
	Seq    uint64 `json:"seq"`
}

// Item is one entry of the rotation as it stands on air.
type Item struct {
	rotation.Entry
	Index int
	OnAir bool
	Aired bool
	// ExpectedAt is when an entry that is still to come should start.
	ExpectedAt time.Time
}

// View is the on-air state at one moment. It is shared and never changed.
type View struct {
	Rotation rotation.Rotation
	Consumed int     // entries heard or passed over
	OnAir    OnAir   // zero before anything was heard
	Past     []OnAir // heard before it, newest first
	Reason   string  // of the last rebuild
	Problem  string  // why the rotation could not be renewed; empty when all is well
	// Waiting says that there is nothing to play yet.
	Waiting bool
}

// Items returns the whole rotation.
func (v *View) Items() []Item {
	out := make([]Item, len(v.Rotation.Entries))
	at := v.nextStart()
	for i, e := range v.Rotation.Entries {
		it := Item{Entry: e, Index: i, OnAir: v.OnAir.Kind == Rotation && i == v.OnAir.Index}
		it.Aired = i < v.Consumed && !it.OnAir
		if i >= v.Consumed {
			it.ExpectedAt = at
			at = at.Add(max(e.Track.Duration-e.Cross, 0))
		}
		out[i] = it
	}
	return out
}

// Upcoming returns what is still to come, next first.
func (v *View) Upcoming() []Item { return v.Items()[min(v.Consumed, len(v.Rotation.Entries)):] }

// nextStart is when what is on air should end.
func (v *View) nextStart() time.Time {
	if v.OnAir.StartedAt.IsZero() {
		return v.Rotation.BuiltAt
	}
	cross := time.Duration(0)
	if i := v.OnAir.Index; i >= 0 && i < len(v.Rotation.Entries) {
		cross = v.Rotation.Entries[i].Cross
	}
	return v.OnAir.StartedAt.Add(v.OnAir.Track.Duration - cross)
}
