package webpush

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

const (
	// A subscription that has failed mostFailures times in a row, over failingFor or
	// longer, is deleted.
	mostFailures = 10
	failingFor   = 14 * 24 * time.Hour
)

// ledger collects delivery results, to save many in one transaction. A kill loses
// those not saved yet; the next notice brings them up again.
type ledger struct {
	mu  sync.Mutex
	all map[int64]entry
}

type entry struct {
	failures int
	at       int64 // epoch milliseconds
	gone     bool
	well     bool
}

func (l *ledger) note(n int64, change func(*entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.all[n]
	change(&e)
	l.all[n] = e
}

func (l *ledger) gone(n, at int64) { l.note(n, func(e *entry) { e.gone, e.at = true, at }) }
func (l *ledger) well(n int64)     { l.note(n, func(e *entry) { e.well, e.failures = true, 0 }) }
func (l *ledger) failed(n, at int64) {
	l.note(n, func(e *entry) { e.failures, e.at = e.failures+1, at })
}

func (l *ledger) take() map[int64]entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.all
	l.all = map[int64]entry{}
	return out
}

// settle saves the collected delivery results.
func (p *Push) settle(ctx context.Context) {
	all := p.ledger.take()
	if len(all) == 0 {
		return
	}
	var pruned uint64
	err := p.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		pruned = 0
		for n, e := range all {
			deleted, err := settleOne(ctx, tx, n, e)
			if err != nil {
				return err
			}
			pruned += uint64(deleted)
		}
		return nil
	})
	if err != nil {
		p.opt.Log.Error("delivery results of push subscriptions not saved", "err", err)
		return
	}
	p.pruned.Add(pruned)
}

func settleOne(ctx context.Context, tx *sql.Tx, n int64, e entry) (deleted int64, err error) {
	var res sql.Result
	switch {
	case e.gone: // unless its owner has renewed it since
		res, err = tx.ExecContext(ctx, `DELETE FROM push_subscriptions WHERE n = ? AND updated <= ?`, n, e.at)
	case e.failures > 0:
		_, err = tx.ExecContext(ctx, `UPDATE push_subscriptions SET failures = CASE WHEN ? THEN 0 ELSE failures END + ?,
			failing = CASE WHEN failing = 0 OR ? THEN ? ELSE failing END WHERE n = ?`, e.well, e.failures, e.well, e.at, n)
		if err == nil {
			res, err = tx.ExecContext(ctx, `DELETE FROM push_subscriptions WHERE n = ? AND failures >= ? AND failing <= ?`,
				n, mostFailures, e.at-failingFor.Milliseconds())
		}
	case e.well:
		_, err = tx.ExecContext(ctx, `UPDATE push_subscriptions SET failures = 0, failing = 0 WHERE n = ?`, n)
	}
	if err != nil || res == nil {
		return 0, err
	}
	return res.RowsAffected()
}
