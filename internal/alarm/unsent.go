package alarm

import (
	"errors"
	"net"
	"net/url"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// Unsent is the Failure of a message for which no answer came, by the error of
// fetch.Client.Send: it names no more of the address than its origin. check is the Check of
// that client.
func Unsent(err error, address string, check func(address string) (*url.URL, error)) *Failure {
	f := &Failure{Why: fetch.Secretless(err, address, check), Perhaps: true}
	var blocked *fetch.BlockedError
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &blocked):
		f.Lasting, f.Perhaps = true, false
	case errors.As(err, &dns):
		f.Perhaps, f.Remedy = false, "check the address, and the name servers of this machine"
	case errors.As(err, &op) && op.Op == "dial":
		f.Perhaps, f.Remedy = false, "check that this machine reaches the internet, and that no firewall is between"
	}
	return f
}
