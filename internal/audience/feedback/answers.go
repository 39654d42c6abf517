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
	// repeated is how long a client may send the same write again for want of an
	// answer. An edge gives up after 15 s; a page tries again at least every 20 s
	// for as long as it is open, so that after an hour it has been out of reach for
	// all of it: what it then counts twice is a click of before.
	repeated = time.Hour
	// mostAnswers bounds the table: a day of some 50 answers every second. In a
	// full one the oldest are forgotten, but none that may come again.
	mostAnswers = 5_000_000
	// atOnce is how many old answers one commit forgets.
	atOnce = 500
)

func checkID(id string) error {
	if id != "" && !client.PlainID(id) {
		return fmt.Errorf("id: %s: %w", client.IDRule, station.ErrInvalid)
	}
	return nil
}

// answers remembers what writes that carried an id were answered.
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

// desk is the answers as one transaction sees them. Begin with on.
type desk struct {
	of    *answers
	ctx   context.Context //nolint:containedctx // lives as long as one transaction
	tx    *sql.Tx
	kind  string
	found *sql.Stmt
	keep  *sql.Stmt
	rows  int64 // added less removed
}

// on opens the answers of one kind of write in a transaction. Call done at its end.
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

// forget removes some of the answers that are older than that.
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

// write is how a client calls a write of its own: two devices that count from 1
// do not meet.
type write struct{ device, id string }

// errReused says that the id was used for another write.
var errReused = fmt.Errorf("id: already used for another request: %w", station.ErrConflict)

// find reads what the write was answered; false when it was not, or has no id.
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

// full says that the id of a write, if it has one, cannot be remembered: all there
// are may come again.
func (d *desk) full(w write) (bool, error) {
	if w.id == "" || d.of.rows.Load()+d.rows < d.of.most {
		return false, nil
	}
	err := d.forget(repeated)
	return d.of.rows.Load()+d.rows >= d.of.most, err
}

// put remembers the answer of a write that was not found.
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

// committed takes note of what the transaction did.
func (d *desk) committed() { d.of.rows.Add(d.rows) }

// key keeps kinds of writes apart, and rows short.
func (d *desk) key(w write) []byte {
	sum := sha256.Sum256([]byte(d.kind + "/" + w.device + "/" + w.id))
	return sum[:16]
}
