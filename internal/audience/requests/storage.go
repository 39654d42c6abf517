package requests

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const columns = `id, path, title, artist, category, duration, name, note, asker, device, address, wider, status, word, at, closed, airing, told`

const (
	// keptFor is how long a closed request, or what was done by hand, is remembered.
	keptFor = 30 * 24 * time.Hour
	// shownRecent is how many of those that aired are shown to everybody.
	shownRecent = 10
	// mostShown bounds a list.
	mostShown = 200
)

func scan(rows *sql.Rows) (q Request, err error) {
	var category string
	var duration, at, closed int64
	err = rows.Scan(&q.ID, &q.Track.Path, &q.Track.Title, &q.Track.Artist, &category, &duration, &q.Name, &q.Note,
		&q.asker, &q.Device, &q.address, &q.wider, &q.Status, &q.Word, &at, &closed, &q.airing, &q.told)
	q.Track.Category, q.Track.Duration, q.At = station.Category(category), time.Duration(duration)*time.Millisecond, time.UnixMilli(at)
	if closed != 0 {
		q.ClosedAt = time.UnixMilli(closed)
	}
	return q, err
}

func list(ctx context.Context, db queryer, where string, args ...any) ([]Request, error) {
	rows, err := db.QueryContext(ctx, `SELECT `+columns+` FROM requests `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var out []Request
	for rows.Next() {
		q, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, rows.Err()
}

func one(ctx context.Context, db queryer, where string, args ...any) (Request, bool, error) {
	all, err := list(ctx, db, where, args...)
	if err != nil || len(all) == 0 {
		return Request{}, false, err
	}
	return all[0], true, nil
}

func byID(ctx context.Context, tx *sql.Tx, id int64) (Request, bool, error) {
	return one(ctx, tx, `WHERE id = ?`, id)
}

func byKey(ctx context.Context, tx *sql.Tx, key []byte) (Request, bool, error) {
	if key == nil {
		return Request{}, false, nil
	}
	return one(ctx, tx, `WHERE key = ?`, key)
}

func insert(ctx context.Context, tx *sql.Tx, key []byte, q Request) (int64, error) {
	res, err := tx.ExecContext(ctx, `INSERT INTO requests
		(key, path, title, artist, category, duration, name, note, asker, device, address, wider, status, word, at, closed, airing, told)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, 0, '', 0)`,
		key, q.Track.Path, q.Track.Title, q.Track.Artist, string(q.Track.Category), q.Track.Duration.Milliseconds(), q.Name, q.Note,
		q.asker, q.Device, q.address, q.wider, string(q.Status), q.At.UnixMilli())
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// update saves what changes in a request's life.
func update(ctx context.Context, tx *sql.Tx, q Request) error {
	closed := int64(0)
	if !q.ClosedAt.IsZero() {
		closed = q.ClosedAt.UnixMilli()
	}
	_, err := tx.ExecContext(ctx, `UPDATE requests SET status = ?, word = ?, closed = ?, airing = ?, told = ? WHERE id = ?`,
		string(q.Status), q.Word, closed, q.airing, q.told, q.ID)
	return err
}

// reload publishes what is on disk. The caller holds mu, or nobody else knows r.
func (r *Requests) reload(ctx context.Context) (err error) {
	defer func() { r.stale = err != nil }()
	db := r.opt.DB.Read()
	k := &kept{}
	if k.open, err = list(ctx, db, `WHERE closed = 0 ORDER BY id`); err != nil {
		return err
	}
	if k.recent, err = list(ctx, db, `WHERE closed > 0 AND status = 'aired' ORDER BY closed DESC LIMIT ?`, shownRecent); err != nil {
		return err
	}
	if err = db.QueryRowContext(ctx, `SELECT closed FROM requests_state`).Scan(&k.closed); err != nil {
		return fmt.Errorf("read whether requests are taken: %w", err)
	}
	r.kept.Store(k)
	return nil
}

// prune forgets what is long over.
func prune(ctx context.Context, tx *sql.Tx, now time.Time) error {
	old := now.Add(-keptFor).UnixMilli()
	_, err := tx.ExecContext(ctx, `DELETE FROM requests WHERE closed > 0 AND closed < ?`, old)
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM requests_audit WHERE at < ?`, old)
	}
	return err
}

// Open reports whether requests are taken.
func (r *Requests) Open() bool { return !r.kept.Load().closed }

// Queue returns what is open, oldest first, and what aired of late, newest first.
func (r *Requests) Queue() (open, recent []Request) {
	k := r.kept.Load()
	return r.expected(k.open), slices.Clone(k.recent)
}

// expected fills in when requests air.
func (r *Requests) expected(all []Request) []Request {
	at := map[string]time.Time{}
	for _, n := range r.opt.Air().Next {
		if _, known := at[n.Path]; !known {
			at[n.Path] = n.At
		}
	}
	out := slices.Clone(all)
	for i := range out {
		if out[i].Status == Planned {
			out[i].ExpectedAt = at[out[i].Track.Path]
		}
	}
	return out
}

// Mine returns a listener's requests of the last day, newest first.
func (r *Requests) Mine(ctx context.Context, from Client) ([]Request, error) {
	who := r.sender(from)
	if who.asker == nil {
		return nil, nil
	}
	all, err := list(ctx, r.opt.DB.Read(), `WHERE asker = ? AND at > ? ORDER BY id DESC LIMIT 50`, who.asker, r.opt.Now().Add(-day).UnixMilli())
	return r.expected(all), err
}

// NextAt is when a listener may ask again; zero for now. It knows the listener's own
// limits alone.
func (r *Requests) NextAt(ctx context.Context, from Client) (time.Time, error) {
	now := r.opt.Now()
	mine, err := times(ctx, r.opt.DB.Read(), "asker", r.sender(from).asker, now)
	if err != nil {
		return time.Time{}, err
	}
	l := r.opt.Limits
	l.Queue = 1
	code, at, _ := decide(facts{now: now, limits: l, mine: mine, plays: true})
	if code == TooSoon || code == DayLimit {
		return at, nil
	}
	return time.Time{}, nil
}

// Closed returns requests that are over, newest first.
func (r *Requests) Closed(ctx context.Context) ([]Request, error) {
	return list(ctx, r.opt.DB.Read(), `WHERE closed > 0 ORDER BY closed DESC LIMIT ?`, mostShown)
}

// Deed is something done by hand.
type Deed struct {
	At      int64  `json:"at" doc:"Epoch milliseconds"`
	Who     string `json:"who" enum:"studio,asker"`
	Action  string `json:"action" enum:"refuse,remove,cancel,open,close"`
	Request int64  `json:"request" doc:"Id; 0 for none"`
	Word    string `json:"word"`
}

// Audit returns what was done by hand, newest first.
func (r *Requests) Audit(ctx context.Context) ([]Deed, error) {
	rows, err := r.opt.DB.Read().QueryContext(ctx, `SELECT at, who, action, request, word FROM requests_audit ORDER BY id DESC LIMIT ?`, mostShown)
	if err != nil {
		return nil, fmt.Errorf("read what was done: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := []Deed{}
	for rows.Next() {
		var d Deed
		if err := rows.Scan(&d.At, &d.Who, &d.Action, &d.Request, &d.Word); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, rows.Err()
}

// Limits returns what the operator allows.
func (r *Requests) Limits() Limits { return r.opt.Limits }
