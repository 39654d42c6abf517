package api

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/station"
)

func (s *Server) ping(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, strconv.FormatInt(time.Now().UnixMilli(), 10))
	return nil
}

// audio documents the answer of the streaming rows.
func audio(op *huma.Operation) {
	gives(http.StatusOK, "application/ogg", "audio/ogg", "audio/mpeg", "audio/aac")(op)
	may(http.StatusServiceUnavailable)(op)
}

func channelID(op *huma.Operation) {
	asks("path", "channelId", "As /api/channels names them", huma.Schema{Type: huma.TypeString})(op)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("channelId")
	if id == "" {
		id = station.MainChannel
	}
	h, ok := s.opt.Stream.Handler(id)
	if !ok {
		return fmt.Errorf("channel %q: %w", id, station.ErrNotFound)
	}
	// Audio elements of other sites may play it as well.
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.ServeHTTP(w, r)
	return nil
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.reg.ServeHTTP(w, r)
	return nil
}
