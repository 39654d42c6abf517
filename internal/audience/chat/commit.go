package chat

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/turns"
)

// patience bounds one commit, for which many callers may wait.
const patience = 10 * time.Second

// order is one write that waits for its commit.
type order struct {
	do   func(w *writer) error
	tell []event
}

type event struct {
	name    string
	payload any
}

// write runs do in a transaction shared with simultaneous writers, to spare the disk,
// which the scheduler needs too. When it returns nil the change is on disk and its
// events are sent. An error of do concerns its caller alone; do must not have changed
// anything by then.
func (c *Chat) write(ctx context.Context, do func(w *writer) error) error {
	return c.turns.Share(&order{do: do}, func(batch []*turns.Waiter[*order]) error { return c.commit(ctx, batch) })
}

// commit saves a batch in one transaction. The caller has the turn.
func (c *Chat) commit(ctx context.Context, batch []*turns.Waiter[*order]) error {
	// The commit goes on if a client leaves, for others wait for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	w := &writer{ctx: ctx, chat: c, now: c.opt.Now().UnixMilli(), rules: c.rules.Load()}
	err := c.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		w.tx = tx
		for _, o := range batch {
			w.tell = nil
			o.Err = o.Want.do(w)
			o.Want.tell = w.tell
			if w.err != nil {
				return w.err
			}
		}
		return nil
	})
	if err != nil {
		c.opt.Log.Error("chat not saved", "writes", len(batch), "err", err)
		err = fmt.Errorf("save chat: %w", err)
		for _, o := range batch {
			o.Err = err // also for orders that had succeeded: nothing was saved
		}
		return err
	}
	c.rules.Store(w.rules)
	c.discard(ctx, w.unused)
	for _, o := range batch {
		for _, e := range o.Want.tell {
			c.opt.Tell(e.name, e.payload)
		}
	}
	return nil
}

// discard removes attachments that no message refers to any more.
func (c *Chat) discard(ctx context.Context, names []string) {
	for _, name := range names {
		if err := c.files.Remove(name, c.kept(ctx)); err != nil {
			c.opt.Log.Warn("attachment not removed, the next sweep will try again", "file", name, "err", err)
		}
	}
}

// kept returns a function that reports whether a message still refers to a file.
func (c *Chat) kept(ctx context.Context) func(name string) (bool, error) {
	return func(name string) (bool, error) {
		var n int
		err := c.opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM chat_media WHERE name = ?`, name).Scan(&n)
		return n > 0, err
	}
}

// writer is one transaction. After its first error it does nothing more.
type writer struct {
	ctx    context.Context //nolint:containedctx // lives as long as one transaction
	tx     *sql.Tx
	chat   *Chat
	now    int64
	rules  *rules   // including this transaction's changes
	tell   []event  // to be sent once committed
	unused []string // attachments that no message refers to any more
	err    error
}

func (w *writer) later(name string, payload any) { w.tell = append(w.tell, event{name, payload}) }

func (w *writer) exec(query string, args ...any) sql.Result {
	if w.err != nil {
		return none{}
	}
	res, err := w.tx.ExecContext(w.ctx, query, args...)
	if err != nil {
		w.err = err
		return none{}
	}
	return res
}

type none struct{}

func (none) LastInsertId() (int64, error) { return 0, nil }
func (none) RowsAffected() (int64, error) { return 0, nil }

// get reads one row; false when there is none.
func (w *writer) get(query string, args []any, into ...any) bool {
	if w.err != nil {
		return false
	}
	err := w.tx.QueryRowContext(w.ctx, query, args...).Scan(into...)
	if isNone(err) {
		return false
	}
	w.err = err
	return err == nil
}

// failed returns the transaction's error, which an order hands on.
func (w *writer) failed() error { return w.err }

// reload reads the rules anew after the transaction has changed them.
func (w *writer) reload() {
	if w.err != nil {
		return
	}
	next, err := readRules(w.ctx, w.tx)
	if err != nil {
		w.err = err
		return
	}
	w.rules = next
}
