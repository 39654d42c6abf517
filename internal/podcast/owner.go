package podcast

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("podcast", migrations) }

// Options of Podcasts. Log, DB, Dir, Finish and Station are required.
type Options struct {
	Log *slog.Logger
	DB  *store.DB
	// Dir holds the files: a folder for each show. It holds nothing else.
	Dir     string
	Origins map[Kind]Origin
	Finish  Finisher
	Station func() string // its name
	// StationCover is a picture for shows that have none; nil, or of it, is one that is drawn here.
	StationCover func(ctx context.Context) image.Image
	// CoverStamp changes whenever StationCover may give another; nil: that is looked at every few
	// minutes.
	CoverStamp   func() string
	MostBytes    int64 // of all files; 0: no bound
	ReserveBytes int64 // of the disk, that stay free beside what each program leaves
	// Hold waits while the machine is short of what the air needs; may be nil.
	Hold func(ctx context.Context) error
	Now  func() time.Time
}

// undoFor is how long what was removed by hand can be brought back.
const undoFor = 7 * 24 * time.Hour

// Podcasts owns shows and episodes. Its methods may be called from any goroutine. What it says of
// shows and episodes comes from memory; a change is on disk when its method returns nil.
type Podcasts struct {
	opt   Options
	turn  sync.Mutex // one change after another
	book  atomic.Pointer[book]
	seen  atomic.Pointer[view]
	wake  map[Kind]chan struct{} // something has come or gone at an origin
	ready chan struct{}          // an episode waits to be made
	work  work
	count counter
	cover covers
	face  func(ctx context.Context) ([]byte, error) // draws it
	space func(dir string) (free, size uint64, err error)
	step  func(what string) // a test's: between two things that a kill may come between
}

// Open reads what there is.
func Open(ctx context.Context, o Options) (*Podcasts, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CoverStamp == nil {
		o.CoverStamp = func() string { return "" }
	}
	if o.Hold == nil {
		o.Hold = func(ctx context.Context) error { return ctx.Err() }
	}
	if err := o.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate the tables of podcasts: %w", err)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of podcasts: %w", err)
	}
	b, err := readBook(ctx, o.DB.Read())
	if err != nil {
		return nil, fmt.Errorf("read podcasts: %w", err)
	}
	p := &Podcasts{opt: o, wake: map[Kind]chan struct{}{}, ready: make(chan struct{}, 1), space: file.Space, step: func(string) {}}
	p.face = p.drawn
	for kind := range o.Origins {
		p.wake[kind] = make(chan struct{}, 1)
	}
	p.count.heard, p.cover = map[string]map[string]int64{}, covers{turn: make(chan struct{}, 1), own: map[string][]byte{}}
	p.book.Store(b)
	return p, nil
}

// Wake tells that something was recorded, made, approved or withdrawn.
func (p *Podcasts) Wake() {
	for _, c := range p.wake {
		nudge(c)
	}
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// now is what listeners see.
func (p *Podcasts) now() *view {
	now, b, v := p.opt.Now(), p.book.Load(), p.seen.Load()
	if at := now.UnixMilli(); v != nil && v.book == b && at >= v.from && at < v.until {
		return v
	}
	v = b.view(now)
	p.seen.Store(v)
	return v
}

// Shows are all shows by title, those among them that are off or were removed and can come back:
// Public tells. They are shared and never changed.
func (p *Podcasts) Shows() []*Show { return p.now().shows }

// Show is one of Shows. The error is of kind station.ErrNotFound.
func (p *Podcasts) Show(slug string) (*Show, error) {
	if s := p.now().bySlug[slug]; s != nil {
		return s, nil
	}
	return nil, noShow(slug)
}

// Heard are the episodes that listeners see now, the newest first, shared and never changed. The
// error is of kind station.ErrNotFound: there is no such show for listeners.
func (p *Podcasts) Heard(slug string) ([]Episode, error) {
	if heard, ok := p.now().heard[slug]; ok {
		return heard, nil
	}
	return nil, noShow(slug)
}

// Sound is the file of an episode that listeners may hear. The error is of kind
// station.ErrNotFound.
func (p *Podcasts) Sound(slug, id string) (path string, e Episode, err error) {
	v := p.now()
	heard, ok := v.heard[slug]
	if !ok {
		return "", Episode{}, noShow(slug)
	}
	s := v.book.shelves[slug]
	i, ok := s.at[id]
	if i -= len(s.published) - len(heard); !ok || i < 0 {
		return "", Episode{}, noEpisode(slug, id)
	}
	return p.path(slug, heard[i].File), heard[i], nil
}

// SoundOf is Sound for the studio: of any episode that has a file.
func (p *Podcasts) SoundOf(_ context.Context, slug, id string) (path string, e Episode, err error) {
	r, err := p.book.Load().record(slug, id)
	if err != nil {
		return "", Episode{}, err
	}
	if r.File == "" {
		return "", Episode{}, fmt.Errorf("episode %s is not made yet: %w", id, station.ErrNotFound)
	}
	return p.path(slug, r.File), r.Episode, nil
}

func (p *Podcasts) path(slug, name string) string { return filepath.Join(p.opt.Dir, slug, name) }

// Episodes are all of a show, the newest first, removed ones that can come back included. The error
// is of kind station.ErrNotFound.
func (p *Podcasts) Episodes(_ context.Context, slug string) ([]Episode, error) {
	s, ok := p.book.Load().shelves[slug]
	if !ok {
		return nil, noShow(slug)
	}
	all := make([]*record, 0, len(s.records))
	for _, r := range s.records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *record) int {
		return cmp.Or(cmp.Compare(b.age(), a.age()), cmp.Compare(b.Number, a.Number))
	})
	out := make([]Episode, len(all))
	for i, r := range all {
		out[i] = r.shown()
	}
	return out, nil
}

// Episode is one of Episodes. The error is of kind station.ErrNotFound.
func (p *Podcasts) Episode(_ context.Context, slug, id string) (Episode, error) {
	r, err := p.book.Load().record(slug, id)
	if err != nil {
		return Episode{}, err
	}
	return r.shown(), nil
}

// Bytes are those of all files, and how many there may be; 0: no bound.
func (p *Podcasts) Bytes() (used, most int64) { return p.book.Load().bytes, p.opt.MostBytes }

func (b *book) record(slug, id string) (*record, error) {
	s, ok := b.shelves[slug]
	if !ok {
		return nil, noShow(slug)
	}
	if r := s.records[id]; r != nil {
		return r, nil
	}
	return nil, noEpisode(slug, id)
}

func noShow(slug string) error {
	return fmt.Errorf("there is no show %.64q: %w", slug, station.ErrNotFound)
}

func noEpisode(slug, id string) error {
	return fmt.Errorf("show %s has no episode %.32q: %w", slug, id, station.ErrNotFound)
}

// Create makes a show. feed is the address of its feed as it is now, of which its GUID is made.
// Errors: station.ErrInvalid, naming the field; station.ErrConflict where one of that slug is
// there or was removed lately; station.ErrFull.
func (p *Podcasts) Create(ctx context.Context, own Own, feed string) (*Show, error) {
	if err := own.clean(); err != nil {
		return nil, err
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	b := p.book.Load()
	switch s := b.shelves[own.Slug]; {
	case s != nil && s.Removed != 0:
		return nil, fmt.Errorf("slug: show %s was removed lately: bring it back, or choose another slug: %w", own.Slug, station.ErrConflict)
	case s != nil:
		return nil, fmt.Errorf("slug: there is a show %s already: choose another slug: %w", own.Slug, station.ErrConflict)
	case len(b.shelves) >= MostShows:
		return nil, fmt.Errorf("there are %d shows, no more are kept: remove one first (one that was removed counts until it cannot come back): %w", MostShows, station.ErrFull)
	}
	now := p.opt.Now().UnixMilli()
	s := &shelf{Show: Show{Own: own, Version: 1, GUID: guidOf(cmp.Or(feed, own.Slug)), Created: now, Changed: now}, said: now}
	if err := p.commit(ctx, own.Slug, nil, s); err != nil {
		return nil, err
	}
	p.Wake()
	return p.Show(own.Slug)
}

// Set replaces what the operator says of a show, which was made of a version. Errors:
// station.ErrNotFound; station.ErrInvalid, naming the field; station.ErrConflict where the version
// is no longer the newest.
func (p *Podcasts) Set(ctx context.Context, slug string, version int64, own Own) (*Show, error) {
	if err := own.clean(); err != nil {
		return nil, err
	}
	err := p.change(ctx, slug, func(s *shelf) error {
		switch {
		case own.Slug != slug:
			return station.Wrong("slug", "cannot be changed: feeds are followed by it; make another show", "لا يتغير العنوان المختصر بعد إنشاء البرنامج، فالمتابعون يصلون به: أنشئ برنامجًا آخر")
		case own.From.Kind != s.From.Kind:
			return station.Wrong("from.kind", "cannot be changed: make another show", "لا يتغير مصدر الحلقات بعد إنشاء البرنامج: أنشئ برنامجًا آخر")
		case version != s.Version:
			return fmt.Errorf("show %s was changed meanwhile: load version %d and make the change again: %w", slug, s.Version, station.ErrConflict)
		}
		s.Own = own
		s.Version++
		s.said = p.opt.Now().UnixMilli()
		s.touch(p.opt.Now())
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.Wake()
	return p.Show(slug)
}

// Remove takes a show away; Restore brings it back, for seven days. Then its files go. Errors:
// station.ErrNotFound, station.ErrConflict.
func (p *Podcasts) Remove(ctx context.Context, slug string) error {
	err := p.change(ctx, slug, func(s *shelf) error {
		if s.Removed != 0 {
			return fmt.Errorf("show %s is removed already: %w", slug, station.ErrConflict)
		}
		s.Removed = p.opt.Now().UnixMilli()
		s.Version++
		s.touch(p.opt.Now())
		return nil
	})
	if err == nil {
		p.work.stop(slug, "")
	}
	return err
}

// Restore brings back a show that was removed.
func (p *Podcasts) Restore(ctx context.Context, slug string) error {
	err := p.change(ctx, slug, func(s *shelf) error {
		if s.Removed == 0 {
			return fmt.Errorf("show %s was not removed: %w", slug, station.ErrConflict)
		}
		s.Removed, s.said = 0, p.opt.Now().UnixMilli()
		s.Version++
		s.touch(p.opt.Now())
		return nil
	})
	if err == nil {
		p.Wake()
		nudge(p.ready)
	}
	return err
}

// change makes a shelf of that which is there.
func (p *Podcasts) change(ctx context.Context, slug string, by func(s *shelf) error) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	before, ok := p.book.Load().shelves[slug]
	if !ok {
		return noShow(slug)
	}
	after := before.clone()
	if err := by(after); err != nil {
		return err
	}
	return p.commit(ctx, slug, before, after)
}

// commit puts a shelf in the place of one, either of which may be nil, on the disk and in memory.
// Then files that nothing names any more are removed: a kill in between leaves them to sweep.
func (p *Podcasts) commit(ctx context.Context, slug string, before, after *shelf, with ...func(*sql.Tx) error) error {
	err := p.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if err := save(ctx, tx, slug, before, after); err != nil {
			return err
		}
		for _, also := range with {
			if err := also(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write show %s: %w", slug, err)
	}
	if after != nil {
		after.settle()
	}
	p.book.Store(p.book.Load().replaced(slug, after))
	p.step("committed")
	if before == nil {
		return nil
	}
	for id, r := range before.records {
		if r.File == "" || after != nil && after.records[id] != nil && after.records[id].File == r.File {
			continue
		}
		if err := os.Remove(p.path(slug, r.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.opt.Log.Warn("cannot remove the file of an episode: it is tried again", "show", slug, "file", r.File, "err", err)
		}
		p.step("removed a file")
	}
	if after == nil {
		_ = os.Remove(filepath.Join(p.opt.Dir, slug)) // what is left in it is swept
	}
	return nil
}
