package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// sessions returns the rows by which people log in. None is in the mission.
func (s *Server) sessions() []route {
	const at = "/api/session"
	return []route{
		{get, at, ownPages, reading, "Who one is here, and what one may do", typed(s.standingOf)},
		{post, at, ownPages, writing, "Log in with login and password, and the code of a second factor where there is one", typed(s.logIn, may(401, 429))},
		{http.MethodDelete, at, ownPages, writing, "Log out", typed(s.logOut)},
		{post, at + "/passkey/begin", ownPages, writing, "Begin to log in with a passkey: what the browser asks for", typed(s.beginPasskeyLogin, may(409))},
		{post, at + "/passkey", ownPages, writing, "Log in with a passkey", typed(s.passkeyLogIn, may(401, 409))},
		{post, at + "/invitation", ownPages, writing, "For whom a link is, by which somebody sets a password", typed(s.invitation, may(404, 429))},
		{post, at + "/invitation/accept", ownPages, writing, "Set the password of a link, and log in where it was the first; the link ends", typed(s.acceptInvitation, may(404, 429))},
		{post, at + "/ticket", person, writing, "What stands for the key in the handshake of the events, for some minutes", typed(s.socketTicket, noOrder)},
	}
}

// Visit is a request of a browser, for inputs to embed.
type Visit struct{ request *http.Request }

// Resolve keeps the request, of which cookies and passkeys need more than its body.
func (v *Visit) Resolve(ctx huma.Context) []error {
	v.request, _ = humago.Unwrap(ctx)
	return nil
}

// SessionUser is who is logged in.
type SessionUser struct {
	ID    string      `json:"id"`
	Login string      `json:"login"`
	Name  string      `json:"name"`
	Role  people.Role `json:"role"`
}

type standingBody struct {
	Users    bool         `json:"users" doc:"Whether anybody can log in here"`
	Open     bool         `json:"open" doc:"Whether the station has no key: everybody may do all"`
	Look     bool         `json:"look" doc:"Whether everybody may see the studio"`
	Passkeys bool         `json:"passkeys" doc:"Whether this address can have passkeys: they need a name, and TLS"`
	User     *SessionUser `json:"user,omitempty" doc:"Who is logged in; missing: nobody"`
	Way      people.Way   `json:"way" enum:",session,key,station key" doc:"By what one is known"`
	Rights   []string     `json:"rights" nullable:"false" enum:"look,inside,requests,air,moderate,programme,own" doc:"What one may do"`
}

type standingAnswer struct {
	CacheControl string `header:"Cache-Control"`
	SetCookie    string `header:"Set-Cookie"`
	Body         standingBody
}

// stands is who a caller is.
func (s *Server) stands(r *http.Request, c people.Caller) *standingAnswer {
	out := &standingAnswer{CacheControl: "no-store"}
	out.Body = standingBody{
		Open: !s.opt.StationKey.Set(), Look: s.opt.Look || !s.opt.StationKey.Set(), Passkeys: s.site(r).Possible(),
		Way: c.Way, Rights: c.Rights.Names(),
	}
	for _, u := range s.opt.People.List() {
		out.Body.Users = out.Body.Users || u.Password && !u.Locked
	}
	if u, err := s.opt.People.Find(c.User); err == nil {
		out.Body.User = &SessionUser{ID: u.ID, Login: u.Login, Name: u.Name, Role: u.Role}
	}
	return out
}

func (s *Server) standingOf(_ context.Context, in *Visit) (*standingAnswer, error) {
	c, err := s.caller(in.request)
	var limit *client.LimitError
	switch {
	case errors.As(err, &limit):
		return nil, err
	case errors.Is(err, errNoKey) && sentKey(in.request) != "" && showsKey(in.request):
		return nil, refusedBy(looks, "", err) // a wrong key
	case err != nil:
		c = people.Caller{}
	}
	return s.stands(in.request, c), nil
}

type logInInput struct {
	Visit
	Body struct {
		Login    string `json:"login" minLength:"1" maxLength:"200"`
		Password string `json:"password" minLength:"1" maxLength:"1000"`
		Code     string `json:"code,omitempty" maxLength:"40" doc:"Of the authenticator app, or a recovery code"`
	}
}

func (s *Server) logIn(ctx context.Context, in *logInInput) (*standingAnswer, error) {
	begun, err := s.opt.People.Login(ctx, people.Login{
		Login: in.Body.Login, Password: in.Body.Password, Code: in.Body.Code,
		Address: client.Address(in.request), Agent: in.request.UserAgent(),
	})
	return s.loggedIn(in.request, begun, err)
}

// loggedIn answers with the cookie of a session that has begun, and writes that into the log
// of orders.
func (s *Server) loggedIn(r *http.Request, begun people.Session, err error) (*standingAnswer, error) {
	if err != nil {
		return nil, err
	}
	c, ok := s.opt.People.BySession(begun.Token)
	if !ok {
		return nil, people.ErrWrong // ended meanwhile
	}
	s.opt.People.Ordered(c, people.Order{Order: "POST " + r.URL.Path, Address: client.Address(r)})(http.StatusOK, "")
	out := s.stands(r, c)
	out.SetCookie = sessionCookie(r, begun.Token, begun.Longest())
	return out, nil
}

type loggedOutAnswer struct {
	SetCookie string `header:"Set-Cookie"`
}

func (s *Server) logOut(ctx context.Context, in *Visit) (*loggedOutAnswer, error) {
	out := &loggedOutAnswer{SetCookie: sessionCookie(in.request, "", time.UnixMilli(0))}
	c, ok := s.session(in.request)
	if !ok {
		return out, nil
	}
	done := s.opt.People.Ordered(c, people.Order{Order: "DELETE " + in.request.URL.Path, Address: client.Address(in.request)})
	if err := s.opt.People.EndSession(ctx, c.User, c.Of); err != nil && !errors.Is(err, station.ErrNotFound) {
		return nil, err
	}
	done(http.StatusNoContent, "")
	return out, nil
}

// site is the station as the browser that sends a request knows it.
func (s *Server) site(r *http.Request) people.Site {
	return people.Site{Origin: client.Origin(r), Host: r.Host, Name: s.opt.Name}
}

type ceremonyAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         people.Ceremony
}

func (s *Server) beginPasskeyLogin(_ context.Context, in *Visit) (*ceremonyAnswer, error) {
	begun, err := s.opt.People.BeginPasskeyLogin(s.site(in.request))
	return &ceremonyAnswer{"no-store", begun}, err
}

type passkeyInput struct {
	Visit
	Body struct {
		State  string          `json:"state" minLength:"1" maxLength:"4096" doc:"As it came with the options"`
		Answer json.RawMessage `json:"answer" doc:"Of navigator.credentials, as its toJSON gives it"`
	}
}

func (s *Server) passkeyLogIn(ctx context.Context, in *passkeyInput) (*standingAnswer, error) {
	begun, err := s.opt.People.PasskeyLogin(ctx, s.site(in.request), in.Body.State, in.Body.Answer, in.request.UserAgent())
	return s.loggedIn(in.request, begun, err)
}

type invitationInput struct {
	Visit
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"100" doc:"Of the link"`
	}
}

type invitationAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Login string      `json:"login"`
		Name  string      `json:"name"`
		Role  people.Role `json:"role"`
		Until int64       `json:"until" doc:"Epoch milliseconds"`
	}
}

func (s *Server) invitation(_ context.Context, in *invitationInput) (*invitationAnswer, error) {
	u, err := s.linked(in.request, in.Body.Token)
	if err != nil {
		return nil, err
	}
	out := &invitationAnswer{CacheControl: "no-store"}
	out.Body.Login, out.Body.Name, out.Body.Role, out.Body.Until = u.Login, u.Name, u.Role, u.Invited
	return out, nil
}

// linked is whom a link was made for; wrong ones are guesses, as keys are.
func (s *Server) linked(r *http.Request, token string) (u people.User, err error) {
	limited := s.guesses.TakeIf(client.Address(r), func() bool {
		u, err = s.opt.People.Invited(token)
		return err != nil
	})
	return u, errors.Join(limited, err)
}

type acceptInput struct {
	Visit
	Body struct {
		Token    string `json:"token" minLength:"1" maxLength:"100" doc:"Of the link"`
		Password string `json:"password" maxLength:"1000" doc:"12 characters or more"`
	}
}

func (s *Server) acceptInvitation(ctx context.Context, in *acceptInput) (*standingAnswer, error) {
	if _, err := s.linked(in.request, in.Body.Token); err != nil {
		return nil, err
	}
	u, err := s.opt.People.Accept(ctx, in.Body.Token, in.Body.Password)
	if err != nil {
		return nil, at("body.", err)
	}
	if u.TOTP || u.Passkeys > 0 { // a link does not stand for them
		return s.stands(in.request, people.Caller{}), nil
	}
	begun, err := s.opt.People.Begin(ctx, u.ID, in.request.UserAgent())
	return s.loggedIn(in.request, begun, err)
}

// socketTicketLasts is long enough to connect, also on a bad line.
const socketTicketLasts = 5 * time.Minute

type socketTicketAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Ticket string `json:"ticket" doc:"The key of the handshake"`
		Until  int64  `json:"until" doc:"Epoch milliseconds"`
	}
}

// socketTicket stands for a session where its cookie does not come along: an edge asks the
// station who shows it.
func (s *Server) socketTicket(ctx context.Context, _ *struct{}) (*socketTicketAnswer, error) {
	c := callerOf(ctx)
	out := &socketTicketAnswer{CacheControl: "no-store"}
	out.Body.Until = s.opt.Now().Add(socketTicketLasts).UnixMilli()
	out.Body.Ticket = ticketPrefix + c.Of + "." + s.tickets.sign(ticketPrefix+c.Of, out.Body.Until)
	return out, nil
}

const ticketPrefix = "ticket."

// ticketHolder returns whose session a ticket stands for.
func (s *Server) ticketHolder(ticket string) (people.Caller, bool) {
	rest, is := strings.CutPrefix(ticket, ticketPrefix)
	session, signed, _ := strings.Cut(rest, ".")
	if !is || !s.tickets.valid(signed, ticketPrefix+session, s.opt.Now()) {
		return people.Caller{}, false
	}
	return s.opt.People.ByID(session)
}
