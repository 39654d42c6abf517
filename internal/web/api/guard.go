package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// guard says who may call a route.
type guard int

const (
	// open routes answer everyone.
	open guard = iota
	// engineOnly routes answer this machine and whoever holds the SYNC_TOKEN.
	engineOnly
	// stationKey routes answer whoever holds the STATION_KEY; everyone when it
	// is empty (mission: Authentication).
	stationKey
)

// realm is the WWW-Authenticate of a refusal.
func (g guard) realm() string {
	if g == stationKey {
		return `Bearer realm="athir station"`
	}
	return `Bearer realm="athir"`
}

// errForeign is a request that another site made a browser send.
var errForeign = errors.New("another site made the browser send this: set a station key to allow it")

// errUninvited is that of an open route: the settings say whose pages may.
var errUninvited = errors.New("another site made the browser send this: cors_origins does not name it")

// errNoKey is a request without the right key.
var errNoKey = errors.New("send the station key as x-station-key, or as a Bearer token")

// admit is the middleware of a guard.
func (s *Server) admit(api huma.API, g guard) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		if err := s.refusal(g, r); err != nil {
			for name, value := range refusalHeaders(g, err) {
				ctx.SetHeader(name, value)
			}
			_ = huma.WriteErr(api, ctx, refusalStatus(err), station.Reason(err))
			return
		}
		next(ctx)
		if g == stationKey {
			s.audited(ctx)
		}
	}
}

// refusal is why a guard lets a request not pass; nil when it does.
func (s *Server) refusal(g guard, r *http.Request) error {
	switch {
	case g == engineOnly && !s.engine(r):
		return errors.New("this route is for the playout engine: send the SYNC_TOKEN as a Bearer token")
	case g == stationKey:
		return s.operator(r)
	case g == open && !s.invited(r):
		return errUninvited
	}
	return nil
}

// invited reports that a request comes from our own pages, from those that the
// settings name, or from no page. A browser asks nobody before it sends another
// site's POST without a type, and the listener would answer for what it says.
func (s *Server) invited(r *http.Request) bool {
	return s.foreign.Check(r) == nil || slices.Contains(s.opt.Origins, everyone) || s.named(r.Header.Get("Origin"))
}

func refusalStatus(err error) int {
	var limit *client.LimitError
	switch {
	case errors.As(err, &limit):
		return http.StatusTooManyRequests
	case errors.Is(err, errForeign), errors.Is(err, errUninvited):
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

func refusalHeaders(g guard, err error) map[string]string {
	switch status := refusalStatus(err); status {
	case http.StatusUnauthorized:
		return map[string]string{"WWW-Authenticate": g.realm()}
	case http.StatusTooManyRequests:
		return map[string]string{"Retry-After": problem.RetryAfter(err)}
	}
	return nil
}

// Wrong keys that one address may try.
const (
	guessesAtOnce = 10
	guessEvery    = 6 * time.Second
)

// operator admits the station key. After too many wrong ones nothing from that
// address is looked at for a while, the right key included: else guessing
// would cost nothing.
func (s *Server) operator(r *http.Request) error {
	if s.opt.StationKey == "" {
		if s.foreign.Check(r) != nil || rebound(r) {
			return errForeign
		}
		return nil
	}
	key := sentKey(r)
	if key == "" {
		return errNoKey // no guess
	}
	admitted := false
	err := s.guesses.TakeIf(client.Address(r), func() bool {
		admitted = equal(key, s.opt.StationKey)
		return !admitted
	})
	if err == nil && !admitted {
		s.opt.Log.Warn("station key refused", "from", from(r))
		err = errNoKey
	}
	return err
}

// rebound reports a browser on this machine that was led here by another site's
// name (DNS rebinding): to it our answers are that site's own, and so Origin and
// Sec-Fetch-Site show nothing. A name without a dot is no site's. Its page may
// write X-Forwarded-For as well; but it names our own port, which a proxy in front
// of us has no reason to.
func rebound(r *http.Request) bool {
	host, port := r.Host, "80"
	if name, given, err := net.SplitHostPort(host); err == nil {
		host, port = name, given
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	foreign := err != nil && strings.Contains(host, ".") && !strings.HasSuffix(host, ".localhost")
	return foreign && (client.Address(r) == "" || fromHere(r) && port == ownPort(r))
}

// fromHere reports a connection of this machine, a proxy's perhaps.
func fromHere(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback()
}

// ownPort is the port that the request came to; empty where nobody knows.
func ownPort(r *http.Request) string {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return ""
	}
	return port
}

// sentKey is the first x-station-key, else what Authorization carries: the
// mission wants the key there, with or without the word Bearer.
func sentKey(r *http.Request) string {
	if key := r.Header.Get("X-Station-Key"); key != "" {
		return key
	}
	sent := r.Header.Get("Authorization")
	if scheme, key, ok := strings.Cut(sent, " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return sent
}

// engine admits the token, and loopback callers that no proxy speaks for.
func (s *Server) engine(r *http.Request) bool {
	token, sent := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !sent {
		token = r.Header.Get("X-Sync-Token")
	}
	if token != "" {
		return equal(token, s.opt.SyncToken)
	}
	proxied := slices.ContainsFunc(byProxies(), func(name string) bool { return r.Header.Values(name) != nil })
	// A page of another origin can make a listener's browser on this machine
	// post here: browsers say so.
	browser := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
	return fromHere(r) && !proxied && !browser
}

// byProxies are headers by which a proxy says that it speaks for another, one
// that hides whom included. The engine sends none of them.
func byProxies() []string {
	return []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via", "X-Forwarded-Host", "X-Forwarded-Proto", "Cf-Connecting-Ip", "True-Client-Ip"}
}

// equal compares in a time that tells nothing, not even the length.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
