package overlay

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/library/moves"
	"github.com/athir-radio/athir/internal/station"
)

// Kind says what a deed did.
type Kind string

// The kinds.
const (
	Edited   Kind = "edit"
	Covered  Kind = "cover"
	TookBack Kind = "undo"
)

// Deed is one change that an operator made to the notes of some tracks.
type Deed struct {
	ID     int64    `json:"id"`
	At     int64    `json:"at"` // epoch milliseconds
	Who    string   `json:"by"`
	Kind   Kind     `json:"kind"`
	Tracks int      `json:"tracks"`
	Path   string   `json:"path"` // of one of them
	Fields []string `json:"fields" nullable:"false"`
	Undoes int64    `json:"undoes,omitempty"` // the deed that it took back
	Undone int64    `json:"undone,omitempty"` // the deed that took it back
	Before *Note    `json:"before,omitempty"` // of the track that Path names; nil: nothing was said
	After  *Note    `json:"after,omitempty"`
}

const (
	// MostTracks is how many tracks one deed may change.
	MostTracks = 20_000
	keptDeeds  = 365 * 24 * time.Hour
	// mostSaid and mostWritten bound what one deed says of all its tracks together, and what
	// of their notes it writes, in bytes.
	mostSaid    = 16 << 20
	mostWritten = 64 << 20
)

// Order is a change of notes.
type Order struct {
	Who   string
	Kind  Kind
	Paths []string
	Set   json.RawMessage // RFC 7396, of a Note
}

// Outcome is what came of an order.
type Outcome struct {
	Deed    *Deed // nil: nothing was to be changed
	Changed int
	Refused []Refused
}

// Refused is a track that an order left as it was, and why.
type Refused struct {
	Path string `json:"path"`
	En   string `json:"en"`
	Ar   string `json:"ar"`
}

// Change carries out an order: of each track that there is, the fields that it names. Errors:
// *station.FieldError, of what would be wrong with any track.
func (o *Overlay) Change(ctx context.Context, order Order) (Outcome, error) {
	said, fields, err := Note{}.With(order.Set)
	if err != nil {
		return Outcome{}, err
	}
	if said.Cover != "" && !o.opt.Pictured(said.Cover) {
		return Outcome{}, errNoPicture()
	}
	if len(order.Paths) > MostTracks {
		return Outcome{}, station.Wrong("paths", fmt.Sprintf("are %d at most", MostTracks), fmt.Sprintf("عدد المقاطع %d على الأكثر", MostTracks))
	}
	if most := mostSaid / max(len(order.Paths), 1); len(order.Set) > most {
		return Outcome{}, station.Wrong("set", fmt.Sprintf("has %d bytes, and %d at most for so many tracks: change fewer at a time", len(order.Set), most), "النص أطول من أن يُكتب لهذا العدد من المقاطع. غيّر عددًا أقل في كل مرة")
	}
	if len(fields) == 0 {
		return Outcome{}, station.Wrong("set", "must have a field", "حدّد حقلًا واحدًا على الأقل")
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	var out Outcome
	change, written := map[string]kept{}, 0
	for _, path := range slices.Compact(slices.Sorted(slices.Values(order.Paths))) {
		file, there := o.File(path)
		if !there || file.Submitter != "" {
			out.Refused = append(out.Refused, Refused{path, "there is no such track", "لا يوجد مقطع بهذا المسار"})
			continue
		}
		was := o.notes.Load().byPath[path]
		now, _, err := was.With(order.Set)
		if err == nil {
			err = now.fits(file)
		}
		if err != nil {
			if len(order.Paths) == 1 {
				return Outcome{}, err
			}
			out.Refused = append(out.Refused, refusedBy(path, err))
			continue
		}
		if next := (kept{now, moves.StatOf(file)}); !next.equal(was) {
			change[path] = next
			if written += was.bytes() + now.bytes(); written > mostWritten {
				return Outcome{}, station.Wrong("paths", "have more said of them than one change can write: change fewer at a time", "ما كُتب عن هذه المقاطع أطول من أن يُغيَّر دفعة واحدة. غيّر عددًا أقل في كل مرة")
			}
		}
	}
	out.Changed = len(change)
	if len(change) == 0 {
		return out, nil
	}
	out.Deed, err = o.commit(ctx, Deed{Who: order.Who, Kind: cmp.Or(order.Kind, Edited), Fields: fields}, change)
	return out, err
}

func refusedBy(path string, err error) Refused {
	out := Refused{path, err.Error(), err.Error()}
	var field *station.FieldError
	if errors.As(err, &field) {
		out.Ar = field.Arabic
	}
	return out
}

// fits says what of a note does not fit a file.
func (n Note) fits(file station.Track) error {
	switch {
	case ms(n.CueOutMS) > file.Duration:
		return station.Wrong("cueOutMs", fmt.Sprintf("must be within the file, which lasts %d ms", file.Duration.Milliseconds()), "نقطة النهاية بعد نهاية الملف")
	case ms(n.CueInMS) > 0 && file.Duration-ms(n.CueInMS) < shortestOnAir:
		return station.Wrong("cueInMs", "must leave a second of the file at least", "نقطة البداية عند نهاية الملف")
	case n.CrossMS > 0 && n.cut(file.Duration).Cross == 0:
		return station.Wrong("crossMs", "must be less than half of what airs", "مدة التداخل أطول من نصف المقطع")
	}
	return nil
}

// commit writes a deed and its notes, and shows them. The caller holds turn.
func (o *Overlay) commit(ctx context.Context, d Deed, change map[string]kept) (*Deed, error) {
	now := o.notes.Load()
	paths := slices.Sorted(maps.Keys(change))
	d.At, d.Tracks, d.Path = o.opt.Now().UnixMilli(), len(change), paths[0]
	d.Before, d.After = noteOrNil(now.byPath[d.Path].Note), noteOrNil(change[d.Path].Note)
	if d.Fields == nil {
		d.Fields = []string{}
	}
	err := o.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		id, err := insertDeed(ctx, tx, d)
		if err != nil {
			return err
		}
		d.ID = id
		for _, path := range paths {
			if err := writeChange(ctx, tx, id, path, now.byPath[path].Note, change[path]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("write what is said of tracks: %w", err)
	}
	all := maps.Clone(now.byPath)
	for path, k := range change {
		if k.empty() {
			delete(all, path)
		} else {
			all[path] = k
		}
	}
	o.notes.Store(newNotes(all))
	o.own.Tell()
	o.opt.Changed(paths, d.Fields)
	return &d, nil
}

// bytes is about how much a note takes where it is written.
func (n Note) bytes() (sum int) {
	for _, text := range n.texts() {
		sum += len(*text.value)
	}
	for _, a := range n.Aliases {
		sum += len(a)
	}
	if n.Limits != nil {
		sum += 8 * len(n.Limits.Hours)
	}
	return sum
}

func (n Note) empty() bool { return noteOrNil(n) == nil }

func noteOrNil(n Note) *Note {
	if text, err := json.Marshal(n); err == nil && string(text) == "{}" {
		return nil
	}
	return &n
}

// Undo takes a deed back: each of its notes is what it was before, unless it was changed
// again since. Those are kept, and named. Errors: station.ErrNotFound, station.ErrConflict
// where it is taken back already.
func (o *Overlay) Undo(ctx context.Context, id int64, who string) (out Outcome, left []string, err error) {
	o.turn.Lock()
	defer o.turn.Unlock()
	d, changes, err := readDeed(ctx, o.opt.DB.Read(), id)
	if err != nil {
		return Outcome{}, nil, err
	}
	if d.Undone != 0 {
		return Outcome{}, nil, fmt.Errorf("deed %d is taken back already: %w", id, station.ErrConflict)
	}
	change := map[string]kept{}
	for path, c := range changes {
		now := o.notes.Load().byPath[path]
		if !(kept{Note: c.after}).equal(now) {
			left = append(left, path)
			continue
		}
		change[path] = kept{c.before, now.Stat}
		if file, there := o.File(path); there {
			change[path] = kept{c.before, moves.StatOf(file)}
		}
	}
	slices.Sort(left)
	if len(change) == 0 {
		return Outcome{}, left, nil
	}
	out.Changed = len(change)
	out.Deed, err = o.commit(ctx, Deed{Who: who, Kind: TookBack, Fields: d.Fields, Undoes: id}, change)
	return out, left, err
}
