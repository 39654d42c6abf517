package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

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
	out.Body.Refused = []refusedPost{}
	var done []int64
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
		done = append(done, id)
	}
	out.Body.Done, err = s.wholePosts(ctx, parts, &in.Visitor, done)
	return out, err
}

// wholePosts are posts as a moderator sees each. What is the same for several is read once.
func (s *Server) wholePosts(ctx context.Context, parts *Social, v *Visitor, ids []int64) ([]Post, error) {
	mine, err := parts.Posts.MineOf(ctx, v.client(), ids)
	if err != nil {
		return nil, err
	}
	at, about, out := s.placed(), submitters{}, make([]Post, len(ids))
	for i, id := range ids {
		one, err := parts.Posts.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		who, err := about.of(ctx, parts, &one)
		if err != nil {
			return nil, err
		}
		out[i] = parts.shown(&one, at).with(mine[id])
		out[i].Peaks = one.Finding.Peaks
		if err := parts.whole(ctx, &out[i], &one, who); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// alikeAudio documents the sound of a track that a post is compared with.
func alikeAudio(op *huma.Operation) {
	postFile("*/*")(op)
	op.Parameters = op.Parameters[:1] // the key is the only proof
	asks("query", "file", "Of one of the post's duplicates", huma.Schema{Type: huma.TypeString})(op)
}

// alikePath is where moderators hear a track of the library that a post is compared with.
func alikePath(id int64, file string) string {
	return fmt.Sprintf("/api/social/posts/%d/alike?file=%s", id, url.QueryEscape(file))
}

// postAlike serves what airs of a track of the library. It opens nothing but what was found
// to be like the post: the moderators' key is no key to the library.
func (s *Server) postAlike(w http.ResponseWriter, r *http.Request) error {
	parts, err := s.social()
	if err != nil {
		return err
	}
	file := r.URL.Query().Get("file")
	notFound := fmt.Errorf("%q among what post %q is like: %w", cut(file), cut(r.PathValue("id")), station.ErrNotFound)
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return notFound
	}
	p, err := parts.Posts.Get(r.Context(), id)
	if err != nil {
		return err
	}
	for _, l := range p.Alike {
		if l.File == "" || asShown(l.File) != file {
			continue
		}
		folder, name, registered := s.opt.Files.Air(l.File)
		if !registered {
			return notFound // it has left the library
		}
		f, err := openPlain(folder, name)
		if err != nil {
			return notFound
		}
		w.Header().Set("Cache-Control", "private, no-store")
		return sendPostFile(w, r, f, notFound)
	}
	return notFound
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
