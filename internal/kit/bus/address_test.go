package bus

import (
	"crypto/tls"
	"log/slog"
	"net"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// caller is a client at the door of a bus.
type caller struct {
	server.ClientAuthentication
	from string
	tls  bool
	in   *server.User
}

func (c *caller) GetOpts() *server.ClientOpts { return &server.ClientOpts{Username: "somebody"} }
func (c *caller) RemoteAddress() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(c.from), Port: 1}
}
func (c *caller) RegisterUser(u *server.User) { c.in = u }
func (c *caller) GetTLSConnectionState() *tls.ConnectionState {
	if !c.tls {
		return nil
	}
	return &tls.ConnectionState{}
}

// Fails where a password of another machine may come in the clear to a bus that has a
// certificate, or where this machine's own processes are kept out.
func TestOnlyThisMachineMayComeUnencrypted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		secured, tls bool
		from         string
		in           bool
	}{
		{true, false, "127.0.0.1", true}, {true, false, "::1", true}, {true, false, "192.0.2.7", false}, {true, true, "192.0.2.7", true}, {false, false, "192.0.2.7", true},
	} {
		opt := EmbedOptions{Log: slog.New(slog.DiscardHandler), Admit: func(Login) (Rights, bool) { return Rights{}, true }}
		if c.secured {
			opt.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		who := &caller{from: c.from, tls: c.tls}
		if in := (&door{opt, newVoice(opt.Log)}).Check(who); in != c.in || in != (who.in != nil) {
			t.Errorf("%+v: let in %t", c, in)
		}
	}
}
