package feedback

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/emoji"
	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/station"
)

const (
	deviceReactions, deviceReactsEvery   = 10, time.Second
	addressReactions, addressReactsEvery = 100, 200 * time.Millisecond
	// mostDelta is how many clicks one request may carry.
	mostDelta = 10
	// mostTold bounds the unchanged emoji that one event lists.
	mostTold = 60
)

// Reactions counts how often each emoji was sent to the station. Counts only grow.
// Only Unicode's emoji are accepted, which bounds the table.
type Reactions struct {
	opt    Options
	given  *answers
	budget budget
	counts atomic.Pointer[map[string]int64] // never changed once published
	pace   pace

	turns turns.Turns[*reaction] // whoever has the turn may use stale
	stale bool                   // a commit failed: what is on disk must be read again

	mu      sync.Mutex
	changed map[string]int64 // since listeners were told
}

// ReactionIn is what a client sends.
type ReactionIn struct {
	Emoji string
	Delta int    // clicks: 1 to 10
	ID    string // of the write; may be empty
}

// Reacted is the answer to it.
type Reacted struct {
	Emoji string `json:"emoji" doc:"In its full form"`
	Count int64  `json:"count" doc:"Of this emoji, once this was counted"`
}

// reaction is one caller's request, and its answer once committed.
type reaction struct {
	emoji  string
	delta  int64
	write  write
	answer Reacted
}

func openReactions(ctx context.Context, opt Options, given *answers) (*Reactions, error) {
	r := &Reactions{
		opt: opt, given: given, pace: newPace(), changed: map[string]int64{},
		budget: budget{client.NewLimits(deviceReactions, deviceReactsEvery, opt.Now), client.NewLimits(addressReactions, addressReactsEvery, opt.Now)},
	}
	if err := r.takeOver(ctx); err != nil {
		return nil, err
	}
	counts, err := readReactions(ctx, opt.DB.Read())
	if err != nil {
		return nil, fmt.Errorf("read reactions: %w", err)
	}
	r.counts.Store(&counts)
	return r, nil
}

// Counts returns how often each emoji was sent. The map is shared and never
// changed.
func (r *Reactions) Counts() map[string]int64 { return *r.counts.Load() }

// React counts a reaction. When it returns nil the reaction is on disk.
// Errors: station.ErrInvalid, ErrConflict (the id was used for another emoji),
// ErrUnavailable, *client.LimitError.
func (r *Reactions) React(ctx context.Context, from Client, in ReactionIn) (Reacted, error) {
	full, ok := emoji.Full(in.Emoji)
	if !ok {
		return Reacted{}, fmt.Errorf("emoji: must be one emoji: %w", station.ErrInvalid)
	}
	if in.Delta < 1 || in.Delta > mostDelta {
		return Reacted{}, fmt.Errorf("delta: must be 1 to %d: %w", mostDelta, station.ErrInvalid)
	}
	if err := checkID(in.ID); err != nil {
		return Reacted{}, err
	}
	if err := r.budget.take(from.Device, from.Address); err != nil {
		return Reacted{}, err
	}
	mine := &reaction{emoji: full, delta: int64(in.Delta), write: write{from.Device, in.ID}}
	err := r.turns.Share(mine, func(batch []*turns.Waiter[*reaction]) error { return r.commit(ctx, batch) })
	if err != nil {
		return Reacted{}, err
	}
	return mine.answer, nil
}

// commit counts a batch in one transaction. The caller has the turn.
func (r *Reactions) commit(ctx context.Context, batch []*turns.Waiter[*reaction]) error {
	next, changed := maps.Clone(r.Counts()), map[string]int64{}
	var desk *desk
	err := r.opt.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var err error
		if r.stale {
			if next, err = readReactions(ctx, tx); err != nil {
				return err
			}
		}
		if desk, err = r.given.on(ctx, tx, "reaction"); err != nil {
			return err
		}
		for _, w := range batch {
			if w.Err, err = count(desk, w.Want, next, changed); err != nil {
				return err
			}
		}
		return keepReactions(ctx, tx, changed)
	})
	if err != nil {
		r.stale = true
		r.opt.Log.Error("reactions not saved", "requests", len(batch), "err", err)
		return fmt.Errorf("save reactions: %w", err)
	}
	desk.committed()
	r.stale = false
	r.counts.Store(&next)
	r.note(changed)
	return nil
}

// count adds one reaction, unless its id was counted already. refused is this
// caller's error alone, err ends the transaction.
func count(desk *desk, c *reaction, next, changed map[string]int64) (refused, err error) {
	known, err := desk.find(c.write, &c.answer)
	switch {
	case err != nil:
		return nil, err
	case known && c.answer.Emoji != c.emoji:
		return errReused, nil
	case known:
		return nil, nil
	}
	if full, err := desk.full(c.write); err != nil || full {
		return fmt.Errorf("too many reactions, try again later: %w", station.ErrUnavailable), err
	}
	next[c.emoji] += c.delta
	changed[c.emoji] += c.delta
	c.answer = Reacted{c.emoji, next[c.emoji]}
	return nil, desk.put(c.write, c.answer)
}

func keepReactions(ctx context.Context, tx *sql.Tx, changed map[string]int64) error {
	for emoji, delta := range changed {
		if _, err := tx.ExecContext(ctx, `INSERT INTO reactions (emoji, count) VALUES (?, ?)
			ON CONFLICT (emoji) DO UPDATE SET count = count + excluded.count`, emoji, delta); err != nil {
			return err
		}
	}
	return nil
}

// queryer is a transaction, or the pool of read connections.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func readReactions(ctx context.Context, db queryer) (map[string]int64, error) {
	rows, err := db.QueryContext(ctx, `SELECT emoji, count FROM reactions`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := map[string]int64{}
	for rows.Next() {
		var emoji string
		var n int64
		if err := rows.Scan(&emoji, &n); err != nil {
			return nil, err
		}
		out[emoji] = n
	}
	return out, rows.Err()
}

func (r *Reactions) note(changed map[string]int64) {
	if len(changed) == 0 {
		return
	}
	r.mu.Lock()
	for emoji, delta := range changed {
		r.changed[emoji] += delta
	}
	r.mu.Unlock()
	r.pace.note()
}

// ReactionsTold is the payload of the event "reactions".
type ReactionsTold struct {
	Counts  map[string]int64 `json:"counts" doc:"Of the 60 most used emoji and of all that changed; GET /api/reactions has all"`
	Changed map[string]int64 `json:"changed" doc:"What was added since the event before"`
}

// run sends events to listeners and writes the data file.
func (r *Reactions) run(ctx context.Context) {
	var file sync.WaitGroup
	file.Go(func() { r.keepFile(ctx) })
	defer file.Wait()
	r.tell()
	r.pace.run(ctx, func() {
		if !r.told() {
			r.tell()
		}
	})
}

func (r *Reactions) told() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.changed) == 0
}

func (r *Reactions) tell() {
	r.mu.Lock()
	changed := r.changed
	r.changed = map[string]int64{}
	r.mu.Unlock()
	// Counts are read after the changes: they may include a change that the next
	// event reports, but never lack one of this event's.
	counts := r.Counts()
	out := map[string]int64{}
	for _, emoji := range mostUsed(counts) {
		out[emoji] = counts[emoji]
	}
	for emoji := range changed {
		out[emoji] = counts[emoji]
	}
	r.opt.Tell("reactions", ReactionsTold{out, changed})
}

// mostUsed returns up to mostTold emoji, the most used first.
func mostUsed(counts map[string]int64) []string {
	all := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return all[:min(len(all), mostTold)]
}
