package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// guard says who may call a route.
type guard int

const (
	// open routes answer everyone.
	open guard = iota
	// ownPages routes answer everyone from the station's own pages: no other site may have a
	// browser log in.
	ownPages
	// engineOnly routes answer holders of the SYNC_TOKEN.
	engineOnly
	// The routes of a right answer holders of the STATION_KEY, or everyone when it is empty
	// (mission: Authentication), and users who have the right.
	looks // everybody, too, where the operator lets them look
	inside
	answersRequests
	airs
	moderates
	programmes
	owns
	// moderator routes answer holders of the SOCIAL_ADMIN_KEY, and of the STATION_KEY;
	// neither where the settings have no key for moderators (mission: Authentication). Users
	// need the right.
	moderator
	// person routes answer users with a browser that is logged in.
	person
)

// right is what a guard asks of users; none for guards that ask for something else.
func (g guard) right() people.Right {
	switch g {
	case looks:
		return people.Look
	case inside:
		return people.Inside
	case answersRequests:
		return people.Requests
	case airs:
		return people.Air
	case moderates, moderator:
		return people.Moderate
	case programmes:
		return people.Programme
	case owns:
		return people.Own
	}
	return 0
}

// keyed reports whether a guard asks who somebody is.
func (g guard) keyed() bool { return g.right() != 0 || g == person }

// realm is the WWW-Authenticate of a refusal.
func (g guard) realm() string {
	switch {
	case g == moderator:
		return `Bearer realm="athir posts"`
	case g.keyed():
		return `Bearer realm="athir station"`
	}
	return `Bearer realm="athir"`
}

// schemes are the security schemes of a guarded route in the OpenAPI document: any one is
// enough.
func (g guard) schemes() []string {
	switch {
	case g == engineOnly:
		return []string{tokenScheme}
	case g == moderator:
		return []string{adminScheme, keyScheme, cookieScheme}
	case g == person:
		return []string{cookieScheme}
	case g.keyed():
		return []string{keyScheme, cookieScheme}
	}
	return nil
}

// errUninvited is errForeign on open routes, where cors_origins names the allowed sites.
var errUninvited = errors.New("another site made the browser send this: cors_origins does not name it")

// admit is the middleware of a guard.
func (s *Server) admit(g guard) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		c, err := s.admitted(g, r)
		if err != nil {
			s.refuse(ctx, g, err)
			return
		}
		if !g.keyed() {
			next(ctx)
			return
		}
		ctx = called(ctx, c)
		if op := ctx.Operation(); op.Method == get || op.Metadata[changesNothing] != nil {
			next(ctx)
			return
		}
		s.carryOut(ctx, r, c, next)
	}
}

// refuse answers in a middleware for a guard.
func (s *Server) refuse(ctx huma.Context, g guard, err error) {
	for name, value := range refusalHeaders(g, err) {
		ctx.SetHeader(name, value)
	}
	ctx.SetHeader("Content-Type", problem.MediaType)
	status := refusalStatus(err)
	ctx.SetStatus(status)
	_ = json.NewEncoder(ctx.BodyWriter()).Encode(refusalDocument(status, err)) // the client may have left
}

// writeGuarded refuses for a guard where no row of the table answers.
func writeGuarded(w http.ResponseWriter, g guard, err error) {
	for name, value := range refusalHeaders(g, err) {
		w.Header().Set(name, value)
	}
	status := refusalStatus(err)
	w.Header().Set("Content-Type", problem.MediaType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(refusalDocument(status, err)) // the client may have left
}

func refusalDocument(status int, err error) problem.Document {
	return problem.Document{Title: http.StatusText(status), Status: status, Detail: station.Reason(err), Reason: problem.ReasonOf(err)}
}

// admitted returns who a guard lets in, where it asks for that, or the reason why it refuses a
// request.
func (s *Server) admitted(g guard, r *http.Request) (people.Caller, error) {
	switch {
	case g == engineOnly && !s.engine(r):
		return people.Caller{}, errors.New("this route is for the playout engine: send the SYNC_TOKEN as a Bearer token")
	case g == open && !s.invited(r):
		return people.Caller{}, errUninvited
	case g == ownPages && s.own.Check(r) != nil:
		return people.Caller{}, errAbroad
	case g == moderator:
		return s.moderating(r)
	case g == person:
		return s.person(r)
	case g == looks && s.opt.Look && r.Method == get && !showsKey(r):
		c, _ := s.session(r) // who may look need not be known
		return c, nil
	case g.keyed():
		return s.need(g.right(), r)
	}
	return people.Caller{}, nil
}

// person returns the user who is logged in with the browser that sends a request.
func (s *Server) person(r *http.Request) (people.Caller, error) {
	c, ok := s.session(r)
	switch {
	case s.own.Check(r) != nil:
		return c, errAbroad
	case !ok && showsKey(r):
		if _, err := s.caller(r); err != nil {
			return c, err
		}
		return c, fmt.Errorf("%w: %w", errNoSession, station.ErrForbidden)
	case !ok:
		return c, errNoSession
	}
	s.opt.People.Used(c)
	return c, nil
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
	case errors.Is(err, errForeign), errors.Is(err, errAbroad), errors.Is(err, errUninvited), errors.Is(err, errNoAdminKey), errors.Is(err, station.ErrForbidden):
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
	return huma.ErrorWithHeaders(reasoned(err, huma.NewError(refusalStatus(err), what+station.Reason(err))), head)
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
