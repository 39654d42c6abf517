// Package client identifies who sends a request, for limits per listener. It decides
// no limit, and it is not a login: many people may share an address.
package client

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// EdgeHeader carries the token by which an edge of the station proves that it asks for
// listeners of its own.
const EdgeHeader = "Athir-Edge"

// FrontHeader carries the token by which the control plane proves to the relay of a node on
// another machine that it passes on a listener's request. It is another than EdgeHeader, which
// asks a relay for what all listeners get.
const FrontHeader = "Athir-Front"

// Unknown is the Address of every client that its proxy does not identify.
const Unknown = "unknown"

// Address is the address a request comes from, in a form to count by.
//
// X-Forwarded-For is read only when a proxy on this machine passes the request
// on, and from its end: each proxy appends whom it heard from, so what stands
// before the last entry of another machine is the sender's own invention. Where
// it names no other machine, Forwarded (RFC 7239) is read in the same way. An
// entry that is not an address makes the client Unknown.
// An IPv6 address counts as its /64, which is what one household has at hand;
// see Wider.
// Where only this machine is named, Address is empty and no limit applies: behind
// a proxy that identifies nobody, all listeners would otherwise share one limit.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	peer, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if !peer.Unmap().IsLoopback() {
		return group(peer)
	}
	if last := lastOther(entries(r.Header.Values("X-Forwarded-For"))); last != "" {
		return last
	}
	return lastOther(forwardedFor(r.Header.Values("Forwarded")))
}

// Wider is the /48 that an Address of IPv6 lies in, and empty for every other:
// a site or a small provider may have all 65,536 networks of it, and would pass a
// limit for one.
func Wider(address string) string {
	text, found := strings.CutSuffix(address, "/64")
	if !found {
		return ""
	}
	network, err := netip.ParseAddr(text)
	if err != nil {
		return ""
	}
	prefix, err := network.Prefix(48)
	if err != nil {
		return ""
	}
	return prefix.String()
}

// Network is the network around an Address, as whoever rents addresses has them: a /24 of
// IPv4, a /48 of IPv6; any other name is its own.
func Network(address string) string {
	if wider := Wider(address); wider != "" {
		return wider
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(address, "/64"))
	if err != nil || !a.Is4() {
		return address
	}
	p, err := a.Prefix(24)
	if err != nil {
		return address
	}
	return p.String()
}

// Peer is the address that a connection comes from, in the form of Address; empty
// for this machine, a proxy of its own included, and where there is none.
func Peer(remote net.Addr) string {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return ""
	}
	address := tcp.AddrPort().Addr()
	if !address.IsValid() || address.Unmap().IsLoopback() {
		return ""
	}
	return group(address)
}

// entries are those of a header that is a list, in all its lines.
func entries(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(strings.Join(lines, ","), ",")
}

// forwardedFor lists the clients that Forwarded names, hop by hop; Unknown for a
// hop that names none.
func forwardedFor(lines []string) []string {
	hops := entries(lines)
	for i, hop := range hops {
		hops[i] = Unknown
		for pair := range strings.SplitSeq(hop, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
				hops[i] = strings.Trim(value, `"`)
			}
		}
	}
	return hops
}

// lastOther is the last entry that is not this machine; empty when all are.
func lastOther(entries []string) string {
	for i := len(entries) - 1; i >= 0; i-- {
		address, err := parse(strings.TrimSpace(entries[i]))
		if err != nil {
			return Unknown
		}
		if !address.Unmap().IsLoopback() {
			return group(address)
		}
	}
	return ""
}

// parse reads an address. Some proxies write the port beside it.
func parse(entry string) (netip.Addr, error) {
	if with, err := netip.ParseAddrPort(entry); err == nil {
		return with.Addr(), nil
	}
	return netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(entry, "["), "]"))
}

func group(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	prefix, err := address.Prefix(64)
	if err != nil {
		return address.String()
	}
	return prefix.String()
}
