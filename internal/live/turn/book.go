package turn

import (
	"cmp"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
)

// Quotas bound what the server does for whom. Zero fields take the defaults.
type Quotas struct {
	PerUser     int           // allocations of one name at once; 4
	PerAddress  int           // allocations of one client address at once, of one /64 of IPv6; 20
	Total       int           // allocations at once, and so relay ports; 200
	Kept        int           // of them, for publishers alone (Server.Servers); a quarter
	Quiet       time.Duration // an allocation that hears nothing of the media for so long is ended; 60 s
	Age         time.Duration // an allocation this old is ended; 18 h: Lifetime and Grace
	Requests    int           // requests an address may send at once without an allocation; 100
	Every       time.Duration // and one more each; 100 ms
	Connections int           // TCP and TLS connections at once; 400, of one address twice PerAddress
}

func (q Quotas) withDefaults() Quotas {
	setDefault(&q.PerUser, 4)
	setDefault(&q.PerAddress, 20)
	setDefault(&q.Total, 200)
	setDefault(&q.Kept, q.Total/4)
	setDefault(&q.Quiet, time.Minute)
	setDefault(&q.Age, Lifetime+Grace)
	setDefault(&q.Requests, 100)
	setDefault(&q.Every, 100*time.Millisecond)
	setDefault(&q.Connections, 400)
	return q
}

func setDefault[T comparable](value *T, fallback T) {
	if *value == *new(T) {
		*value = fallback
	}
}

// wideFactor is how many networks of IPv6 a /48 counts for.
const wideFactor = 8

// seat is where an allocation is asked for: one door and one client.
type seat struct {
	door   string // udp, tcp or tls
	client netip.AddrPort
}

func seatOf(door string, from net.Addr) seat {
	return seat{door, addrPort(from)}
}

// place is an allocation, or one that is being made.
type place struct {
	user      string
	publisher bool // it came with a credential of a publisher
	address   string
	since     time.Time
	made      bool
	relay     *relayConn
	conn      net.Conn // TCP or TLS: what it came by, once that was read from again
	out       bool     // its place is another's; the server has yet to end it
}

// network is where it comes from: of IPv6 the /48, for whoever has one has many addresses.
func (p *place) network() string { return cmp.Or(client.Wider(p.address), p.address) }

// active is when the media last spoke to it, and its beginning before that. What it says
// itself does not count: the media answers whoever knows the password of a session, as each
// connected phone does every few seconds (RFC 7675), and nobody else.
func (p *place) active() time.Time {
	if p.relay != nil {
		if heard := p.relay.heard.Load(); heard != 0 {
			return time.Unix(0, heard)
		}
	}
	return p.since
}

// waits reports whether it relays nothing, and so may have to make way.
func (p *place) waits(now time.Time, quiet time.Duration) bool {
	return p.made && p.relay != nil && !p.out && (p.relay.heard.Load() == 0 || now.Sub(p.active()) >= quiet)
}

// book holds the places, and so the quotas. Anybody is given a credential, so a newcomer who
// finds no place gets that of one who relays nothing; see idlest.
type book struct {
	quotas Quotas
	now    func() time.Time

	mu        sync.Mutex
	places    map[seat]*place
	taken     int                           // places that are not out
	strangers int                           // of them, of no publisher
	ousted    uint64                        // allocations ended for being quiet or for others, since the start
	counts    map[string]int                // by "user NAME" and "address ADDRESS"
	relays    map[netip.AddrPort]*relayConn // by relayed address
	empty     chan struct{}                 // closed while there is no place
}

func newBook(q Quotas, now func() time.Time) *book {
	b := &book{
		quotas: q, now: now, places: map[seat]*place{}, counts: map[string]int{}, relays: map[netip.AddrPort]*relayConn{},
		empty: make(chan struct{}),
	}
	close(b.empty)
	return b
}

// reserve gives an allocation its place before it is made; false where a quota is used up.
// The server handles the messages of one seat one after another.
func (b *book) reserve(s seat, name string) bool {
	p := &place{user: name, publisher: ofPublisher(name), address: addressKey(s.client.Addr()), since: b.now()}
	b.mu.Lock()
	gone, ok := b.take(s, p)
	b.mu.Unlock()
	closeAll(gone)
	return ok
}

// take finds a place, and says which relays are to be closed for it. The caller holds mu.
func (b *book) take(s seat, p *place) (gone []*relayConn, ok bool) {
	wider := client.Wider(p.address)
	if b.places[s] != nil || b.counts["user "+p.user] >= b.quotas.PerUser {
		return nil, false
	}
	// room makes some where there is none, at the cost of those that may go for p.
	room := func(held, most int, may func(*place) bool) bool {
		if held < most {
			return true
		}
		o := b.idlest(may)
		if o == nil {
			return false
		}
		gone = append(gone, b.oust(o))
		return true
	}
	stranger := func(o *place) bool { return !o.publisher }
	// A publisher need not wait for the strangers behind the same address.
	near := func(o *place) bool { return p.publisher && stranger(o) && o.address == p.address }
	around := func(o *place) bool { return p.publisher && stranger(o) && client.Wider(o.address) == wider }
	if !room(b.counts["address "+p.address], b.quotas.PerAddress, near) ||
		wider != "" && !room(b.counts["address "+wider], wideFactor*b.quotas.PerAddress, around) ||
		!p.publisher && !room(b.strangers, b.quotas.Total-b.quotas.Kept, stranger) ||
		!room(b.taken, b.quotas.Total, stranger) && (!p.publisher || !room(b.taken, b.quotas.Total, func(*place) bool { return true })) {
		return gone, false
	}
	if len(b.places) == 0 {
		b.empty = make(chan struct{})
	}
	b.places[s] = p
	b.change(p, 1)
	return gone, true
}

// idlest is the place, of those that wait and may go, that has relayed nothing for the
// longest, of the network that has the most of them; nil where there is none. The caller
// holds mu.
func (b *book) idlest(may func(*place) bool) (out *place) {
	now := b.now()
	var all []*place
	count := map[string]int{}
	for _, p := range b.places {
		if p.waits(now, b.quotas.Quiet) && may(p) {
			all = append(all, p)
			count[p.network()]++
		}
	}
	for _, p := range all {
		if out == nil || count[p.network()] > count[out.network()] ||
			count[p.network()] == count[out.network()] && p.active().Before(out.active()) {
			out = p
		}
	}
	return out
}

// oust takes the place of an allocation, and returns its relay, which is to be closed once
// mu is free: whoever reads from it ends the allocation.
func (b *book) oust(p *place) *relayConn {
	p.out = true
	b.ousted++
	b.change(p, -1)
	return p.relay
}

func closeAll(relays []*relayConn) {
	for _, r := range relays {
		_ = r.Close()
	}
}

// made says that the allocation of a place exists, and by which relay.
func (b *book) made(s seat, relayed netip.AddrPort) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.places[s]; p != nil {
		p.made, p.relay = true, b.relays[relayed]
	}
}

// failed gives back the place of an allocation that could not be made.
func (b *book) failed(s seat) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.places[s]; p != nil && !p.made {
		b.remove(s, p)
	}
}

// ended gives back the place of an allocation that is no more.
func (b *book) ended(s seat) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.places[s]; p != nil {
		b.remove(s, p)
	}
}

func (b *book) remove(s seat, p *place) {
	delete(b.places, s)
	if !p.out {
		b.change(p, -1)
	}
	if p.conn != nil { // as long as for a new one
		_ = p.conn.SetReadDeadline(time.Now().Add(settle))
	}
	if len(b.places) == 0 {
		close(b.empty)
	}
}

// change counts a place in or out.
func (b *book) change(p *place, by int) {
	b.taken += by
	if !p.publisher {
		b.strangers += by
	}
	keys := [...]string{"user " + p.user, "address " + p.address, "address " + client.Wider(p.address)}
	for _, key := range keys {
		if key == "address " {
			continue
		}
		if b.counts[key] += by; b.counts[key] == 0 {
			delete(b.counts, key)
		}
	}
}

// holds reports whether a client has an allocation; of that user, where one is named.
func (b *book) holds(s seat, name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.places[s]
	return p != nil && p.made && !p.out && (name == "" || p.user == name)
}

// patience sets how long a connection may be silent, which came at since: with an allocation
// it has to refresh that. When its allocation ends, so does most of the patience.
func (b *book) patience(s seat, conn net.Conn, since time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.places[s]; p != nil && p.made && !p.out {
		p.conn = conn
		return conn.SetReadDeadline(time.Now().Add(idle))
	}
	return conn.SetReadDeadline(since.Add(settle))
}

// opened and closed keep the relays that have a port.
func (b *book) opened(relayed netip.AddrPort, r *relayConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relays[relayed] = r
}

func (b *book) closed(relayed netip.AddrPort, r *relayConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.relays[relayed] == r {
		delete(b.relays, relayed)
	}
}

// sweep ends what is too old, or has relayed nothing for too long.
func (b *book) sweep() {
	b.mu.Lock()
	now := b.now()
	var old []*relayConn
	for _, p := range b.places {
		if p.made && p.relay != nil && !p.out && (now.Sub(p.since) >= b.quotas.Age || now.Sub(p.active()) >= b.quotas.Quiet) {
			old = append(old, b.oust(p))
		}
	}
	b.mu.Unlock()
	closeAll(old)
}

// size is how many allocations there are, how many relay ports, and how many were ended.
func (b *book) size() (places, relays int, ousted uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.places), len(b.relays), b.ousted
}

// drained is closed while there are no allocations.
func (b *book) drained() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.empty
}

// addressKey is a client to count by: an IPv6 network of /64 is what one household has.
// Unlike client.Peer it counts this machine too: no proxy stands before TURN.
func addressKey(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// unmapped is an address in one form: IPv4 as such, without a zone.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// addrPort is the address of what pion has: a *net.UDPAddr or a *net.TCPAddr.
func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.UDPAddr:
		return unmapped(a.AddrPort())
	case *net.TCPAddr:
		return unmapped(a.AddrPort())
	}
	return netip.AddrPort{}
}
