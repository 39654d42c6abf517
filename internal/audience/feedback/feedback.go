// Package feedback takes what listeners say with one click: votes on what is
// about to play, reactions, and the vibe they want.
//
// Every write is on disk before it is answered. Simultaneous callers share one
// transaction. A write may carry an id that the client chose: the same id again
// from the same device, over any edge and after any crash, gets the same answer and
// changes nothing.
//
// It decides nothing: the planner chooses what plays. An address is not a person,
// and browsers choose their own device ids, so votes are no fair election: see
// kit/client.
package feedback

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("feedback", migrations) }

// Client is the sender of a vote or a reaction.
type Client struct {
	Address string // by kit/client.Address; empty for this machine
	Device  string // random id that the browser keeps; may be empty
	Staff   bool   // showed the station key
}

// Options of Open. All but DataFile are required.
type Options struct {
	Log *slog.Logger
	DB  *store.DB
	Now func() time.Time
	// Air returns the station's airings and queue, for the votes.
	Air func() Air
	// Tell sends an event to every listener. It does not block.
	Tell func(event string, payload any)
	// DataFile is the path of the reactions data file (mission: Reactions), for
	// other programs to read. Reactions that it holds before the first start are
	// imported. When empty, no file is written.
	DataFile string

	mostAnswers int64 // set by tests
}

// Feedback holds votes, reactions and vibes. Make it with Open.
type Feedback struct {
	Votes     *Votes
	Reactions *Reactions
	Vibes     *Vibes
}

// Open reads the stored votes, reactions and vibes.
func Open(ctx context.Context, opt Options) (*Feedback, error) {
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate feedback tables: %w", err)
	}
	var salt []byte
	if err := opt.DB.Read().QueryRowContext(ctx, `SELECT salt FROM votes_state`).Scan(&salt); err != nil {
		return nil, fmt.Errorf("read voter salt: %w", err)
	}
	given, err := openAnswers(ctx, opt)
	if err != nil {
		return nil, err
	}
	f := &Feedback{}
	if f.Votes, err = openVotes(ctx, opt, salt); err != nil {
		return nil, err
	}
	if f.Reactions, err = openReactions(ctx, opt, given); err != nil {
		return nil, err
	}
	if f.Vibes, err = openVibes(ctx, opt, given, salt); err != nil {
		return nil, err
	}
	return f, nil
}

// Run sends changes to listeners until ctx ends, the last changes included.
func (f *Feedback) Run(ctx context.Context) error {
	var all errgroup.Group
	all.Go(func() error { f.Votes.run(ctx); return nil })
	all.Go(func() error { f.Reactions.run(ctx); return nil })
	all.Go(func() error { f.Vibes.run(ctx); return nil })
	return all.Wait()
}

// patience bounds one commit, for which many callers may wait.
const patience = 10 * time.Second

// write runs one transaction for many callers: it goes on if one of them leaves.
func (o *Options) write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return o.DB.Write(ctx, func(tx *sql.Tx) error { return fn(ctx, tx) })
}

// budget limits how often clients do one thing, by device and by address: many
// devices share an address in Egypt's mobile networks, and a client can claim any
// device.
type budget struct{ devices, addresses *client.Limits }

// take uses a turn of both, or of neither: a device whose address has no turns left
// keeps its own. An empty device or address has no limit.
func (b budget) take(device, address string) error {
	var refused error
	err := b.devices.TakeIf(device, func() bool {
		refused = b.addresses.Take(address)
		return refused == nil
	})
	if err != nil {
		return err
	}
	return refused
}

// voter is a client's salted hash: the tables alone do not show who voted for what.
type voter [16]byte

func voterOf(salt []byte, client string) (v voter) {
	h := hmac.New(sha256.New, salt)
	h.Write([]byte(client))
	copy(v[:], h.Sum(nil))
	return v
}
