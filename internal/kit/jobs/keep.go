package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// patience bounds a write: the end of a job must not wait for a sick disk.
const patience = 10 * time.Second

// keep writes a job's record. A write that fails costs the history, not the work.
func (b *Board) keep(j Job, dropped ...string) {
	if err := b.write(j, dropped...); err != nil {
		b.opt.Log.Error("cannot record job", "kind", j.Kind, "id", j.ID, "err", err)
	}
}

func (b *Board) write(j Job, dropped ...string) error {
	record, err := json.Marshal(j)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.stop), patience)
	defer cancel()
	return b.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		// A queued record never replaces a later one.
		_, err := tx.ExecContext(ctx, `INSERT INTO jobs (id, kind, state, started, record) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET state = excluded.state, record = excluded.record WHERE excluded.state <> 'queued'`,
			j.ID, j.Kind, string(j.State), j.Queued, record)
		for _, id := range dropped {
			if err == nil {
				_, err = tx.ExecContext(ctx, `DELETE FROM jobs WHERE id = ?`, id)
			}
		}
		return err
	})
}

// load reads the history, and closes what the last program left open.
func (b *Board) load(ctx context.Context) error {
	rows, err := b.opt.DB.Read().QueryContext(ctx, `SELECT record FROM jobs ORDER BY started DESC, id LIMIT ?`, b.opt.Keep)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var open []Job
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		e := &entry{kept: make(chan struct{})}
		if err := json.Unmarshal(raw, &e.job); err != nil {
			b.opt.Log.Warn("cannot read a job of the history", "err", err)
			continue
		}
		if !e.job.State.Final() {
			e.job.State, e.job.Ended, e.job.Error = Interrupted, b.now(), "the station was stopped"
			open = append(open, e.shown())
		}
		if e.job.Error != "" {
			e.err = errors.New(e.job.Error)
		}
		close(e.kept)
		b.jobs[e.job.ID] = e
		b.order = append([]string{e.job.ID}, b.order...)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, j := range open {
		b.keep(j)
	}
	return nil
}
