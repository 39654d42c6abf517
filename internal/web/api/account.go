package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// account returns the rows of one's own account. None is in the mission. What would outlast a
// browser that was left logged in asks for the password once more.
func (s *Server) account() []route {
	const at = "/api/account"
	return []route{
		{get, at, person, operating, "One's own account", typed(s.ownAccount)},
		{put, at + "/password", person, operating, "Change one's password; other browsers are logged out", typed(s.changePassword, may(429))},
		{post, at + "/totp", person, operating, "A second factor to set up: it is in force once a code of it was sent", typed(s.newFactor, noOrder, may(429))},
		{put, at + "/totp", person, operating, "Put a second factor in force; only this answer shows the recovery codes", typed(s.enrol)},
		{post, at + "/totp/remove", person, operating, "Remove the second factor", typed(s.dropFactor, may(429))},
		{post, at + "/passkeys/begin", person, operating, "Begin to add a passkey: what the browser asks for", typed(s.beginPasskey, noOrder, may(409, 429))},
		{post, at + "/passkeys", person, operating, "Add a passkey", typed(s.addPasskey, creates, may(409))},
		{http.MethodDelete, at + "/passkeys/{id}", person, operating, "Remove a passkey", typed(s.removePasskey)},
		{post, at + "/keys", person, operating, "Make a key for a program; only this answer shows it", typed(s.addKey, creates, may(409, 429))},
		{http.MethodDelete, at + "/keys/{id}", person, operating, "Revoke a key", typed(s.revokeKey)},
		{http.MethodDelete, at + "/sessions/{id}", person, operating, "Log a browser out", typed(s.endSession)},
		{post, at + "/sessions/end", person, operating, "Log all other browsers out", typed(s.endSessions)},
	}
}

// UserAccess is all by which a user comes in.
type UserAccess struct {
	User     people.User      `json:"user"`
	Sessions []people.Session `json:"sessions" nullable:"false"`
	Keys     []people.Key     `json:"keys" nullable:"false"`
	Passkeys []people.Passkey `json:"passkeys" nullable:"false"`
}

func (s *Server) access(ctx context.Context, id string) (out UserAccess, err error) {
	var errs [4]error
	out.User, errs[0] = s.opt.People.Find(id)
	out.Sessions, errs[1] = s.opt.People.Sessions(id)
	out.Keys, errs[2] = s.opt.People.Keys(id)
	out.Passkeys, errs[3] = s.opt.People.Passkeys(ctx, id)
	return out, cmp.Or(errs[0], errs[1], errs[2], errs[3])
}

type accountAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		UserAccess
		Recovery int    `json:"recovery" doc:"Recovery codes that are left"`
		Session  string `json:"session" doc:"Id of the browser that asks"`
	}
}

func (s *Server) ownAccount(ctx context.Context, _ *struct{}) (*accountAnswer, error) {
	c := callerOf(ctx)
	out := &accountAnswer{CacheControl: "no-store"}
	var err error
	if out.Body.UserAccess, err = s.access(ctx, c.User); err != nil {
		return nil, err
	}
	out.Body.Session = c.Of
	out.Body.Recovery, err = s.opt.People.RecoveryLeft(ctx, c.User)
	return out, err
}

// at names the field of a body that an error is about.
func at(place string, err error) error {
	var field *station.FieldError
	if errors.As(err, &field) {
		return reasoned(err, fieldError(place+field.Field, field.Want))
	}
	return err
}

// proved asks for one's own password once more. A wrong one is a wrong field: one stays
// logged in.
func (s *Server) proved(ctx context.Context, r *http.Request, field, password string) error {
	err := s.opt.People.Prove(ctx, callerOf(ctx), client.Address(r), password)
	if errors.Is(err, people.ErrWrong) {
		return reasoned(people.NewRefusal("wrong", "this is not your password", "هذه ليست كلمة مرورك", station.ErrInvalid), fieldError("body."+field, "is not your password"))
	}
	return err
}

type passwordInput struct {
	Visit
	Body struct {
		Old      string `json:"old" maxLength:"1000" doc:"The password until now"`
		Password string `json:"password" maxLength:"1000" doc:"12 characters or more"`
	}
}

func (s *Server) changePassword(ctx context.Context, in *passwordInput) (*struct{}, error) {
	if err := s.proved(ctx, in.request, "old", in.Body.Old); err != nil {
		return nil, err
	}
	return nil, at("body.", s.opt.People.SetPassword(ctx, callerOf(ctx), in.Body.Password))
}

type provedInput struct {
	Visit
	Body struct {
		Password string `json:"password" maxLength:"1000" doc:"One's own, once more"`
	}
}

type enrolmentAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         people.Enrolment
}

func (s *Server) newFactor(ctx context.Context, in *provedInput) (*enrolmentAnswer, error) {
	if err := s.proved(ctx, in.request, "password", in.Body.Password); err != nil {
		return nil, err
	}
	made, err := s.opt.People.NewFactor(ctx, callerOf(ctx).User, s.opt.Name)
	return &enrolmentAnswer{"no-store", made}, err
}

type enrolInput struct {
	Body struct {
		Secret string `json:"secret" minLength:"1" maxLength:"100" doc:"As POST gave it"`
		Code   string `json:"code" minLength:"1" maxLength:"40" doc:"That the app shows now"`
	}
}

type codesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Codes []string `json:"codes" nullable:"false" doc:"Each lets one in once, in place of the app"`
	}
}

func (s *Server) enrol(ctx context.Context, in *enrolInput) (*codesAnswer, error) {
	codes, err := s.opt.People.Enrol(ctx, callerOf(ctx).User, in.Body.Secret, in.Body.Code)
	if err != nil {
		return nil, at("body.", err)
	}
	out := &codesAnswer{CacheControl: "no-store"}
	out.Body.Codes = codes
	return out, nil
}

func (s *Server) dropFactor(ctx context.Context, in *provedInput) (*struct{}, error) {
	if err := s.proved(ctx, in.request, "password", in.Body.Password); err != nil {
		return nil, err
	}
	return nil, s.opt.People.DropFactor(ctx, callerOf(ctx).User)
}

func (s *Server) beginPasskey(ctx context.Context, in *provedInput) (*ceremonyAnswer, error) {
	if err := s.proved(ctx, in.request, "password", in.Body.Password); err != nil {
		return nil, err
	}
	begun, err := s.opt.People.BeginPasskey(ctx, callerOf(ctx).User, s.site(in.request))
	return &ceremonyAnswer{"no-store", begun}, err
}

type addPasskeyInput struct {
	Visit
	Body struct {
		State  string          `json:"state" minLength:"1" maxLength:"8192" doc:"As it came with the options"`
		Name   string          `json:"name" minLength:"1" maxLength:"100" doc:"Which device it is"`
		Answer json.RawMessage `json:"answer" doc:"Of navigator.credentials, as its toJSON gives it"`
	}
}

type passkeyAnswer struct{ Body people.Passkey }

func (s *Server) addPasskey(ctx context.Context, in *addPasskeyInput) (*passkeyAnswer, error) {
	made, err := s.opt.People.AddPasskey(ctx, callerOf(ctx).User, s.site(in.request), in.Body.State, in.Body.Name, in.Body.Answer)
	return &passkeyAnswer{made}, at("body.", err)
}

// OwnID names a key, a browser or a passkey of one's own.
type OwnID struct {
	ID string `path:"id" maxLength:"1400"`
}

func (s *Server) removePasskey(ctx context.Context, in *OwnID) (*struct{}, error) {
	return nil, s.opt.People.RemovePasskey(ctx, callerOf(ctx).User, in.ID)
}

type keyInput struct {
	Visit
	Body struct {
		Password string      `json:"password" maxLength:"1000" doc:"One's own, once more"`
		Name     string      `json:"name" minLength:"1" maxLength:"100" doc:"What it is for"`
		Role     people.Role `json:"role" enum:"owner,programme,moderator,presenter,viewer" doc:"What it may do, and never more than oneself"`
		Until    int64       `json:"until,omitempty" doc:"Epoch milliseconds; 0: it has no end"`
	}
}

type keyAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         people.Key
}

func (s *Server) addKey(ctx context.Context, in *keyInput) (*keyAnswer, error) {
	if err := s.closed(); err != nil {
		return nil, err
	}
	if err := s.proved(ctx, in.request, "password", in.Body.Password); err != nil {
		return nil, err
	}
	made, err := s.opt.People.AddKey(ctx, people.Key{User: callerOf(ctx).User, Name: in.Body.Name, Role: in.Body.Role, Until: in.Body.Until})
	return &keyAnswer{"no-store", made}, at("body.", err)
}

func (s *Server) revokeKey(ctx context.Context, in *OwnID) (*struct{}, error) {
	return nil, s.opt.People.RevokeKey(ctx, callerOf(ctx).User, in.ID)
}

func (s *Server) endSession(ctx context.Context, in *OwnID) (*struct{}, error) {
	return nil, s.opt.People.EndSession(ctx, callerOf(ctx).User, in.ID)
}

func (s *Server) endSessions(ctx context.Context, _ *struct{}) (*struct{}, error) {
	c := callerOf(ctx)
	return nil, s.opt.People.EndSessions(ctx, c.User, c.Of)
}
