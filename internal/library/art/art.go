// Package art finds the pictures and the words of songs: in the tags of each file, by ffprobe
// and ffmpeg, and in the text beside it. Each version of a file is looked at once, in the
// background, what is near the air first; pictures go to covers, the rest is kept in tables.
//
// It changes no file, fetches nothing from elsewhere, and does not know what an operator says
// of tracks: their own pictures come before these.
package art

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("art", migrations) }

// Registry lists the media folder.
type Registry interface {
	// Tracks returns all tracks, sorted by path. The slice is never changed.
	Tracks() []station.Track
	// Subscribe returns a channel that receives after every change; several may become one
	// signal.
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Covers keep pictures.
type Covers interface {
	// Put keeps a picture and returns its id. The error is of kind station.ErrInvalid for what
	// is none, and station.ErrFull where the disk has no room.
	Put(data []byte) (id string, err error)
	Has(id string) bool
}

// Options of Open. All but Hold, Rest and Now are required.
type Options struct {
	Log      *slog.Logger
	DB       *store.DB
	Root     string // the media folder
	Registry Registry
	// Whole reports whether Registry lists all there is: what is missing then is gone.
	Whole  func() bool
	Covers Covers
	// Beside reads the text beside a track that has its name and another ending. The error is
	// fs.ErrNotExist where there is none.
	Beside func(path, ending string, most int64) ([]byte, error)
	// Hold returns once work that nobody waits for may go on.
	Hold func(context.Context) error
	// Rest is the least time between two files that are not near the air; half a second.
	Rest time.Duration
	Now  func() time.Time
}

// Found is what there is of a track.
type Found struct {
	Cover  string // id; empty: none
	Lyrics bool
}

// Art is what was found. Its methods may be called from any goroutine.
type Art struct {
	opt     Options
	changes signal.Changes
	version atomic.Uint64

	mu    sync.RWMutex
	found map[string]Found // by path, of files that have anything
}

// Open reads what was found before.
func Open(ctx context.Context, opt Options) (*Art, error) {
	if opt.Hold == nil {
		opt.Hold = func(ctx context.Context) error { return ctx.Err() }
	}
	if opt.Rest <= 0 {
		opt.Rest = 500 * time.Millisecond
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate tables of pictures and words: %w", err)
	}
	a := &Art{opt: opt, found: map[string]Found{}}
	shared := map[string]string{} // songs of one album have one picture
	err := store.Each(ctx, opt.DB.Read(), func(rows *sql.Rows) error {
		var path []byte
		var f Found
		if err := rows.Scan(&path, &f.Cover, &f.Lyrics); err != nil {
			return err
		}
		if same, ok := shared[f.Cover]; ok {
			f.Cover = same
		}
		shared[f.Cover] = f.Cover
		a.found[string(path)] = f
		return nil
	}, `SELECT path, cover, EXISTS (SELECT 1 FROM art_lyrics l WHERE l.path = f.path) AS words FROM art_file f WHERE cover <> '' OR words`)
	if err != nil {
		return nil, fmt.Errorf("read what files have of pictures and words: %w", err)
	}
	return a, nil
}

// Of returns what there is of a track.
func (a *Art) Of(path string) Found {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.found[path]
}

// Version grows with every change.
func (a *Art) Version() uint64 { return a.version.Load() }

// Subscribe returns a channel that receives after every change; several may become one signal.
// Call cancel when done.
func (a *Art) Subscribe() (changed <-chan struct{}, cancel func()) { return a.changes.Subscribe() }

// Lyrics returns the words of a track. The error is of kind station.ErrNotFound where it has none.
func (a *Art) Lyrics(ctx context.Context, path string) (Lyrics, error) {
	var out Lyrics
	var synced string
	err := a.opt.DB.Read().QueryRowContext(ctx, `SELECT lyrics, synced FROM art_lyrics WHERE path = ?`, []byte(path)).Scan(&out.Text, &synced)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Lyrics{}, fmt.Errorf("this track has no words: %w", station.ErrNotFound)
	case err == nil && synced != "":
		err = json.Unmarshal([]byte(synced), &out.Synced)
	}
	if err != nil {
		return Lyrics{}, fmt.Errorf("read the words of a track: %w", err)
	}
	return out, nil
}

// Covers are the ids of all pictures that files have.
func (a *Art) Covers(ctx context.Context) (map[string]bool, error) {
	all := map[string]bool{}
	err := store.Each(ctx, a.opt.DB.Read(), func(rows *sql.Rows) error {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		all[id] = true
		return nil
	}, `SELECT DISTINCT cover FROM art_file WHERE cover <> ''`)
	if err != nil {
		return nil, fmt.Errorf("read the pictures of files: %w", err)
	}
	return all, nil
}

// version tells one state of a track's file, and of the text beside it, from another.
type fileVersion struct{ size, mtime, beside int64 }

// row is what one look at a file gave.
type row struct {
	path    string
	version fileVersion
	cover   string
	lyrics  Lyrics
}

// keep writes rows, and forgets tracks that are gone.
func (a *Art) keep(ctx context.Context, rows []row, gone []string) error {
	if len(rows)+len(gone) == 0 {
		return nil
	}
	err := a.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		for _, r := range rows {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO art_file (path, size, mtime_ns, beside, cover) VALUES (?, ?, ?, ?, ?)`,
				[]byte(r.path), r.version.size, r.version.mtime, r.version.beside, r.cover); err != nil {
				return err
			}
			if err := writeLyrics(ctx, tx, r); err != nil {
				return err
			}
		}
		for _, path := range gone {
			for _, table := range []string{"art_file", "art_lyrics"} {
				if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE path = ?`, []byte(path)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write what files have of pictures and words: %w", err)
	}
	a.show(rows, gone)
	return nil
}

func writeLyrics(ctx context.Context, tx *sql.Tx, r row) error {
	if r.lyrics.Text == "" {
		_, err := tx.ExecContext(ctx, `DELETE FROM art_lyrics WHERE path = ?`, []byte(r.path))
		return err
	}
	synced := []byte{}
	if len(r.lyrics.Synced) > 0 {
		var err error
		if synced, err = json.Marshal(r.lyrics.Synced); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO art_lyrics (path, lyrics, synced) VALUES (?, ?, ?)`, []byte(r.path), r.lyrics.Text, string(synced))
	return err
}

// show makes visible what was written, and tells where that changes anything.
func (a *Art) show(rows []row, gone []string) {
	a.mu.Lock()
	changed := false
	set := func(path string, f Found) {
		if a.found[path] == f {
			return
		}
		changed = true
		if f == (Found{}) {
			delete(a.found, path)
		} else {
			a.found[path] = f
		}
	}
	for _, r := range rows {
		set(r.path, Found{r.cover, r.lyrics.Text != ""})
	}
	for _, path := range gone {
		set(path, Found{})
	}
	a.mu.Unlock()
	if changed {
		a.version.Add(1)
		a.changes.Tell()
	}
}
