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
func (p *People) Ordered(c Caller, o Order) (done func(status int, detail string)) {
	o.N, o.Status = 0, 0
	o.At, o.User, o.Name, o.Way = p.now(), c.User, c.Name, c.Way
	l := &line{}
	if err := p.orders.put(l, func(says *Order) { *says = o }); err != nil {
		p.opt.Log.Warn("the log of orders is slow: the order goes on, and its line is written when the disk is ready", "order", o.Order, "by", o.Who(), "err", err)
	}
	return func(status int, detail string) {
		if len(detail) > longDetail {
			detail = ""
		}
		err := p.orders.put(l, func(says *Order) { says.Status, says.Detail = status, detail })
		if errors.Is(err, errTooMany) { // of any other the writer says it
			o.Status = status
			p.orders.lost(o, err)
		}
	}
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

// Run notes last uses, and tidies once a day, until ctx ends. It returns when the log of
// orders has been written, or after lastLines.
func (p *People) Run(ctx context.Context) error {
	tidy := time.NewTimer(0)
	defer tidy.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLines)
			defer cancel()
			p.orders.settle(last)
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

const (
	// noteAgain is how long no last use is noted after one that could not be.
	noteAgain = time.Minute
	// lastLines bounds how long the end of the program waits for lines of the log.
	lastLines = 5 * time.Second
)

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
