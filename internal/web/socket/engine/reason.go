package engine

import "github.com/gobwas/ws"

// Reason says why a session ended. The first five have the names that the
// protocol's reference server uses.
type Reason string

// The reasons.
const (
	ReasonTransportClose Reason = "transport close"      // the connection was closed, or the client said goodbye
	ReasonTransportError Reason = "transport error"      // the connection broke, or broke WebSocket's rules
	ReasonPingTimeout    Reason = "ping timeout"         // a heartbeat stayed unanswered
	ReasonParseError     Reason = "parse error"          // the client sent a malformed packet
	ReasonForced         Reason = "forced close"         // the application ended it
	ReasonShutdown       Reason = "server shutting down" // Run's context ended
	ReasonSlow           Reason = "too slow"             // its queue exceeded MaxPending, or there was no room for it under MaxOutgoing
	ReasonTooBig         Reason = "too big"              // a message over MaxPayload, or a body of too many packets
	ReasonBusy           Reason = "server busy"          // no room under MaxIncoming for its message
	ReasonRate           Reason = "too many packets"     // over PacketRate
	ReasonReplaced       Reason = "replaced"             // the client has connected again, before this connection was seen to break
	ReasonFault          Reason = "server error"         // the receiver panicked
)

func reasons() []Reason {
	return []Reason{
		ReasonTransportClose, ReasonTransportError, ReasonPingTimeout, ReasonParseError, ReasonForced,
		ReasonShutdown, ReasonSlow, ReasonTooBig, ReasonBusy, ReasonRate, ReasonReplaced, ReasonFault,
	}
}

// statusTryAgainLater is WebSocket's close code 1013 (IANA's registry).
const statusTryAgainLater ws.StatusCode = 1013

// abrupt reports whether the client is gone already, so that nothing more is sent.
func (r Reason) abrupt() bool {
	return r == ReasonPingTimeout || r == ReasonSlow || r == ReasonTransportError || r == ReasonReplaced
}

// lingers reports whether a client that is between two polls gets time to fetch its
// farewell.
func (r Reason) lingers() bool {
	return r == ReasonTransportClose || r == ReasonForced || r == ReasonShutdown
}

// status is the WebSocket close code of the reason.
func (r Reason) status() ws.StatusCode {
	switch r {
	case ReasonParseError:
		return ws.StatusProtocolError
	case ReasonShutdown:
		return ws.StatusGoingAway
	case ReasonTooBig:
		return ws.StatusMessageTooBig
	case ReasonBusy:
		return statusTryAgainLater
	case ReasonRate:
		return ws.StatusPolicyViolation
	case ReasonFault:
		return ws.StatusInternalServerError
	default:
		return ws.StatusNormalClosure
	}
}
