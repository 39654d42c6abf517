package turn

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// The quotas of a user and an address; a place that is given back is another's.
func TestQuotas(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	c := &clock{now: noon}
	for what, q := range map[string]Quotas{
		"of a user": {PerAddress: 100, Requests: 1 << 20}, "of an address": {PerUser: 100, PerAddress: 4, Requests: 1 << 20},
	} {
		s := start(t, m, func(o *Options) { o.Quotas, o.Now = q, c.Now })
		username, password, _ := Credentials(north, "sara", noon)
		var clients []*raw
		for range 4 {
			clients = append(clients, newRaw(t, s, username, password))
			if code := clients[len(clients)-1].ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
				t.Fatalf("%s: %d", what, code)
			}
		}
		// A credential of another hour is the same user's.
		username, password, _ = Credentials(north, "sara", noon.Add(-time.Hour))
		fifth := newRaw(t, s, username, password)
		if code := fifth.ask(stun.MethodAllocate, transport(protocolUDP)); code != stun.CodeAllocQuotaReached {
			t.Errorf("%s: the fifth gets %d", what, code)
		}
		if what == "of a user" {
			other, theirs, _ := Credentials(north, "omar", noon)
			if code := newRaw(t, s, other, theirs).ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
				t.Errorf("another user gets %d", code)
			}
		}
		if code := clients[0].ask(stun.MethodRefresh, lifetime(0)); code != 0 {
			t.Errorf("%s: giving back gets %d", what, code)
		}
		if code := fifth.ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
			t.Errorf("%s: the fifth gets %d once one is gone", what, code)
		}
	}
}

// Ports beyond a range are not taken, and one that another program has is passed over.
func TestRelayPortsOfARange(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	low := 0
	var taken net.PacketConn
	testkit.Eventually(t, "three free ports in a row", func() bool {
		low = testkit.Port(t)
		if low > 65533 {
			return false
		}
		for i := range 3 {
			conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(low+i)))
			if err != nil {
				return false
			}
			if i == 1 {
				taken = conn
				continue
			}
			_ = conn.Close()
		}
		return true
	})
	defer taken.Close()                                                                      //nolint:errcheck // a test's
	s := start(t, m, func(o *Options) { o.PortMin, o.PortMax = uint16(low), uint16(low+2) }) //nolint:gosec // ports
	codes := map[stun.ErrorCode]int{}
	for i := range 3 {
		username, password, _ := Credentials(north, fmt.Sprint("u", i), s.opts.Now())
		codes[newRaw(t, s, username, password).ask(stun.MethodAllocate, transport(protocolUDP))]++
	}
	if codes[0] != 2 || codes[stun.CodeInsufficientCapacity] != 1 {
		t.Errorf("three allocations of two ports: %v", codes)
	}
	// Its place is given back after the answer.
	testkit.Eventually(t, "two places and two ports: one that could not be made keeps none", func() bool {
		got := s.Stats()
		return got.Allocations == 2 && got.RelayPorts == 2
	})
}

// An address without an allocation has so many requests, and is not answered beyond them,
// at any door; its allocations go on.
func TestRequestsOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	c := &clock{now: noon}
	s := start(t, m, func(o *Options) { o.Quotas, o.Now = Quotas{}, c.Now })
	username, password, _ := Credentials(north, "sara", noon)
	on := rawOver(t, dial(t, s, "tcp"), nil, username, password)                // where nothing is lost, nor sent again
	if code := on.ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 { // two requests
		t.Fatal(code)
	}
	if code := on.ask(stun.MethodCreatePermission, peer(m.at())); code != 0 {
		t.Fatal(code)
	}
	conn := dial(t, s, "tcp")
	flood := rawOver(t, conn, nil, "", "")
	for range 10_000 {
		flood.send(flood.build(stun.ClassRequest, stun.MethodBinding).Raw)
	}
	testkit.Eventually(t, "the limit", func() bool { return s.Stats().Limited == 10_000-98 })
	if got := flood.messages.Load(); got > 98 {
		t.Errorf("%d requests are answered", got)
	}
	on.roundTrip(m.at(), "meanwhile")
	if code := on.ask(stun.MethodRefresh, lifetime(60)); code != 0 {
		t.Errorf("a refresh gets %d", code)
	}
	c.set(noon.Add(100 * time.Millisecond))
	flood.send(flood.build(stun.ClassRequest, stun.MethodBinding).Raw)
	testkit.Eventually(t, "one more", func() bool { return flood.messages.Load() == 99 })
}

// An address of IPv6 is a network: a household has one, and one that has 65,536 of them
// has eight.
func TestAddressesOfIPv6CountAsNetworks(t *testing.T) {
	b := newBook(Quotas{PerUser: 1000, PerAddress: 2, Total: 1000}, func() time.Time { return noon })
	reserve := func(address string) bool {
		return b.reserve(seat{"udp", netip.AddrPortFrom(netip.MustParseAddr(address), uint16(len(b.places)+1))}, "sara") //nolint:gosec // few
	}
	for _, c := range []struct {
		address string
		want    bool
	}{
		{"2001:db8:1:1::1", true}, {"2001:db8:1:1::2", true}, {"2001:db8:1:1::3", false}, {"192.0.2.1", true},
		{"192.0.2.1", true}, {"192.0.2.1", false}, {"192.0.2.2", true}, {"2001:db8:2:1::1", true},
	} {
		if got := reserve(c.address); got != c.want {
			t.Errorf("%s: %v", c.address, got)
		}
	}
	for i := range 100 {
		reserve(fmt.Sprintf("2001:db8:1:%x::1", i+2))
	}
	if got := b.counts["address 2001:db8:1::/48"]; got != 16 {
		t.Errorf("a /48 has %d", got)
	}
	for s := range b.places {
		b.ended(s)
		b.ended(s)
	}
	if len(b.counts) != 0 {
		t.Errorf("counts are left: %v", b.counts)
	}
	<-b.drained()
}

// An allocation that is too old is ended, whatever is refreshed.
func TestAnAllocationEndsWithItsAge(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	c := &clock{now: noon}
	s := start(t, m, func(o *Options) { o.Quotas.Quiet, o.Now = 2*Lifetime+2*Grace, c.Now })
	username, password, _ := Credentials(north, "sara", noon)
	allocate(t, phone(t, s, "udp", username, password))
	c.set(noon.Add(Lifetime + Grace - time.Second))
	s.book.sweep()
	if got := s.Stats(); got.Allocations != 1 || got.RelayPorts != 1 {
		t.Errorf("a second before: %+v", got)
	}
	c.set(noon.Add(Lifetime + Grace))
	s.book.sweep()
	testkit.Eventually(t, "its end", func() bool { got := s.Stats(); return got.Allocations == 0 && got.RelayPorts == 0 })
}

// The server ends with phones on it, at every door.
func TestTheServerEndsWithPhonesOnIt(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	s, err := New(Options{Secret: secret.Of(string(north)), Address: "127.0.0.1:0", TLSAddress: "127.0.0.1:0", TLS: encrypted(t), Media: []Media{{Public: m.at()}}})
	if err != nil {
		t.Fatal(err)
	}
	stop := testkit.Background(t, func(ctx context.Context) error { return s.Run(ctx) })
	<-s.Ready()
	turn := s.Servers(time.Now(), "127.0.0.1", false)[0]
	for _, door := range []string{"udp", "tcp", "tls"} {
		conn, c := dial(t, s, door), (*raw)(nil)
		c = rawOver(t, conn, net.UDPAddrFromAddrPort(s.Addr(door)), turn.Username, turn.Credential)
		if code := c.ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
			t.Fatalf("%s: %d", door, code)
		}
	}
	dial(t, s, "tcp") // says nothing
	stop()
	if got := s.Stats(); got.Allocations != 0 || got.RelayPorts != 0 || got.Connections != 0 {
		t.Errorf("after its end: %+v", got)
	}
}
