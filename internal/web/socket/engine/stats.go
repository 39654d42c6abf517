package engine

import "sync/atomic"

// Stats counts what the server has done, and what it serves now.
type Stats struct {
	WebSockets int // sessions now
	Pollers    int
	Incoming   int // bytes of MaxIncoming taken now
	Outgoing   int // bytes of MaxOutgoing taken now

	Opened   uint64 // sessions, ever
	Upgraded uint64 // sessions that went from polling to WebSocket
	Refused  uint64 // handshakes refused because of a limit
	Ended    map[Reason]uint64

	PacketsIn, PacketsOut uint64 // packets or frames
	BytesIn, BytesOut     uint64 // without HTTP and TCP headers
}

type counters struct {
	websockets, pollers   atomic.Int64
	opened, upgraded      atomic.Uint64
	refused               atomic.Uint64
	packetsIn, packetsOut atomic.Uint64
	bytesIn, bytesOut     atomic.Uint64
	byReason              map[Reason]*atomic.Uint64 // complete and fixed from the start
}

func (c *counters) init() {
	c.byReason = map[Reason]*atomic.Uint64{}
	for _, reason := range reasons() {
		c.byReason[reason] = new(atomic.Uint64)
	}
}

func (c *counters) ended(reason Reason) {
	if n := c.byReason[reason]; n != nil {
		n.Add(1)
	}
}

// Stats returns the present figures.
func (s *Server) Stats() Stats {
	out := Stats{
		WebSockets: int(s.stats.websockets.Load()),
		Pollers:    int(s.stats.pollers.Load()),
		Incoming:   s.intake.now(),
		Outgoing:   s.outgoing.now(),
		Opened:     s.stats.opened.Load(),
		Upgraded:   s.stats.upgraded.Load(),
		Refused:    s.stats.refused.Load(),
		Ended:      map[Reason]uint64{},
		PacketsIn:  s.stats.packetsIn.Load(),
		PacketsOut: s.stats.packetsOut.Load(),
		BytesIn:    s.stats.bytesIn.Load(),
		BytesOut:   s.stats.bytesOut.Load(),
	}
	for reason, n := range s.stats.byReason {
		if count := n.Load(); count > 0 {
			out.Ended[reason] = count
		}
	}
	return out
}
