// Package webpush tells listeners, in their browsers' notifications, what they
// asked to hear of: a live start, a favourite artist on air, a new bulletin; and
// operators of dead air. It speaks to the browsers' push services as RFC 8030
// has it, signs for the station (VAPID, RFC 8292), and encrypts each message for
// its one reader (RFC 8291).
//
// A notice goes out at most once: what is being sent when the program is killed
// is not sent again, since a notification that comes twice or late is worse than
// none. Whoever gives a notice never waits.
//
// The package keeps no more of a subscriber than the browser gave it, and lists
// none: an endpoint is a secret that only its owner can name.
package webpush

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
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

// Sender is how messages leave: a *fetch.Client.
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
	// Artists returns the keys that the artists of a collaboration are compared
	// by; one artist under two spellings has one key.
	Artists func(credit string) []string
	// Subject is whom a push service may turn to: mailto: or https:. Some refuse
	// senders without one.
	Subject string
	// Services are hosts of push services beside the browsers' own, with all below
	// them; those of no service are bounded.
	Services []string
	// Plain lets endpoints be http: for a push service of one's own, in tests.
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

// Push is the desk of subscriptions and notices. Make it with Open; its methods
// may be called from any goroutine.
type Push struct {
	opt    Options
	limits *client.Limits
	// strangers are the limits of who subscribes with another host than a service's.
	strangers *client.Limits
	voucher   *voucher
	usual     *lane
	urgent    *lane // of alerts: no crowd of listeners stands before an operator
	ledger    ledger

	sent, failed, pruned, dropped atomic.Uint64
}

// Stats counts since the start, but for Subscriptions.
type Stats struct {
	Subscriptions int
	Sent          uint64 // messages that a push service took
	Failed        uint64 // messages it did not, after all attempts
	Dropped       uint64 // messages that were too late, or too many
	Pruned        uint64 // subscriptions that ended
}

// Open reads the station's key, and makes it on the first start. Nothing is sent
// before Run.
func Open(ctx context.Context, opt Options) (*Push, error) {
	setDefaults(&opt)
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if err := opt.DB.Migrate(ctx, "webpush", sub); err != nil {
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

// Stats tells how it is going.
func (p *Push) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Sent: p.sent.Load(), Failed: p.failed.Load(), Dropped: p.dropped.Load(), Pruned: p.pruned.Load()}
	err := p.opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM push_subscriptions`).Scan(&s.Subscriptions)
	return s, err
}
