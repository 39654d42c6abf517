package publisher

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
)

const columns = `id, name, show, hash, auto, from_at, until_at, slots, grace, revoked, created, last_live`

// change makes one change to the rows, and publishes what they are after it.
func (p *Publishers) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	var after []record
	err := p.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT `+columns+` FROM live_publishers ORDER BY n`)
		if err != nil {
			return err
		}
		after, err = read(rows)
		return err
	})
	if err != nil {
		return err
	}
	p.all.Store(&after)
	return nil
}

func (p *Publishers) load(ctx context.Context) error {
	rows, err := p.opt.DB.Read().QueryContext(ctx, `SELECT `+columns+` FROM live_publishers ORDER BY n`)
	if err != nil {
		return err
	}
	all, err := read(rows)
	if err != nil {
		return err
	}
	p.all.Store(&all)
	return nil
}

func read(rows *sql.Rows) ([]record, error) {
	defer rows.Close() //nolint:errcheck // Err tells
	all := []record{}
	for rows.Next() {
		var (
			a     record
			hash  []byte
			slots string
		)
		err := rows.Scan(&a.ID, &a.Name, &a.Show, &hash, &a.Auto, &a.From, &a.Until, &slots, &a.Grace, &a.Revoked, &a.CreatedAt, &a.LastLiveAt)
		if err != nil {
			return nil, err
		}
		if len(hash) != sha256.Size {
			return nil, fmt.Errorf("publisher %s: the hash of its secret has %d bytes", a.ID, len(hash))
		}
		copy(a.hash[:], hash)
		if err := json.Unmarshal([]byte(slots), &a.Slots); err != nil {
			return nil, fmt.Errorf("publisher %s: slots: %w", a.ID, err)
		}
		if err := a.check(); err != nil {
			return nil, fmt.Errorf("publisher %s: %w", a.ID, err)
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

func (a record) values() []any {
	return []any{a.Name, a.Show, a.hash[:], a.Auto, a.From, a.Until, a.slotsText(), a.Grace, a.Revoked, a.CreatedAt, a.LastLiveAt, a.ID}
}

func (a record) insert(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO live_publishers
		(name, show, hash, auto, from_at, until_at, slots, grace, revoked, created, last_live, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, a.values()...)
	return err
}

func (a record) update(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `UPDATE live_publishers SET name = ?, show = ?, hash = ?, auto = ?, from_at = ?, until_at = ?,
		slots = ?, grace = ?, revoked = ?, created = ?, last_live = ? WHERE id = ?`, a.values()...)
	return err
}
