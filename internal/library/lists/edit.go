package lists

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Edit is a change of the tracks of a playlist by hand: one of its fields.
type Edit struct {
	Add    *Add
	Remove *Some
	Move   *Move
	Sort   string // title, artist, album, duration, path, shuffle
}

// Add puts tracks in.
type Add struct {
	Paths []string // relative to the media folder
	At    *int     // the place of the first; nil: at the end
}

// Some names places of a playlist, from 0.
type Some struct {
	Places []int `json:"places" nullable:"false" minItems:"1" maxItems:"20000"`
}

// Move puts tracks elsewhere, in the order in which they are.
type Move struct {
	Places []int `json:"places" nullable:"false" minItems:"1" maxItems:"20000"`
	To     int   `json:"to" minimum:"0" doc:"The place before which they go, as counted before; as many as there are: the end"`
}

// Refused is a track that was left out, and why.
type Refused struct {
	Path string `json:"path"`
	En   string `json:"en"`
	Ar   string `json:"ar"`
}

// Outcome is what came of an order.
type Outcome struct {
	Playlist *Playlist // nil: it is gone
	Deed     *Deed     // nil: nothing was to be changed
	Added    int
	Refused  []Refused
}

// at is a playlist as of a version. Errors: station.ErrNotFound, station.ErrConflict.
func (b *book) at(id, version int64) (*record, error) {
	r, err := b.record(id)
	if err == nil && r.version != version {
		err = fmt.Errorf("version: the playlist has been changed since, it is of version %d: read it again: %w", r.version, station.ErrConflict)
	}
	return r, err
}

// Edit changes the tracks of a playlist by hand. Errors: *station.FieldError, station.ErrNotFound,
// station.ErrConflict where version is not the playlist's.
func (l *Lists) Edit(ctx context.Context, who string, id, version int64, e Edit) (Outcome, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	r, err := l.book.Load().at(id, version)
	if err != nil {
		return Outcome{}, err
	}
	if r.Kind != Hand {
		return Outcome{}, station.Wrong("kind", "must be hand: the tracks of this playlist are found, not chosen", "مقاطع هذه القائمة تُجمع تلقائيًا ولا تُختار")
	}
	var out Outcome
	items, err := e.apply(r, l.opt.Registry.Tracks(), &out)
	if err != nil {
		return Outcome{}, err
	}
	if slices.Equal(items, r.items) {
		p := l.shown(r)
		out.Playlist = &p
		return out, nil
	}
	next := *r
	next.items = items
	done, err := l.commit(ctx, Deed{Who: who, Kind: Ordered}, r, &next)
	done.Added, done.Refused = out.Added, out.Refused
	return done, err
}

// apply returns the tracks after an edit.
func (e Edit) apply(r *record, tracks []station.Track, out *Outcome) ([]string, error) {
	asked := 0
	for _, is := range []bool{e.Add != nil, e.Remove != nil, e.Move != nil, e.Sort != ""} {
		if is {
			asked++
		}
	}
	if asked != 1 {
		return nil, station.Wrong("add", "send exactly one of add, remove, move and sort", "اطلب تغييرًا واحدًا في كل مرة")
	}
	switch {
	case e.Add != nil:
		return e.Add.apply(r.items, tracks, out)
	case e.Remove != nil:
		gone, err := placesOf("remove.places", e.Remove.Places, len(r.items))
		if err != nil {
			return nil, err
		}
		_, rest := parted(r.items, gone)
		return rest, nil
	case e.Move != nil:
		picked, err := placesOf("move.places", e.Move.Places, len(r.items))
		if err != nil {
			return nil, err
		}
		if e.Move.To < 0 || e.Move.To > len(r.items) {
			return nil, station.Wrong("move.to", fmt.Sprintf("must be 0 to %d", len(r.items)), "الموضع خارج القائمة")
		}
		before := 0 // of those that stay
		for i := range e.Move.To {
			if !picked[i] {
				before++
			}
		}
		some, rest := parted(r.items, picked)
		return slices.Concat(rest[:before], some, rest[before:]), nil
	}
	return sorted(r, tracks, e.Sort)
}

func placesOf(field string, places []int, n int) (map[int]bool, error) {
	out := make(map[int]bool, len(places))
	for _, at := range places {
		if at < 0 || at >= n {
			return nil, station.Wrong(field, fmt.Sprintf("must be 0 to %d", n-1), "الموضع خارج القائمة")
		}
		out[at] = true
	}
	return out, nil
}

// parted parts the items at some places from the rest.
func parted(items []string, picked map[int]bool) (some, rest []string) {
	for i, path := range items {
		if picked[i] {
			some = append(some, path)
		} else {
			rest = append(rest, path)
		}
	}
	return some, rest
}

func (a Add) apply(items []string, tracks []station.Track, out *Outcome) ([]string, error) {
	at := len(items)
	if a.At != nil {
		at = *a.At
	}
	if at < 0 || at > len(items) {
		return nil, station.Wrong("add.at", fmt.Sprintf("must be 0 to %d", len(items)), "الموضع خارج القائمة")
	}
	known, refused := known(a.Paths, tracks)
	if len(items)+len(known) > MostItems {
		return nil, tooLong()
	}
	out.Added, out.Refused = len(known), refused
	return slices.Insert(slices.Clone(items), at, known...), nil
}

func tooLong() error {
	return station.Wrong("items", fmt.Sprintf("are %d at most: make another playlist", MostItems), fmt.Sprintf("في القائمة %d مقطع على الأكثر. أنشئ قائمة أخرى", MostItems))
}

// known parts paths of the library from others. Listeners' posts are nobody's to choose.
func known(paths []string, tracks []station.Track) (some []string, refused []Refused) {
	for _, path := range paths {
		i, there := station.Find(tracks, path)
		switch {
		case !there:
			refused = append(refused, Refused{path, "there is no such track", "لا يوجد مقطع بهذا المسار"})
		case tracks[i].Submitter != "":
			refused = append(refused, Refused{path, "a listener's post airs by itself", "مشاركات المستمعين تُذاع من تلقاء نفسها"})
		default:
			some = append(some, path)
		}
	}
	return some, refused
}

// sorted returns the items in an order. What has no file comes last, as it was.
func sorted(r *record, tracks []station.Track, by string) ([]string, error) {
	keys := make(map[string]string, len(r.items))
	for _, path := range r.items {
		i, there := station.Find(tracks, path)
		if !there {
			continue
		}
		key, err := keyOf(&tracks[i], by, r.version)
		if err != nil {
			return nil, err
		}
		keys[path] = key
	}
	out := slices.Clone(r.items)
	slices.SortStableFunc(out, func(a, b string) int {
		keyA, thereA := keys[a]
		keyB, thereB := keys[b]
		switch {
		case thereA != thereB:
			return map[bool]int{true: -1, false: 1}[thereA]
		case !thereA:
			return 0
		}
		return cmp.Or(cmp.Compare(keyA, keyB), cmp.Compare(a, b))
	})
	return out, nil
}

// keyOf is what a track is sorted by; round tells one shuffle from the next.
func keyOf(t *station.Track, by string, round int64) (string, error) {
	switch by {
	case "title":
		return rotation.Fold(t.Title), nil
	case "artist":
		return rotation.Fold(t.Artist) + "\x00" + rotation.Fold(t.Title), nil
	case "album":
		return rotation.Fold(t.Album) + "\x00" + t.Path, nil
	case "duration":
		return fmt.Sprintf("%020d", t.Duration), nil
	case "path":
		return t.Path, nil
	case "shuffle":
		h := fnv.New128a()
		_, _ = fmt.Fprintf(h, "%d\x00%s", round, t.Path) // never fails
		return string(h.Sum(nil)), nil
	}
	return "", station.Wrong("sort", "must be title, artist, album, duration, path or shuffle", "الترتيب غير معروف")
}
