package webhooks

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/athir-radio/athir/internal/station"
)

// Hook is an address that receives messages. Times are epoch milliseconds.
type Hook struct {
	ID           string   `json:"id"`
	URL          string   `json:"url"`
	Events       []string `json:"events" nullable:"false" doc:"Names of events; * is all of them"`
	Enabled      bool     `json:"enabled"`
	Note         string   `json:"note,omitempty" doc:"Why it was disabled, where that was not by order"`
	CreatedAt    int64    `json:"createdAt" doc:"Epoch milliseconds"`
	FailingSince int64    `json:"failingSince,omitempty" doc:"Epoch milliseconds; nothing has arrived since"`
	Waiting      int      `json:"waiting" doc:"Messages in its queue"`
	Secret       string   `json:"secret,omitempty" doc:"Signs the messages. Only in the answer that made it"`
}

// Order describes a new hook.
type Order struct {
	URL    string
	Events []string
	// Secret is whsec_ and 24 to 64 bytes in base64; one is made when empty.
	Secret string
}

// Change holds the new values of a hook's fields; nil keeps the old one.
type Change struct {
	URL     *string
	Events  []string
	Enabled *bool
	// Rotate makes a new secret. Messages carry a signature by the one before it
	// as well, for a day.
	Rotate bool
}

// every is the name that stands for all events.
const every = "*"

// wants reports whether a hook asks for an event.
func (k *hook) wants(event string) bool {
	return k.Enabled && (slices.Contains(k.Events, event) || slices.Contains(k.Events, every))
}

// List returns the hooks, the oldest first.
func (h *Hooks) List(ctx context.Context) ([]Hook, error) {
	waiting, err := h.waiting(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	out := make([]Hook, len(h.order))
	for i, id := range h.order {
		out[i] = h.hooks[id].Hook
		out[i].Waiting = waiting[id]
	}
	return out, nil
}

// Find returns one hook. Errors: station.ErrNotFound.
func (h *Hooks) Find(ctx context.Context, id string) (Hook, error) {
	k, err := h.find(id)
	if err != nil {
		return Hook{}, err
	}
	waiting, err := h.waiting(ctx)
	out := k.Hook
	out.Waiting = waiting[id]
	return out, err
}

func (h *Hooks) find(id string) (*hook, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if k, ok := h.hooks[id]; ok {
		return k, nil
	}
	return nil, fmt.Errorf("webhook %q: %w", id, station.ErrNotFound)
}

// Add makes a hook; only what it returns shows the secret. Errors:
// station.ErrInvalid, station.ErrConflict where there are too many.
func (h *Hooks) Add(ctx context.Context, o Order) (Hook, error) {
	k := &hook{Hook: Hook{ID: "wh_" + rand.Text(), URL: o.URL, Events: o.Events, Enabled: true, CreatedAt: h.millis()}, secret: newSecret()}
	if err := h.valid(&k.Hook); err != nil {
		return Hook{}, err
	}
	if o.Secret != "" {
		key, err := readSecret(o.Secret)
		if err != nil {
			return Hook{}, err
		}
		k.secret = key
	}
	h.turn.Lock()
	defer h.turn.Unlock()
	if len(h.order) >= mostHooks {
		return Hook{}, fmt.Errorf("there are already %d webhooks: remove one first: %w", mostHooks, station.ErrConflict)
	}
	if err := h.save(ctx, k); err != nil {
		return Hook{}, err
	}
	out := k.Hook
	out.Secret = showSecret(k.secret)
	return out, nil
}

// Change changes a hook. One that is disabled gets nothing, and what waits for it
// is dropped; enabled again it starts anew. Errors: station.ErrNotFound,
// station.ErrInvalid.
func (h *Hooks) Change(ctx context.Context, id string, c Change) (Hook, error) {
	h.turn.Lock()
	defer h.turn.Unlock()
	old, err := h.find(id)
	if err != nil {
		return Hook{}, err
	}
	k := *old
	if c.URL != nil {
		k.URL = *c.URL
	}
	if c.Events != nil {
		k.Events = c.Events
	}
	if err := h.valid(&k.Hook); err != nil {
		return Hook{}, err
	}
	if c.Enabled != nil {
		k.Enabled, k.Note = *c.Enabled, ""
	}
	if k.Enabled && !old.Enabled || k.URL != old.URL {
		k.FailingSince = 0
	}
	if c.Rotate {
		k.former, k.formerUntil, k.secret = k.secret, h.millis()+overlap.Milliseconds(), newSecret()
	}
	if err := h.save(ctx, &k); err != nil {
		return Hook{}, err
	}
	h.rouse()
	out := k.Hook
	if c.Rotate {
		out.Secret = showSecret(k.secret)
	}
	waiting, err := h.waiting(ctx)
	out.Waiting = waiting[id]
	return out, err
}

// Remove deletes a hook, its queue and its log. Errors: station.ErrNotFound.
func (h *Hooks) Remove(ctx context.Context, id string) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	if _, err := h.find(id); err != nil {
		return err
	}
	err := h.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM webhooks WHERE id = ?`, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove webhook: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hooks = maps.Clone(h.hooks)
	delete(h.hooks, id)
	h.order = slices.DeleteFunc(slices.Clone(h.order), func(other string) bool { return other == id })
	return nil
}

const longestURL = 2000

// valid checks what came from outside, and sets the order of events.
func (h *Hooks) valid(k *Hook) error {
	if len(k.URL) > longestURL {
		return fmt.Errorf("url: must be at most %d bytes long: %w", longestURL, station.ErrInvalid)
	}
	if _, err := h.opt.Sender.Check(k.URL); err != nil {
		return fmt.Errorf("url: %w: %w", err, station.ErrInvalid)
	}
	known := []string{every}
	for _, e := range h.opt.Events {
		known = append(known, e.Name)
	}
	for _, name := range k.Events {
		if !slices.Contains(known, name) {
			return fmt.Errorf("events: %.80q is not an event: use %q: %w", name, known, station.ErrInvalid)
		}
	}
	k.Events = slices.Clone(k.Events)
	slices.Sort(k.Events)
	k.Events = slices.Compact(k.Events)
	if len(k.Events) == 0 {
		return fmt.Errorf("events: name one, or * for all: %w", station.ErrInvalid)
	}
	return nil
}

// save writes a hook and publishes it. The caller holds the turn.
func (h *Hooks) save(ctx context.Context, k *hook) error {
	err := h.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return putHook(ctx, tx, k) })
	if err != nil {
		return fmt.Errorf("write webhook: %w", err)
	}
	h.publish(k)
	return nil
}

func putHook(ctx context.Context, tx *sql.Tx, k *hook) error {
	events, err := json.Marshal(k.Events)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO webhooks (id, url, events, secret, former, former_until, enabled, note, created, failing)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET url = excluded.url, events = excluded.events, secret = excluded.secret, former = excluded.former,
			former_until = excluded.former_until, enabled = excluded.enabled, note = excluded.note, failing = excluded.failing`,
		k.ID, k.URL, string(events), k.secret, append([]byte{}, k.former...), k.formerUntil, k.Enabled, k.Note, k.CreatedAt, k.FailingSince)
	if err == nil && !k.Enabled {
		_, err = tx.ExecContext(ctx, `UPDATE webhook_deliveries SET state = 'dropped' WHERE hook = ? AND state = 'waiting'`, k.ID)
	}
	return err
}

// publish shows a hook to those who read.
func (h *Hooks) publish(k *hook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.hooks[k.ID]; !ok {
		h.order = append(slices.Clone(h.order), k.ID)
	}
	h.hooks = maps.Clone(h.hooks)
	h.hooks[k.ID] = k
}

// load reads all hooks.
func (h *Hooks) load(ctx context.Context) error {
	rows, err := h.opt.DB.Read().QueryContext(ctx, `SELECT id, url, events, secret, former, former_until, enabled, note, created, failing
		FROM webhooks ORDER BY created, id`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		k, events := &hook{}, ""
		if err := rows.Scan(&k.ID, &k.URL, &events, &k.secret, &k.former, &k.formerUntil, &k.Enabled, &k.Note, &k.CreatedAt, &k.FailingSince); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(events), &k.Events); err != nil {
			return fmt.Errorf("decode events of webhook %s: %w", k.ID, err)
		}
		h.publish(k)
	}
	return rows.Err()
}

// waiting counts the messages that wait for each hook.
func (h *Hooks) waiting(ctx context.Context) (map[string]int, error) {
	rows, err := h.opt.DB.Read().QueryContext(ctx, `SELECT hook, count(*) FROM webhook_deliveries WHERE state = 'waiting' GROUP BY hook`)
	if err != nil {
		return nil, fmt.Errorf("count waiting webhook messages: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		out[id] = n
	}
	return out, rows.Err()
}

// write is one transaction that a caller who leaves does not end.
func (h *Hooks) write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return h.opt.DB.Write(ctx, func(tx *sql.Tx) error { return fn(ctx, tx) })
}
