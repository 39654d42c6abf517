package feedback

import (
	"context"
	"database/sql"
	"fmt"
	"maps"

	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/station"
)

// commit clears the votes of tracks that aired meanwhile and saves a batch of votes,
// in one transaction. The caller has the turn.
func (v *Votes) commit(ctx context.Context, batch []*turns.Waiter[*vote]) error {
	air := v.opt.Air()
	heard := since(air.Heard, v.heard)
	valid := v.admitted(batch, air.Queue)
	mark := v.heard
	if len(heard) > 0 {
		mark = heard[0].ID
	}
	if len(valid) == 0 && !v.stale && (len(heard) == 0 || v.rows == 0) {
		v.heard = mark // without votes, a track marker causes no write
		return nil
	}
	var next map[string]int
	var rows int
	err := v.opt.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		w := writer{ctx: ctx, tx: tx, now: v.opt.Now().UnixMilli(), touched: map[string]bool{}, all: v.stale}
		w.clear(heard)
		if mark != v.kept {
			w.exec(`UPDATE votes_state SET heard = ?`, mark)
		}
		w.cast(valid)
		next, rows = w.sums(v.Counts())
		return w.err
	})
	if err != nil {
		v.stale = true
		v.opt.Log.Error("votes not saved", "votes", len(valid), "err", err)
		return fmt.Errorf("save votes: %w", err)
	}
	v.stale, v.rows, v.heard, v.kept = false, rows, mark, mark
	if before := v.counts.Swap(&next); !maps.Equal(*before, next) {
		v.pace.note()
	}
	return nil
}

// since returns the airings after the one with that id, newest first; all of them
// when the id is not found.
func since(heard []Airing, id string) []Airing {
	for i, a := range heard {
		if a.ID == id {
			return heard[:i]
		}
	}
	return heard
}

// admitted returns the votes on tracks of the queue; the others get their error.
func (v *Votes) admitted(batch []*turns.Waiter[*vote], queue []string) []*turns.Waiter[*vote] {
	if len(batch) == 0 {
		return nil
	}
	queued := make(map[string]bool, len(queue))
	for _, path := range queue {
		queued[path] = true
	}
	var valid []*turns.Waiter[*vote]
	for _, c := range batch {
		switch {
		case !queued[c.Want.path]:
			c.Err = fmt.Errorf("%q in the queue: %w", c.Want.path, station.ErrNotFound)
		case c.Want.delta != 0 && v.rows+len(valid) >= mostVotes:
			c.Err = fmt.Errorf("too many votes, try again later: %w", station.ErrUnavailable)
		default:
			valid = append(valid, c)
		}
	}
	return valid
}

// writer is one transaction. After its first error it does nothing more.
type writer struct {
	ctx     context.Context //nolint:containedctx // lives as long as one transaction
	tx      *sql.Tx
	now     int64
	touched map[string]bool // paths whose sum may have changed
	all     bool            // every sum may have changed
	err     error
}

func (w *writer) exec(query string, args ...any) int64 {
	if w.err != nil {
		return 0
	}
	var res sql.Result
	if res, w.err = w.tx.ExecContext(w.ctx, query, args...); w.err != nil {
		return 0
	}
	n, _ := res.RowsAffected()
	return n
}

// clear removes the votes of tracks that aired, and votes that are too old.
func (w *writer) clear(heard []Airing) {
	for _, a := range heard {
		w.exec(`DELETE FROM votes WHERE path = ?`, []byte(a.Path))
		w.touched[a.Path] = true
	}
	if len(heard) == 0 {
		return
	}
	if w.exec(`DELETE FROM votes WHERE at < ?`, w.now-kept.Milliseconds()) > 0 {
		w.all = true
	}
}

// cast replaces the voters' former votes, in order. A vote beyond its address's
// limit gets its error and changes nothing.
func (w *writer) cast(votes []*turns.Waiter[*vote]) {
	for _, c := range votes {
		if path, by := []byte(c.Want.path), c.Want.by; c.Want.delta == 0 {
			w.exec(`DELETE FROM votes WHERE path = ? AND voter = ?`, path, by.voter[:])
		} else {
			if w.full(path, by) {
				c.Err = fmt.Errorf("too many listeners at your address have already voted on this track: %w", station.ErrConflict)
				continue
			}
			w.exec(`INSERT INTO votes (path, voter, delta, at, address, wider) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (path, voter) DO UPDATE SET delta = excluded.delta, at = excluded.at, address = excluded.address, wider = excluded.wider`,
				path, by.voter[:], c.Want.delta, w.now, by.address, by.wider)
		}
		w.takeOver(c.Want)
		w.touched[c.Want.path] = true
	}
}

// full reports whether an address, or its wider network, has no vote left for one
// more voter. A voter who has voted can always change the vote.
func (w *writer) full(path []byte, by ballot) bool {
	if w.err != nil || by.address == nil {
		return false
	}
	var voted bool
	var address, wider int
	w.err = w.tx.QueryRowContext(w.ctx, `SELECT EXISTS (SELECT 1 FROM votes WHERE path = ?1 AND voter = ?2),
		(SELECT count(*) FROM votes WHERE path = ?1 AND address = ?3), (SELECT count(*) FROM votes WHERE path = ?1 AND wider = ?4)`,
		path, by.voter[:], by.address, by.wider).Scan(&voted, &address, &wider)
	return !voted && (address >= mostOfAddress || wider >= wideFactor*mostOfAddress)
}

// takeOver removes the vote that an older version stored for the voter's address
// alone. This machine has no address and keeps its vote.
func (w *writer) takeOver(c *vote) {
	if c.by.address != nil && c.by.voter != c.by.former {
		w.exec(`DELETE FROM votes WHERE path = ? AND voter = ? AND address IS NULL`, []byte(c.path), c.by.former[:])
	}
}

// sums recounts the votes that may have changed.
func (w *writer) sums(before map[string]int) (sums map[string]int, rows int) {
	if w.err != nil {
		return nil, 0
	}
	sums = map[string]int{}
	if w.all {
		w.err = w.read(sums)
	} else {
		maps.Copy(sums, before)
		for path := range w.touched {
			var n int
			if err := w.tx.QueryRowContext(w.ctx, `SELECT coalesce(sum(delta), 0) FROM votes WHERE path = ?`, []byte(path)).Scan(&n); err != nil {
				w.err = err
				return nil, 0
			}
			sums[path] = n
		}
	}
	maps.DeleteFunc(sums, func(_ string, n int) bool { return n == 0 })
	if w.err == nil {
		w.err = w.tx.QueryRowContext(w.ctx, `SELECT count(*) FROM votes`).Scan(&rows)
	}
	return sums, rows
}

func (w *writer) read(sums map[string]int) error {
	rows, err := w.tx.QueryContext(w.ctx, `SELECT path, sum(delta) FROM votes GROUP BY path`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var path []byte
		var n int
		if err := rows.Scan(&path, &n); err != nil {
			return err
		}
		sums[string(path)] = n
	}
	return rows.Err()
}
