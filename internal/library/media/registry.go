package media

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("media", migrations) }

func migrate(ctx context.Context, db *store.DB) error {
	return db.Upgrade(ctx, Schema())
}

// saved is all the database holds, as of one commit.
type saved struct {
	registry   *registry
	root       string
	generation int64
	scannedAt  time.Time
}

// load reads the whole registry in one read transaction.
func load(ctx context.Context, db *store.DB) (saved, error) {
	tx, err := db.Read().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return saved{}, fmt.Errorf("load the library: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var s saved
	var root []byte
	var scanned int64
	row := tx.QueryRowContext(ctx, "SELECT root, generation, scanned_ms FROM media_state")
	if err := row.Scan(&root, &s.generation, &scanned); err != nil {
		return saved{}, fmt.Errorf("load the library: %w", err)
	}
	s.root = string(root)
	if scanned > 0 {
		s.scannedAt = time.UnixMilli(scanned)
	}
	s.registry = &registry{}
	if err := s.registry.loadTracks(ctx, tx); err != nil {
		return saved{}, fmt.Errorf("load tracks: %w", err)
	}
	if err := s.registry.loadRefused(ctx, tx); err != nil {
		return saved{}, fmt.Errorf("load quarantine: %w", err)
	}
	return s, nil
}

func (r *registry) loadTracks(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT path, category, title, artist, album, genre, license,
		duration_us, size, mtime_ns, stamp, added_ms, isrc, label, composer FROM media_track ORDER BY path`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	// Artists, albums, genres, licences and categories repeat: one copy each.
	same := interner{}
	for rows.Next() {
		var t station.Track
		var path sql.RawBytes
		var category, artist, album, genre, license, label, composer sql.RawBytes
		var duration, mtime, stamp, added int64
		if err := rows.Scan(&path, &category, &t.Title, &artist, &album, &genre, &license,
			&duration, &t.Size, &mtime, &stamp, &added, &t.ISRC, &label, &composer); err != nil {
			return err
		}
		t.Path, t.Category = string(path), station.Category(same.share(category))
		t.Artist, t.Album, t.Genre, t.License = same.share(artist), same.share(album), same.share(genre), same.share(license)
		t.Label, t.Composer = same.share(label), same.share(composer)
		t.Duration, t.ModTime, t.AddedAt = time.Duration(duration)*time.Microsecond, time.Unix(0, mtime), time.UnixMilli(added)
		r.tracks, r.stamps = append(r.tracks, t), append(r.stamps, uint64(stamp)) //nolint:gosec // a hash, bit for bit
	}
	return rows.Err()
}

func (r *registry) loadRefused(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "SELECT path, reason, size, mtime_ns, stamp, since_ms FROM media_quarantine ORDER BY path")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var q Quarantine
		var path sql.RawBytes
		var stamp, since int64
		if err := rows.Scan(&path, &q.Reason, &q.file.size, &q.file.mtime, &stamp, &since); err != nil {
			return err
		}
		q.Path, q.stamp, q.Since = string(path), uint64(stamp), time.UnixMilli(since) //nolint:gosec // a hash
		r.refused = append(r.refused, q)
	}
	return rows.Err()
}

// interner keeps one copy of each text.
type interner map[string]string

func (in interner) share(b []byte) string {
	if s, ok := in[string(b)]; ok { // no allocation for the look-up
		return s
	}
	s := string(b)
	in[s] = s
	return s
}

// commit writes the changes in one transaction and returns the generation.
func commit(ctx context.Context, db *store.DB, changes []change) (generation int64, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) error {
		w, err := newWriter(ctx, tx)
		if err != nil {
			return err
		}
		for i := range changes {
			if err := w.write(ctx, &changes[i]); err != nil {
				return err
			}
		}
		return tx.QueryRowContext(ctx, "UPDATE media_state SET generation = generation + 1 RETURNING generation").Scan(&generation)
	})
	if err != nil {
		return 0, fmt.Errorf("save the library: %w", err)
	}
	return generation, nil
}

// finish records a whole scan of root.
func finish(ctx context.Context, db *store.DB, root string, at time.Time) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE media_state SET root = ?, scanned_ms = ?", []byte(root), at.UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("save the library: %w", err)
	}
	return nil
}

func savedGeneration(ctx context.Context, db *store.DB) (generation int64, err error) {
	err = db.Read().QueryRowContext(ctx, "SELECT generation FROM media_state").Scan(&generation)
	return generation, err
}

// writer holds the statements of one transaction; they close with it.
type writer struct {
	putTrack, putRefused, dropTrack, dropRefused *sql.Stmt
}

func newWriter(ctx context.Context, tx *sql.Tx) (*writer, error) {
	var w writer
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.putTrack, `INSERT INTO media_track (path, category, title, artist, album, genre, license, duration_us, size, mtime_ns, stamp, added_ms, isrc, label, composer)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (path) DO UPDATE SET
			category = excluded.category, title = excluded.title, artist = excluded.artist, album = excluded.album,
			genre = excluded.genre, license = excluded.license, duration_us = excluded.duration_us, size = excluded.size,
			mtime_ns = excluded.mtime_ns, stamp = excluded.stamp,
			isrc = excluded.isrc, label = excluded.label, composer = excluded.composer`},
		{&w.putRefused, `INSERT INTO media_quarantine VALUES (?,?,?,?,?,?) ON CONFLICT (path) DO UPDATE SET
			reason = excluded.reason, size = excluded.size, mtime_ns = excluded.mtime_ns, stamp = excluded.stamp`},
		{&w.dropTrack, "DELETE FROM media_track WHERE path = ?"},
		{&w.dropRefused, "DELETE FROM media_quarantine WHERE path = ?"},
	} {
		var err error
		if *s.stmt, err = tx.PrepareContext(ctx, s.text); err != nil { //nolint:sqlclosecheck // the transaction closes it
			return nil, err
		}
	}
	return &w, nil
}

func (w *writer) write(ctx context.Context, c *change) error {
	path := []byte(c.path)
	if t := c.track; t != nil {
		if _, err := w.putTrack.ExecContext(ctx, path, string(t.Category), t.Title, t.Artist, t.Album, t.Genre, t.License,
			t.Duration.Microseconds(), t.Size, t.ModTime.UnixNano(), int64(c.stamp), t.AddedAt.UnixMilli(), t.ISRC, t.Label, t.Composer); err != nil { //nolint:gosec // a hash
			return err
		}
	} else if _, err := w.dropTrack.ExecContext(ctx, path); err != nil {
		return err
	}
	if q := c.refused; q != nil {
		_, err := w.putRefused.ExecContext(ctx, path, q.Reason, q.file.size, q.file.mtime, int64(q.stamp), q.Since.UnixMilli()) //nolint:gosec // a hash
		return err
	}
	_, err := w.dropRefused.ExecContext(ctx, path)
	return err
}
