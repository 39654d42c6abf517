package doors

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/front"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestConnectionsOfThisMachineAndOfExemptNetworksAreNotCounted(t *testing.T) {
	name := counted([]netip.Prefix{netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("2001:db8:7::/48")})
	for remote, want := range map[string]string{
		"203.0.113.9:1": "203.0.113.9", "[2001:db8:1:2::7]:1": "2001:db8:1:2::/64",
		"127.0.0.1:1": "", "[::1]:1": "",
		"198.51.100.7:1": "", "[::ffff:198.51.100.7]:1": "", "198.51.101.7:1": "198.51.101.7", "[2001:db8:7:1::1]:1": "",
	} {
		if got := name(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(remote))); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
}

// An edge on another machine speaks for all its listeners, and says so on each
// of its connections.
func TestConnectionsOfOurOwnEdgesAreNotBounded(t *testing.T) {
	const token = "the station's own"
	bound := crowd.New(crowd.Options{Most: 2, Key: func(net.Addr) string { return "everybody" }, Log: slog.New(slog.DiscardHandler)})
	address := config.Local(testkit.Port(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, NewServer(address, front.Trusted(func(shown string) (ok, guest bool) { return shown == token, false }, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))), bound, nil)
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	ask := func(sent string) error {
		return testkit.Hold(t, address, "GET / HTTP/1.1\r\nHost: x\r\nAthir-Edge: "+sent+"\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
	}
	testkit.EventuallyNil(t, "the server", func() error { return ask(token) })
	for i := range 10 {
		if err := ask(token); err != nil {
			t.Fatalf("the edge's connection %d: %v", i, err)
		}
	}
	refused := 0
	for range 5 {
		if ask("no token") != nil {
			refused++
		}
	}
	if refused != 3 || bound.Refused() != 3 {
		t.Errorf("of five strangers' connections %d were refused, and %d counted", refused, bound.Refused())
	}
}
