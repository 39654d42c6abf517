package api

import (
	"net"
	"net/http"
	"strings"
)

// secured sets the headers of every answer. Pages replace the content security
// policy by their own.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if overTLS(r) {
			h.Set("Strict-Transport-Security", "max-age=15552000") // 180 days
		}
		next.ServeHTTP(w, r)
	})
}

// Origin is the address under which a client reaches this server, as it says itself.
func Origin(r *http.Request) string {
	if overTLS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// overTLS reports whether the client's connection is encrypted: by this server, or
// by a proxy on this machine that says so.
func overTLS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback() && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
