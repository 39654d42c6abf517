package webpush

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// mostNotices is how many notices may wait for Run in a lane.
	mostNotices = 64
	// urgentWorkers is the number of workers that only send alerts.
	urgentWorkers = 2
	// page is how many subscribers one query reads.
	page = 500
	// settleEvery is the time between two writes of delivery results.
	settleEvery = 5 * time.Second
)

// Notify queues a notice for its subscribers. It never waits: notices that Run cannot
// keep up with are dropped and logged.
func (p *Push) Notify(n Notice) {
	if n.At.IsZero() {
		n.At = p.opt.Now()
	}
	lane := p.usual
	if n.Topic == Alert {
		lane = p.urgent
	}
	select {
	case lane.notices <- &n:
	default:
		p.dropped.Add(1)
		p.opt.Log.Warn("push notice dropped, too many are waiting", "topic", n.Topic)
	}
}

// Run sends the queued notices until ctx ends, and returns once no message is under
// way.
func (p *Push) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, lane := range []*lane{p.usual, p.urgent} {
		for range lane.workers {
			all.Go(func() { p.work(ctx, lane) })
		}
		all.Go(func() { lane.resend(ctx, p.opt.Now) })
		all.Go(func() { p.tell(ctx, lane) })
	}
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			p.settle(ctx)
		case <-ctx.Done():
		}
	}
	all.Wait()
	p.settle(ctx)
	return nil
}

// tell dispatches the notices of a lane, one after another.
func (p *Push) tell(ctx context.Context, lane *lane) {
	for {
		select {
		case n := <-lane.notices:
			p.settle(ctx) // so that dispatch knows who is failing
			if err := p.dispatch(ctx, lane, n); err != nil && ctx.Err() == nil {
				p.opt.Log.Error("push notice not sent", "topic", n.Topic, "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// reader is a subscriber that a notice is for.
type reader struct {
	n        int64
	endpoint string
	p256dh   []byte
	auth     []byte
	lang     string
	failing  bool
	stranger bool // not at one of the browsers' push services
}

// dispatch gives the workers a letter for each subscriber of a notice.
func (p *Push) dispatch(ctx context.Context, lane *lane, n *Notice) error {
	fresh, err := p.fresh(ctx, n)
	if err != nil {
		return err
	}
	if !fresh {
		p.opt.Log.Debug("push notice skipped, sent before or too soon after another", "topic", n.Topic, "key", n.Key)
		return nil
	}
	r := reading{p: p, notice: n, manner: mannerOf(n.Topic), zones: map[string]*time.Location{}, begun: p.opt.Now().UnixMilli()}
	if n.Topic == Artist {
		if r.keys = p.opt.Artists(n.Artist); len(r.keys) == 0 {
			return nil
		}
	}
	texts := map[string][]byte{}
	told := 0
	for {
		readers, more, err := r.next(ctx)
		if err != nil {
			return err
		}
		for _, to := range readers {
			if texts[to.lang] == nil {
				if texts[to.lang], err = p.message(n, to.lang, false); err != nil {
					return err
				}
			}
			l := &letter{lane: lane, reader: to, notice: n, manner: r.manner, text: texts[to.lang], until: n.At.Add(r.manner.ttl)}
			select {
			case lane.letters <- l:
				told++
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if !more {
			level := slog.LevelInfo
			if told == 0 {
				level = slog.LevelDebug // without subscribers it is no event
			}
			p.opt.Log.Log(ctx, level, "push notice dispatched", "topic", n.Topic, "subscribers", told)
			return nil
		}
	}
}

// fresh reports whether a notice should be sent, and notes that it is being sent: it
// was not sent before, and not too soon after another of its topic. A notice that has
// passed is never sent again.
func (p *Push) fresh(ctx context.Context, n *Notice) (fresh bool, err error) {
	m := mannerOf(n.Topic)
	if m.ttl == 0 {
		return false, fmt.Errorf("unknown topic %q", n.Topic)
	}
	if p.opt.Now().Sub(n.At) >= m.ttl {
		return false, nil
	}
	now := p.opt.Now().UnixMilli()
	err = p.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var key string
		var at int64
		err := tx.QueryRowContext(ctx, `SELECT key, at FROM push_told WHERE kind = ?`, string(n.Topic)).Scan(&key, &at)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil && n.Key != "" && n.Key == key {
			return nil
		}
		// A clock that was set back does not suppress the notice.
		fresh = err != nil || now-at >= m.apart.Milliseconds() || now < at
		if fresh {
			at = now
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO push_told VALUES (?, ?, ?)
			ON CONFLICT (kind) DO UPDATE SET key = excluded.key, at = excluded.at`, string(n.Topic), n.Key, at)
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM push_subscriptions WHERE expires > 0 AND expires <= ?`, now)
		}
		return err
	})
	return fresh && err == nil, err
}

// reading goes through the subscribers of a notice, page by page.
type reading struct {
	p      *Push
	notice *Notice
	manner manner
	keys   []string // of the artists
	zones  map[string]*time.Location
	after  int64
	// failing marks the second pass: subscribers whose last message failed come
	// last, so that services that hang do not hold up the others.
	failing bool
	begun   int64 // epoch milliseconds; those failing since then were reached in the first pass
}

// next returns one page of subscribers to notify, and whether there may be more. For
// the topic artist, it is on disk by then that they are notified.
func (r *reading) next(ctx context.Context) (out []reader, more bool, err error) {
	now := r.p.opt.Now()
	query := `SELECT n, endpoint, p256dh, auth, lang, quiet_from, quiet_to, zone, failures, stranger <> '' FROM push_subscriptions
		WHERE n > ? AND (failures > 0) = ? AND failing < ?`
	args := []any{r.after, r.failing, r.begun}
	if r.notice.Topic == Own {
		query, args = query+` AND device = ?`, append(args, r.notice.Device)
	} else {
		query, args = query+` AND instr(topics, ?)`, append(args, " "+string(r.notice.Topic)+" ")
	}
	if r.notice.Topic == Artist {
		query += ` AND (artist_at <= ? OR artist_at > ?) AND n IN (SELECT subscription FROM push_artists WHERE key IN (?` + strings.Repeat(", ?", len(r.keys)-1) + `))`
		args = append(args, now.Add(-r.p.opt.ArtistEvery).UnixMilli(), now.UnixMilli())
		for _, key := range r.keys {
			args = append(args, key)
		}
	}
	rows, err := r.p.opt.DB.Read().QueryContext(ctx, query+` ORDER BY n LIMIT ?`, append(args, page)...)
	if err != nil {
		return nil, false, fmt.Errorf("read subscribers: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	seen := 0
	for rows.Next() {
		var to reader
		var from, until, failures int
		var zone string
		if err := rows.Scan(&to.n, &to.endpoint, &to.p256dh, &to.auth, &to.lang, &from, &until, &zone, &failures, &to.stranger); err != nil {
			return nil, false, err
		}
		seen++
		r.after, to.failing = to.n, failures > 0
		if !r.manner.quiet || !quiet(from, until, now.In(r.zone(zone))) {
			out = append(out, to)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, false, err
	}
	if r.notice.Topic == Artist {
		err = r.p.noteArtist(ctx, out, now.UnixMilli())
	}
	switch {
	case seen == page:
	case r.failing:
		return out, false, err
	default:
		r.failing, r.after = true, 0
	}
	return out, true, err
}

func (r *reading) zone(name string) *time.Location {
	if name == "" {
		return r.p.opt.Zone
	}
	if at, ok := r.zones[name]; ok {
		return at
	}
	at, err := time.LoadLocation(name)
	if err != nil {
		at = r.p.opt.Zone // valid when subscribed, unknown now
	}
	r.zones[name] = at
	return at
}

// quiet reports whether a time of day lies in [from, to), minutes of the day that may
// span midnight.
func quiet(from, to int, at time.Time) bool {
	m := at.Hour()*60 + at.Minute()
	if from <= to {
		return from <= m && m < to
	}
	return m >= from || m < to
}

// noteArtist saves who is notified of an artist, before it happens.
func (p *Push) noteArtist(ctx context.Context, readers []reader, now int64) error {
	if len(readers) == 0 {
		return nil
	}
	return p.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, to := range readers {
			if _, err := tx.ExecContext(ctx, `UPDATE push_subscriptions SET artist_at = ? WHERE n = ?`, now, to.n); err != nil {
				return err
			}
		}
		return nil
	})
}
