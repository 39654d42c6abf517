package people

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	// keptOrders is how long the log of orders goes back, mostOrders how many it has at most
	// of one user: whoever gives many cannot drive out what others did.
	keptOrders = 365 * 24 * time.Hour
	mostOrders = 20_000
	// prunedEvery is after how many orders those that are too many are removed.
	prunedEvery = 1000
	longDetail  = 4 << 10
	// waitForLog bounds how long an order waits for its line.
	waitForLog = 2 * time.Second
)

// Order is a line of the log, as the API has it.
type Order struct {
	N       int64  `json:"n"`
	At      int64  `json:"at"`   // epoch milliseconds
	User    string `json:"user"` // id; empty for the station key
	Name    string `json:"name"`
	Way     Way    `json:"way"`
	Order   string `json:"order"`  // method and route
	Target  string `json:"target"` // what its path names
	Detail  string `json:"detail"` // JSON, without secrets
	Address string `json:"address"`
	Status  int    `json:"status"` // of HTTP; 0: its outcome is not known
}

// Who is the one who gave an order, in a line of text.
func (o Order) Who() string { return Caller{Name: o.Name, Way: o.Way}.Who() }

// Ordered writes an order before it is carried out, so that a kill in its midst leaves a
// trace, and returns the function that notes its outcome and what it was in detail. The log
// never keeps an order from being carried out: on a full or a slow disk it says so and goes on.
func (p *People) Ordered(ctx context.Context, c Caller, o Order) (done func(status int, detail string)) {
	o.At, o.User, o.Name, o.Way = p.now(), c.User, c.Name, c.Way
	ctx = context.WithoutCancel(ctx) // whoever sent it may go
	n, err := p.write(ctx, o)
	if err != nil {
		p.opt.Log.Warn("the log of orders is slow: the order goes on, and is written with its outcome", "order", o.Order, "by", o.Name, "err", err)
	}
	return func(status int, detail string) {
		if o.Status, o.Detail = status, detail; len(detail) > longDetail {
			o.Detail = ""
		}
		if n == 0 {
			_, err = p.write(ctx, o)
		} else {
			err = p.outcome(ctx, n, o)
		}
		if err != nil {
			p.opt.Log.Error("cannot write the log of orders", "order", o.Order, "by", c.Who(), "status", status, "err", err)
		}
	}
}

// write adds a line to the log and returns its number.
func (p *People) write(ctx context.Context, o Order) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, waitForLog)
	defer cancel()
	err = p.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		out, err := tx.ExecContext(ctx, `INSERT INTO people_orders (at, user, name, way, order_, target, detail, address, status)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, o.At, o.User, o.Name, string(o.Way), o.Order, o.Target, o.Detail, o.Address, o.Status)
		if err != nil {
			return err
		}
		n, err = out.LastInsertId()
		return err
	})
	if err != nil {
		return 0, err
	}
	if n%prunedEvery == 0 {
		select {
		case p.prunes <- o.User: // Run does it: no order waits for that
		default:
		}
	}
	return n, nil
}

// outcome adds to a line what came of the order.
func (p *People) outcome(ctx context.Context, n int64, o Order) error {
	ctx, cancel := context.WithTimeout(ctx, waitForLog)
	defer cancel()
	return p.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE people_orders SET status = ?, detail = ? WHERE n = ?`, o.Status, o.Detail, n)
		return err
	})
}

// Orders are lines of the log, the newest first, before a number (0: from the newest on),
// of one user or of all.
func (p *People) Orders(ctx context.Context, user string, before int64, most int) (out []Order, err error) {
	if before <= 0 {
		before = 1<<63 - 1
	}
	rows, err := p.opt.DB.Read().QueryContext(ctx, `SELECT n, at, user, name, way, order_, target, detail, address, status
		FROM people_orders WHERE n < ?1 AND (?2 = '' OR user = ?2) ORDER BY n DESC LIMIT ?3`, before, user, max(most, 1))
	if err != nil {
		return nil, fmt.Errorf("read the log of orders: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	out = []Order{}
	for rows.Next() {
		var o Order
		if err := rows.Scan(&o.N, &o.At, &o.User, &o.Name, &o.Way, &o.Order, &o.Target, &o.Detail, &o.Address, &o.Status); err != nil {
			return nil, fmt.Errorf("read the log of orders: %w", err)
		}
		out = append(out, o)
	}
	return out, rows.Err()
}

// Run notes last uses, and tidies once a day, until ctx ends.
func (p *People) Run(ctx context.Context) error {
	tidy := time.NewTimer(0)
	defer tidy.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-p.uses:
			if err := p.note(ctx, c); err != nil && ctx.Err() == nil {
				p.opt.Log.Warn("cannot note the last use", "user", c.User, "way", c.Way, "err", err)
				pause(ctx, noteAgain)
			}
		case user := <-p.prunes:
			if err := p.prune(ctx, user); err != nil && ctx.Err() == nil {
				p.opt.Log.Warn("cannot shorten the log of orders", "user", user, "err", err)
			}
		case <-tidy.C:
			if err := p.Tidy(ctx); err != nil && ctx.Err() == nil {
				p.opt.Log.Warn("cannot tidy people", "err", err)
			}
			tidy.Reset(24 * time.Hour)
		}
	}
}

// noteAgain is how long no last use is noted after one that could not be.
const noteAgain = time.Minute

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Tidy removes what has ended: sessions, links, and orders of more than a year ago.
func (p *People) Tidy(ctx context.Context) error {
	now := p.opt.Now()
	return p.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM people_sessions WHERE until <= ?`, now.UnixMilli())
		_, err2 := tx.ExecContext(ctx, `DELETE FROM people_invitations WHERE until <= ?`, now.UnixMilli())
		_, err3 := tx.ExecContext(ctx, `DELETE FROM people_orders WHERE at < ?`, now.Add(-keptOrders).UnixMilli())
		return errors.Join(err, err2, err3)
	})
}

// prune removes the oldest orders of a user who gave too many.
func (p *People) prune(ctx context.Context, user string) error {
	return p.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM people_orders WHERE user = ?1 AND n <=
			(SELECT n FROM people_orders WHERE user = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)`, user, mostOrders)
		return err
	})
}
