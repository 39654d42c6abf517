package scheduler

import (
	"context"
	"database/sql"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

const (
	// turnsKept is how long a track that has left the library keeps its turn:
	// a folder may be away for a season.
	turnsKept = 400 * 24 * time.Hour
	// turnsPruned is how often the rest is looked for.
	turnsPruned = 24 * time.Hour
)

func saveTurn(ctx context.Context, tx *sql.Tx, path string, t rotation.Turn) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO turns (path, round, at) VALUES (?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET round = excluded.round, at = excluded.at`, path, t.Round, t.At.UnixMilli())
	return err
}

func (s *Scheduler) recallTurns(ctx context.Context) error {
	turns, err := readTurns(ctx, s.opt.DB.Read(), time.Time{})
	if err != nil {
		return err
	}
	s.state = s.state.RememberTurns(turns)
	return nil
}

// readTurns returns the turns whose last was before a time; zero is all.
func readTurns(ctx context.Context, db *sql.DB, before time.Time) ([]rotation.Play, error) {
	query, args := `SELECT path, round, at FROM turns`, []any{}
	if !before.IsZero() {
		query, args = query+` WHERE at < ?`, append(args, before.UnixMilli())
	}
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var turns []rotation.Play
	for rows.Next() {
		var at int64
		var p rotation.Play
		if err := rows.Scan(&p.Path, &p.Round, &at); err != nil {
			return nil, err
		}
		p.At = time.UnixMilli(at)
		turns = append(turns, p)
	}
	return turns, rows.Err()
}

// pruneTurns forgets, once a day, tracks that left the library long ago.
func (s *Scheduler) pruneTurns(ctx context.Context) {
	now := s.opt.Now()
	tracks, scanning := s.opt.Library.Tracks()
	if scanning || len(tracks) == 0 || now.Sub(s.pruned) < turnsPruned {
		return
	}
	s.pruned = now
	old, err := readTurns(ctx, s.opt.DB.Read(), now.Add(-turnsKept))
	if err == nil && len(old) > 0 {
		err = s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
			for _, t := range old {
				if _, there := s.opt.Library.Find(t.Path); there {
					continue
				}
				if _, err := tx.ExecContext(ctx, `DELETE FROM turns WHERE path = ?`, t.Path); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		s.log.Warn("cannot delete the turns of tracks removed long ago", "err", err)
	}
}
