package chat

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
)

// author is the writer of a line, as hashes that mean nothing without the salt.
type author struct{ device, address []byte }

func (c *Chat) author(from Client) author {
	return author{c.hashed("device", from.Device), c.hashed("address", from.Address)}
}

func (c *Chat) hashed(kind, name string) []byte {
	if name == "" {
		return nil
	}
	h := hmac.New(sha256.New, c.salt)
	h.Write([]byte(kind + "/" + name))
	return h.Sum(nil)[:16]
}

// reactor returns the key under which an author reacts once: the device's if it has one.
func (a author) reactor() []byte {
	switch {
	case a.device != nil:
		return a.device
	case a.address != nil:
		return a.address
	}
	return []byte("this machine")
}

// Keys returns the keys by which a client may be banned: one that matches is enough.
// Staff has none.
func (c *Chat) Keys(from Client) []string {
	if from.Staff {
		return nil
	}
	return c.author(from).keys()
}

func (a author) keys() (out []string) {
	for _, key := range [][]byte{a.device, a.address} {
		if key != nil {
			out = append(out, hex.EncodeToString(key))
		}
	}
	return out
}

// budget limits one thing that clients do, by device and by address: many devices
// share an address in Egypt's mobile networks, and a client can claim any device.
type budget struct{ devices, addresses *client.Limits }

// take uses a turn of both, or of neither: a device whose address has no turns left
// keeps its own.
func (b budget) take(from Client) error {
	if from.Staff {
		return nil
	}
	var refused error
	err := b.devices.TakeIf(from.Device, func() bool { // a device without a name has no limit
		refused = b.addresses.Take(from.Address)
		return refused == nil
	})
	if err != nil {
		return err
	}
	return refused
}

type budgets struct{ comments, messages, joins, reactions budget }

func newBudgets(now func() time.Time) budgets {
	limits := func(device int, deviceEvery time.Duration, address int, addressEvery time.Duration) budget {
		return budget{client.NewLimits(device, deviceEvery, now), client.NewLimits(address, addressEvery, now)}
	}
	return budgets{
		comments:  limits(5, 6*time.Second, 40, time.Second),
		messages:  limits(10, 3*time.Second, 80, 400*time.Millisecond),
		joins:     limits(10, 6*time.Second, 60, time.Second),
		reactions: limits(30, time.Second, 150, 200*time.Millisecond),
	}
}

// What one client may attach in an hour, in bytes.
const (
	deviceMedia  = 16 << 20
	addressMedia = 64 << 20
)

// mediaBudget refuses an attachment beyond the hourly limits. It is called before the
// attachment is examined, and again in its commit.
func (c *Chat) mediaBudget(ctx context.Context, q querier, a author, more int) error {
	now := c.opt.Now().UnixMilli()
	for _, by := range []struct {
		column string
		who    []byte
		most   int64
	}{{"device", a.device, deviceMedia}, {"address", a.address, addressMedia}} {
		if by.who == nil {
			continue
		}
		var sum sql.NullInt64
		var oldest sql.NullInt64
		// The column names are constants. Deleted attachments no longer count.
		query := fmt.Sprintf(`SELECT sum(m.bytes), min(l.at) FROM chat_lines l JOIN chat_media m ON m.name = l.media WHERE l.%s = ? AND l.at > ? AND l.at <= ?`, by.column)
		if err := q.QueryRowContext(ctx, query, by.who, now-time.Hour.Milliseconds(), now).Scan(&sum, &oldest); err != nil {
			return err
		}
		if sum.Int64+int64(more) > by.most {
			return &client.LimitError{RetryAfter: time.Duration(oldest.Int64+time.Hour.Milliseconds()-now) * time.Millisecond}
		}
	}
	return nil
}

// querier is a transaction, or the pool of read connections.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
