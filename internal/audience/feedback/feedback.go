// Package feedback takes what listeners say with one click: votes on what is
// about to play, reactions, and the vibe they want.
//
// What it has answered is on disk. Callers that come together share one
// transaction. A write may carry an id of the client's own: the same id again from
// the same device, over any edge and after any crash, gives the same answer and
// changes nothing.
//
// It decides nothing by what is said: what plays is the planner's choice. An
// address is no person and a device is what a browser says of itself, so none of
// this is an election: see kit/client.
package feedback

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Client is who says something.
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
	// Air is the station at one moment, for the votes on its queue.
	Air func() Air
	// Tell tells every listener. It does not block.
	Tell func(event string, payload any)
	// DataFile is the reactions data file (mission: Reactions), which others may
	// read. Reactions it holds before the first start are taken over. No file is
	// written when empty.
	DataFile string

	mostAnswers int64 // of a test
}

// Feedback is all that listeners say. Make it with Open.
type Feedback struct {
	Votes     *Votes
	Reactions *Reactions
	Vibes     *Vibes
}

// Open reads what was kept.
func Open(ctx context.Context, opt Options) (*Feedback, error) {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if err := opt.DB.Migrate(ctx, "feedback", sub); err != nil {
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

// Run tells listeners what has changed until ctx ends, the last of it included.
func (f *Feedback) Run(ctx context.Context) error {
	var all errgroup.Group
	all.Go(func() error { f.Votes.run(ctx); return nil })
	all.Go(func() error { f.Reactions.run(ctx); return nil })
	all.Go(func() error { f.Vibes.run(ctx); return nil })
	return all.Wait()
}

// patience bounds one commit, which many callers may be waiting for.
const patience = 10 * time.Second

// write is one transaction for many callers: one of them that leaves does not
// end it.
func (o *Options) write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return o.DB.Write(ctx, func(tx *sql.Tx) error { return fn(ctx, tx) })
}

// budget limits how often clients do one thing. Many share an address in Egypt's
// mobile networks, and a device is whatever a client says it is: both have one.
type budget struct{ devices, addresses *client.Limits }

// take uses a turn of both, or of neither: a device whose address has none left
// loses none of its own. Without a name neither has a limit.
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

// voter hides a client: the tables alone do not tell who voted for what.
type voter [16]byte

func voterOf(salt []byte, client string) (v voter) {
	h := hmac.New(sha256.New, salt)
	h.Write([]byte(client))
	copy(v[:], h.Sum(nil))
	return v
}
