package innerhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Read decodes a request's body of at most so many bytes as JSON. Where it is none it
// refuses the request and returns false.
func Read(w http.ResponseWriter, r *http.Request, most int64, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		Refuse(w, fmt.Errorf("body: more than %d bytes: %w", most, station.ErrTooLarge))
	case err != nil:
		Refuse(w, fmt.Errorf("body: %s: %w", strings.TrimPrefix(err.Error(), "json: "), station.ErrInvalid))
	}
	return err == nil
}

// Answer writes a value as JSON.
func Answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the reader may be gone
}

// Refuse answers with an error, by the kinds of package station, as a problem document
// (RFC 9457). One of no kind is 500, told in its own words: who asks is of this station.
func Refuse(w http.ResponseWriter, err error) {
	status := station.Status(err)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "title": http.StatusText(status), "detail": station.Reason(err)})
}
