package api

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/production"
)

// typedHeadlines are headlines that somebody is about to keep.
type typedHeadlines struct {
	Headlines []string `json:"headlines" nullable:"false" maxItems:"50" doc:"One headline each, at most 160 characters, as PUT takes them; the first three are read"`
}

type scriptInput struct{ Body typedHeadlines }

type scriptAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         production.BulletinScript
}

func (s *Server) scriptOf(_ context.Context, in *scriptInput) (*scriptAnswer, error) {
	script, err := s.opt.Producer.Script(in.Body.Headlines)
	if err != nil {
		return nil, inField(err)
	}
	return &scriptAnswer{"no-store", script}, nil
}

type rehearsalInput struct {
	Await
	Body typedHeadlines
}

func rehearse(s *Server, in *rehearsalInput) (jobs.Job, error) {
	j, err := s.opt.Producer.Rehearse(in.Body.Headlines)
	return j, inField(err)
}

// ofRehearsal is what a ticket for a rehearsal names.
func ofRehearsal(id string) string { return "rehearsal\n" + id }

func (s *Server) rehearsalTicket(_ context.Context, in *struct {
	ID string `path:"id" maxLength:"64" doc:"Of the job's result"`
}) (*ticketAnswer, error) {
	_, until, err := s.opt.Producer.Rehearsed(in.ID)
	if err != nil {
		return nil, err
	}
	return s.ticketTo("/api/bulletin/preview/audio", "id", in.ID, ofRehearsal(in.ID), until), nil
}

// rehearsalFile documents the row that serves a rehearsal.
func rehearsalFile(op *huma.Operation) {
	asks("query", "id", "Of the job's result", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "ticket", "From …/ticket", huma.Schema{Type: huma.TypeString})(op)
	servesRanges(op, "audio/mpeg", "multipart/byteranges")
	may(http.StatusUnauthorized, http.StatusNotFound)(op)
}

func (s *Server) rehearsalAudio(w http.ResponseWriter, r *http.Request) error {
	id := r.URL.Query().Get("id")
	if err := s.ticketed(w, r, ofRehearsal(id), "bulletin", programmes); err != nil {
		return err
	}
	name, _, err := s.opt.Producer.Rehearsed(id)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(name)
	return serveTicketed(w, r, dir, base)
}
