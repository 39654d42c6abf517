package api

import (
	"context"
	"errors"

	"github.com/athir-radio/athir/internal/audience/social"
	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/station"
)

type decideInput struct {
	Visitor
	PostID
	Body *struct {
		Code string `json:"code,omitempty" maxLength:"40" doc:"Of a rejection: one of /api/social/status reasons"`
		Note string `json:"note,omitempty" maxLength:"2000" doc:"Words for the submitter; hold needs them"`
	}
}

// decides returns the handler of one verdict.
func (s *Server) decides(op social.Op) func(context.Context, *decideInput) (*postAnswer, error) {
	return func(ctx context.Context, in *decideInput) (*postAnswer, error) {
		parts, err := s.social()
		if err != nil {
			return nil, err
		}
		v := social.Verdict{Op: op, By: from(in.request)}
		if in.Body != nil {
			v.Code, v.Note = why.Code(in.Body.Code), in.Body.Note
		}
		if op == social.OpReject && v.Code == "" {
			v.Code = why.Other
		}
		if err := parts.Posts.Decide(ctx, in.ID, v); err != nil {
			return nil, inField(err)
		}
		return s.onePost(ctx, parts, &in.Visitor, in.ID)
	}
}

type decideManyInput struct {
	Visitor
	Body struct {
		IDs    []int64 `json:"ids" minItems:"1" maxItems:"200"`
		Action string  `json:"action" enum:"approve,reject,hold,process,review"`
		Code   string  `json:"code,omitempty" maxLength:"40"`
		Note   string  `json:"note,omitempty" maxLength:"2000"`
	}
}

type decidedAnswer struct {
	Body struct {
		Done    []Post        `json:"done" nullable:"false"`
		Refused []refusedPost `json:"refused" nullable:"false"`
	}
}

type refusedPost struct {
	ID     int64  `json:"id"`
	Detail string `json:"detail"`
}

func (s *Server) decideMany(ctx context.Context, in *decideManyInput) (*decidedAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	out := &decidedAnswer{}
	out.Body.Done, out.Body.Refused = []Post{}, []refusedPost{}
	for _, id := range in.Body.IDs {
		v := social.Verdict{Op: social.Op(in.Body.Action), Code: why.Code(in.Body.Code), Note: in.Body.Note, By: from(in.request)}
		err := parts.Posts.Decide(ctx, id, v)
		switch {
		case errors.Is(err, station.ErrInvalid):
			return nil, inField(err) // the same for all of them
		case errors.Is(err, station.ErrNotFound), errors.Is(err, station.ErrConflict):
			out.Body.Refused = append(out.Body.Refused, refusedPost{id, station.Reason(err)})
			continue
		case err != nil:
			return nil, err
		}
		one, err := s.onePost(ctx, parts, &in.Visitor, id)
		if err != nil {
			return nil, err
		}
		out.Body.Done = append(out.Body.Done, one.Body)
	}
	return out, nil
}

type submitterInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Trusted bool `json:"trusted"`
		Blocked bool `json:"blocked"`
	}
}

func (s *Server) judgeSubmitter(ctx context.Context, in *submitterInput) (*struct{}, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	return nil, parts.Posts.Judge(ctx, in.ID, in.Body.Trusted, in.Body.Blocked)
}

type syncedAnswer struct {
	Body struct {
		Pushed bool `json:"pushed" doc:"false where nothing has changed"`
		Posts  int  `json:"posts" doc:"In the overlay"`
	}
}

func (s *Server) syncSocial(ctx context.Context, _ *struct{}) (*syncedAnswer, error) {
	parts, err := s.social()
	if err != nil {
		return nil, err
	}
	out := &syncedAnswer{}
	out.Body.Posts = len(*parts.Posts.Tracks())
	out.Body.Pushed, err = parts.Sync(ctx)
	return out, err
}
