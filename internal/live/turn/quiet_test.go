package turn

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// from is a client at an address of this machine, with a credential as pages get it.
func from(t *testing.T, s *Server, address string, publisher bool) *raw {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	turn := s.Servers(s.opts.Now(), "127.0.0.1", publisher)[0]
	return rawOver(t, conn, net.UDPAddrFromAddrPort(s.Addr("udp")), turn.Username, turn.Credential)
}

// open asks for an allocation.
func (c *raw) open() stun.ErrorCode { return c.ask(stun.MethodAllocate, transport(protocolUDP)) }

// alive reports whether it has one.
func (c *raw) alive() bool { return c.ask(stun.MethodRefresh, lifetime(250)) == 0 }

// talk has the media answer.
func (c *raw) talk(m *media) {
	c.t.Helper()
	if code := c.ask(stun.MethodCreatePermission, peer(m.at())); code != 0 {
		c.t.Fatalf("permission: %d", code)
	}
	c.roundTrip(m.at(), "hello")
}

// An allocation that the media says nothing to is ended after a minute, however often it is
// refreshed, and whatever is sent: anybody can send. One whose checks are answered stays.
// Before, it lived for 18 hours.
func TestAnAllocationThatRelaysNothingEnds(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	mute, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close() //nolint:errcheck // a test's
	c := &clock{now: noon}
	s := start(t, m, func(o *Options) {
		o.Now = c.Now
		o.Media = append(o.Media, Media{Public: addrPort(mute.LocalAddr())})
	})
	silent, unanswered, phone := from(t, s, "127.0.0.1", false), from(t, s, "127.0.0.1", false), from(t, s, "127.0.0.1", false)
	for _, one := range []*raw{silent, unanswered, phone} {
		if code := one.open(); code != 0 {
			t.Fatal(code)
		}
	}
	c.set(noon.Add(59 * time.Second))
	phone.talk(m)
	if code := unanswered.ask(stun.MethodCreatePermission, peer(m.at())); code != 0 {
		t.Fatal(code)
	}
	testkit.Eventually(t, "the word at the media", func() bool {
		unanswered.send(unanswered.build(stun.ClassIndication, stun.MethodSend, peer(addrPort(mute.LocalAddr())), bare{stun.AttrData, []byte("hello")}).Raw)
		_ = mute.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		n, _, err := mute.ReadFrom(make([]byte, 100))
		return err == nil && n == 5
	})
	s.book.sweep()
	if !silent.alive() || !unanswered.alive() || !phone.alive() {
		t.Error("one ends before its time")
	}
	c.set(noon.Add(time.Minute))
	s.book.sweep()
	testkit.Eventually(t, "the end of two", func() bool { got := s.Stats(); return got.Allocations == 1 && got.RelayPorts == 1 })
	if got := s.Stats(); got.Ousted != 2 {
		t.Errorf("%+v", got)
	}
	for i := range 20 { // whoever waits sends its checks all the same
		c.set(c.Now().Add(59 * time.Second))
		phone.roundTrip(m.at(), fmt.Sprint("check ", i)) // the echo of an older one is none of this moment
		s.book.sweep()
	}
	if !phone.alive() {
		t.Error("a phone that is connected loses its way")
	}
	c.set(c.Now().Add(time.Minute))
	s.book.sweep()
	testkit.Eventually(t, "its end", func() bool { return s.Stats().Allocations == 0 })
	if code := phone.open(); code != 0 {
		t.Errorf("its next allocation: %d", code)
	}
}

// Ten addresses that take what they get, by credentials that anybody is given, keep nobody
// out: whoever comes gets the place of one of theirs, and the phones that talk keep theirs.
// Before, ten were enough for all 200 places.
func TestACrowdThatRelaysNothingKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	c := &clock{now: noon}
	s := start(t, m, func(o *Options) { o.Now = c.Now })
	phone := from(t, s, "127.0.2.1", false)
	if code := phone.open(); code != 0 {
		t.Fatal(code)
	}
	phone.talk(m)
	early := from(t, s, "127.0.2.2", false)
	if code := early.open(); code != 0 {
		t.Fatal(code)
	}
	for address := range 10 {
		for range 20 {
			from(t, s, fmt.Sprintf("127.0.1.%d", address+1), false).open()
		}
	}
	if got := s.Stats(); got.Allocations != 150 {
		t.Errorf("strangers have %d places", got.Allocations)
	}
	for i := range 10 {
		late := from(t, s, fmt.Sprintf("127.0.3.%d", i+1), false)
		if code := late.open(); code != 0 {
			t.Fatalf("a newcomer gets %d", code)
		}
		late.talk(m)
		defer func() {
			if !late.alive() {
				t.Error("a newcomer that talks has to go")
			}
		}()
	}
	for i := range 50 {
		if code := from(t, s, fmt.Sprintf("127.0.4.%d", i/10+1), true).open(); code != 0 {
			t.Fatalf("publisher %d gets %d", i, code)
		}
	}
	if got := s.Stats(); got.Allocations != 200 {
		t.Errorf("%d places are taken", got.Allocations)
	}
	// Beyond what is kept for them publishers come before strangers, behind their address too.
	for range 20 {
		if code := from(t, s, "127.0.1.1", true).open(); code != 0 {
			t.Fatalf("a publisher behind the crowd's address gets %d", code)
		}
	}
	if code := from(t, s, "127.0.1.1", true).open(); code != stun.CodeAllocQuotaReached {
		t.Errorf("an address has more than its quota: %d", code)
	}
	if !phone.alive() || !early.alive() {
		t.Error("one had to go that talks, or is not of the crowd")
	}
	testkit.Eventually(t, "the places that are taken", func() bool { got := s.Stats(); return got.Allocations == 200 && got.RelayPorts == 200 })
}

// Where everybody talks, strangers cannot have the places of publishers, and no one that
// talks goes for another.
func TestNobodyWhoTalksGoesForAnother(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	c := &clock{now: noon}
	s := start(t, m, func(o *Options) { o.Quotas.Total, o.Now = 4, c.Now })
	var all []*raw
	come := func(publisher bool) stun.ErrorCode {
		one := from(t, s, "127.0.0.1", publisher)
		code := one.open()
		if code == 0 {
			one.talk(m)
			all = append(all, one)
		}
		return code
	}
	for i, want := range []stun.ErrorCode{0, 0, 0, stun.CodeAllocQuotaReached} {
		if code := come(false); code != want {
			t.Errorf("stranger %d gets %d", i, code)
		}
	}
	for i, want := range []stun.ErrorCode{0, stun.CodeAllocQuotaReached} {
		if code := come(true); code != want {
			t.Errorf("publisher %d gets %d", i, code)
		}
	}
	for i, one := range all {
		if !one.alive() {
			t.Errorf("%d had to go", i)
		}
	}
}

// The crowd is counted by networks: 200 addresses of a /48 are one, and make way before a
// household does.
func TestTheCrowdOfAWideNetwork(t *testing.T) {
	now := noon
	b := newBook(Quotas{Total: 10}.withDefaults(), func() time.Time { return now })
	b.quotas.Kept = 0
	port := uint16(0)
	come := func(address string) seat {
		t.Helper()
		port++
		now = now.Add(time.Millisecond)
		at := seat{"udp", netip.AddrPortFrom(netip.MustParseAddr(address), port)}
		conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		relayed := addrPort(conn.LocalAddr())
		r := &relayConn{UDPConn: conn.(*net.UDPConn), now: b.now}
		r.gone = func() { b.closed(relayed, r) }
		b.opened(relayed, r)
		if !b.reserve(at, fmt.Sprint("u", port)) {
			t.Fatalf("%s is refused", address)
		}
		b.made(at, relayed)
		return at
	}
	home := []seat{come("192.0.2.1"), come("192.0.2.1"), come("2001:db8:2::1")}
	for i := range 30 {
		come(fmt.Sprintf("2001:db8:1:%x::1", i))
	}
	for i, at := range home {
		if !b.holds(at, "") {
			t.Errorf("%d had to go", i)
		}
	}
	for at := range b.places {
		b.ended(at)
	}
	if places, _, _ := b.size(); places != 0 || b.taken != 0 || b.strangers != 0 || len(b.counts) != 0 {
		t.Errorf("%d places, %d, %d, %v", places, b.taken, b.strangers, b.counts)
	}
}

// deadlines is a connection that remembers for how long it may be silent.
type deadlines struct {
	net.Conn
	at time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error { d.at = at; return nil }

// A connection without its allocation is silent for no longer than a new one, or those that
// were ended would keep all places of connections.
func TestAConnectionThatLostItsAllocationIsNotWaitedForLong(t *testing.T) {
	b := newBook(Quotas{}.withDefaults(), func() time.Time { return noon })
	at := seat{"tcp", netip.MustParseAddrPort("192.0.2.1:5")}
	b.reserve(at, "sara")
	b.made(at, netip.AddrPort{})
	conn := &deadlines{}
	if err := b.patience(at, conn, time.Now()); err != nil {
		t.Fatal(err)
	}
	with := conn.at
	b.ended(at)
	if !conn.at.Before(with) {
		t.Error("it has as long as before")
	}
}

// The mark of a publisher is signed: who puts it before a name of their own is nobody.
func TestThePublishersMarkIsSigned(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	s := start(t, m, nil)
	turn := s.Servers(s.opts.Now(), "127.0.0.1", true)[0]
	u, err := parseUser(turn.Username)
	if err != nil || !ofPublisher(u.name) {
		t.Fatalf("%+v, %v", u, err)
	}
	plain := s.Servers(s.opts.Now(), "127.0.0.1", false)[0]
	p, err := parseUser(plain.Username)
	if err != nil || ofPublisher(p.name) {
		t.Fatalf("%+v, %v", p, err)
	}
	forged := newRaw(t, s, fmt.Sprintf("%d:%s%s", p.expires.Unix(), publisherMark, p.name), plain.Credential)
	if code := forged.open(); code == 0 {
		t.Error("a forged mark is taken")
	}
	if code := newRaw(t, s, turn.Username, turn.Credential).open(); code != 0 {
		t.Errorf("a publisher gets %d", code)
	}
}
