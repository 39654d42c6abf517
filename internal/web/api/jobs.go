package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/jobs"
)

// Jobs runs long work.
type Jobs interface {
	Start(lane, kind string, work jobs.Work) (jobs.Job, error)
	// Wait returns the finished job and the error of its work, or the unfinished
	// job when ctx ends.
	Wait(ctx context.Context, id string) (jobs.Job, error)
	Find(id string) (jobs.Job, error)
	List() []jobs.Job
	Cancel(id string) (jobs.Job, error)
}

// Await is the query of routes that start long work.
type Await struct {
	Wait bool `query:"wait" doc:"Answer once it is done, with its result. Else at once, with the job"`
}

func (a Await) awaited() bool { return a.Wait }

// begun is the answer of a route that starts long work.
type begun struct {
	Status   int
	Location string `header:"Location"`
	Body     any
}

// long is an endpoint that starts long work: it answers 202 with the job, or waits
// for it and answers with its result. A client that leaves ends its waiting, not the
// work.
func long[I any, P interface {
	*I
	awaited() bool
}, R any](lane, kind string, work func(ctx context.Context, in *I, t *jobs.Task) (R, error), notes ...note) endpoint {
	return begins[I, P, R](func(s *Server, in *I) (jobs.Job, error) {
		return s.opt.Jobs.Start(lane, kind, func(ctx context.Context, t *jobs.Task) (any, error) {
			result, err := work(ctx, in, t)
			return result, err
		})
	}, notes...)
}

// begins is an endpoint that answers as long does, for work that a part begins by itself;
// R is the job's result.
func begins[I any, P interface {
	*I
	awaited() bool
}, R any](begin func(s *Server, in *I) (jobs.Job, error), notes ...note) endpoint {
	return func(s *Server, _ *http.ServeMux, api huma.API, op huma.Operation) {
		op = noted(api, op, reflect.TypeFor[I](), append(notes, may(http.StatusConflict, http.StatusServiceUnavailable)))
		schema := api.OpenAPI().Components.Schemas
		answer := func(what string, typ reflect.Type) *huma.Response {
			return &huma.Response{Description: what, Content: map[string]*huma.MediaType{
				"application/json": {Schema: schema.Schema(typ, true, "")},
			}}
		}
		op.Responses = map[string]*huma.Response{
			"200": answer("Done, with wait", reflect.TypeFor[R]()),
			"202": answer("Begun, or waiting for its turn", reflect.TypeFor[jobs.Job]()),
		}
		op.DefaultStatus = http.StatusAccepted
		op.Middlewares = append(op.Middlewares, unhurried)
		huma.Register(api, op, func(ctx context.Context, in *I) (*begun, error) {
			j, err := begin(s, in)
			if err != nil {
				return nil, s.answered(op, err)
			}
			location := "/api/jobs/" + j.ID
			if !P(in).awaited() {
				return &begun{http.StatusAccepted, location, j}, nil
			}
			patient(ctx)
			j, err = s.opt.Jobs.Wait(ctx, j.ID)
			if err != nil {
				return nil, s.answered(op, err)
			}
			return &begun{http.StatusOK, location, j.Result}, nil
		})
	}
}

// controlKey is the context key of the connection's http.ResponseController.
type controlKey struct{}

// unhurried lets a handler lift the connection's deadlines with patient.
func unhurried(ctx huma.Context, next func(huma.Context)) {
	_, w := humago.Unwrap(ctx)
	next(huma.WithValue(ctx, controlKey{}, http.NewResponseController(w)))
}

func patient(ctx context.Context) {
	if control, ok := ctx.Value(controlKey{}).(*http.ResponseController); ok {
		_ = control.SetReadDeadline(time.Time{})
		_ = control.SetWriteDeadline(time.Time{})
	}
}

type jobsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Jobs []jobs.Job `json:"jobs" doc:"Newest first, without logs and results"`
	}
}

func (s *Server) jobs(context.Context, *struct{}) (*jobsAnswer, error) {
	out := &jobsAnswer{CacheControl: "no-store"}
	out.Body.Jobs = s.opt.Jobs.List()
	return out, nil
}

type jobAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         jobs.Job
}

type jobInput struct {
	ID string `path:"id" maxLength:"64"`
	Await
}

func (s *Server) job(ctx context.Context, in *jobInput) (*jobAnswer, error) {
	j, err := s.opt.Jobs.Find(in.ID)
	if err == nil && in.Wait && !j.State.Final() {
		patient(ctx)
		j, err = s.opt.Jobs.Wait(ctx, in.ID)
		if j.State.Final() || errors.Is(err, ctx.Err()) {
			err = nil // the job holds how it ended
		}
	}
	if err != nil {
		return nil, err
	}
	return &jobAnswer{"no-store", j}, nil
}

func (s *Server) cancelJob(_ context.Context, in *struct {
	ID string `path:"id" maxLength:"64"`
}) (*jobAnswer, error) {
	j, err := s.opt.Jobs.Cancel(in.ID)
	if err != nil {
		return nil, err
	}
	return &jobAnswer{"no-store", j}, nil
}
