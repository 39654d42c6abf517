package client

import (
	"net"
	"net/http"
	"strings"
)

// Origin is the address under which a client reaches this server, as it says itself.
func Origin(r *http.Request) string {
	if OverTLS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// OverTLS reports whether the client's connection is encrypted: by this server, or
// by a proxy on this machine that says so.
func OverTLS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback() && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
