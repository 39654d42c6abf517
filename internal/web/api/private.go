package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/library/content"
	deadair "github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/production"
)

// Open routes tell nobody how the machine is made up: process ids, paths, addresses of
// resolvers and what programs said when they failed are for the operator. Their answers
// hold them only with the station key; without it they have the same shape.

// withheld stands for a text that is not empty and not for everybody.
const withheld = "the reason is shown with the station key"

// recognizing is the middleware of open routes.
func (s *Server) recognizing(g guard) huma.Middlewares {
	if g != open {
		return nil
	}
	return huma.Middlewares{s.recognize}
}

// recognize lets the answer of an open route hold what is for those who work at the station,
// where the request shows one. A wrong key is a guess, as elsewhere.
func (s *Server) recognize(ctx huma.Context, next func(huma.Context)) {
	r, _ := humago.Unwrap(ctx)
	if c, ok := s.recognized(r); ok {
		ctx = called(ctx, c)
	}
	next(ctx)
}

// recognized returns who sends a request to an open route, if that one is known. A proxy's
// own Authorization is none of a guess.
func (s *Server) recognized(r *http.Request) (people.Caller, bool) {
	if s.opt.StationKey.Set() && !showsKey(r) {
		return s.ownSession(r)
	}
	c, err := s.caller(r)
	return c, err == nil
}

// forOperator reports whether an answer may hold what is for those who work at the station.
func forOperator(ctx context.Context) bool { return callerOf(ctx).Rights.Has(people.Inside) }

// veil replaces a text that is not empty.
func veil(text *string) {
	if *text != "" {
		*text = withheld
	}
}

// publicProcesses are programs without process ids and how they ended.
func publicProcesses(all []Process) []Process {
	out := make([]Process, len(all))
	for i, p := range all {
		out[i] = Process{Name: p.Name, State: p.State, Restarts: p.Restarts, Since: p.Since, Condition: p.Condition, Kills: p.Kills}
	}
	return out
}

// publicGuard is the guard without its findings.
func publicGuard(g deadair.Standing) deadair.Standing {
	if g.LastAlarm != nil {
		last := *g.LastAlarm
		last.Cause = ""
		g.LastAlarm = &last
	}
	return g
}

// publicBulletin is the bulletin's status without what failed.
func publicBulletin(b production.BulletinStatus) production.BulletinStatus {
	veil(&b.Error)
	veil(&b.HeadlinesProblem)
	segments := make([]production.BulletinSegment, len(b.Segments))
	for i, segment := range b.Segments {
		veil(&segment.Problem)
		segments[i] = segment
	}
	b.Segments = segments
	return b
}

// publicContent is the pipeline's status without what failed.
func publicContent(c content.Status) content.Status {
	sources := make([]content.Health, len(c.Sources))
	for i, source := range c.Sources {
		veil(&source.LastError)
		sources[i] = source
	}
	c.Sources = sources
	veil(&c.Disk.Problem)
	if c.LastRun != nil {
		run := *c.LastRun
		run.Problems = make([]content.Problem, len(c.LastRun.Problems))
		for i, problem := range c.LastRun.Problems {
			veil(&problem.Text)
			run.Problems[i] = problem
		}
		c.LastRun = &run
	}
	return c
}
