package turn

import (
	"encoding/binary"
	"net/netip"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/client"
)

// screen looks at what clients send before the TURN server does:
//
//	from a client                              with an allocation   without
//	channel data, Send indication              on                   dropped
//	Binding, Allocate, Refresh, CreatePermission  on                costs a turn of its address
//	  Allocate over TCP (RFC 6062)             442                  442, costs a turn
//	  Allocate with EVEN-PORT or a token       508                  508, costs a turn
//	ChannelBind to the media                   on                   costs a turn
//	ChannelBind to anything else               403                  403, costs a turn
//	Connect, ConnectionBind (RFC 6062)         403                  403, costs a turn
//	anything else                              dropped              dropped
//
// The server itself would ask for a permission by IP alone and keep a channel for each
// of the address's 65,535 ports.
type screen struct {
	door  string
	gate  gate
	book  *book
	turns *client.Limits
	count *counters
}

// verdict is what becomes of a message.
type verdict struct {
	on     bool
	answer []byte // to send back where it does not go on; nil: nothing
}

// look judges one message.
func (s *screen) look(message []byte, from netip.AddrPort) verdict {
	held := s.book.holds(seat{s.door, unmapped(from)}, "")
	kind, method := classify(message)
	switch kind {
	case data:
		if !held {
			s.count.dropped.Add(1)
		}
		return verdict{on: held}
	case request:
	default:
		s.count.dropped.Add(1)
		return verdict{}
	}
	if !held && s.turns.Take(addressKey(from.Addr())) != nil {
		s.count.limited.Add(1)
		return verdict{}
	}
	code := s.refusal(message, method)
	if code == 0 {
		return verdict{on: true}
	}
	s.count.forbidden.Add(1)
	return verdict{answer: refusal(message, method, code)}
}

// kind is what a message is to the screen.
type kind int

const (
	garbage kind = iota
	data         // what is relayed
	request
)

// classify reads the head of a message (RFC 8489, 5; RFC 8656, 12.4).
func classify(m []byte) (kind, stun.Method) {
	if len(m) < 4 {
		return garbage, 0
	}
	if m[0]>>6 == 1 { // channel 0x4000 to 0x7FFF
		return data, 0
	}
	if !stun.IsMessage(m) || m[0]>>6 != 0 {
		return garbage, 0
	}
	var t stun.MessageType
	t.ReadValue(binary.BigEndian.Uint16(m))
	switch {
	case t.Class == stun.ClassIndication && t.Method == stun.MethodSend:
		return data, t.Method
	case t.Class == stun.ClassRequest:
		return request, t.Method
	}
	return garbage, 0
}

// refusal is the error code of a request that does not go on; 0: it does.
func (s *screen) refusal(raw []byte, method stun.Method) stun.ErrorCode {
	switch method {
	case stun.MethodBinding, stun.MethodRefresh, stun.MethodCreatePermission:
		return 0
	case stun.MethodAllocate, stun.MethodChannelBind:
	default:
		return stun.CodeForbidden
	}
	m := &stun.Message{Raw: append([]byte(nil), raw...)}
	if m.Decode() != nil {
		return stun.CodeBadRequest
	}
	if method == stun.MethodAllocate {
		protocol, err := m.Get(stun.AttrRequestedTransport)
		switch {
		case err == nil && (len(protocol) == 0 || protocol[0] != protocolUDP):
			return stun.CodeUnsupportedTransProto
		case m.Contains(stun.AttrEvenPort), m.Contains(stun.AttrReservationToken):
			return stun.CodeInsufficientCapacity
		}
		return 0
	}
	var peer stun.XORMappedAddress
	if peer.GetFromAs(m, stun.AttrXORPeerAddress) != nil {
		return stun.CodeBadRequest
	}
	ip, _ := netip.AddrFromSlice(peer.IP)
	if _, ok := s.gate.inward(netip.AddrPortFrom(ip, uint16(peer.Port))); !ok { //nolint:gosec // 16 bits on the wire
		return stun.CodeForbidden
	}
	return 0
}

const protocolUDP = 17 // IANA's number

// refusal is the answer to a request that does not go on.
func refusal(raw []byte, method stun.Method, code stun.ErrorCode) []byte {
	m := &stun.Message{Raw: append([]byte(nil), raw...)}
	if m.Decode() != nil {
		return nil
	}
	answer, err := stun.Build(stun.NewTransactionIDSetter(m.TransactionID), stun.NewType(method, stun.ClassErrorResponse), code)
	if err != nil {
		return nil
	}
	return answer.Raw
}
