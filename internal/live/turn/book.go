package turn

import (
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
	Age         time.Duration // an allocation this old is ended; 18 h: Lifetime and Grace
	Requests    int           // requests an address may send at once without an allocation; 100
	Every       time.Duration // and one more each; 100 ms
	Connections int           // TCP and TLS connections at once; 400, of one address twice PerAddress
}

func (q Quotas) withDefaults() Quotas {
	setDefault(&q.PerUser, 4)
	setDefault(&q.PerAddress, 20)
	setDefault(&q.Total, 200)
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
	user    string
	address string
	since   time.Time
	made    bool
	relay   *relayConn
}

// book holds the places, and so the quotas.
type book struct {
	quotas Quotas
	now    func() time.Time

	mu     sync.Mutex
	places map[seat]*place
	counts map[string]int                // by "user NAME" and "address ADDRESS"
	relays map[netip.AddrPort]*relayConn // by relayed address
	empty  chan struct{}                 // closed while there is no place
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
	b.mu.Lock()
	defer b.mu.Unlock()
	address := addressKey(s.client.Addr())
	wider := client.Wider(address)
	if b.places[s] != nil || len(b.places) >= b.quotas.Total ||
		b.counts["user "+name] >= b.quotas.PerUser || b.counts["address "+address] >= b.quotas.PerAddress ||
		wider != "" && b.counts["address "+wider] >= wideFactor*b.quotas.PerAddress {
		return false
	}
	if len(b.places) == 0 {
		b.empty = make(chan struct{})
	}
	b.places[s] = &place{user: name, address: address, since: b.now()}
	b.change(b.places[s], 1)
	return true
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
	b.change(p, -1)
	if len(b.places) == 0 {
		close(b.empty)
	}
}

// change counts a place in or out.
func (b *book) change(p *place, by int) {
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
	return p != nil && p.made && (name == "" || p.user == name)
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

// sweep ends what is too old.
func (b *book) sweep() {
	b.mu.Lock()
	var old []*relayConn
	for _, p := range b.places {
		if p.relay != nil && b.now().Sub(p.since) >= b.quotas.Age {
			old = append(old, p.relay)
		}
	}
	b.mu.Unlock()
	for _, relay := range old {
		_ = relay.Close() // whoever reads from it ends the allocation
	}
}

// size is how many allocations there are, and how many relay ports.
func (b *book) size() (places, relays int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.places), len(b.relays)
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
