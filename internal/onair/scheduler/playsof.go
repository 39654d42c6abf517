package scheduler

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Played is how often one path was heard, and when last.
type Played struct {
	Count int
	Last  time.Time
}

// PlaysOf counts how often each path that begins with a prefix was heard: of a listener's
// post ever, of all else as far back as the history goes.
func (s *Scheduler) PlaysOf(ctx context.Context, prefix string) (map[string]Played, error) {
	query, args := `SELECT path, count(*), max(at) FROM plays WHERE path >= ? GROUP BY path`, []any{prefix}
	if end := after(prefix); end != "" {
		query, args = `SELECT path, count(*), max(at) FROM plays WHERE path >= ? AND path < ? GROUP BY path`, []any{prefix, end}
	}
	rows, err := s.opt.DB.Read().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("count the plays of %s: %w", prefix, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	return played(rows)
}

func played(rows *sql.Rows) (map[string]Played, error) {
	out := map[string]Played{}
	for rows.Next() {
		var path string
		var n int
		var at int64
		if err := rows.Scan(&path, &n, &at); err != nil {
			return nil, err
		}
		out[path] = Played{n, time.UnixMilli(at)}
	}
	return out, rows.Err()
}

// after returns the first text after all that begin with a prefix; empty if none is.
func after(prefix string) string {
	end := []byte(prefix)
	for len(end) > 0 && end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	if len(end) > 0 {
		end[len(end)-1]++
	}
	return string(end)
}
