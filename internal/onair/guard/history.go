package guard

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/athir-radio/athir/internal/kit/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("guard", migrations) }

// keptAlarms bounds the history.
const keptAlarms = 500

// history keeps the alarms.
type history struct {
	db *store.DB
	// over is the id up to which alarms are over, whatever their rows say.
	over int64
}

// openHistory also clears alarms that were on when the process stopped. A full disk, which
// may have been what the alarm was about, keeps no station from its start: the rows are
// cleared by a later one.
func openHistory(ctx context.Context, log *slog.Logger, db *store.DB) (*history, error) {
	if err := db.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate guard tables: %w", err)
	}
	h := &history{db: db}
	if err := db.Read().QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM guard_alarms`).Scan(&h.over); err != nil {
		return nil, fmt.Errorf("read the alarms: %w", err)
	}
	err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE guard_alarms SET cleared = max(raised, heard) WHERE cleared = 0`)
		return err
	})
	if errors.Is(err, store.ErrDiskFull) {
		log.Error("dead-air guard: cannot save that the last alarm is over", "err", err)
		err = nil
	}
	return h, err
}

// add keeps a new alarm and returns its id.
func (h *history) add(ctx context.Context, a Alarm) (id int64, err error) {
	err = h.db.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO guard_alarms (kind, cause, began, raised, heard, cleared, steps) VALUES (?, ?, ?, ?, 0, 0, '[]')`,
			a.Kind, a.Cause, a.Began, a.Raised)
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM guard_alarms WHERE id <= ?`, id-keptAlarms)
		return err
	})
	return id, err
}

// update saves the progress of an alarm.
func (h *history) update(ctx context.Context, a Alarm) error {
	steps, err := json.Marshal(a.Steps)
	if err != nil {
		return err
	}
	return h.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE guard_alarms SET heard = ?, cleared = ?, steps = ? WHERE id = ?`, a.Heard, a.Cleared, string(steps), a.ID)
		return err
	})
}

// newest returns at most n alarms, newest first.
func (h *history) newest(ctx context.Context, n int) ([]Alarm, error) {
	rows, err := h.db.Read().QueryContext(ctx, `SELECT id, kind, cause, began, raised, heard, cleared, steps FROM guard_alarms ORDER BY id DESC LIMIT ?`, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := []Alarm{}
	for rows.Next() {
		var a Alarm
		var steps string
		if err := rows.Scan(&a.ID, &a.Kind, &a.Cause, &a.Began, &a.Raised, &a.Heard, &a.Cleared, &steps); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(steps), &a.Steps); err != nil {
			return nil, err
		}
		if a.Cleared == 0 && a.ID <= h.over {
			a.Cleared = max(a.Raised, a.Heard)
		}
		out = append(out, a)
	}
	return out, rows.Err()
}
