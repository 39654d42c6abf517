// Package rotation plans what plays next: it builds the on-air rotation from decks,
// decides when it must be rebuilt, and follows what is on air with a cursor. Everything
// is a pure function of its arguments: it uses no disk, network, clock, goroutine or
// global randomness, and writes no playlist.
package rotation

import (
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Rotation is a plan of what is played next. It is never changed once built.
type Rotation struct {
	Entries []Entry   `json:"entries"`
	Daypart string    `json:"daypart"` // DaypartKey at BuiltAt
	Seed    uint64    `json:"seed"`
	BuiltAt time.Time `json:"builtAt"`
	// Starts is when the first entry should start.
	Starts time.Time `json:"starts"`
	// InFlight are paths that the engine may still air from the previous rotation.
	InFlight []string `json:"inFlight,omitempty"`
	// Asked are those of InFlight that listeners asked for.
	Asked []string `json:"asked,omitempty"`
	// Listed are the places in playlists of what the engine may still air from the
	// previous rotation, by path.
	Listed map[string]ListPlace `json:"listed,omitempty"`
	// ListKey is that of the function ListKey at BuiltAt.
	ListKey string `json:"listKey,omitempty"`
	// Behind are held entries that follow once the node has their media.
	Behind []Entry `json:"behind,omitempty"`
	// Flown are held entries that were taken for heard when it was built.
	Flown []Entry `json:"flown,omitempty"`
	// Removed are the tracks that were taken out by hand of late, and HeldBy is who last
	// changed by hand what comes.
	Removed []Removed `json:"removed,omitempty"`
	HeldBy  string    `json:"heldBy,omitempty"`
}

// Entry is one place of a rotation.
type Entry struct {
	Track station.Track `json:"track"`
	// Type is music, or the category of an entry that airs annotated.
	Type string `json:"type"`
	// Cross is the length of the crossfade into the next entry.
	Cross time.Duration `json:"cross"`
	// Slot is the number of the imaging break the entry belongs to, from 1; 0
	// for music and for news outside a break.
	Slot int `json:"slot"`
	// Round counts the turns of the track within its deck: see State.
	Round int `json:"round"`
	// Clock is the name of the clock that laid it out; empty means none.
	Clock string `json:"clock,omitempty"`
	// Due is when a timed event should start, and Tolerance how far off it may
	// be; both are zero for all other entries. The event is this entry, or the
	// bulletin that is to be made for the place before it.
	Due       time.Time     `json:"due,omitzero"`
	Tolerance time.Duration `json:"tolerance,omitempty"`
	// AfterNews says that a bulletin belongs before this entry and is still to be made,
	// to tell the time at which this entry is expected to start.
	AfterNews bool `json:"afterNews,omitempty"`
	// Guest says that listeners put it on the air; empty for the station's own.
	Guest Guest `json:"guest,omitempty"`
	// List is the playlist that it is of; 0 for none. Place is where in it.
	List     int64     `json:"list,omitempty"`
	ListName string    `json:"listName,omitempty"`
	Place    ListPlace `json:"place,omitzero"`
	// Relaxed are the rules this entry breaks, the most important first.
	Relaxed []Rule `json:"relaxed,omitempty"`
	Why     Why    `json:"why"`
	// Held says that every rotation keeps it in its place until it was heard; Hand, that
	// somebody put it there.
	Held bool `json:"held,omitempty"`
	Hand bool `json:"hand,omitempty"`
}

// Why explains how an entry was chosen.
type Why struct {
	Reason string `json:"reason"`
	// Wanted is the category that the mix drew; the track may be of another.
	Wanted station.Category `json:"wanted"`
	// Considered is the number of tracks judged.
	Considered int `json:"considered"`
	// PassedOver counts the worse ones, by the weightiest rule they break.
	PassedOver []Passed `json:"passedOver,omitempty"`
}

// Passed counts tracks passed over by one rule.
type Passed struct {
	Rule  Rule `json:"rule"`
	Count int  `json:"count"`
	// Example is the path of one of them.
	Example string `json:"example"`
}

// musicType is the type of entries without annotation.
const musicType = "music"

// Annotation is the type of the entry's annotate: prefix, empty for music
// (mission: *Playlist entry annotation*).
func (e Entry) Annotation() string {
	if e.Type == musicType {
		return ""
	}
	return e.Type
}

// CrossFor is the cross of a track: its own, or that of its kind.
func CrossFor(t *station.Track) time.Duration {
	if t.Own != nil && t.Own.Cut.Cross > 0 {
		return t.Own.Cut.Cross
	}
	return CrossOf(t.Category)
}

// CrossOf is the mission's crossfade for each kind of item.
func CrossOf(c station.Category) time.Duration {
	switch c {
	case station.SFX, station.Shorts:
		return 200 * time.Millisecond
	case station.Jingles, station.Sweepers, station.Ads, station.News:
		return 500 * time.Millisecond
	default:
		return 2 * time.Second
	}
}

func typeOf(c station.Category) string {
	if c.Music() {
		return musicType
	}
	return string(c)
}

// Request is all that a build depends on.
type Request struct {
	Index  *Index
	Config Config
	State  State
	Now    time.Time // in the station's zone
	// Starts is when the first entry should start, at the end of the track on air.
	// Zero means Now.
	Starts time.Time
	// Cross is the cross of the track on air: Starts is so long before its end.
	Cross time.Duration
	Seed  uint64
	// Head holds paths that open the rotation, regardless of the rules.
	Head []string
	// HeadOf is a category whose best track opens the rotation; empty means none.
	HeadOf station.Category
	// Held are entries that come next, as they are; not all of them need to be marked so.
	Held []Entry
	// Removed are the tracks taken out by hand, the newest last, and HeldBy is who last
	// changed by hand what comes.
	Removed []Removed
	HeldBy  string
	// Flown are held entries that are taken for heard.
	Flown []Entry
	// Opened are paths of earlier rotations that the engine may still air.
	Opened []string
	// InFlight is what airs between now and the first entry.
	InFlight []station.Track
	// Prepared is what the engine has opened ahead and should drop without airing it.
	Prepared []station.Track
	// Overlay is what listeners bring: posts and requests.
	Overlay Overlay
	// Lists are the operator's playlists.
	Lists []List
	// Listed are the places in playlists of InFlight and Prepared, by path.
	Listed map[string]ListPlace
	// Tells holds the times that bulletins tell, by path: see Timely.
	Tells map[string]time.Time
	// Renewed says that a new bulletin is made for each place that Build leaves free.
	Renewed bool
}

func (r Request) starts() time.Time {
	if r.Starts.Before(r.Now) {
		return r.Now
	}
	return r.Starts.In(r.Now.Location())
}
