// Package requests takes the tracks that listeners ask for: it finds them, says by
// which rule one may not be asked for now and when it may, keeps the queue of those
// that were granted, and follows each until it has aired.
//
// It plans nothing. What is granted it hands to the planner as wishes, which air under
// the same rules as everything else: a wish that breaks one waits, and expires. Every
// change is one transaction, on disk before it is answered.
//
// A browser chooses its device id, and an address is not a person: limits are kept by
// device, by address and by network, and no limit makes a queue a fair one.
package requests

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("requests", migrations) }

// Library is what there is to ask for.
type Library interface {
	// Tracks returns everything that can air; the slice is never changed.
	Tracks() (tracks []station.Track, scanning bool)
	Find(path string) (station.Track, bool)
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Airing is one play of the rotation.
type Airing struct {
	ID           string
	Path, Artist string
	At           time.Time
}

// Coming is a track that is planned; At is zero while it is unknown when it starts.
type Coming struct {
	Path string
	At   time.Time
}

// Air is the station at one moment.
type Air struct {
	Heard []Airing  // newest first, what is on air included
	Next  []Coming  // next first
	Built time.Time // when that was planned
	// Rest is for how long a track that aired stays out, ArtistGap how far songs of an
	// artist stand apart, Shortest the least length of a song.
	Rest, ArtistGap, Shortest time.Duration
	// Aired is when a track last aired; zero for never.
	Aired func(path string) time.Time
	// Starts are when a track began of late, a day back at least, the newest last.
	Starts func(path string) []time.Time
	// Plays reports whether music of a category may air at a time.
	Plays func(c station.Category, at time.Time) bool
}

// Limits are what the operator allows.
type Limits struct {
	Categories []station.Category
	Every      time.Duration // between two requests of one listener
	PerDay     int           // of one listener
	Queue      int           // requests that wait
	Rest       time.Duration // least time since the track aired
	Expire     time.Duration // after which a request that cannot be planned is given up
}

// Event says what has become of a request.
type Event string

// The events.
const (
	New     Event = "new"
	Soon    Event = "soon" // it airs within minutes
	OnAir   Event = "aired"
	Refused Event = "refused" // by the studio, or it expired
)

// Options of Open. All are required but Happened, Renew, Blocked and Linked.
type Options struct {
	Log     *slog.Logger
	DB      *store.DB
	Library Library
	Limits  Limits
	Zone    *time.Location
	Now     func() time.Time
	// Air returns the station as it is now; Changed signals that it is another.
	Air     func() Air
	Changed func() (changed <-chan struct{}, cancel func())
	// Tell sends an event to every listener. It does not block.
	Tell func(event string, payload any)
	// Happened is called after the commit. It does not block.
	Happened func(e Event, r Request)
	// Renew has the rotation planned anew with Wanted.
	Renew func(ctx context.Context) error
	// Blocked reports words that nobody may write.
	Blocked func(text string) bool
	// Linked reports network addresses, however they are written.
	Linked func(text string) bool
}

// Status is where a request stands.
type Status string

// The statuses. Waiting and Planned are open; the others are final.
const (
	Waiting   Status = "waiting"
	Planned   Status = "planned"
	Aired     Status = "aired"
	Denied    Status = "refused" // by the studio
	Expired   Status = "expired"
	Cancelled Status = "cancelled" // by the asker, or taken away by the studio
)

// Request is a track that somebody asked for.
type Request struct {
	ID         int64
	Track      station.Track // path, title, artist, category and length
	Name, Note string
	Status     Status
	Word       string // of the studio
	At         time.Time
	ClosedAt   time.Time // zero while it is open
	ExpectedAt time.Time // zero while that is unknown
	// Device is where a message to the asker goes: see client.DeviceKey. Nil for nowhere.
	Device []byte

	asker, address, wider []byte
	airing                string
	told                  bool
}

// kept is what is open; it is never changed once it is published.
type kept struct {
	open   []Request // oldest first
	recent []Request // aired of late, newest first
	closed bool
}

// Requests is the queue. Make it with Open.
type Requests struct {
	opt   Options
	salt  []byte
	desk  *catalogue
	whole listing
	kept  atomic.Pointer[kept]
	woke  chan struct{} // of capacity 1: something was asked or taken back
	tale  tale

	mu    sync.Mutex // held by whoever changes the tables
	stale bool       // a commit failed: what is on disk must be read again
	renew renewal

	granted atomic.Uint64
	refused counter
}

// Open reads the queue.
func Open(ctx context.Context, opt Options) (*Requests, error) {
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate tables of requests: %w", err)
	}
	if opt.Happened == nil {
		opt.Happened = func(Event, Request) {}
	}
	if opt.Blocked == nil {
		opt.Blocked = func(string) bool { return false }
	}
	if opt.Linked == nil {
		opt.Linked = func(string) bool { return false }
	}
	r := &Requests{opt: opt, desk: newCatalogue(opt), woke: make(chan struct{}, 1), refused: counter{counts: map[Code]uint64{}}}
	r.kept.Store(&kept{})
	if err := opt.DB.Read().QueryRowContext(ctx, `SELECT salt FROM requests_state`).Scan(&r.salt); err != nil {
		return nil, fmt.Errorf("read salt of requests: %w", err)
	}
	if err := r.reload(ctx); err != nil {
		return nil, err
	}
	r.renew.dirty = len(r.kept.Load().open) > 0 // a rotation from before may not have them
	return r, nil
}

// Wanted returns the paths that should air, the first asked for first.
func (r *Requests) Wanted() []string {
	var out []string
	for _, q := range r.kept.Load().open {
		out = append(out, q.Track.Path)
	}
	return out
}

// patience bounds one commit.
const patience = 10 * time.Second

// write runs one transaction, which goes on if the caller leaves, and reads what is
// open again. The caller holds mu.
func (r *Requests) write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if r.stale {
		if err := r.reload(ctx); err != nil {
			return err
		}
	}
	err := r.opt.DB.Write(ctx, func(tx *sql.Tx) error { return fn(ctx, tx) })
	if reread := r.reload(ctx); err == nil && reread != nil {
		r.opt.Log.Error("cannot read the requests after a commit", "err", reread)
	}
	return err
}

// sender is a client as the tables have it.
type sender struct{ asker, device, address, wider []byte }

func (r *Requests) sender(from Client) (s sender) {
	hash := func(kind, text string) []byte { return client.Keyed(r.salt, kind, text) }
	s.address, s.wider = hash("address", from.Address), hash("wider", client.Network(from.Address))
	if s.asker = s.address; from.Device != "" {
		s.asker, s.device = hash("device", from.Device), client.DeviceKey(from.Device)
	}
	return s
}

// Client is who asks.
type Client struct {
	Address string // by kit/client.Address; empty for this machine
	Device  string // random id that the browser keeps; may be empty
}

// wake has Run look at once.
func (r *Requests) wake() {
	select {
	case r.woke <- struct{}{}:
	default:
	}
}
