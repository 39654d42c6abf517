package social

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// sweep puts away what a killed process left: at the start nothing is under way. Sources
// that no post has are removed. Mastered files that no post has are moved aside and kept:
// with a database that is older than the files, they are worth more than the room.
func (s *Social) sweep(ctx context.Context) error {
	if err := s.sweepIncoming(ctx); err != nil {
		return err
	}
	return s.sweepMastered(ctx)
}

func (s *Social) sweepIncoming(ctx context.Context) error {
	entries, err := os.ReadDir(s.incoming())
	if err != nil {
		return fmt.Errorf("look for what was sent: %w", err)
	}
	known, err := s.names(ctx, `SELECT source FROM social_posts WHERE source <> ''`)
	if err != nil {
		return fmt.Errorf("look for what was sent: %w", err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			_ = os.Remove(filepath.Join(s.incoming(), e.Name()))
		}
	}
	return nil
}

func (s *Social) sweepMastered(ctx context.Context) error {
	known, err := s.names(ctx, `SELECT file FROM social_posts WHERE file <> ''`)
	if err != nil {
		return fmt.Errorf("look for files of posts: %w", err)
	}
	// The row of one in processing does not name its file yet: the worker makes it again.
	processing, err := s.names(ctx, `SELECT CAST(id AS TEXT) FROM social_posts WHERE status = 'processing'`)
	if err != nil {
		return fmt.Errorf("look for files of posts: %w", err)
	}
	for _, t := range Types() {
		dir := filepath.Join(s.opt.Media, "social", string(t))
		if _, err := mastering.Sweep(dir); err != nil {
			s.log.Warn("cannot remove unfinished files", "dir", dir, "err", err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the media may be away: the posts are dead until it is back
			s.log.Warn("cannot read the folder of posts", "dir", dir, "err", err)
		}
		for _, e := range entries {
			file := "social/" + string(t) + "/" + e.Name()
			if id, ok := station.PostOf(file); ok && !known[file] && !processing[strconv.FormatInt(id, 10)] {
				s.putAside(file)
			}
		}
	}
	return nil
}

// names reads a column at once: a query for each file would take the station's start minutes
// where there are many posts.
func (s *Social) names(ctx context.Context, query string) (map[string]bool, error) {
	rows, err := s.opt.DB.Read().QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out[name] = true
	}
	return out, rows.Err()
}

func (s *Social) putAside(file string) {
	to := filepath.Join(s.lost(), filepath.Base(file))
	err := os.MkdirAll(s.lost(), 0o700)
	if err == nil {
		err = os.Rename(s.abs(file), to)
	}
	s.log.Warn("a file of a post that the database does not have was put aside", "file", file, "to", to, "err", err)
}

// tidyEvery is how often files are looked for that are no longer needed.
const tidyEvery = time.Minute

// tidy removes files that no longer have a use, until ctx ends: at once those of withdrawn
// posts, others after Options.Keep; never one that is on air or planned.
func (s *Social) tidy(ctx context.Context) error {
	clock := time.NewTicker(tidyEvery)
	defer clock.Stop()
	for {
		if err := s.removeOld(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("cannot remove files of old posts", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
	}
}

// What is removed: mastered files and sources, of posts decided before a time.
const (
	oldMastered = `file <> '' AND status = 'rejected' AND (reason = 'withdrawn' OR decided < ?)`
	oldSource   = `source <> '' AND (reason = 'withdrawn' OR status IN ('approved', 'rejected') AND decided < ?)`
)

func (s *Social) removeOld(ctx context.Context) error {
	old := s.millis() - s.opt.Keep.Milliseconds()
	mastered, err := all(ctx, s.opt.DB.Read(), oldMastered+` LIMIT 500`, old)
	if err != nil {
		return err
	}
	var first error // of one file: the others are removed all the same
	for _, p := range mastered {
		first = cmp.Or(first, s.removeMastered(ctx, &p, old))
	}
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT id, source FROM social_posts WHERE `+oldSource+` LIMIT 500`, old)
	if err != nil {
		return err
	}
	sources := map[int64]string{}
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			_ = rows.Close()
			return err
		}
		sources[id] = name
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for id, name := range sources {
		first = cmp.Or(first, s.removeSource(ctx, id, name, old))
	}
	return errors.Join(first, s.makeRoom(ctx), s.forget(ctx))
}

// mostForRoom is how many sources make room at once.
const mostForRoom = 50

// makeRoom removes what was sent as posts that are decided, rejected ones first, while the disk
// comes near what must stay free: otherwise a day's rubbish would keep everybody from sending
// for all of Options.Keep.
func (s *Social) makeRoom(ctx context.Context) error {
	for range mostForRoom {
		if s.disk(s.opt.Limits.Reserve) == nil {
			return nil
		}
		var id int64
		var name string
		err := s.opt.DB.Read().QueryRowContext(ctx, `SELECT id, source FROM social_posts WHERE source <> '' AND status IN ('approved', 'rejected')
			ORDER BY status = 'approved', decided LIMIT 1`).Scan(&id, &name)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = s.removeSource(ctx, id, name, math.MaxInt64) // however lately it was decided
		}
		if err != nil {
			return fmt.Errorf("make room on the disk: %w", err)
		}
		s.log.Warn("the disk is nearly full: what was sent as a decided post is removed before its time", "post", id)
	}
	return nil
}

// removeMastered removes a post's file and says so in its row, while nobody else can change
// the row: a moderator may approve it at this very moment. After a kill in between, the next
// pass finds the file gone and does the rest.
func (s *Social) removeMastered(ctx context.Context, p *Post, old int64) error {
	if s.opt.Air.InUse(p.File) {
		return nil
	}
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if taken, err := changedRow(ctx, tx, `UPDATE social_posts SET file = '', cover = '' WHERE id = ? AND file = ? AND `+oldMastered, p.ID, p.File, old); err != nil || !taken {
			return err
		}
		return errors.Join(gone(s.abs(p.File)), gone(s.coverOf(p.ID)))
	})
	if err != nil {
		return fmt.Errorf("remove the file of post %d: %w", p.ID, err)
	}
	return nil
}

func (s *Social) removeSource(ctx context.Context, id int64, name string, old int64) error {
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if taken, err := changedRow(ctx, tx, `UPDATE social_posts SET source = '' WHERE id = ? AND source = ? AND `+oldSource, id, name, old); err != nil || !taken {
			return err
		}
		return gone(filepath.Join(s.incoming(), name))
	})
	if err != nil {
		return fmt.Errorf("remove what was sent as post %d: %w", id, err)
	}
	return nil
}

// gone removes a file that may be gone already.
func gone(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forget drops what is no longer needed to bound voters and submitters.
func (s *Social) forget(ctx context.Context) error {
	now := s.millis()
	if err := s.exec(ctx, `DELETE FROM social_voters WHERE seen < ?`, now-votersKept.Milliseconds()); err != nil {
		return err
	}
	if err := s.countVoters(ctx); err != nil {
		return err
	}
	return s.exec(ctx, `UPDATE social_posts SET address = NULL, wider = NULL WHERE address IS NOT NULL AND created < ?`, now-(30*24*time.Hour).Milliseconds())
}

func (s *Social) coverOf(id int64) string {
	return filepath.Join(s.covers(), strconv.FormatInt(id, 10))
}

// exec runs one statement as a transaction.
func (s *Social) exec(ctx context.Context, query string, args ...any) error {
	return s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}
