package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// guard says who may call a route.
type guard int

const (
	// open routes answer everyone.
	open guard = iota
	// engineOnly routes answer this machine and whoever holds the SYNC_TOKEN.
	engineOnly
)

// admit is the middleware of a guard.
func (s *Server) admit(api huma.API, g guard) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if g == engineOnly && !s.engine(ctx) {
			ctx.SetHeader("WWW-Authenticate", `Bearer realm="athir"`)
			_ = huma.WriteErr(api, ctx, http.StatusUnauthorized, "this route is for the playout engine: send the SYNC_TOKEN as a Bearer token")
			return
		}
		next(ctx)
	}
}

// engine admits the token, and loopback callers that no proxy speaks for.
func (s *Server) engine(ctx huma.Context) bool {
	token, sent := strings.CutPrefix(ctx.Header("Authorization"), "Bearer ")
	if !sent {
		token = ctx.Header("X-Sync-Token")
	}
	if token != "" {
		return equal(token, s.opt.SyncToken)
	}
	host, _, err := net.SplitHostPort(ctx.RemoteAddr())
	proxied := ctx.Header("X-Forwarded-For") != "" || ctx.Header("Forwarded") != ""
	// A page of another origin can make a listener's browser on this machine
	// post here: browsers say so.
	browser := ctx.Header("Origin") != "" || ctx.Header("Sec-Fetch-Site") != ""
	return err == nil && net.ParseIP(host).IsLoopback() && !proxied && !browser
}

// equal compares in a time that tells nothing, not even the length.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
