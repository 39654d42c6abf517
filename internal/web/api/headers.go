package api

import (
	"net/http"

	"github.com/athir-radio/athir/internal/kit/client"
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
		if client.OverTLS(r) {
			h.Set("Strict-Transport-Security", "max-age=15552000") // 180 days
		}
		next.ServeHTTP(w, r)
	})
}
