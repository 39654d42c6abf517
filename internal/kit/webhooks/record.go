package webhooks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Attempt is one try to deliver a message.
type Attempt struct {
	N          int    `json:"attempt"`
	At         int64  `json:"at" doc:"Epoch milliseconds"`
	Status     int    `json:"status" doc:"Of HTTP; 0 when there was no answer"`
	DurationMS int64  `json:"durationMs"`
	Error      string `json:"error,omitempty"`
}

func (a Attempt) arrived() bool { return a.Status >= 200 && a.Status < 300 && a.Error == "" }

// Delivery is one message to one hook.
type Delivery struct {
	ID       string    `json:"id" doc:"The webhook-id of every attempt"`
	Event    string    `json:"event"`
	At       int64     `json:"at" doc:"When it happened, epoch milliseconds"`
	State    string    `json:"state" enum:"waiting,delivered,failed,dropped"`
	DueAt    int64     `json:"dueAt,omitempty" doc:"Of the next attempt, epoch milliseconds"`
	Attempts []Attempt `json:"attempts" nullable:"false" doc:"Oldest first; of many, the newest"`
}

// record writes down an attempt of a message in the queue: what becomes of the
// message, and of its hook.
func (h *Hooks) record(ctx context.Context, d *delivery, a Attempt, wait time.Duration) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	now, err := h.find(d.hook.ID)
	if err != nil {
		return nil //nolint:nilerr // removed meanwhile, and all of it with it
	}
	k := *now
	state, due := h.outcome(&k, d, a, wait)
	changed := k.FailingSince != now.FailingSince || k.Enabled != now.Enabled
	err = h.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// One that was dropped meanwhile stays so.
		_, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET tries = ?, attempts = ?, due = ?,
			state = CASE WHEN state = 'waiting' THEN ? ELSE state END WHERE seq = ?`, d.tries+1, a.N, due, state, d.seq)
		if err == nil {
			err = insertAttempt(ctx, tx, d.seq, a)
		}
		if err == nil && changed {
			err = putHook(ctx, tx, &k)
		}
		if err == nil {
			err = h.prune(ctx, tx, k.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	if changed {
		h.publish(&k)
	}
	if now.Enabled && !k.Enabled {
		h.opt.Log.Warn("webhook disabled", "hook", k.ID, "why", k.Note)
	}
	return nil
}

// outcome decides what an attempt means for its message and its hook.
func (h *Hooks) outcome(k *hook, d *delivery, a Attempt, wait time.Duration) (state string, due int64) {
	now := h.millis()
	switch {
	case a.arrived():
		k.FailingSince = 0
		return "delivered", 0
	case a.Status == http.StatusGone:
		k.Enabled, k.Note = false, "the receiver answered 410: it wants no more messages"
		return "failed", 0
	case k.FailingSince == 0:
		k.FailingSince = a.At
	}
	if pause, again := h.pause(d.tries + 1); again {
		return "waiting", now + max(pause, wait).Milliseconds()
	}
	if now-k.FailingSince >= h.opt.Patience.Milliseconds() {
		k.Enabled = false
		k.Note = "nothing has arrived since " + time.UnixMilli(k.FailingSince).UTC().Format("2006-01-02 15:04 UTC") + "; last: " + a.Error
	}
	return "failed", 0
}

func insertAttempt(ctx context.Context, tx *sql.Tx, seq int64, a Attempt) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO webhook_attempts (delivery, n, at, status, duration, error) VALUES (?, ?, ?, ?, ?, ?)`,
		seq, a.N, a.At, a.Status, a.DurationMS, a.Error)
	if err == nil { // messages may be sent again by order without end
		_, err = tx.ExecContext(ctx, `DELETE FROM webhook_attempts WHERE delivery = ? AND n <= ?`, seq, a.N-mostAttempts)
	}
	return err
}

const mostAttempts = 50

// prune forgets the oldest messages that are done with.
func (h *Hooks) prune(ctx context.Context, tx *sql.Tx, hook string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM webhook_deliveries WHERE seq IN (
		SELECT seq FROM webhook_deliveries WHERE hook = ? AND state <> 'waiting' ORDER BY seq DESC LIMIT -1 OFFSET ?)`, hook, h.opt.Kept)
	return err
}

// Test sends a message of the event TestEvent now, once, whether the hook is
// enabled or not, and returns what came of it. Errors: station.ErrNotFound.
func (h *Hooks) Test(ctx context.Context, id string) (Delivery, error) {
	m := Message{Event: TestEvent, At: h.opt.Now()}
	d, err := h.begun(ctx, id, m)
	if err != nil {
		return Delivery{}, fmt.Errorf("test webhook: %w", err)
	}
	a, _ := h.attempt(ctx, d)
	state := "failed"
	if a.arrived() {
		state = "delivered"
	}
	err = h.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET attempts = 1, state = ? WHERE seq = ?`, state, d.seq)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err // the hook is gone
		}
		if err := insertAttempt(ctx, tx, d.seq, a); err != nil {
			return err
		}
		return h.prune(ctx, tx, id)
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("test webhook: %w", err)
	}
	return Delivery{ID: d.id, Event: m.Event, At: m.At.UnixMilli(), State: state, Attempts: []Attempt{a}}, nil
}

// begun writes a test message into the log, while nobody removes its hook. It
// counts as failed until it has arrived: nothing sends it again by itself.
func (h *Hooks) begun(ctx context.Context, id string, m Message) (d *delivery, err error) {
	h.turn.Lock()
	defer h.turn.Unlock()
	k, err := h.find(id)
	if err != nil {
		return nil, err
	}
	err = h.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		d, err = h.insert(ctx, tx, k, m, []byte(`{"message":"It works."}`), "failed")
		return err
	})
	return d, err
}

// Redeliver puts a message back into the queue under its old id, due now.
// Errors: station.ErrNotFound, station.ErrConflict while the hook is disabled.
func (h *Hooks) Redeliver(ctx context.Context, hook, id string) (Delivery, error) {
	h.turn.Lock()
	k, err := h.find(hook)
	if err == nil && !k.Enabled {
		err = fmt.Errorf("the webhook is disabled: enable it first: %w", station.ErrConflict)
	}
	if err == nil {
		err = h.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET state = 'waiting', tries = 0, due = ? WHERE hook = ? AND id = ?`,
				h.millis(), hook, id)
			return err
		})
	}
	h.turn.Unlock()
	if err != nil {
		return Delivery{}, err
	}
	h.rouse()
	all, err := h.deliveries(ctx, `d.hook = ? AND d.id = ?`, 1, hook, id)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("delivery %.80q: %w", id, station.ErrNotFound)
	}
	if err != nil {
		return Delivery{}, err
	}
	return all[0], nil
}

// Deliveries returns a hook's messages, the newest first, at most limit of those
// before the one with the id before; from the newest on when that is empty.
// Errors: station.ErrNotFound.
func (h *Hooks) Deliveries(ctx context.Context, hook, before string, limit int) ([]Delivery, error) {
	// A reader who sees a message delivered must see its hook as no longer failing.
	h.turn.Lock()
	defer h.turn.Unlock()
	if _, err := h.find(hook); err != nil {
		return nil, err
	}
	if before == "" {
		return h.deliveries(ctx, `d.hook = ?`, limit, hook)
	}
	var seq int64
	err := h.opt.DB.Read().QueryRowContext(ctx, `SELECT seq FROM webhook_deliveries WHERE hook = ? AND id = ?`, hook, before).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("delivery %.80q: %w", before, station.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return h.deliveries(ctx, `d.hook = ? AND d.seq < ?`, limit, hook, seq)
}

// deliveries reads messages with their attempts, the newest first.
func (h *Hooks) deliveries(ctx context.Context, where string, limit int, args ...any) ([]Delivery, error) {
	rows, err := h.opt.DB.Read().QueryContext(ctx, `SELECT d.id, d.event, d.at, d.state, d.due, a.n, a.at, a.status, a.duration, a.error
		FROM (SELECT * FROM webhook_deliveries d WHERE `+where+` ORDER BY seq DESC LIMIT ?) d
		LEFT JOIN webhook_attempts a ON a.delivery = d.seq ORDER BY d.seq DESC, a.n`, append(args, limit)...) //nolint:gosec // where is ours
	if err != nil {
		return nil, fmt.Errorf("read webhook deliveries: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := []Delivery{}
	for rows.Next() {
		var d Delivery
		var n, at, status, duration sql.NullInt64
		var text sql.NullString
		if err := rows.Scan(&d.ID, &d.Event, &d.At, &d.State, &d.DueAt, &n, &at, &status, &duration, &text); err != nil {
			return nil, err
		}
		if d.State != "waiting" {
			d.DueAt = 0
		}
		if len(out) == 0 || out[len(out)-1].ID != d.ID {
			d.Attempts = []Attempt{}
			out = append(out, d)
		}
		if n.Valid {
			last := &out[len(out)-1]
			last.Attempts = append(last.Attempts, Attempt{int(n.Int64), at.Int64, int(status.Int64), duration.Int64, text.String})
		}
	}
	return out, rows.Err()
}

// cut keeps an error's text short enough for the log.
func cut(s string) string {
	const most = 300
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
