package turn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	pion "github.com/pion/turn/v5"

	"github.com/athir-radio/athir/internal/station"
)

// Media is an address of the WHIP server's media, the only kind of place that the relay
// leads to.
type Media struct {
	// Public is the address as its candidates have it.
	Public netip.AddrPort
	// Inner is where it is reached from this machine; the same when zero. Behind a router
	// that is not the public one.
	Inner netip.AddrPort
}

func (m *Media) clean() error {
	if !m.Inner.IsValid() {
		m.Inner = m.Public
	}
	for _, a := range []*netip.AddrPort{&m.Public, &m.Inner} {
		*a = unmapped(*a)
		if !a.IsValid() || a.Port() == 0 || a.Addr().IsUnspecified() || a.Addr().IsMulticast() || a.Addr() == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
			return fmt.Errorf("TURN media address %s: want the address and port of the WHIP server's media: %w", a, station.ErrInvalid)
		}
	}
	return nil
}

// gate knows the media addresses.
type gate []Media

// permits reports whether a phone may ask for a permission for an address. It is asked
// without a port.
func (g gate) permits(ip netip.Addr) bool {
	for _, m := range g {
		if m.Public.Addr() == ip.Unmap() {
			return true
		}
	}
	return false
}

// inward is where a datagram to an address goes; not ok: nowhere.
func (g gate) inward(to netip.AddrPort) (m Media, ok bool) {
	to = unmapped(to)
	for _, m := range g {
		if m.Public == to {
			return m, true
		}
	}
	return Media{}, false
}

// outward is whom a datagram from an address is from, in the phone's eyes: where several
// public addresses lead to one inner, the one it last wrote to.
func (g gate) outward(from netip.AddrPort, last *Media) (netip.AddrPort, bool) {
	from = unmapped(from)
	if last != nil && last.Inner == from {
		return last.Public, true
	}
	for _, m := range g {
		if m.Inner == from {
			return m.Public, true
		}
	}
	return netip.AddrPort{}, false
}

// family is a public address of a family, for the relayed address.
func (g gate) family(six bool) (netip.Addr, bool) {
	for _, m := range g {
		if m.Public.Addr().Is6() == six {
			return m.Public.Addr(), true
		}
	}
	return netip.Addr{}, false
}

// relayConn is the relay's end of one allocation. pion asks for permissions by IP, without
// the port, and lets every port of a permitted address through; this drops each datagram
// that is not to or from the media.
//
// It is bound to loopback: the media is on this machine, and nothing else should find a
// relay's port.
type relayConn struct {
	*net.UDPConn
	gate  gate
	count *counters
	last  atomic.Pointer[Media]
	heard atomic.Int64 // when the media last spoke, in nanoseconds since 1970; 0: never
	now   func() time.Time
	once  sync.Once
	gone  func()
}

// WriteTo implements net.PacketConn.
func (r *relayConn) WriteTo(p []byte, to net.Addr) (int, error) {
	m, ok := r.gate.inward(addrPort(to))
	if !ok {
		r.count.forbidden.Add(1)
		return len(p), nil
	}
	if last := r.last.Load(); last == nil || *last != m {
		r.last.Store(&m)
	}
	r.count.up.Add(uint64(len(p)))
	return r.WriteToUDPAddrPort(p, m.Inner)
}

// ReadFrom implements net.PacketConn.
func (r *relayConn) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := r.ReadFromUDPAddrPort(p)
		if err != nil {
			return n, nil, err
		}
		if public, ok := r.gate.outward(from, r.last.Load()); ok {
			r.heard.Store(r.now().UnixNano())
			r.count.down.Add(uint64(n)) //nolint:gosec // a length
			return n, net.UDPAddrFromAddrPort(public), nil
		}
		r.count.forbidden.Add(1)
	}
}

// Close implements net.PacketConn; it may be called often.
func (r *relayConn) Close() error {
	var err error
	r.once.Do(func() {
		err = r.UDPConn.Close()
		r.gone()
	})
	return err
}

// generator makes the relays of allocations. It makes none that listens or connects over
// TCP (RFC 6062).
type generator struct {
	gate     gate
	min, max uint16 // 0: any free port
	book     *book
	count    *counters
}

var (
	errRelayTCP  = errors.New("TCP is not relayed")
	errRelayPort = errors.New("no port is kept or chosen for clients")
)

// Validate implements pion.RelayAddressGenerator.
func (g *generator) Validate() error { return nil }

// AllocatePacketConn implements pion.RelayAddressGenerator.
func (g *generator) AllocatePacketConn(c pion.AllocateListenerConfig) (net.PacketConn, net.Addr, error) {
	if c.UserID == "" || c.RequestedPort != 0 {
		return nil, nil, errRelayPort // EVEN-PORT and RESERVATION-TOKEN, which are refused before
	}
	six := c.Network == "udp6"
	public, ok := g.gate.family(six)
	if !ok {
		return nil, nil, fmt.Errorf("no media address of %s", c.Network)
	}
	host := net.IPv4(127, 0, 0, 1)
	if six {
		host = net.IPv6loopback
	}
	conn, err := g.bind(c.Network, host)
	if err != nil {
		return nil, nil, fmt.Errorf("open TURN relay port: %w", err)
	}
	// The address that clients are told is the media's own: nobody but the media reaches
	// the relay, and the media answers to where a datagram came from.
	relayed := netip.AddrPortFrom(public, addrPort(conn.LocalAddr()).Port())
	r := &relayConn{UDPConn: conn, gate: g.gate, count: g.count, now: g.book.now}
	r.gone = func() { g.book.closed(relayed, r) }
	g.book.opened(relayed, r)
	return r, net.UDPAddrFromAddrPort(relayed), nil
}

// bind takes a free port of the range.
func (g *generator) bind(network string, host net.IP) (conn *net.UDPConn, err error) {
	if g.min == 0 {
		return net.ListenUDP(network, &net.UDPAddr{IP: host})
	}
	size := int(g.max) - int(g.min) + 1
	first := rand.IntN(size) //nolint:gosec // nothing depends on it
	for i := range size {
		conn, err = net.ListenUDP(network, &net.UDPAddr{IP: host, Port: int(g.min) + (first+i)%size})
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// AllocateListener implements pion.RelayAddressGenerator.
func (g *generator) AllocateListener(pion.AllocateListenerConfig) (net.Listener, net.Addr, error) {
	return nil, nil, errRelayTCP
}

// AllocateConn implements pion.RelayAddressGenerator.
func (g *generator) AllocateConn(pion.AllocateConnConfig) (net.Conn, error) {
	return nil, errRelayTCP
}
