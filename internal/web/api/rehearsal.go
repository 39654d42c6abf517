package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
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
	out := &ticketAnswer{CacheControl: "no-store"}
	out.Body.Until = until.UnixMilli()
	out.Body.Path = "/api/bulletin/preview/audio?" + url.Values{"id": {in.ID}, "ticket": {s.tickets.sign(ofRehearsal(in.ID), out.Body.Until)}}.Encode()
	return out, nil
}

// rehearsalFile documents the row that serves a rehearsal.
func rehearsalFile(op *huma.Operation) {
	asks("query", "id", "Of the job's result", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "ticket", "From …/ticket", huma.Schema{Type: huma.TypeString})(op)
	for _, status := range []int{http.StatusOK, http.StatusPartialContent} {
		gives(status, "audio/mpeg", "multipart/byteranges")(op)
	}
	gives(http.StatusNotModified)(op)
	gives(http.StatusPreconditionFailed)(op)
	gives(http.StatusRequestedRangeNotSatisfiable, "text/plain")(op)
	may(http.StatusUnauthorized, http.StatusNotFound)(op)
}

func (s *Server) rehearsalAudio(w http.ResponseWriter, r *http.Request) error {
	id := r.URL.Query().Get("id")
	if !s.tickets.valid(r.URL.Query().Get("ticket"), ofRehearsal(id), s.opt.Now()) {
		w.Header().Set("WWW-Authenticate", programmes.realm())
		return fmt.Errorf("the ticket is not for this bulletin, or no longer valid: ask for another: %w", station.ErrUnauthentic)
	}
	name, _, err := s.opt.Producer.Rehearsed(id)
	if err != nil {
		return err
	}
	dir, base := splitPath(name)
	f, err := openPlain(dir, base)
	w.Header().Set("Cache-Control", "private, no-cache")
	return serveFile(w, r, f, err, base)
}
