package lists

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/athir-radio/athir/internal/library/moves"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// DeedKind says what a deed did.
type DeedKind string

// The kinds.
const (
	Made     DeedKind = "make"
	Changed  DeedKind = "set"
	Ordered  DeedKind = "items"
	Deleted  DeedKind = "delete"
	TookBack DeedKind = "undo"
)

// Deed is one change of a playlist.
type Deed struct {
	ID     int64    `json:"id"`
	At     int64    `json:"at"` // epoch milliseconds
	Who    string   `json:"by"`
	Kind   DeedKind `json:"kind" enum:"make,set,items,delete,undo"`
	List   int64    `json:"list"`
	Name   string   `json:"name"`
	Tracks int      `json:"tracks" doc:"That were chosen by hand, afterwards"`
	Undoes int64    `json:"undoes,omitempty" doc:"The deed that it took back"`
	Undone int64    `json:"undone,omitempty" doc:"The deed that took it back"`

	before, after state
}

// state is what a deed changed of a playlist, before or after it. Both are nil where there was no
// playlist; one where it stayed as it was.
type state struct {
	settings *Settings
	items    []string // nil: they stayed; none is empty
}

func (s state) exists() bool { return s.settings != nil || s.items != nil }

// holds reports that a playlist is as a deed left it.
func (s state) holds(r *record) bool {
	if r == nil || !s.exists() {
		return r == nil && !s.exists()
	}
	return (s.settings == nil || reflect.DeepEqual(*s.settings, r.Settings)) && (s.items == nil || slices.Equal(s.items, r.items))
}

// states are what of two records differs; a nil record is none.
func states(was, is *record) (before, after state) {
	whole := was == nil || is == nil
	if whole || !reflect.DeepEqual(was.Settings, is.Settings) {
		before.settings, after.settings = settingsOf(was), settingsOf(is)
	}
	if whole || !slices.Equal(was.items, is.items) {
		before.items, after.items = itemsOf(was), itemsOf(is)
	}
	return before, after
}

func settingsOf(r *record) *Settings {
	if r == nil {
		return nil
	}
	s := r.Settings
	return &s
}

func itemsOf(r *record) []string {
	if r == nil {
		return nil
	}
	return append([]string{}, r.items...)
}

const (
	// keptDeeds is for how long a deed can be taken back; of each playlist the latest.
	keptDeeds = 365 * 24 * time.Hour
	mostDeeds = 100
)

// Make makes a playlist of tracks that the library has. Errors: *station.FieldError.
func (l *Lists) Make(ctx context.Context, who string, s Settings, paths []string) (Outcome, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	s = s.tidied()
	if err := l.fits(s, 0); err != nil {
		return Outcome{}, err
	}
	if len(l.book.Load().byID) >= MostLists {
		return Outcome{}, station.Wrong("name", fmt.Sprintf("there are %d playlists already: delete one first", MostLists), fmt.Sprintf("عدد القوائم بلغ %d. احذف قائمة أولًا", MostLists))
	}
	some, refused := known(paths, l.opt.Registry.Tracks())
	if len(some) > MostItems {
		return Outcome{}, tooLong()
	}
	out, err := l.commit(ctx, Deed{Who: who, Kind: Made}, nil, &record{Settings: s, items: some})
	out.Added, out.Refused = len(some), refused
	return out, err
}

// Free is a name that no playlist has: the one asked for, shortened if need be, or with a number.
func (l *Lists) Free(name string) string {
	name = cmp.Or(tidy(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, ""))), "Playlist")
	taken := map[string]bool{}
	for _, r := range l.book.Load().byID {
		taken[rotation.ListNameKey(r.Name)] = true
	}
	for n := 1; ; n++ {
		ending := ""
		if n > 1 {
			ending = fmt.Sprintf(" (%d)", n)
		}
		text := []rune(name)
		one := strings.TrimSpace(string(text[:min(len(text), longestName-len(ending))])) + ending
		if !taken[rotation.ListNameKey(one)] {
			return one
		}
	}
}

// fits says what is wrong with settings of the playlist of an id.
func (l *Lists) fits(s Settings, id int64) error {
	var parts []string
	for _, d := range l.opt.Config().DaypartsInForce() {
		parts = append(parts, d.Name)
	}
	if err := s.check(parts); err != nil {
		return err
	}
	for _, r := range l.book.Load().byID {
		if r.id != id && rotation.ListNameKey(r.Name) == rotation.ListNameKey(s.Name) {
			return station.Wrong("name", "must differ from other playlists' names", "توجد قائمة بهذا الاسم")
		}
	}
	return nil
}

// namedBy says which hour clock names a playlist that is to have another name.
func (l *Lists) namedBy(was, is string) error {
	clock, asked := l.askedBy(was)
	if !asked || rotation.ListNameKey(was) == rotation.ListNameKey(is) {
		return nil
	}
	return station.Wrong("name", fmt.Sprintf("is what the hour clock %q calls it: change the clock first", clock), fmt.Sprintf("قالب الساعة «%s» يسمّي القائمة باسمها الحالي. غيّره هناك أولًا", clock))
}

// neededBy says which hour clock would ask in vain for a playlist that is to go.
func (l *Lists) neededBy(name string) error {
	clock, asked := l.askedBy(name)
	if !asked {
		return nil
	}
	return &stuck{fmt.Sprintf("the hour clock %q asks for this playlist: change the clock first", clock), fmt.Sprintf("قالب الساعة «%s» يطلب هذه القائمة. غيّره أولًا", clock)}
}

// stuck is why a playlist stays as it is. It is a conflict, also where a field is at fault: the
// remedy is elsewhere.
type stuck struct{ en, ar string }

func (s *stuck) Error() string { return s.en }
func (s *stuck) Unwrap() error { return station.ErrConflict }

// Spoken are its words.
func (s *stuck) Spoken() (code, en, ar string, at time.Time) {
	return "playlist", s.en, s.ar, time.Time{}
}

// stuckBy is err as a reason why a playlist cannot be what it was.
func stuckBy(err error) error {
	var field *station.FieldError
	if !errors.As(err, &field) {
		return err
	}
	return &stuck{"the playlist cannot be what it was: " + field.Error(), field.Arabic}
}

// askedBy is the hour clock that asks for a playlist by its name.
func (l *Lists) askedBy(name string) (clock string, asked bool) {
	for _, c := range l.opt.Config().Clocks {
		for _, pos := range c.Hour {
			if pos.List != "" && rotation.ListNameKey(pos.List) == rotation.ListNameKey(name) {
				return c.Name, true
			}
		}
	}
	return "", false
}

// Set changes settings. One that is no longer found by itself keeps, by hand, the tracks that it
// had. Errors: *station.FieldError, station.ErrNotFound, station.ErrConflict where version is not
// the playlist's.
func (l *Lists) Set(ctx context.Context, who string, id, version int64, s Settings) (Outcome, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	r, err := l.book.Load().at(id, version)
	if err != nil {
		return Outcome{}, err
	}
	s = s.tidied()
	if err := l.fits(s, id); err != nil {
		return Outcome{}, err
	}
	if err := l.namedBy(r.Name, s.Name); err != nil {
		return Outcome{}, err
	}
	next := *r
	next.Settings = s
	if s.Kind == Hand && r.Kind != Hand {
		next.items, _ = known(l.found.Load().paths[id], l.opt.Registry.Tracks())
	}
	if reflect.DeepEqual(next.Settings, r.Settings) && slices.Equal(next.items, r.items) {
		p := l.shown(r)
		return Outcome{Playlist: &p}, nil
	}
	return l.commit(ctx, Deed{Who: who, Kind: Changed}, r, &next)
}

// Delete removes a playlist; its tracks stay in the library. Errors: station.ErrNotFound;
// station.ErrConflict where an hour clock asks for it.
func (l *Lists) Delete(ctx context.Context, who string, id int64) (Outcome, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	r, err := l.book.Load().record(id)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.neededBy(r.Name); err != nil {
		return Outcome{}, err
	}
	return l.commit(ctx, Deed{Who: who, Kind: Deleted}, r, nil)
}

// Undo takes a deed back. Errors: station.ErrNotFound; station.ErrConflict where it is taken back
// already, or what it changed was changed again since.
func (l *Lists) Undo(ctx context.Context, who string, id int64) (Outcome, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	d, err := readDeed(ctx, l.opt.DB.Read(), id)
	if err != nil {
		return Outcome{}, err
	}
	now := l.book.Load().byID[d.List]
	switch {
	case d.Undone != 0:
		return Outcome{}, fmt.Errorf("deed %d is taken back already: %w", id, station.ErrConflict)
	case !d.after.holds(now):
		return Outcome{}, fmt.Errorf("the playlist %q has been changed again since: it stays as it is: %w", d.Name, station.ErrConflict)
	}
	var next *record
	if d.before.exists() {
		next = &record{id: d.List}
		if now != nil {
			*next = *now
		}
		if d.before.settings != nil {
			next.Settings = *d.before.settings
		}
		if d.before.items != nil {
			next.items = d.before.items
		}
		if err := l.fits(next.Settings, d.List); err != nil {
			return Outcome{}, stuckBy(err)
		}
		if now == nil && len(l.book.Load().byID) >= MostLists {
			return Outcome{}, fmt.Errorf("there are %d playlists already: delete one first: %w", MostLists, station.ErrConflict)
		}
	}
	switch {
	case now == nil:
	case next == nil:
		err = l.neededBy(now.Name)
	default:
		err = stuckBy(l.namedBy(now.Name, next.Name))
	}
	if err != nil {
		return Outcome{}, err
	}
	return l.commit(ctx, Deed{Who: who, Kind: TookBack, Undoes: id}, now, next)
}

// commit writes a deed and its playlist, and shows it. The caller holds turn. was is nil where
// there is no playlist yet, is where there is none any more.
func (l *Lists) commit(ctx context.Context, d Deed, was, is *record) (Outcome, error) {
	d.At = l.opt.Now().UnixMilli()
	d.before, d.after = states(was, is)
	b := l.book.Load()
	next := &book{byID: maps.Clone(b.byID), files: b.files}
	if was != nil {
		d.List, d.Name = was.id, was.Name
	}
	var fresh map[string]moves.Stat
	if is != nil {
		is.changed, is.who, is.version = d.At, d.Who, is.version+1
		if was == nil && is.id != 0 {
			is.version = d.At // none that it has had
		}
		if fresh = statsOf(is.items, b.files, l.opt.Registry.Tracks()); len(fresh) > 0 {
			next.files = maps.Clone(b.files)
			maps.Copy(next.files, fresh)
		}
	}
	err := l.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if is == nil {
			if _, err := tx.ExecContext(ctx, `DELETE FROM lists_list WHERE id = ?`, was.id); err != nil {
				return err
			}
		} else {
			if err := writeRecord(ctx, tx, is); err != nil {
				return err
			}
			d.List, d.Name, d.Tracks = is.id, is.Name, len(is.items)
		}
		if err := writeFiles(ctx, tx, fresh); err != nil {
			return err
		}
		return insertDeed(ctx, tx, &d)
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("write a playlist: %w", err)
	}
	if is != nil {
		next.byID[is.id] = is
	} else {
		delete(next.byID, was.id)
	}
	l.book.Store(next)
	l.look()
	l.own.Tell()
	l.far.tell()
	out := Outcome{Deed: &d}
	if is != nil {
		p := l.shown(is)
		out.Playlist = &p
	}
	return out, nil
}

// statsOf are what the files of items are, where that is not known yet. It stays known of what is
// taken out, which may be brought back.
func statsOf(items []string, known map[string]moves.Stat, tracks []station.Track) map[string]moves.Stat {
	out := map[string]moves.Stat{}
	for _, path := range items {
		if i, there := station.Find(tracks, path); there {
			if now := moves.StatOf(tracks[i]); known[path] != now {
				out[path] = now
			}
		}
	}
	return out
}

// encode is settings as their row has them.
func encode(s *Settings) (string, error) {
	if s == nil {
		return "", nil
	}
	text, err := json.Marshal(s)
	return string(text), err
}
