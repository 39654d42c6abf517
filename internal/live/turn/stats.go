package turn

import "sync/atomic"

// Stats is the server in figures. Counts run since its start.
type Stats struct {
	Allocations int // now
	RelayPorts  int // now
	Connections int // TCP and TLS, now

	Allocated  uint64 // allocations made
	OverQuota  uint64 // allocations refused because a quota was used up
	Ousted     uint64 // allocations ended for their age, for relaying nothing, or for another's then
	Refused    uint64 // requests with a credential that is malformed, expired or wrong
	Kept       uint64 // requests with an expired credential that keep an allocation alive
	Limited    uint64 // requests and connections beyond the rate or number of an address
	Forbidden  uint64 // requests and datagrams to or from what is not the media
	Dropped    uint64 // messages that are none, or belong to no allocation
	Handshakes uint64 // TLS handshakes that failed
	BytesUp    uint64 // relayed to the media
	BytesDown  uint64 // relayed from it
}

type counters struct {
	allocated, overQuota, refused, kept, limited, forbidden, dropped, handshakes, up, down atomic.Uint64
}

// Stats returns the figures of now.
func (s *Server) Stats() Stats {
	allocations, relays, ousted := s.book.size()
	return Stats{
		Allocations: allocations, RelayPorts: relays, Connections: len(s.slots),
		Allocated: s.count.allocated.Load(), OverQuota: s.count.overQuota.Load(), Ousted: ousted, Refused: s.count.refused.Load(),
		Kept: s.count.kept.Load(), Limited: s.count.limited.Load() + s.bound.Refused(), Forbidden: s.count.forbidden.Load(),
		Dropped: s.count.dropped.Load(), Handshakes: s.count.handshakes.Load(),
		BytesUp: s.count.up.Load(), BytesDown: s.count.down.Load(),
	}
}
