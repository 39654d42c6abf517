package duplicates

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("duplicates", migrations) }

// File is a track of the library.
type File struct {
	Path          string // relative to the media folder: its identity
	Abs           string
	Size          int64 // bytes
	ModTime       time.Time
	Artist, Title string // from tags; empty when not known
}

// Store keeps the fingerprints of a library in a database. The search index is built on
// demand and dropped some minutes later: it takes 7 KB of memory a track. Methods may
// be called from any goroutine.
type Store struct {
	db      *store.DB
	idle    time.Duration
	workers int

	mu    sync.Mutex
	index *Index // nil: not built
	let   *time.Timer
}

// Open brings the table up to date.
func Open(ctx context.Context, db *store.DB) (*Store, error) {
	if err := db.Upgrade(ctx, Schema()); err != nil {
		return nil, err
	}
	return &Store{db: db, idle: 5 * time.Minute, workers: min(runtime.NumCPU(), 4)}, nil
}

// Close frees the index.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.let != nil {
		s.let.Stop()
	}
	s.index = nil
}

// known is a stored file without its print.
type known struct {
	size, mtime   int64
	artist, title string
}

func (k known) matches(f File) bool { return k.size == f.Size && k.mtime == f.ModTime.UnixNano() }

// Ensure takes the missing fingerprints of files, which are the whole library: stored
// files that are not among them are forgotten. progress, when not nil, receives how
// many of the missing ones are done; it is not called when none are missing. When ctx
// ends, the prints taken so far stay. Files that cannot be read are skipped until they
// change; files that changed since they were listed, or that ffmpeg did not finish with,
// until the next call.
func (s *Store) Ensure(ctx context.Context, files []File, progress func(done, total int)) error {
	all, err := s.kept(ctx)
	if err != nil {
		return err
	}
	var missing, renamed []File
	for _, f := range files {
		k, ok := all[f.Path]
		delete(all, f.Path)
		switch {
		case !ok || !k.matches(f):
			missing = append(missing, f)
		case k.artist != f.Artist || k.title != f.Title:
			renamed = append(renamed, f)
		}
	}
	if err := s.tidy(ctx, all, renamed); err != nil {
		return err
	}
	var mu sync.Mutex
	done := 0
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.workers)
	for _, f := range missing {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var late *ffmpeg.UnfinishedError
			if err := s.Add(ctx, f); err != nil && !errors.Is(err, errChanged) && !errors.As(err, &late) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(missing))
			}
			return nil
		})
	}
	return g.Wait()
}

// tidy forgets files, and keeps new names of others.
func (s *Store) tidy(ctx context.Context, gone map[string]known, renamed []File) error {
	if len(gone)+len(renamed) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = nil // it is built again from what is kept
	return s.write(ctx, func(tx *sql.Tx) error {
		for path := range gone {
			if _, err := tx.ExecContext(ctx, "DELETE FROM duplicates_print WHERE path = ?", []byte(path)); err != nil {
				return err
			}
		}
		for _, f := range renamed {
			if _, err := tx.ExecContext(ctx, "UPDATE duplicates_print SET artist = ?, title = ? WHERE path = ?", f.Artist, f.Title, []byte(f.Path)); err != nil {
				return err
			}
		}
		return nil
	})
}

// errChanged says that a file is not the one that was listed.
var errChanged = errors.New("the file has changed or is gone")

// Add takes the fingerprint of a file and keeps it, in the place of one of the
// same path. A file without one worth comparing is kept by its name.
func (s *Store) Add(ctx context.Context, f File) error {
	print, err := fingerprint.Of(ctx, f.Abs)
	var refused *ffmpeg.RefusedError
	if err != nil && !errors.Is(err, fingerprint.ErrPlain) && !errors.As(err, &refused) {
		return fmt.Errorf("fingerprint of %s: %w", f.Path, err)
	}
	now, statErr := os.Stat(f.Abs)
	if statErr != nil || now.Size() != f.Size || !now.ModTime().Equal(f.ModTime) {
		return fmt.Errorf("fingerprint of %s: %w", f.Path, errChanged)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO duplicates_print VALUES (?, ?, ?, ?, ?, ?)",
			[]byte(f.Path), f.Size, f.ModTime.UnixNano(), f.Artist, f.Title, print.Bytes())
		return err
	})
	if err == nil && s.index != nil {
		s.index.Add(f.Path, f.Artist, f.Title, print)
	}
	return err
}

// Remove forgets a file.
func (s *Store) Remove(ctx context.Context, path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM duplicates_print WHERE path = ?", []byte(path))
		return err
	})
	if err == nil && s.index != nil {
		s.index.Remove(path)
	}
	return err
}

// Find returns the tracks that sound the same as the file at abs, the closest first,
// followed by those that only share its artist and title. A file of the library is
// itself among them.
func (s *Store) Find(ctx context.Context, abs, artist, title string) ([]Match, error) {
	print, err := fingerprint.Of(ctx, abs)
	if err != nil && !errors.Is(err, fingerprint.ErrPlain) {
		return nil, err
	}
	x, err := s.built(ctx)
	if err != nil {
		return nil, err
	}
	return x.withNames(x.Find("", print), artist, title), nil
}

// Alike returns the tracks that sound the same as one of the versions of a print, much
// altered copies included (see fingerprint.Versions), followed by those that only share its
// artist and title.
func (s *Store) Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]Match, error) {
	x, err := s.built(ctx)
	if err != nil {
		return nil, err
	}
	var found []Match
	for _, m := range x.prints.Find("", versions...) {
		found = append(found, Match{ID: m.ID, Difference: m.Difference, Covered: m.Covered})
	}
	return x.withNames(found, artist, title), nil
}

// withNames marks the matches that share artist and title, and adds those that share only
// them.
func (x *Index) withNames(matches []Match, artist, title string) []Match {
	named := map[string]bool{}
	for _, id := range x.SameName("", artist, title) {
		named[id] = true
	}
	for i := range matches {
		matches[i].SameName = named[matches[i].ID]
		delete(named, matches[i].ID)
	}
	for _, id := range x.SameName("", artist, title) {
		if named[id] {
			matches = append(matches, Match{ID: id, Difference: 1, SameName: true})
		}
	}
	return matches
}

// built returns the index, and schedules dropping it when it is unused for a while.
func (s *Store) built(ctx context.Context) (*Index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil {
		x, err := s.load(ctx)
		if err != nil {
			return nil, fmt.Errorf("load fingerprints: %w", err)
		}
		s.index = x
	}
	if s.let != nil {
		s.let.Stop()
	}
	s.let = time.AfterFunc(s.idle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.index = nil
	})
	return s.index, nil
}

func (s *Store) load(ctx context.Context) (*Index, error) {
	rows, err := s.db.Read().QueryContext(ctx, "SELECT path, artist, title, print FROM duplicates_print")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	x := NewIndex()
	for rows.Next() {
		var path, print sql.RawBytes
		var artist, title string
		if err := rows.Scan(&path, &artist, &title, &print); err != nil {
			return nil, err
		}
		x.Add(string(path), artist, title, fingerprint.FromBytes(print))
	}
	return x, rows.Err()
}

// kept lists the stored files.
func (s *Store) kept(ctx context.Context) (map[string]known, error) {
	rows, err := s.db.Read().QueryContext(ctx, "SELECT path, size, mtime_ns, artist, title FROM duplicates_print")
	if err != nil {
		return nil, fmt.Errorf("list fingerprints: %w", err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string]known{}
	for rows.Next() {
		var path sql.RawBytes
		var k known
		if err := rows.Scan(&path, &k.size, &k.mtime, &k.artist, &k.title); err != nil {
			return nil, fmt.Errorf("list fingerprints: %w", err)
		}
		all[string(path)] = k
	}
	return all, rows.Err()
}

func (s *Store) write(ctx context.Context, fn func(*sql.Tx) error) error {
	if err := s.db.Write(ctx, fn); err != nil {
		return fmt.Errorf("save fingerprints: %w", err)
	}
	return nil
}
