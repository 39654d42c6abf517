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
	// engineOnly routes answer holders of the SYNC_TOKEN.
	engineOnly
	// stationKey routes answer holders of the STATION_KEY, or everyone when it is
	// empty (mission: Authentication).
	stationKey
	// moderator routes answer holders of the SOCIAL_ADMIN_KEY, and of the STATION_KEY;
	// nobody where the settings have no key for moderators (mission: Authentication).
	moderator
)

// realm is the WWW-Authenticate of a refusal.
func (g guard) realm() string {
	switch g {
	case stationKey:
		return `Bearer realm="athir station"`
	case moderator:
		return `Bearer realm="athir posts"`
	}
	return `Bearer realm="athir"`
}

// scheme is the security scheme of a guarded route in the OpenAPI document.
func (g guard) scheme() string {
	switch g {
	case engineOnly:
		return tokenScheme
	case stationKey:
		return keyScheme
	case moderator:
		return adminScheme
	}
	return ""
}

// errForeign refuses a request that another site made a browser send.
var errForeign = errors.New("another site made the browser send this: set a station key to allow it")

// errUninvited is errForeign on open routes, where cors_origins names the allowed sites.
var errUninvited = errors.New("another site made the browser send this: cors_origins does not name it")

// errNoKey refuses a request without the right key.
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
		if g == stationKey || g == moderator {
			s.audited(ctx)
		}
	}
}

// refusal returns the reason why a guard refuses a request; nil when it admits it.
func (s *Server) refusal(g guard, r *http.Request) error {
	switch {
	case g == engineOnly && !s.engine(r):
		return errors.New("this route is for the playout engine: send the SYNC_TOKEN as a Bearer token")
	case g == stationKey:
		return s.operator(r)
	case g == moderator:
		return s.moderates(r)
	case g == open && !s.invited(r):
		return errUninvited
	}
	return nil
}

// invited reports whether a request comes from the station's own pages, from pages
// that the settings name, or from no page. A browser sends another site's POST
// without a content type and without a preflight, and the listener would be held
// responsible for it.
func (s *Server) invited(r *http.Request) bool {
	return s.foreign.Check(r) == nil || slices.Contains(s.opt.Origins, everyone) || s.named(r.Header.Get("Origin"))
}

func refusalStatus(err error) int {
	var limit *client.LimitError
	switch {
	case errors.As(err, &limit):
		return http.StatusTooManyRequests
	case errors.Is(err, errForeign), errors.Is(err, errUninvited), errors.Is(err, errNoAdminKey):
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

// refusedBy is the answer of an open route to a request that needs a guard's key, with the
// guard's error: the same as behind it, so that pages ask for the key.
func refusedBy(g guard, what string, err error) error {
	head := http.Header{}
	for name, value := range refusalHeaders(g, err) {
		head.Set(name, value)
	}
	return huma.ErrorWithHeaders(huma.NewError(refusalStatus(err), what+station.Reason(err)), head)
}

// Wrong keys that one address may try.
const (
	guessesAtOnce = 10
	guessEvery    = 6 * time.Second
)

// operator admits the station key. After too many wrong keys every key from that
// address is refused for a while, the right one included: guessing must cost time.
func (s *Server) operator(r *http.Request) error {
	if !s.opt.StationKey.Set() {
		if s.foreign.Check(r) != nil || rebound(r) {
			return errForeign
		}
		return nil
	}
	key := sentKey(r)
	if key == "" {
		return errNoKey // does not count as a guess
	}
	admitted := false
	err := s.guesses.TakeIf(client.Address(r), func() bool {
		admitted = s.opt.StationKey.Matches(key)
		return !admitted
	})
	if err == nil && !admitted {
		s.opt.Log.Warn("station key refused", "from", from(r))
		err = errNoKey
	}
	return err
}

// rebound reports whether a browser on this machine was led here by another site's
// name (DNS rebinding). The browser takes the answers for that site's own, so Origin
// and Sec-Fetch-Site show nothing. A name without a dot belongs to no site. The page
// may set X-Forwarded-For, too, but its Host names the station's own port, which a
// proxy in front has no reason to do.
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

// trusting is the protection against all sites but those that are named. A pattern is not
// a name: what it stands for stays foreign.
func trusting(origins []string) *http.CrossOriginProtection {
	p := new(http.CrossOriginProtection)
	for _, origin := range origins {
		_ = p.AddTrustedOrigin(origin)
	}
	return p
}

// Foreign reports whether a site that is not named made a browser connect to the socket:
// the check that orders to an open station get, here for the GET that a session begins with.
func Foreign(origins []string) func(*http.Request) bool {
	trusted := trusting(origins)
	return func(r *http.Request) bool {
		order := *r
		order.Method = http.MethodPost
		return trusted.Check(&order) != nil || rebound(r)
	}
}

// fromHere reports whether the connection comes from this machine, perhaps a proxy.
func fromHere(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback()
}

// ownPort returns the port that the request came to; empty if it is unknown.
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

// sentKey returns the first x-station-key, otherwise what Authorization carries: the
// mission allows the key there, with or without the word Bearer.
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

// engine admits the SYNC_TOKEN, and nothing without it: other programs and users of
// this machine are not the engine.
func (s *Server) engine(r *http.Request) bool {
	token, sent := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !sent {
		token = r.Header.Get("X-Sync-Token")
	}
	return s.opt.SyncToken.Matches(token)
}

// equal compares in constant time, whatever the lengths.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
