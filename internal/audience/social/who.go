package social

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// person is a listener as the tables know them: keyed hashes, which mean nothing without the
// salt.
type person struct {
	id      []byte // of the device at its address, else of the address
	device  []byte // of the device alone, else of the address: who submitted
	address []byte // nil for this machine
	wider   []byte // the network around it; nil for this machine
}

func (s *Social) person(c Client) person {
	listener := c.Address + "/" + c.Device
	if listener == "/" {
		listener = "this machine"
	}
	p := person{
		id: s.hashed("listener", listener), device: s.hashed("device", c.Device),
		address: s.hashed("address", c.Address), wider: s.hashed("network", client.Network(c.Address)),
	}
	if p.device == nil {
		p.device = p.address
	}
	if p.device == nil {
		p.device = s.hashed("device", "this machine")
	}
	return p
}

func (s *Social) hashed(kind, name string) []byte { return client.Keyed(s.salt, kind, name) }

// token is the secret by which a submitter follows and withdraws a post. It is made of the
// id, so that a submission that is repeated after a crash gets the same one.
func (s *Social) token(id int64) string {
	return hex.EncodeToString(s.hashed("token", strconv.FormatInt(id, 10)))
}

// Owns reports whether token is the secret of the post with that id.
func (s *Social) Owns(id int64, token string) bool {
	return token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.token(id))) == 1
}

// wideFactor is how many times as many posts a wider network may send as one address: a
// mobile carrier has many listeners behind few networks.
const wideFactor = 8

// admits refuses a submitter who has sent too much, or who is blocked. Errors:
// station.ErrForbidden, ErrConflict, ErrFull, *client.LimitError, each with its
// *refusal.Refusal.
func (s *Social) admits(ctx context.Context, q querier, p person) error {
	var blocked bool
	if err := q.QueryRowContext(ctx, `SELECT coalesce((SELECT blocked FROM social_submitters WHERE id = ?), 0)`, p.device).Scan(&blocked); err != nil {
		return err
	}
	if blocked {
		return refusal.New(refusal.Blocked).Kind(station.ErrForbidden)
	}
	l, now := s.opt.Limits, s.opt.Now()
	for _, r := range []struct {
		code   refusal.Code
		column string
		who    []byte
		most   int
		within time.Duration
	}{
		{refusal.HourLimit, "submitter", p.device, l.PerHour, time.Hour}, {refusal.DayLimit, "submitter", p.device, l.PerDay, 24 * time.Hour},
		{refusal.NetworkLimit, "address", p.address, l.Address, time.Hour}, {refusal.NetworkLimit, "wider", p.wider, wideFactor * l.Address, time.Hour},
	} {
		if r.who == nil || r.most <= 0 {
			continue
		}
		var oldest sql.NullInt64 // of the newest r.most: when it is out of the window, there is room
		query := fmt.Sprintf(`SELECT created FROM social_posts WHERE %s = ? AND created > ? ORDER BY created DESC LIMIT 1 OFFSET ?`, r.column)
		err := q.QueryRowContext(ctx, query, r.who, now.Add(-r.within).UnixMilli(), r.most-1).Scan(&oldest)
		if err == nil {
			at := time.UnixMilli(oldest.Int64).Add(r.within).In(s.zone())
			return (&refusal.Refusal{Code: r.code, Limit: int64(r.most), At: at, Now: now}).Kind(&client.LimitError{RetryAfter: at.Sub(now)})
		}
		if err != sql.ErrNoRows { //nolint:errorlint // QueryRow answers it bare
			return err
		}
	}
	return s.room(ctx, q, p)
}

// room refuses what the queue has no place for.
func (s *Social) room(ctx context.Context, q querier, p person) error {
	l := s.opt.Limits
	var own, all int
	if err := q.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(submitter = ?), 0) FROM social_posts WHERE status IN ('processing', 'pending', 'failed')`,
		p.device).Scan(&all, &own); err != nil {
		return err
	}
	if l.Waiting > 0 && own >= l.Waiting {
		return (&refusal.Refusal{Code: refusal.WaitingLimit, Limit: int64(own)}).Kind(station.ErrConflict)
	}
	if l.Queue > 0 && all >= l.Queue {
		return refusal.New(refusal.QueueFull).Kind(station.ErrFull)
	}
	return nil
}

// querier is a transaction, or the pool of read connections.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
