// Package webpush sends browser notifications: to listeners about a live start, a
// favourite artist on air or a new bulletin, and to operators about dead air. It
// speaks to the browsers' push services (RFC 8030), signs for the station (VAPID,
// RFC 8292) and encrypts each message for its reader (RFC 8291).
//
// A notice goes out at most once: one that is being sent when the program is killed
// is not sent again, since a notification that comes twice or late is worse than
// none. Notify never waits.
//
// The package stores no more about a subscriber than the browser gave it, and never
// lists subscribers: an endpoint is a secret of its owner.
package webpush

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("webpush", migrations) }

// Sender sends messages: a *fetch.Client.
type Sender interface {
	Check(address string) (*url.URL, error)
	Send(ctx context.Context, s fetch.Sending) (fetch.Answer, error)
}

// Options of Push. Those without a default are required.
type Options struct {
	Log     *slog.Logger
	DB      *store.DB
	Sender  Sender
	Station string // its name, in the texts
	Lang    string // of subscribers who name none: ar or en
	Zone    *time.Location
	// Artists returns the keys of the artists in a credit; two spellings of one
	// artist have the same key.
	Artists func(credit string) []string
	// Subject is the contact for push services, mailto: or https:. Some services
	// refuse senders without one.
	Subject string
	// Services are hosts of further known push services, subdomains included.
	// Subscriptions at other hosts are limited.
	Services []string
	// Plain allows http endpoints, for a push service in tests.
	Plain bool
	Icon  string // path of the notifications' icon; none when empty
	Now   func() time.Time

	Workers int           // messages under way at once; 8 when 0
	Timeout time.Duration // of one attempt; 15 s when 0
	// Backoff is the pause before the second attempt of three, where the service
	// names none; six times that before the third. 10 s when 0.
	Backoff time.Duration
	// ArtistEvery is the least time between two notices of artists to one
	// subscriber; 30 min when 0.
	ArtistEvery time.Duration
	// Most is how many subscriptions there may be; 100,000 when 0.
	Most int
}

const (
	// subscribesAtOnce and subscribeEvery limit one address.
	subscribesAtOnce = 20
	subscribeEvery   = 15 * time.Second
	// patience bounds one write.
	patience = 10 * time.Second
)

func setDefaults(o *Options) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Workers <= 0 {
		o.Workers = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Backoff <= 0 {
		o.Backoff = 10 * time.Second
	}
	if o.ArtistEvery <= 0 {
		o.ArtistEvery = 30 * time.Minute
	}
	if o.Most <= 0 {
		o.Most = 100_000
	}
}

// Push keeps subscriptions and sends notices. Make it with Open; its methods may be
// called from any goroutine.
type Push struct {
	opt    Options
	limits *client.Limits
	// strangers limits new subscriptions at hosts that are no known push service.
	strangers *client.Limits
	voucher   *voucher
	usual     *lane
	urgent    *lane // for alerts, which do not wait behind listeners' notices
	ledger    ledger

	sent, failed, pruned, dropped atomic.Uint64
}

// Stats counts since the start, except Subscriptions, which is the current number.
type Stats struct {
	Subscriptions int
	Sent          uint64 // messages that a push service accepted
	Failed        uint64 // messages that failed after all attempts
	Dropped       uint64 // messages that came too late or were too many
	Pruned        uint64 // subscriptions deleted because their endpoint is gone or keeps failing
}

// Open reads the station's key, and creates it at the first start. Nothing is sent
// before Run.
func Open(ctx context.Context, opt Options) (*Push, error) {
	setDefaults(&opt)
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate push tables: %w", err)
	}
	v, err := openVoucher(ctx, opt.DB, opt.Subject, opt.Now)
	if err != nil {
		return nil, err
	}
	return &Push{
		opt: opt, limits: client.NewLimits(subscribesAtOnce, subscribeEvery, opt.Now), voucher: v,
		strangers: client.NewLimits(strangersAtOnce, strangerEvery, opt.Now),
		usual:     newLane(opt.Workers), urgent: newLane(urgentWorkers), ledger: ledger{all: map[int64]entry{}},
	}, nil
}

// PublicKey is the station's key in base64url, as a browser's
// applicationServerKey.
func (p *Push) PublicKey() string { return p.voucher.public }

// Stats returns the counters and the number of subscriptions.
func (p *Push) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Sent: p.sent.Load(), Failed: p.failed.Load(), Dropped: p.dropped.Load(), Pruned: p.pruned.Load()}
	err := p.opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM push_subscriptions`).Scan(&s.Subscriptions)
	return s, err
}
