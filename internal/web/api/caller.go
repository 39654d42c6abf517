package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
)

// Who sends a request shows it by a key (the station's, the moderators' or a user's own) or by
// the cookie of a session. A key that is sent counts, whatever cookie comes with it.

var (
	// errNoKey refuses a request of nobody who is known.
	errNoKey = errors.New("log in, or send the station key as x-station-key or as a Bearer token")
	// errForeign refuses a request that another site made a browser send.
	errForeign = errors.New("another site made the browser send this: set a station key to allow it")
	// errAbroad is errForeign for what sessions are about, whatever sites are named.
	errAbroad = errors.New("another site made the browser send this: logging in, and orders of who is logged in, come from the station's own pages")
	// errNoSession refuses whoever is not logged in as a user.
	errNoSession = errors.New("log in as a user: a key has no account")
)

// Wrong keys that one address may try.
const (
	guessesAtOnce = 10
	guessEvery    = 6 * time.Second
)

// caller returns who sends a request. On an open station everybody may do all, and users are
// known by name besides.
func (s *Server) caller(r *http.Request) (people.Caller, error) {
	if !s.opt.StationKey.Set() {
		if s.foreign.Check(r) != nil || rebound(r) {
			return people.Caller{}, errForeign
		}
		c, ok := s.ownSession(r)
		if key := sentKey(r); !ok && people.IsKey(key) {
			c, _ = s.holder(key)
		}
		c.Rights = people.All
		return c, nil
	}
	if c, shown, err := s.bySession(r); shown {
		return c, err
	}
	key := sentKey(r)
	if key == "" {
		return people.Caller{}, errNoKey // does not count as a guess
	}
	return s.byKey(r, key)
}

// bySession returns who is logged in, where a request shows that and no key. A proxy may have an
// Authorization of its own, which is no key of ours.
func (s *Server) bySession(r *http.Request) (c people.Caller, shown bool, err error) {
	c, ok := s.session(r)
	switch {
	case !ok || showsKey(r):
		return people.Caller{}, false, nil
	case s.own.Check(r) != nil:
		return people.Caller{}, true, errAbroad
	}
	s.opt.People.Used(c)
	return c, true, nil
}

// byKey returns whose key this is. After too many wrong keys every key from that address is
// refused for a while, the right one included: guessing must cost time.
func (s *Server) byKey(r *http.Request, key string) (c people.Caller, err error) {
	admitted := false
	err = s.guesses.TakeIf(client.Address(r), func() bool {
		c, admitted = s.holder(key)
		return !admitted
	})
	switch {
	case err != nil:
		return people.Caller{}, err
	case !admitted:
		s.opt.Log.Warn("key refused", "from", from(r))
		return people.Caller{}, errNoKey
	}
	s.opt.People.Used(c)
	return c, nil
}

// holder returns whose key this is, without a limit.
func (s *Server) holder(key string) (people.Caller, bool) {
	if s.opt.StationKey.Matches(key) {
		return people.Caller{Rights: people.All, Way: people.ByStationKey}, true
	}
	if people.IsKey(key) {
		return s.opt.People.ByKey(key)
	}
	return people.Caller{}, false
}

// showsKey reports whether a request carries a key on purpose.
func showsKey(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return r.Header.Get("X-Station-Key") != "" || r.Header.Get("X-Admin-Key") != "" || strings.EqualFold(scheme, "Bearer")
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

// session returns who is logged in with the browser that sends a request.
func (s *Server) session(r *http.Request) (people.Caller, bool) {
	cookie, err := r.Cookie(client.SessionCookie(r))
	if err != nil {
		return people.Caller{}, false
	}
	return s.opt.People.BySession(cookie.Value)
}

// ownSession is session for a request that shows no key and that no other site had the browser
// send.
func (s *Server) ownSession(r *http.Request) (people.Caller, bool) {
	if showsKey(r) || s.own.Check(r) != nil {
		return people.Caller{}, false
	}
	return s.session(r)
}

// sessionCookie is the cookie of a token until a time; an empty token ends it.
func sessionCookie(r *http.Request, token string, until time.Time) string {
	c := http.Cookie{
		Name: client.SessionCookie(r), Value: token, Path: "/", Expires: until, MaxAge: -1,
		HttpOnly: true, Secure: client.OverTLS(r), SameSite: http.SameSiteLaxMode,
	}
	if token != "" {
		c.MaxAge = 0 // Expires holds
	}
	return c.String()
}

type callerKey struct{}

// callerOf returns who sends the request of a context; nobody on open routes without a key.
func callerOf(ctx context.Context) people.Caller {
	c, _ := ctx.Value(callerKey{}).(people.Caller)
	return c
}

func called(ctx huma.Context, c people.Caller) huma.Context {
	return huma.WithValue(ctx, callerKey{}, c)
}

// need returns who sends a request, if that one has a right.
func (s *Server) need(want people.Right, r *http.Request) (people.Caller, error) {
	c, err := s.caller(r)
	return c, granted(want, c, err)
}

// granted refuses who is known and has not a right; err is why somebody is not known.
func granted(want people.Right, c people.Caller, err error) error {
	if err == nil && !c.Rights.Has(want) {
		return people.Lacks(want)
	}
	return err
}
