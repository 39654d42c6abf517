package webhooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Message reports one event.
type Message struct {
	Event string
	// Key says which one it is, where it may be told again after a restart: a
	// message with the key of the newest one of its event is not queued again.
	Key  string
	At   time.Time // when it happened; now when zero
	Data any       // fit for JSON
}

// mostIncoming is how many messages Tell holds for Run.
const mostIncoming = 256

// envelope is the body of a message.
type envelope struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Station   string          `json:"station,omitempty"`
	Data      json.RawMessage `json:"data"`
}

// Tell passes a message to Run, which queues it soon. It never waits. The message
// is lost if the program is killed before that or, with a log line, when the disk
// is too slow; Queue loses nothing.
func (h *Hooks) Tell(m Message) {
	if m.At.IsZero() {
		m.At = h.opt.Now()
	}
	select {
	case h.incoming <- m:
	default:
		h.opt.Log.Error("webhook message lost, the disk is too slow", "event", m.Event)
	}
}

// Queue puts a message into the queue of every hook that wants it. Once it
// returns nil, no kill loses it.
func (h *Hooks) Queue(ctx context.Context, m Message) error {
	if m.At.IsZero() {
		m.At = h.opt.Now()
	}
	data, err := encode(m.Data)
	if err != nil {
		return fmt.Errorf("encode webhook message %s: %w", m.Event, err)
	}
	h.turn.Lock()
	defer h.turn.Unlock()
	all := h.wanting(m.Event)
	if len(all) == 0 && m.Key == "" {
		return nil
	}
	dropped := int64(0)
	err = h.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if known, err := knownKey(ctx, tx, m); err != nil || known {
			return err
		}
		for _, k := range all {
			if _, err := h.insert(ctx, tx, k, m, data, "waiting"); err != nil {
				return err
			}
			n, err := h.bound(ctx, tx, k.ID)
			if err != nil {
				return err
			}
			dropped += n
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("queue webhook message %s: %w", m.Event, err)
	}
	if dropped > 0 {
		h.opt.Log.Warn("webhook queue full, oldest messages dropped", "event", m.Event, "dropped", dropped)
	}
	h.rouse()
	return nil
}

// wanting lists the hooks that ask for an event.
func (h *Hooks) wanting(event string) (out []*hook) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, id := range h.order {
		if k := h.hooks[id]; k.wants(event) {
			out = append(out, k)
		}
	}
	return out
}

// encode writes data without the escapes that JSON within HTML needs.
func encode(data any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(data); err != nil {
		return nil, err
	}
	if b.Len() > mostData {
		return nil, fmt.Errorf("data is larger than %d bytes", mostData)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// knownKey notes a message's key, and reports whether it was the newest already.
func knownKey(ctx context.Context, tx *sql.Tx, m Message) (bool, error) {
	if m.Key == "" {
		return false, nil
	}
	var last string
	err := tx.QueryRowContext(ctx, `SELECT key FROM webhook_keys WHERE event = ?`, m.Event).Scan(&last)
	switch {
	case err == nil && last == m.Key:
		return true, nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return false, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO webhook_keys (event, key) VALUES (?, ?)
		ON CONFLICT (event) DO UPDATE SET key = excluded.key`, m.Event, m.Key)
	return false, err
}

// insert writes a message to one hook.
func (h *Hooks) insert(ctx context.Context, tx *sql.Tx, k *hook, m Message, data json.RawMessage, state string) (*delivery, error) {
	d := &delivery{hook: k, id: "msg_" + rand.Text(), event: m.Event}
	var err error
	d.body, err = encode(envelope{
		ID: d.id, Type: m.Event, Timestamp: m.At.UTC().Format("2006-01-02T15:04:05.000Z"), Station: h.opt.Station, Data: data,
	})
	if err != nil {
		return nil, err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO webhook_deliveries (id, hook, event, at, body, state, due, tries, attempts)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)`, d.id, k.ID, m.Event, m.At.UnixMilli(), d.body, state, h.millis())
	if err != nil {
		return nil, err
	}
	d.seq, err = res.LastInsertId()
	return d, err
}

// bound drops the oldest of too many messages.
func (h *Hooks) bound(ctx context.Context, tx *sql.Tx, hook string) (int64, error) {
	res, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET state = 'dropped' WHERE seq IN (
		SELECT seq FROM webhook_deliveries WHERE hook = ? AND state = 'waiting' ORDER BY seq DESC LIMIT -1 OFFSET ?)`, hook, h.opt.MostWaiting)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
