package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/web/problem"
)

// importLane is where imports run, one at a time.
const importLane = "import"

// imports returns the rows of imports from other systems. None is in the mission.
func (s *Server) imports() []route {
	const at = "/api/station/import"
	return []route{
		{put, at + "/file", owns, heavy, "Upload a backup or dump of another system, 4 GiB at most; it is kept for a day", raw(s.keepImport, keptImport)},
		{http.MethodDelete, at + "/file/{id}", owns, operating, "Remove it", typed(s.dropImport, may(404, 409, 503))},
		{post, at + "/plan", owns, heavy, "Say what would come over, and change nothing", begins[importInput, *importInput, desk.Planned](planImport, may(507))},
		{post, at + "/apply", owns, heavy, "Bring it over; where an earlier run was stopped it goes on", begins[importInput, *importInput, desk.Report](applyImport, may(507))},
		{get, at + "/secrets", owns, operating, "Links by which people set a password, and secrets of webhooks, of imports within a day", typed(s.importSecrets)},
	}
}

// keptImport documents the upload.
func keptImport(op *huma.Operation) {
	asks("query", "name", "Of the file", huma.Schema{Type: huma.TypeString})(op)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"*/*": {}}}
	gives(http.StatusOK, "application/json")(op)
	may(http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusServiceUnavailable, http.StatusInsufficientStorage)(op)
}

// importWhole is how long an upload may take.
const importWhole = 6 * time.Hour

func (s *Server) keepImport(w http.ResponseWriter, r *http.Request) error {
	kept, err := s.opt.Imports.Keep(r.URL.Query().Get("name"), r.ContentLength, deadline.Reader(w, r.Body, uploadStall, importWhole))
	if err != nil {
		if problem.Status(err) == http.StatusInternalServerError {
			s.opt.Log.Error("cannot keep the file of an import", "err", err)
		}
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(kept) // the client may have left
	return nil
}

func (s *Server) dropImport(_ context.Context, in *struct {
	ID string `path:"id" maxLength:"64"`
}) (*struct{}, error) {
	return nil, s.opt.Imports.Remove(in.ID)
}

type importInput struct {
	Await
	Body desk.Order
}

func planImport(s *Server, in *importInput) (jobs.Job, error) {
	return s.beginImport("import plan", in.Body, func(ctx context.Context, o desk.Order, _ *jobs.Task) (any, error) {
		return s.opt.Imports.Plan(ctx, o)
	})
}

func applyImport(s *Server, in *importInput) (jobs.Job, error) {
	return s.beginImport("import", in.Body, func(ctx context.Context, o desk.Order, t *jobs.Task) (any, error) {
		return s.opt.Imports.Apply(ctx, o, func(p apply.Progress) {
			t.Show(jobs.Progress{Step: string(p.Stage), Detail: p.Now, Done: p.Done, Total: p.Total})
		})
	})
}

func (s *Server) beginImport(kind string, o desk.Order, work func(context.Context, desk.Order, *jobs.Task) (any, error)) (jobs.Job, error) {
	if err := s.opt.Imports.Check(o); err != nil {
		return jobs.Job{}, at("body.", err)
	}
	return s.opt.Jobs.Start(importLane, kind, func(ctx context.Context, t *jobs.Task) (any, error) {
		t.Show(jobs.Progress{Step: "reading"})
		return work(ctx, o, t)
	})
}

type importSecretsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         desk.Secrets
}

func (s *Server) importSecrets(context.Context, *struct{}) (*importSecretsAnswer, error) {
	return &importSecretsAnswer{"no-store", s.opt.Imports.Secrets()}, nil
}
