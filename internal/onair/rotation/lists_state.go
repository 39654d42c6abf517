package rotation

import (
	"maps"
	"slices"
	"time"
)

// ListState is what of a playlist was heard.
type ListState struct {
	Index int       `json:"index"` // place of the last one in List.Paths, as those were then
	Path  string    `json:"path"`  // that was there
	At    time.Time `json:"at"`    // when it began
	Aired int       `json:"aired"` // how many did, ever
	// Of OrderShuffle: which random order it is, and what of it was had. Every key up to
	// Done was, and those in Ahead, which were chosen before others.
	Cycle int      `json:"cycle,omitempty"`
	Done  uint64   `json:"done,omitempty"`
	Ahead []uint64 `json:"ahead,omitempty"`
	// From is the start of the window for which PlaysOnce began.
	From time.Time `json:"from,omitzero"`
	// Due is when the last timed event was due.
	Due time.Time `json:"due,omitzero"`
}

// ListPlace is the place of an entry in its playlist.
type ListPlace struct {
	List  int64     `json:"list"`
	Index int       `json:"index"` // in List.Paths
	Cycle int       `json:"cycle,omitempty"`
	Key   uint64    `json:"key,omitempty"` // in the random order; 0: none
	Done  uint64    `json:"done,omitempty"`
	From  time.Time `json:"from,omitzero"`
	Due   time.Time `json:"due,omitzero"`
}

// heard returns the state after an airing. Which of two came first is for the cursor to say, not
// for the clock, which may have been set back.
func (s ListState) heard(pl ListPlace, path string, at time.Time) ListState {
	s.Aired++
	s.At = at
	return s.passed(pl, path)
}

// heardLate returns the state after an airing of which the marker came late: something else of the
// playlist may have been heard since.
func (s ListState) heardLate(pl ListPlace, path string, at time.Time) ListState {
	if at.After(s.At) {
		return s.heard(pl, path, at)
	}
	s.Aired++
	return s.had(pl)
}

// passed returns the state after an entry whose turn is over, whether it was heard or could not
// be aired: a file that is broken must not hold up its playlist.
func (s ListState) passed(pl ListPlace, path string) ListState {
	s.Index, s.Path, s.From = pl.Index, path, pl.From
	if pl.Due.After(s.Due) {
		s.Due = pl.Due
	}
	return s.had(pl)
}

// had counts a track of a random order.
func (s ListState) had(pl ListPlace) ListState {
	switch {
	case pl.Key == 0 || pl.Cycle < s.Cycle:
		return s
	case pl.Cycle > s.Cycle:
		s.Cycle, s.Done, s.Ahead = pl.Cycle, pl.Done, nil
	default:
		s.Done = max(s.Done, pl.Done)
	}
	ahead := slices.DeleteFunc(slices.Clone(s.Ahead), func(key uint64) bool { return key <= s.Done })
	if pl.Key > s.Done && !slices.Contains(ahead, pl.Key) {
		ahead = append(ahead, pl.Key)
	}
	s.Ahead = ahead
	return s
}

// listsKept bounds of how many playlists it is remembered what was heard: twice as many as there
// may be at a time.
const listsKept = 2 * MostLists

// ofList returns the state after a change of what was heard of a playlist. The receiver stays as
// it was.
func (s State) ofList(id int64, change func(ListState) ListState) State {
	was := s.Lists
	s.Lists = make(map[int64]ListState, len(was)+1)
	maps.Copy(s.Lists, was)
	s.Lists[id] = change(was[id])
	if len(s.Lists) > listsKept {
		oldest := id
		for other, st := range s.Lists {
			if c := st.At.Compare(s.Lists[oldest].At); c < 0 || c == 0 && other < oldest {
				oldest = other
			}
		}
		delete(s.Lists, oldest)
	}
	return s
}

// heardOfList notes what of a playlist began at m; i is the entry on air, -1 if it is none of
// the rotation. The entries between it and the last one could not be aired.
func (s State) heardOfList(rot Rotation, m Marker, kind Kind, from, i int) State {
	if kind == Advanced {
		for _, e := range rot.Entries[min(from, i):i] {
			if e.List != 0 {
				s = s.ofList(e.List, func(st ListState) ListState { return st.passed(e.Place, e.Track.Path) })
			}
		}
	}
	pl, listed := rot.Listed[m.Path]
	if i >= 0 {
		pl, listed = rot.Entries[i].Place, rot.Entries[i].List != 0
	}
	switch {
	case !listed:
		return s
	case kind == Wrapped: // heard again: its place was passed
		return s.ofList(pl.List, func(st ListState) ListState { st.Aired, st.At = st.Aired+1, m.At; return st })
	case kind == Late:
		return s.ofList(pl.List, func(st ListState) ListState { return st.heardLate(pl, m.Path, m.At) })
	}
	return s.ofList(pl.List, func(st ListState) ListState { return st.heard(pl, m.Path, m.At) })
}
