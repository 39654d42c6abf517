// Package bus carries messages between the processes of one station over NATS:
// what is published reaches whoever listens at that moment, and a request
// reaches whoever serves its subject. It connects by itself, again and again.
//
// It keeps nothing: what must not be lost is on its sender's disk, and whoever
// was away asks for what it missed. It knows no subject and no payload.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/athir-radio/athir/internal/kit/signal"
)

// ErrUnreachable means that nobody has answered: the bus is away, or nobody
// serves the subject. Whether the request was carried out is unknown.
var ErrUnreachable = errors.New("no answer on the bus")

// Options of a Bus.
type Options struct {
	Log  *slog.Logger
	URL  string // nats://[user:password@]host:port, several with commas
	Name string // of this process, as the server shows it
	// Login is what the server is shown; empty where URL holds credentials. Answers come
	// to an inbox of the user's own.
	Login
	// Anew, where it is not nil, is asked for the login of each connection, of the same user:
	// a password may be replaced while one lasts.
	Anew func() Login
	// CA is a file of certificates by one of which that of a tls:// server must be signed;
	// empty: those that the machine trusts.
	CA string
}

const (
	reconnectWait = 250 * time.Millisecond
	// pingEvery and pingsLost notice a server that fell silent without closing.
	pingEvery = 5 * time.Second
	pingsLost = 2
	// heldBack is how many bytes of publications wait for a reconnect.
	heldBack = 4 << 20
)

// Bus is one connection. Its methods may be called from any goroutine.
type Bus struct {
	log         *slog.Logger
	errorLog    *voice
	stateLog    *voice
	conn        *nats.Conn
	up          atomic.Bool
	leaving     atomic.Bool
	connections atomic.Uint64
	changes     signal.Changes
	closed      chan struct{}
	trouble     trouble
	shown       string // the addresses, for the log
	looking     sync.WaitGroup
}

// Connect begins to connect and returns at once; until the server is there
// requests are ErrUnreachable and publications wait, within bounds.
func Connect(opt Options) (*Bus, error) {
	b := &Bus{log: opt.Log, errorLog: newVoice(opt.Log), stateLog: newVoice(opt.Log), closed: make(chan struct{}), shown: shownURL(opt.URL)}
	set := []nats.Option{
		nats.Name(opt.Name), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // the token may be corrected at the server
		nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(reconnectWait, reconnectWait),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsLost), nats.ReconnectBufSize(heldBack),
		nats.ConnectHandler(func(*nats.Conn) { b.state(true, nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { b.state(true, nil) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.state(false, err) }),
		nats.ClosedHandler(func(*nats.Conn) { close(b.closed) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.failed(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) { b.complain(sub, err) }),
	}
	conn, err := nats.Connect(opt.URL, append(set, opt.credentials()...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	b.conn = conn
	b.looking.Go(b.look)
	return b, nil
}

// credentials are what a connection is opened with. A token goes beside a user: a server
// takes what it knows.
func (o Options) credentials() (out []nats.Option) {
	user := o.User
	if u, err := url.Parse(o.URL); err == nil && u.User != nil {
		user = u.User.Username()
	}
	out = append(out, nats.CustomInboxPrefix(inbox(user)))
	shown := func() Login {
		if o.Anew != nil {
			return o.Anew()
		}
		return o.Login
	}
	if o.User != "" {
		out = append(out, nats.UserInfoHandler(func() (string, string) { l := shown(); return l.User, l.Password }))
	}
	if o.Token != "" {
		out = append(out, nats.TokenHandler(func() string { return shown().Token }))
	}
	if o.CA != "" {
		out = append(out, nats.RootCAs(o.CA))
	}
	return out
}

func (b *Bus) state(up bool, err error) {
	if b.up.Load() == up { // the handlers run one after another
		return
	}
	if up {
		b.connections.Add(1) // first, so that whoever sees Up finds it counted
	}
	b.up.Store(up)
	switch {
	case up:
		level, had := slog.LevelInfo, b.trouble.clear()
		if b.connections.Load() == 1 && !had {
			level = slog.LevelDebug // the first is no news
		}
		b.stateLog.say(level, "bus connected")
	case !b.leaving.Load():
		b.stateLog.say(slog.LevelWarn, "bus lost", "err", err)
	}
	b.changes.Tell()
}

func (b *Bus) complain(sub *nats.Subscription, err error) {
	subject := ""
	if sub != nil {
		subject = sub.Subject
	}
	b.errorLog.say(slog.LevelWarn, "bus error", "subject", subject, "err", err)
}

// Up reports whether the server is connected.
func (b *Bus) Up() bool { return b.up.Load() }

// Connections counts how often the server was connected, the first included.
func (b *Bus) Connections() uint64 { return b.connections.Load() }

// Changes signals each loss and each return of the connection.
func (b *Bus) Changes() (changed <-chan struct{}, cancel func()) { return b.changes.Subscribe() }

// Publish sends to the current subscribers and does not wait for them. An error
// means that the message was not sent.
func (b *Bus) Publish(subject string, data []byte) error {
	if err := b.conn.Publish(subject, data); err != nil {
		return fmt.Errorf("publish %s: %w", subject, err)
	}
	return nil
}

// Subscribe calls fn with each message of a subject, one after another, until
// cancel. The bytes are fn's. A fn that is too slow loses messages.
func (b *Bus) Subscribe(subject string, fn func(data []byte)) (cancel func(), err error) {
	return b.SubscribeAll(subject, func(_ string, data []byte) { fn(data) })
}

// SubscribeAll is Subscribe for a subject with * and > in it: fn is also told which one a
// message was sent to.
func (b *Bus) SubscribeAll(subject string, fn func(subject string, data []byte)) (cancel func(), err error) {
	sub, err := b.conn.Subscribe(subject, func(m *nats.Msg) { fn(m.Subject, m.Data) })
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// Close sends what is waiting and ends the connection.
func (b *Bus) Close() {
	b.leaving.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if b.Up() {
		_ = b.conn.FlushWithContext(ctx)
	}
	b.conn.Close()
	<-b.closed
	b.looking.Wait()
}
