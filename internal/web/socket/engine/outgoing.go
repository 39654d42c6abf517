package engine

import "slices"

// packetCost is what a packet takes beside its frame, in bytes.
const packetCost = 64

// own is the memory that a packet takes for one session alone.
func (p *Packet) own() int {
	if p.shared {
		return 0
	}
	return cap(p.frame) + packetCost
}

func ownOf(packets []*Packet) (n int) {
	for _, p := range packets {
		n += p.own()
	}
	return n
}

// charge sets what waits for this session alone to own bytes, and takes what exceeds the
// allowance out of MaxOutgoing; false, and nothing is changed, when there is no room. mu is
// held.
func (s *Session) charge(own int) bool {
	held := max(0, own-allowance)
	switch more := held - s.held; {
	case more > 0 && !s.server.outgoing.take(s.payer(), more):
		return false
	case more < 0:
		s.server.outgoing.give(s.payer(), -more)
	}
	s.own, s.held = own, held
	return true
}

// taken notes that packets have left the queue for the client: a heartbeat among them may
// be answered from now on. mu is held.
func (s *Session) taken(packets []*Packet) {
	s.unasked = s.unasked && !slices.Contains(packets, s.server.ping)
}
