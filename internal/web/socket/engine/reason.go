package engine

import "github.com/gobwas/ws"

// Reason says why a session ended. The first five are the names the protocol's
// own server gives.
type Reason string

// The reasons.
const (
	ReasonTransportClose Reason = "transport close"      // the connection was closed, or the client said goodbye
	ReasonTransportError Reason = "transport error"      // the connection broke, or broke WebSocket's rules
	ReasonPingTimeout    Reason = "ping timeout"         // a heartbeat stayed unanswered
	ReasonParseError     Reason = "parse error"          // a packet that is none
	ReasonForced         Reason = "forced close"         // the application ended it
	ReasonShutdown       Reason = "server shutting down" // Run's context ended
	ReasonSlow           Reason = "too slow"             // more than MaxPending was waiting for it
	ReasonTooBig         Reason = "too big"              // a message over MaxPayload, or a body of too many packets
	ReasonBusy           Reason = "server busy"          // no room under MaxIncoming for its message
	ReasonRate           Reason = "too many packets"     // over PacketRate
	ReasonFault          Reason = "server error"         // the receiver panicked
)

func reasons() []Reason {
	return []Reason{
		ReasonTransportClose, ReasonTransportError, ReasonPingTimeout, ReasonParseError, ReasonForced,
		ReasonShutdown, ReasonSlow, ReasonTooBig, ReasonBusy, ReasonRate, ReasonFault,
	}
}

// statusTryAgainLater is WebSocket's close code 1013 (IANA's registry).
const statusTryAgainLater ws.StatusCode = 1013

// abrupt reports that the other end takes no more part: nothing more is sent.
func (r Reason) abrupt() bool {
	return r == ReasonPingTimeout || r == ReasonSlow || r == ReasonTransportError
}

// lingers reports that a polling client which is not polling just now is given
// time to come for its farewell.
func (r Reason) lingers() bool {
	return r == ReasonTransportClose || r == ReasonForced || r == ReasonShutdown
}

// status is the WebSocket close code that goes with the reason.
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
