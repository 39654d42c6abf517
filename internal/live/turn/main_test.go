package turn

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/turn/v5"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// encrypted is TLS with a certificate of its own.
func encrypted(t *testing.T) *tls.Config {
	t.Helper()
	cert, key := testkit.Certificate(t, t.TempDir(), "radio.example")
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// clock is one that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

var north = []byte("north")

// noon begins an epoch.
var noon = time.Unix(41026*43200, 0)

// media is what stands for the WHIP server's: it sends back what comes, and whom it came
// from.
type media struct {
	net.PacketConn
	mu   sync.Mutex
	from []netip.AddrPort
}

func (m *media) at() netip.AddrPort { return addrPort(m.LocalAddr()) }

func (m *media) heard() []netip.AddrPort {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]netip.AddrPort(nil), m.from...)
}

// echo listens at an address of this machine.
func echo(t *testing.T, address string) *media {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", address)
	if err != nil {
		t.Fatal(err)
	}
	m := &media{PacketConn: conn}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			m.mu.Lock()
			m.from = append(m.from, addrPort(from))
			m.mu.Unlock()
			_, _ = conn.WriteTo(buf[:n], from)
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return m
}

// start runs a server whose media is m, and returns it once it listens.
func start(t *testing.T, m *media, change func(*Options)) *Server {
	t.Helper()
	o := Options{
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})), Secret: secret.Of(string(north)),
		Address: "127.0.0.1:0", Media: []Media{{Public: m.at()}},
		Quotas: Quotas{Requests: 1 << 20},
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, s.Run)
	<-s.Ready()
	return s
}

// dial is a socket to a door of the server, for a client of the library.
func dial(t *testing.T, s *Server, door string) net.PacketConn {
	t.Helper()
	ctx := context.Background()
	switch door {
	case "udp":
		conn, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return conn
	case "tcp":
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr(door).String())
		if err != nil {
			t.Fatal(err)
		}
		return pion.NewSTUNConn(conn)
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", s.Addr(door).String()) //nolint:gosec // a test's certificate
	if err != nil {
		t.Fatal(err)
	}
	return pion.NewSTUNConn(conn)
}

// phone is the library's client at a door.
func phone(t *testing.T, s *Server, door, username, password string) *pion.Client {
	t.Helper()
	conn := dial(t, s, door)
	at := s.Addr(door).String()
	c, err := pion.NewClient(&pion.ClientConfig{
		STUNServerAddr: at, TURNServerAddr: at, Conn: conn, Username: username, Password: password,
		PermissionRefreshInterval: time.Hour, LoggerFactory: quiet{slog.New(slog.DiscardHandler)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); _ = conn.Close() })
	return c
}

// allocate is an allocation of a phone.
func allocate(t *testing.T, c *pion.Client) net.PacketConn {
	t.Helper()
	relayed, err := c.Allocate()
	if err != nil {
		t.Fatalf("allocate: %v", err)
	}
	t.Cleanup(func() { _ = relayed.Close() })
	return relayed
}

// speak sends through the relay until it is heard back.
func speak(t *testing.T, relayed net.PacketConn, to netip.AddrPort, words string) {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		buf := make([]byte, 2048)
		n, from, err := relayed.ReadFrom(buf)
		if err != nil || addrPort(from) != to {
			got <- "nothing"
			return
		}
		got <- string(buf[:n])
	}()
	if _, err := relayed.WriteTo([]byte(words), net.UDPAddrFromAddrPort(to)); err != nil {
		t.Fatalf("send: %v", err)
	}
	if back := testkit.Receive(t, "the echo", got); back != words {
		t.Fatalf("heard %q, want %q", back, words)
	}
}
