package client

import (
	"net/http"
	"slices"
	"strings"
)

// The cookie of a session of somebody who works at the station. Over TLS its name keeps other
// hosts of the domain, and plain HTTP, from setting one (RFC 6265bis, 4.1.3.2).
const (
	SessionOverTLS = "__Host-athir"
	SessionInClear = "athir"
)

// SessionCookie is its name for a request.
func SessionCookie(r *http.Request) string {
	if OverTLS(r) {
		return SessionOverTLS
	}
	return SessionInClear
}

// DropSession takes it out of a request, and leaves other cookies.
func DropSession(r *http.Request) {
	var kept []string
	for _, c := range r.Cookies() {
		if !slices.Contains([]string{SessionOverTLS, SessionInClear}, c.Name) {
			kept = append(kept, c.String())
		}
	}
	r.Header.Del("Cookie")
	if len(kept) > 0 {
		r.Header.Set("Cookie", strings.Join(kept, "; "))
	}
}
