// Package mail sends alarms by SMTP, over STARTTLS (RFC 3207) or TLS from the start (RFC
// 8314), with a login or without. Each address is a receiver of its own: one that is refused
// keeps no other from its mail.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	netmail "net/mail"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/athir-radio/athir/internal/alarm"
)

// Ways of encryption, as in the settings.
const (
	STARTTLS = "starttls"
	TLS      = "tls"
	Plain    = "none"
)

// Options of receivers.
type Options struct {
	Host     string
	Port     int
	TLS      string // STARTTLS, TLS or Plain
	User     string // empty: no login
	Password string
	From     string // address
	Name     string // of the station
	To       []string
	// Roots are trusted instead of the system's certificate authorities; nil: those.
	Roots *x509.CertPool
}

// answerWithin bounds the wait for an answer of the server.
const answerWithin = 25 * time.Second

// Receivers returns one receiver for each address.
func Receivers(o Options) (out []alarm.Receiver) {
	for _, to := range o.To {
		out = append(out, alarm.Receiver{Name: "email " + to, Send: func(ctx context.Context, m alarm.Message) error { return o.send(ctx, to, m) }})
	}
	return out
}

// send makes one connection for one message.
func (o Options) send(ctx context.Context, to string, m alarm.Message) error {
	letter, err := o.letter(to, m)
	if err != nil {
		return &alarm.Failure{Why: err.Error(), Remedy: "check alarms.email.from and alarms.email.to", Lasting: true}
	}
	link := &link{ctx: ctx}
	defer link.close()
	server, err := gomail.NewClient(o.Host, o.options(link)...)
	if err != nil {
		return &alarm.Failure{Why: err.Error(), Remedy: "check alarms.email.server", Lasting: true}
	}
	client, err := server.DialToSMTPClientWithContext(ctx)
	if err == nil {
		err = server.SendWithSMTPClient(client, letter)
		_ = server.CloseWithSMTPClient(client) // what the server has taken, it has
	}
	if err == nil || letter.IsDelivered() {
		return nil
	}
	return o.failure(ctx, err, to)
}

func (o Options) options(link *link) []gomail.Option {
	config := &tls.Config{ServerName: o.Host, RootCAs: o.Roots, MinVersion: tls.VersionTLS12}
	out := []gomail.Option{gomail.WithPort(o.Port), gomail.WithTimeout(answerWithin), gomail.WithTLSConfig(config)}
	dial := link.dial
	switch o.TLS {
	case TLS:
		out = append(out, gomail.WithSSL())
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return link.dialTLS(ctx, network, address, config)
		}
	case Plain:
		out = append(out, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		out = append(out, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if o.User != "" {
		// In this order, of those that the server has. The library sends no password over an
		// open line, but to this machine itself.
		out = append(out, gomail.WithUsername(o.User), gomail.WithPassword(o.Password), gomail.WithOpportunisticSMTPAuth(
			gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin, gomail.SMTPAuthCramMD5))
	}
	return append(out, gomail.WithDialContextFunc(dial))
}

func (o Options) letter(to string, m alarm.Message) (*gomail.Msg, error) {
	letter := gomail.NewMsg()
	letter.FromMailAddress(&netmail.Address{Name: o.Name, Address: o.From}) // which encodes a name of any kind
	if err := letter.To(to); err != nil {
		return nil, fmt.Errorf("recipient %q: %w", to, err)
	}
	letter.Subject(m.Subject)
	letter.SetImportance(gomail.ImportanceHigh)
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic replies
	letter.SetBodyString(gomail.TypeTextPlain, m.Text)
	return letter, nil
}

// link is the connection of one message, which ends with its context: the library heeds that
// while it dials only, and leaves the connection open where a greeting fails.
type link struct {
	ctx  context.Context //nolint:containedctx // of one message
	conn net.Conn
	stop func() bool
}

func (l *link) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	l.stop = context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	return conn, nil
}

func (l *link) dialTLS(ctx context.Context, network, address string, config *tls.Config) (net.Conn, error) {
	plain, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(plain, config)
	return conn, conn.HandshakeContext(ctx)
}

func (l *link) close() {
	if l.conn != nil {
		l.stop()
		_ = l.conn.Close()
	}
}

// address is the server as people write it.
func (o Options) address() string { return net.JoinHostPort(o.Host, strconv.Itoa(o.Port)) }
