package rotation

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// List is a playlist of the operator's, with the tracks that it has now. It is the operator's
// word: the mix, a hard window and the quality floor do not judge what it brings.
type List struct {
	ID    int64
	Name  string    // unique; what a clock's position names
	Paths []string  // in order; may repeat; those that are not in the index are passed over
	Order ListOrder // which track is next
	Plays ListPlays // where it airs
	Share float64   // of PlaysShare: chance that a place for music is its, 0 to 1
	Every int       // of PlaysSongs: one after so many songs
	// Minute is when PlaysHourly airs one, in minutes after the hour.
	Minute int
	When   []Window // when it may play; none: always, which is a window from midnight to midnight
	// Edition counts changes by an operator's hand, also that it is switched on, and those at a
	// remote playlist's address. A search that finds another track is none.
	Edition int64
}

// ListOrder says which track of a playlist is next.
type ListOrder string

// The orders.
const (
	OrderSequence ListOrder = "sequence" // in its own order, from after what last aired
	OrderTurns    ListOrder = "turns"    // the best by the ladder of rules, as of a deck
	OrderShuffle  ListOrder = "shuffle"  // a random order, all of it before any repeats
)

// ListPlays says where a playlist airs.
type ListPlays string

// Where it airs.
const (
	PlaysClock  ListPlays = "clock"  // where a clock's position names it
	PlaysOnly   ListPlays = "only"   // in every place for music
	PlaysShare  ListPlays = "share"  // in a share of the places for music
	PlaysSongs  ListPlays = "songs"  // one after every so many songs
	PlaysHourly ListPlays = "hourly" // one each hour, at a minute
	PlaysOnce   ListPlays = "once"   // all of it, from the start of each window
)

// Window is a time in which a playlist may play. An empty condition always holds.
type Window struct {
	// Days on which it begins.
	Days []Weekday `json:"days,omitempty"`
	// Daypart within which alone it is open.
	Daypart string `json:"daypart,omitempty"`
	// Start and End bound it. End is exclusive; at or before Start it lies on the next
	// day. If they are equal, the whole day counts.
	Start TimeOfDay `json:"start"`
	End   TimeOfDay `json:"end"`
	// From and Until are the first day and the last on which it begins.
	From  station.Date `json:"from,omitzero"`
	Until station.Date `json:"until,omitzero"`
}

// IsNamed reports whether a playlist has a name, as names of playlists are compared.
func (l *List) IsNamed(name string) bool { return ListNameKey(l.Name) == ListNameKey(name) }

// ListNameKey is the form in which names of playlists are unique; those of punctuation alone are
// as they are written.
func ListNameKey(name string) string { return cmp.Or(Fold(name), name) }

// timed reports whether a playlist has timed events.
func (l *List) timed() bool {
	return l.Plays == PlaysHourly || l.Plays == PlaysOnly || l.Plays == PlaysOnce
}

// Bounds of playlists.
const (
	MostLists       = 200
	LongestListName = 200 // bytes
)

// OpenLists returns the playlists that take over the music at a time, which is in the
// station's zone: those of PlaysOnly and PlaysOnce whose window is open, by ID.
func OpenLists(cfg Config, lists []List, at time.Time) (ids []int64) {
	parts := cfg.dayparts()
	for i := range lists {
		l := &lists[i]
		if l.Plays != PlaysOnly && l.Plays != PlaysOnce {
			continue
		}
		if _, open := l.spell(parts, at); open {
			ids = append(ids, l.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// ListKey names what OpenLists returns: a rotation is stamped with that of its time, and built
// anew when it differs.
func ListKey(cfg Config, lists []List, at time.Time) string {
	var key []string
	for _, id := range OpenLists(cfg, lists, at) {
		key = append(key, strconv.FormatInt(id, 10))
	}
	return strings.Join(key, ",")
}

// listCategory is what a clock's position asks for if it names a playlist. Within the planner
// a step's category has the name, too.
const listCategory = "playlist"

// category is what a step of this position asks for.
func (pos Position) category() string {
	if pos.Category == listCategory {
		return listCategory + ":" + pos.List
	}
	return pos.Category
}

// listOf returns the name of the playlist that a step asks for.
func listOf(category string) (name string, ok bool) {
	return strings.CutPrefix(category, listCategory+":")
}
