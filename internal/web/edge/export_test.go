package edge

import (
	"net/http"

	"github.com/athir-radio/athir/internal/web/socket"
)

// Encoded is how many events are kept as they go out to all.
func (e *Edge) Encoded() int {
	e.order.Lock()
	defer e.order.Unlock()
	return len(e.encoded)
}

// Offers is whether a client with these headers, and what it shows, is offered recovery.
func Offers(header http.Header, says *bool, pid string) bool {
	return offers(socket.Handshake{Header: header}, handshake{Recover: says}, pid)
}
