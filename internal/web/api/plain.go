package api

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/deadline"
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

const (
	testPayload    = 1 << 20  // bytes unless asked otherwise
	testPayloadMax = 16 << 20 // bytes

	// networkTests is how many clients may test at once: each takes all the
	// bandwidth it can get from the listeners.
	networkTests = 8
	// networkTestStall is how long one of them may take nothing.
	networkTestStall = 10 * time.Second
)

func testBytes(op *huma.Operation) {
	smallest, largest := 1.0, float64(testPayloadMax)
	asks("query", "bytes", "Size of the answer; 1 MiB unless asked otherwise", huma.Schema{
		Type: huma.TypeInteger, Minimum: &smallest, Maximum: &largest,
	})(op)
	gives(http.StatusOK, "application/octet-stream")(op)
	may(http.StatusUnprocessableEntity, http.StatusServiceUnavailable)(op)
}

// networkTest sends bytes that no proxy can compress; ?bytes=N asks for a size.
func (s *Server) networkTest(w http.ResponseWriter, r *http.Request) error {
	size := testPayload
	if q := r.URL.Query().Get("bytes"); q != "" {
		n, err := strconv.Atoi(q)
		if err != nil || n < 1 || n > testPayloadMax {
			return fmt.Errorf("bytes: must be 1 to %d: %w", testPayloadMax, station.ErrInvalid)
		}
		size = n
	}
	select {
	case s.testing <- struct{}{}:
		defer func() { <-s.testing }()
	default:
		return fmt.Errorf("too many network tests at once, try again soon: %w", station.ErrUnavailable)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	w.Header().Set("Cache-Control", "no-store, no-transform")
	_, _ = io.CopyN(deadline.Writer(w, networkTestStall), rand.NewChaCha8([32]byte{}), int64(size)) // the client may leave
	return nil
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.reg.ServeHTTP(w, r)
	return nil
}
