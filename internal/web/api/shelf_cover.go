package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/station"
)

// shelfCovers returns the rows of pictures of tracks.
func (s *Server) shelfCovers() []route {
	const at = "/api/station/library/cover"
	return []route{
		{put, at, programmes, sending, "Give tracks a picture: JPEG, PNG or WebP, 8 MiB at most", typed(s.setCover, may(413, 503, 507))},
		{http.MethodDelete, at, programmes, operating, "Take the picture of tracks away", typed(s.removeCover, may(503))},
		{get, "/api/library/covers/{id}", open, reading, "A picture of a track", raw(s.cover, coverFile)},
	}
}

// CoveredPaths are the tracks that a picture is for.
type CoveredPaths struct {
	Path []string `query:"path,explode" required:"true" minItems:"1" maxItems:"100" doc:"Relative to the media folder; more tracks take the id by PATCH"`
}

type coverAnswer struct {
	Body struct {
		Deed    *overlay.Deed     `json:"deed,omitempty" doc:"Missing where they had it"`
		Changed int               `json:"changed"`
		Refused []overlay.Refused `json:"refused" nullable:"false"`
		Cover   string            `json:"cover" doc:"Id of the picture; empty: none"`
	}
}

func (s *Server) setCover(ctx context.Context, in *struct {
	CoveredPaths
	RawBody []byte `contentType:"image/jpeg"`
}) (*coverAnswer, error) {
	id, err := s.opt.Shelf.Covers.Put(bytes.Clone(in.RawBody)) // huma reuses the buffer
	if err != nil {
		return nil, err
	}
	return s.covered(ctx, in.Path, id)
}

func (s *Server) removeCover(ctx context.Context, in *CoveredPaths) (*coverAnswer, error) {
	return s.covered(ctx, in.Path, "")
}

func (s *Server) covered(ctx context.Context, paths []string, id string) (*coverAnswer, error) {
	set := json.RawMessage(`{"cover":null}`)
	if id != "" {
		set = json.RawMessage(`{"cover":"` + id + `"}`)
	}
	done, err := s.opt.Shelf.Notes.Change(ctx, overlay.Order{Who: callerOf(ctx).Who(), Kind: overlay.Covered, Paths: paths, Set: set})
	if err != nil {
		return nil, noteError(err)
	}
	out := &coverAnswer{}
	b := &out.Body
	b.Deed, b.Changed, b.Refused, b.Cover = done.Deed, done.Changed, done.Refused, id
	if b.Refused == nil {
		b.Refused = []overlay.Refused{}
	}
	return out, nil
}

func coverFile(op *huma.Operation) {
	asks("path", "id", "As a track names it", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "size", "Side in pixels, at least", huma.Schema{Type: huma.TypeInteger})(op)
	gives(http.StatusOK, "image/jpeg")(op)
	gives(http.StatusPartialContent, "image/jpeg", "multipart/byteranges")(op)
	gives(http.StatusNotModified)(op)
	gives(http.StatusPreconditionFailed)(op)
	gives(http.StatusRequestedRangeNotSatisfiable, "text/plain")(op)
	may(http.StatusNotFound, http.StatusUnprocessableEntity)(op)
}

func (s *Server) cover(w http.ResponseWriter, r *http.Request) error {
	size := 0
	if q := r.URL.Query().Get("size"); q != "" {
		n, err := strconv.Atoi(q)
		if err != nil {
			return fmt.Errorf("size: must be a whole number of pixels: %w", station.ErrInvalid)
		}
		size = n
	}
	f, err := s.opt.Shelf.Covers.Open(r.PathValue("id"), size)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // other bytes have another id
	return serveFile(w, r, f, nil, r.PathValue("id")+".jpg")
}
