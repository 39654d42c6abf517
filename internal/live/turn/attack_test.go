package turn

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pion/stun/v3"
)

// An attacker with a credential reaches nothing but the media: not another port of the same
// address, not loopback under another name, not the network, by none of the ways that TURN
// has.
func TestTheRelayLeadsToTheMediaAndNowhereElse(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	victims := map[string]*media{
		"the same address": echo(t, "127.0.0.1:0"), "another loopback address": echo(t, "127.0.0.2:0"),
		"IPv6 loopback": echo(t, "[::1]:0"), "this machine's address": echo(t, net.JoinHostPort(ownAddress(t), "0")),
		"every address": echo(t, "0.0.0.0:0"),
	}
	// The clock stands: where this takes a minute, one that is quiet would be ended.
	s := start(t, m, func(o *Options) { o.Now = func() time.Time { return noon } })
	username, password, _ := Credentials(north, "mallory", s.opts.Now())
	c := newRaw(t, s, username, password)
	if code := c.ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
		t.Fatalf("allocate: %d", code)
	}
	other := newRaw(t, s, username, password)
	if code := other.ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
		t.Fatalf("allocate: %d", code)
	}
	if code := c.ask(stun.MethodCreatePermission, peer(m.at())); code != 0 {
		t.Fatalf("permission for the media: %d", code)
	}

	mapped := func(a netip.AddrPort) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
	}
	at := func(ip string, like *media) netip.AddrPort {
		return netip.AddrPortFrom(netip.MustParseAddr(ip), like.at().Port())
	}
	same, anywhere := victims["the same address"], victims["every address"]
	number := channel(0x4000)
	for what, to := range map[string]netip.AddrPort{
		"another port of the media's address": same.at(), "the same as IPv6": mapped(same.at()),
		"0.0.0.0": at("0.0.0.0", same), "0.0.0.0 as IPv6": mapped(at("0.0.0.0", same)), "::": at("::", same),
		"another loopback address": victims["another loopback address"].at(), "the same as IPv6 ": mapped(victims["another loopback address"].at()),
		"IPv6 loopback": victims["IPv6 loopback"].at(), "127.255.255.254": at("127.255.255.254", anywhere),
		"this machine's address": victims["this machine's address"].at(), "its IPv6 form": mapped(victims["this machine's address"].at()),
		"the machine, wherever it listens": at(ownAddress(t), anywhere),
		"broadcast":                        at("255.255.255.255", anywhere), "multicast": at("224.0.0.1", anywhere),
		"a cloud's metadata": netip.MustParseAddrPort("169.254.169.254:80"), "a private network": netip.MustParseAddrPort("10.0.0.1:80"),
		"the world": netip.MustParseAddrPort("192.0.2.1:53"), "IPv6": netip.MustParseAddrPort("[2001:db8::1]:53"),
		"translated IPv4": netip.MustParseAddrPort("[64:ff9b::7f00:1]:53"), "IPv4-compatible": at("::127.0.0.1", same),
		"the media's port elsewhere": netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), m.at().Port()), "port 0": netip.AddrPortFrom(m.at().Addr(), 0),
		"the server itself": s.Addr("udp"),
	} {
		number++
		// A permission is by address, so one for another port of the media's is granted,
		// and worth nothing.
		granted := c.ask(stun.MethodCreatePermission, peer(to)) == 0
		if wanted := to.Addr().Unmap() == m.at().Addr(); granted != wanted {
			t.Errorf("%s: a permission is granted: %v", what, granted)
		}
		if code := c.ask(stun.MethodChannelBind, number, peer(to)); code != stun.CodeForbidden {
			t.Errorf("%s: a channel gets %d", what, code)
		}
		c.send(number.data("by channel to " + what))
		c.send(c.build(stun.ClassIndication, stun.MethodSend, peer(to), bare{stun.AttrData, []byte("by indication to " + what)}).Raw)
		if code := c.ask(stun.MethodConnect, peer(to)); code != stun.CodeForbidden {
			t.Errorf("%s: a TCP connection gets %d", what, code)
		}
		c.roundTrip(m.at(), "after "+what)
	}
	for name, v := range victims {
		if from := v.heard(); len(from) > 0 {
			t.Errorf("%s hears %v", name, from)
		}
	}

	// Nor does anybody but the media get in.
	into := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), m.heard()[0].Port())
	if _, err := same.WriteTo([]byte("knock"), net.UDPAddrFromAddrPort(into)); err != nil {
		t.Fatal(err)
	}
	c.roundTrip(m.at(), "after the knock")
	if got := s.Stats(); got.Forbidden == 0 || got.Allocations != 2 {
		t.Errorf("%+v", got)
	}
}

// What is refused of an allocation, and by which error.
func TestAllocationsThatAreRefused(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	s := start(t, m, nil)
	now := s.opts.Now()
	good, password, _ := Credentials(north, "sara", now)
	stale, stalePassword, _ := Credentials(north, "sara", now.Add(-Lifetime))
	early, earlyPassword, _ := Credentials(north, "sara", now.Add(skew+Lifetime))
	other, otherPassword, _ := Credentials([]byte("south"), "sara", now)
	for what, c := range map[string]struct {
		username, password string
		attributes         []stun.Setter
		want               stun.ErrorCode
	}{
		"nothing wrong":         {good, password, []stun.Setter{transport(protocolUDP)}, 0},
		"TCP":                   {good, password, []stun.Setter{transport(6)}, stun.CodeUnsupportedTransProto},
		"SCTP":                  {good, password, []stun.Setter{transport(132)}, stun.CodeUnsupportedTransProto},
		"no transport":          {good, password, nil, stun.CodeBadRequest},
		"an even port":          {good, password, []stun.Setter{transport(protocolUDP), bare{stun.AttrEvenPort, []byte{0x80}}}, stun.CodeInsufficientCapacity},
		"a token":               {good, password, []stun.Setter{transport(protocolUDP), bare{stun.AttrReservationToken, make([]byte, 8)}}, stun.CodeInsufficientCapacity},
		"IPv6 without media":    {good, password, []stun.Setter{transport(protocolUDP), bare{stun.AttrRequestedAddressFamily, []byte{2, 0, 0, 0}}}, stun.CodeInsufficientCapacity},
		"a wrong password":      {good, otherPassword, []stun.Setter{transport(protocolUDP)}, stun.CodeBadRequest},
		"no password":           {good, "", []stun.Setter{transport(protocolUDP)}, stun.CodeBadRequest},
		"an expired credential": {stale, stalePassword, []stun.Setter{transport(protocolUDP)}, stun.CodeBadRequest},
		"one of the future":     {early, earlyPassword, []stun.Setter{transport(protocolUDP)}, stun.CodeBadRequest},
		"another secret":        {other, otherPassword, []stun.Setter{transport(protocolUDP)}, stun.CodeBadRequest},
		"no credential":         {"sara", "sara", []stun.Setter{transport(protocolUDP)}, stun.CodeBadRequest},
	} {
		before := s.Stats().Allocated
		if got := newRaw(t, s, c.username, c.password).ask(stun.MethodAllocate, c.attributes...); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
		if made := s.Stats().Allocated != before; made != (c.want == 0) {
			t.Errorf("%s: allocated: %v", what, made)
		}
	}
	// Without an allocation nothing is done, and nothing is kept.
	c := newRaw(t, s, good, password)
	c.send(channel(0x4000).data("hello"))
	c.send(c.build(stun.ClassIndication, stun.MethodSend, peer(m.at()), bare{stun.AttrData, []byte("hello")}).Raw)
	for _, method := range []stun.Method{stun.MethodConnect, stun.MethodConnectionBind, stun.MethodData, 0xFFF} {
		if code := c.ask(method); code != stun.CodeForbidden {
			t.Errorf("%s: %d", method, code)
		}
	}
	if code := c.ask(stun.MethodChannelBind, channel(0x4000)); code != stun.CodeBadRequest {
		t.Errorf("a channel to nobody: %d", code)
	}
	if len(m.heard()) > 0 {
		t.Error("the media hears somebody without an allocation")
	}
}

// One address asks for ten thousand allocations under as many names: it gets its twenty,
// and the server grows by nothing more.
func TestTenThousandAllocationsOfOneAddress(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	now := noon // and stays: where this takes a minute, who is quiet would make way
	s := start(t, m, func(o *Options) { o.Now = func() time.Time { return now } })
	var nonce stun.Nonce
	var realm stun.Realm
	granted := 0
	for i := range 10_000 {
		username, password, _ := Credentials(north, fmt.Sprint("m", i), now)
		conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c := &raw{t: t, conn: conn, to: net.UDPAddrFromAddrPort(s.Addr("udp")), username: username, password: password, nonce: nonce, realm: realm}
		switch code := c.once(stun.MethodAllocate, transport(protocolUDP)); code {
		case 0:
			granted++
		case stun.CodeUnauthorized:
			nonce, realm = c.nonce, c.realm
		case stun.CodeAllocQuotaReached, stun.CodeAllocMismatch: // a port that one had before
		default:
			t.Fatalf("allocation %d: %d", i, code)
		}
		_ = conn.Close()
	}
	if granted != 20 {
		t.Errorf("%d allocations are granted", granted)
	}
	got := s.Stats()
	if got.Allocations != 20 || got.RelayPorts != 20 || got.Allocated != 20 || got.OverQuota < 9000 {
		t.Errorf("%+v", got)
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	if len(s.book.places) != 20 || len(s.book.counts) != 21 {
		t.Errorf("%d places, %d counts are kept", len(s.book.places), len(s.book.counts))
	}
}

// once asks once, on a socket of its own that nobody else reads.
func (c *raw) once(method stun.Method, attributes ...stun.Setter) stun.ErrorCode {
	c.t.Helper()
	m := c.build(stun.ClassRequest, method, attributes...)
	c.send(m.Raw)
	buf := make([]byte, 2048)
	n, _, err := c.conn.ReadFrom(buf)
	if err != nil {
		c.t.Fatal(err)
	}
	answer := &stun.Message{Raw: buf[:n]}
	if err := answer.Decode(); err != nil {
		c.t.Fatal(err)
	}
	if answer.Type.Class == stun.ClassSuccessResponse {
		return 0
	}
	_ = answer.Parse(&c.nonce, &c.realm)
	var code stun.ErrorCodeAttribute
	if err := code.GetFrom(answer); err != nil {
		c.t.Fatal(err)
	}
	return code.Code
}
