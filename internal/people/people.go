// Package people keeps who works at the station: users with a role each, their passwords,
// second factors and passkeys, sessions of browsers, keys of programs, and the log of what
// they ordered.
//
// It decides who somebody is and what their role allows. Which order needs which right is
// the table of the API's (web/api). The station key of the settings stands beside all users
// as the owner's: whoever can read it can read this database.
package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("people", migrations) }

const (
	mostUsers    = 200
	mostKeys     = 20 // of a user
	mostSessions = 20 // of a user; the oldest ends
	mostPasskeys = 10 // of a user

	// Wrong passwords are limited by address, and by login against many addresses together:
	// so many at once, and one more each passwordEvery. A login's are more, because whoever
	// uses them up keeps its user out as well, but for passkeys and browsers that are logged
	// in.
	passwordsOfAddress = 10
	passwordsOfLogin   = 50
	passwordEvery      = 30 * time.Second
	// Wrong codes of the second factor are few: three of a million are right at a time, and
	// whoever tries has the password.
	codesAtOnce = 10
	codeEvery   = 15 * time.Minute
)

// Options of People. Log and DB are required.
type Options struct {
	Log *slog.Logger
	DB  *store.DB
	Now func() time.Time
	// Cost of passwords; Recommended where it is zero.
	Cost Cost
}

// People are all users. Methods may be called from any goroutine; a change is on disk when
// its method returns nil.
type People struct {
	opt        Options
	address    *client.Limits // wrong passwords of an address
	login      *client.Limits // and of a login, or of a session for its own user
	codes      *client.Limits // wrong codes of a user
	hashing    hashing
	nobody     string // what the password of a login that does not exist is compared with
	ceremonies *ceremonies
	pending    map[string]pending // second factors that are not in force yet, by user; under turn
	turn       chan struct{}      // one change after another
	uses       chan Caller        // whose last use is to be noted
	prunes     chan string        // of whose orders there may be too many
	orders     *orderLog

	logins, refusals atomic.Uint64 // since the start
	all              atomic.Pointer[everybody]
}

// everybody is what the database has, by what is looked up at each request. It is replaced
// as a whole and never changed.
type everybody struct {
	users    []user // the oldest first
	byID     map[string]user
	keys     map[sum]key
	sessions map[sum]session
	links    map[sum]link
	hashes   map[string]sum // of a key or session, by id
}

type sum = [sha256.Size]byte

// Caller is who sends a request.
type Caller struct {
	User   string // id; empty for the station key
	Name   string
	Rights Right
	Way    Way
	Of     string // id of the session or key

	stale bool // its last use is not noted
}

// Way is how a caller has shown who it is.
type Way string

const (
	ByStationKey Way = "station key"
	ByKey        Way = "key"
	BySession    Way = "session"
	ByAdminKey   Way = "admin key" // of the settings, for moderators of posts
)

// Who is a caller in a line of a log.
func (c Caller) Who() string {
	switch {
	case c.Name != "":
		return c.Name
	case c.Way != "":
		return string(c.Way)
	}
	return "anybody"
}

// Open reads the users.
func Open(ctx context.Context, opt Options) (*People, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Cost == (Cost{}) {
		opt.Cost = Recommended()
	}
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate tables of people: %w", err)
	}
	p := &People{
		opt: opt, turn: make(chan struct{}, 1), uses: make(chan Caller, 64), prunes: make(chan string, 1), hashing: newHashing(), pending: map[string]pending{},
		address: client.NewLimits(passwordsOfAddress, passwordEvery, opt.Now),
		login:   client.NewLimits(passwordsOfLogin, passwordEvery, opt.Now),
		codes:   client.NewLimits(codesAtOnce, codeEvery, opt.Now),
	}
	p.orders = &orderLog{db: opt.DB, log: opt.Log, grown: func(user string) {
		select {
		case p.prunes <- user: // Run does it: no order waits for that
		default:
		}
	}}
	p.nobody = opt.Cost.hash(rand.Text())
	var err error
	if p.ceremonies, err = newCeremonies(); err != nil {
		return nil, fmt.Errorf("make the seal of passkeys: %w", err)
	}
	all, err := readAll(ctx, opt.DB.Read())
	if err != nil {
		return nil, fmt.Errorf("read people: %w", err)
	}
	p.all.Store(all)
	return p, nil
}

// Stats are figures of people. Logins and Refused count from the start.
type Stats struct {
	Users, Sessions, Keys int
	Logins, Refused       uint64
}

// Stats returns them.
func (p *People) Stats() Stats {
	all := p.all.Load()
	return Stats{Users: len(all.users), Sessions: len(all.sessions), Keys: len(all.keys), Logins: p.logins.Load(), Refused: p.refusals.Load()}
}

// change makes one change to the rows, and publishes what they are after it.
func (p *People) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	if err := p.inTurn(ctx); err != nil {
		return err
	}
	defer p.turned()
	var after *everybody
	err := p.opt.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		if err := do(tx); err != nil {
			return err
		}
		after, err = readAll(ctx, tx)
		if err != nil {
			return err
		}
		return after.owned(p.all.Load())
	})
	if err != nil {
		return err
	}
	p.all.Store(after)
	return nil
}

// inTurn waits for one's turn at the rows, at most as long as ctx: on a disk that hangs there
// may be none.
func (p *People) inTurn(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *People) turned() { <-p.turn }

// owned refuses a change after which no owner could come in who could before.
func (e *everybody) owned(before *everybody) error {
	if before.owners() > 0 && e.owners() == 0 {
		return NewRefusal("last_owner", "this is the last owner who can log in: give the role to another first", "هذا آخر مالك يستطيع الدخول، امنح الدور لغيره أولًا", station.ErrConflict)
	}
	return nil
}

func (e *everybody) owners() (n int) {
	for _, u := range e.users {
		if u.Role == Owner && !u.Locked && (u.password != "" || u.Passkeys > 0) {
			n++
		}
	}
	return n
}

// of is a user by id. The error is of kind station.ErrNotFound.
func (p *People) of(id string) (user, error) {
	u, ok := p.all.Load().byID[id]
	if !ok {
		return user{}, fmt.Errorf("user %.40q: %w", id, station.ErrNotFound)
	}
	return u, nil
}
