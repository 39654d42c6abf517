// Package client says whose request it is, for limits per listener. It decides
// no limit, and it is not a login: many people may share an address.
package client

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Address is the address a request comes from, in a form to count by.
//
// X-Forwarded-For is read only when a proxy on this machine passes the request
// on, and from its end: each proxy appends whom it heard from, so what stands
// before the last entry of another machine is the sender's own invention.
// An IPv6 address counts as its /64, which is what one household has at hand.
// Where only this machine itself is known, Address is empty and a limit has
// nobody to count against: behind a proxy that does not say for whom it asks,
// all listeners would otherwise share one place.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	peer, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if peer.Unmap().IsLoopback() {
		peer = forwarded(r, peer)
	}
	if peer.Unmap().IsLoopback() {
		return ""
	}
	return group(peer)
}

// forwarded is the last machine but this one in X-Forwarded-For; peer when
// none is named.
func forwarded(r *http.Request, peer netip.Addr) netip.Addr {
	entries := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(entries) - 1; i >= 0; i-- {
		address, err := parse(strings.TrimSpace(entries[i]))
		if err != nil {
			return peer
		}
		if !address.Unmap().IsLoopback() {
			return address
		}
	}
	return peer
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
