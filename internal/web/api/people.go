package api

import (
	"context"
	"net/http"

	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// people returns the rows by which owners keep who works at the station. None is in the
// mission.
func (s *Server) people() []route {
	const at, one = "/api/people", "/api/people/{id}"
	return []route{
		{get, at, owns, operating, "Who works at the station", typed(s.listPeople)},
		{post, at, owns, operating, "Add a user; only this answer shows the link by which that one sets a password", typed(s.addUser, creates, may(409))},
		{get, at + "/orders", owns, operating, "The log of orders, the newest first", typed(s.orders)},
		{get, one, owns, operating, "A user, and all by which that one comes in", typed(s.user)},
		{put, one, owns, operating, "Change a user's name or role, or lock one: what is missing stays", typed(s.changeUser, may(409))},
		{http.MethodDelete, one, owns, operating, "Remove a user with all keys and sessions; the log of orders stays", typed(s.removeUser, may(409))},
		{post, one + "/invite", owns, operating, "Another link by which a user sets a password; only this answer shows it", typed(s.inviteUser, may(409))},
		{post, one + "/factors/remove", owns, operating, "End a user's second factor and passkeys, and log all browsers out", typed(s.removeFactors, may(409))},
		{http.MethodDelete, one + "/keys/{key}", owns, operating, "Revoke a user's key", typed(s.revokeUserKey)},
		{http.MethodDelete, one + "/sessions/{session}", owns, operating, "Log a user's browser out", typed(s.endUserSession)},
	}
}

// errOpen refuses to make ways in that would stay once the station has a key.
var errOpen = people.NewRefusal("open_station",
	"this station is open to everybody, and users restrict nobody: set station_key in athir.yaml, restart the station, and add them then",
	"هذه المحطة مفتوحة للجميع فلا يقيّد المستخدمون أحدًا: اضبط station_key في athir.yaml وأعد تشغيل المحطة ثم أضفهم", station.ErrConflict)

// closed refuses on a station without a key.
func (s *Server) closed() error {
	if !s.opt.StationKey.Set() {
		return errOpen
	}
	return nil
}

type peopleAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Users []people.User `json:"users" nullable:"false" doc:"The oldest first"`
	}
}

func (s *Server) listPeople(context.Context, *struct{}) (*peopleAnswer, error) {
	out := &peopleAnswer{CacheControl: "no-store"}
	out.Body.Users = s.opt.People.List()
	return out, nil
}

type addUserInput struct {
	Body struct {
		Login string      `json:"login" minLength:"1" maxLength:"200" doc:"What is typed to log in, without spaces: a name or an address"`
		Name  string      `json:"name,omitempty" maxLength:"400" doc:"What others see; missing: the login"`
		Role  people.Role `json:"role" enum:"owner,programme,moderator,presenter,viewer"`
	}
}

type invitedAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         people.Invitation
}

func (s *Server) addUser(ctx context.Context, in *addUserInput) (*invitedAnswer, error) {
	if err := s.closed(); err != nil {
		return nil, err
	}
	made, err := s.opt.People.Add(ctx, people.User{Login: in.Body.Login, Name: in.Body.Name, Role: in.Body.Role})
	return &invitedAnswer{"no-store", made}, at("body.", err)
}

// UserID names a user.
type UserID struct {
	ID string `path:"id" maxLength:"40"`
}

type userAccessAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         UserAccess
}

func (s *Server) user(ctx context.Context, in *UserID) (*userAccessAnswer, error) {
	all, err := s.access(ctx, in.ID)
	return &userAccessAnswer{"no-store", all}, err
}

type changeUserInput struct {
	UserID
	Body people.Patch
}

type userAnswer struct{ Body people.User }

func (s *Server) changeUser(ctx context.Context, in *changeUserInput) (*userAnswer, error) {
	if err := s.closed(); err != nil {
		return nil, err
	}
	u, err := s.opt.People.Update(ctx, in.ID, in.Body)
	return &userAnswer{u}, at("body.", err)
}

func (s *Server) removeUser(ctx context.Context, in *UserID) (*struct{}, error) {
	return nil, s.opt.People.Remove(ctx, in.ID)
}

func (s *Server) inviteUser(ctx context.Context, in *UserID) (*invitedAnswer, error) {
	if err := s.closed(); err != nil {
		return nil, err
	}
	if callerOf(ctx).User == in.ID { // else a session would change its password without the old one
		return nil, people.NewRefusal("own_link", "a link for yourself: change your password in your account", "لا رابط لنفسك، غيّر كلمة مرورك من حسابك", station.ErrConflict)
	}
	made, err := s.opt.People.Invite(ctx, in.ID)
	return &invitedAnswer{"no-store", made}, err
}

func (s *Server) removeFactors(ctx context.Context, in *UserID) (*userAnswer, error) {
	if err := s.closed(); err != nil {
		return nil, err
	}
	u, err := s.opt.People.RemoveFactors(ctx, in.ID)
	return &userAnswer{u}, err
}

type userKeyInput struct {
	UserID
	Key string `path:"key" maxLength:"40"`
}

func (s *Server) revokeUserKey(ctx context.Context, in *userKeyInput) (*struct{}, error) {
	return nil, s.opt.People.RevokeKey(ctx, in.ID, in.Key)
}

type userSessionInput struct {
	UserID
	Session string `path:"session" maxLength:"40"`
}

func (s *Server) endUserSession(ctx context.Context, in *userSessionInput) (*struct{}, error) {
	return nil, s.opt.People.EndSession(ctx, in.ID, in.Session)
}

type ordersInput struct {
	User   string `query:"user" maxLength:"40" doc:"Of this user alone"`
	Before int64  `query:"before" minimum:"0" doc:"The next of an answer: older ones"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
}

type ordersAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Orders []people.Order `json:"orders" nullable:"false"`
		Next   int64          `json:"next" doc:"Before of the next page; 0: this is the last one"`
	}
}

func (s *Server) orders(ctx context.Context, in *ordersInput) (*ordersAnswer, error) {
	list, err := s.opt.People.Orders(ctx, in.User, in.Before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	out := &ordersAnswer{CacheControl: "no-store"}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.Body.Next = list[in.Limit-1].N
	}
	out.Body.Orders = list
	return out, nil
}
