package media

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Snapshot is the registry at one moment. It never changes; share it freely.
type Snapshot struct {
	Tracks      []station.Track // sorted by path (bytes)
	Quarantined []Quarantine    // sorted by path
	// Decks sums Tracks up by category; a category without tracks is not in it.
	Decks map[station.Category]Deck
	// Generation grows with every change of Tracks or Quarantined while this
	// process runs.
	Generation uint64
	ScannedAt  time.Time // end of the last whole scan; zero before the first ever
	Scanning   bool      // a whole scan is under way: more may come
	Passing    bool      // files or folders are looked at: moved ones may be at both places, or at none
	// Problem says what is wrong with the media folder as a whole, for people:
	// missing, unreadable. Tracks are then those last known. Or which files could not
	// be read in time.
	Problem string

	index *index // of Tracks; nil: none is kept
}

// Deck is the sum of one category.
type Deck struct {
	Tracks   int
	Duration time.Duration
}

// DecksOf sums tracks up by category; a category without any is not in it.
func DecksOf(tracks []station.Track) map[station.Category]Deck {
	decks := map[station.Category]Deck{}
	for _, t := range tracks {
		if t.Submitter != "" {
			continue
		}
		d := decks[t.Category]
		decks[t.Category] = Deck{d.Tracks + 1, d.Duration + t.Duration}
	}
	return decks
}

// Quarantine is a file that cannot be aired.
type Quarantine struct {
	Path   string // relative to the media root, any bytes but NUL
	Reason string // for people
	Since  time.Time

	file  fileStamp
	stamp uint64
}

// Find returns the track with that path.
func (s *Snapshot) Find(path string) (station.Track, bool) {
	i, ok := slices.BinarySearchFunc(s.Tracks, path, func(t station.Track, p string) int { return strings.Compare(t.Path, p) })
	if !ok {
		return station.Track{}, false
	}
	return s.Tracks[i], true
}

// ByID returns the track that addresses name by an id, as station.TrackID makes them.
func (s *Snapshot) ByID(id string) (station.Track, bool) {
	x := s.indexed()
	i, ok := x.byID()[id]
	if !ok {
		return station.Track{}, false
	}
	return x.tracks[i], true
}

// fileStamp identifies a file's content by its stat.
type fileStamp struct{ size, mtime int64 } // bytes; ns since 1970

// registry is the content of the database, sorted by path. It is immutable:
// merge makes the next one.
type registry struct {
	tracks  []station.Track
	stamps  []uint64 // of tracks, by index
	refused []Quarantine
}

func (r *registry) track(path string) (int, bool) {
	return slices.BinarySearchFunc(r.tracks, path, func(t station.Track, p string) int { return strings.Compare(t.Path, p) })
}

func (r *registry) refusal(path string) (int, bool) {
	return slices.BinarySearchFunc(r.refused, path, func(q Quarantine, p string) int { return strings.Compare(q.Path, p) })
}

// change is the new state of one path: a track, a refusal, or neither (gone).
type change struct {
	path    string
	track   *station.Track
	stamp   uint64
	refused *Quarantine
}

// merge returns r with the changes applied; the later of two for one path counts.
func (r *registry) merge(changes []change) *registry {
	if len(changes) == 0 {
		return r
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	next := &registry{
		tracks:  make([]station.Track, 0, len(r.tracks)+len(changes)),
		stamps:  make([]uint64, 0, len(r.tracks)+len(changes)),
		refused: make([]Quarantine, 0, len(r.refused)),
	}
	ti, ri := 0, 0
	keep := func(before string, all bool) {
		for ; ti < len(r.tracks) && (all || r.tracks[ti].Path < before); ti++ {
			next.tracks, next.stamps = append(next.tracks, r.tracks[ti]), append(next.stamps, r.stamps[ti])
		}
		for ; ri < len(r.refused) && (all || r.refused[ri].Path < before); ri++ {
			next.refused = append(next.refused, r.refused[ri])
		}
	}
	for i, c := range changes {
		if i+1 < len(changes) && changes[i+1].path == c.path {
			continue
		}
		keep(c.path, false)
		if ti < len(r.tracks) && r.tracks[ti].Path == c.path {
			ti++
		}
		if ri < len(r.refused) && r.refused[ri].Path == c.path {
			ri++
		}
		if c.track != nil {
			next.tracks, next.stamps = append(next.tracks, *c.track), append(next.stamps, c.stamp)
		}
		if c.refused != nil {
			next.refused = append(next.refused, *c.refused)
		}
	}
	keep("", true)
	return next
}

// within reports whether path is scope itself or lies under it; "" is the root.
func within(path, scope string) bool {
	return scope == "" || path == scope || (len(path) > len(scope) && path[len(scope)] == '/' && path[:len(scope)] == scope)
}
