package feedback

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// remembered is how long the same id gives the same answer.
	remembered = 24 * time.Hour
	// repeated is how long a client that got no answer may repeat a write. An edge
	// gives up after 15 s and an open page tries again at least every 20 s, so a
	// page that repeats later was out of reach for the whole hour: at worst a click
	// from before that counts twice.
	repeated = time.Hour
	// mostAnswers bounds the table: about 50 answers a second for a day. A full
	// table forgets the oldest, except those that may still be repeated.
	mostAnswers = 5_000_000
	// atOnce bounds the old answers that one commit forgets.
	atOnce = 500
)

func checkID(id string) error {
	if id != "" && !client.PlainID(id) {
		return fmt.Errorf("id: %s: %w", client.IDRule, station.ErrInvalid)
	}
	return nil
}

// answers remembers the answers to writes that carried an id.
type answers struct {
	now  func() time.Time
	most int64
	rows atomic.Int64
}

func openAnswers(ctx context.Context, opt Options) (*answers, error) {
	a := &answers{now: opt.Now, most: cmp.Or(opt.mostAnswers, mostAnswers)}
	var rows int64
	if err := opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM feedback_answers`).Scan(&rows); err != nil {
		return nil, fmt.Errorf("count remembered answers: %w", err)
	}
	a.rows.Store(rows)
	return a, nil
}

// desk is the remembered answers within one transaction. Make it with answers.on.
type desk struct {
	of    *answers
	ctx   context.Context //nolint:containedctx // lives as long as one transaction
	tx    *sql.Tx
	kind  string
	found *sql.Stmt
	keep  *sql.Stmt
	rows  int64 // added less removed
}

// on opens the answers to one kind of write in a transaction. After the transaction
// has succeeded, call committed.
func (a *answers) on(ctx context.Context, tx *sql.Tx, kind string) (*desk, error) {
	d := &desk{of: a, ctx: ctx, tx: tx, kind: kind}
	var err error
	if d.found, err = tx.PrepareContext(ctx, `SELECT answer FROM feedback_answers WHERE id = ?`); err != nil {
		return nil, err
	}
	if d.keep, err = tx.PrepareContext(ctx, `INSERT INTO feedback_answers (id, at, answer) VALUES (?, ?, ?)`); err != nil {
		return nil, err
	}
	return d, d.forget(remembered)
}

// forget removes at most atOnce answers older than age.
func (d *desk) forget(age time.Duration) error {
	res, err := d.tx.ExecContext(d.ctx, `DELETE FROM feedback_answers WHERE id IN (
		SELECT id FROM feedback_answers WHERE at < ? ORDER BY at LIMIT ?)`, d.of.now().Add(-age).UnixMilli(), atOnce)
	if err != nil {
		return err
	}
	n, _ := res.RowsAffected()
	d.rows -= n
	return nil
}

// write identifies a client's write. The id counts per device: two devices that
// number their writes from 1 do not collide.
type write struct{ device, id string }

// errReused says that the id was used for another write.
var errReused = fmt.Errorf("id: already used for another request: %w", station.ErrConflict)

// find reads the remembered answer to a write; false when there is none, or the
// write has no id.
func (d *desk) find(w write, into any) (bool, error) {
	if w.id == "" {
		return false, nil
	}
	var text string
	err := d.found.QueryRowContext(d.ctx, d.key(w)).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, json.Unmarshal([]byte(text), into)
}

// full reports whether the answer to a write with an id cannot be remembered,
// because every remembered one may still be repeated.
func (d *desk) full(w write) (bool, error) {
	if w.id == "" || d.of.rows.Load()+d.rows < d.of.most {
		return false, nil
	}
	err := d.forget(repeated)
	return d.of.rows.Load()+d.rows >= d.of.most, err
}

// put remembers the answer to a write that was not found.
func (d *desk) put(w write, answer any) error {
	if w.id == "" {
		return nil
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	d.rows++
	_, err = d.keep.ExecContext(d.ctx, d.key(w), d.of.now().UnixMilli(), string(text))
	return err
}

// committed updates the number of rows after the transaction has succeeded.
func (d *desk) committed() { d.of.rows.Add(d.rows) }

// key hashes kind, device and id, so that kinds stay apart and rows are short.
func (d *desk) key(w write) []byte {
	sum := sha256.Sum256([]byte(d.kind + "/" + w.device + "/" + w.id))
	return sum[:16]
}
