// Package problem is how the station refuses over HTTP: problem documents after
// RFC 9457, of the type about:blank, which goes without saying, and one table from
// kinds of error to status. What is our own fault is not explained to callers; who
// answers logs it.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// MediaType is that of problem documents.
const MediaType = "application/problem+json"

// OurFault is all that a caller hears of a failure inside.
const OurFault = "something went wrong on our side"

// ErrMalformed is a body that is not JSON.
var ErrMalformed = errors.New("not JSON")

// Document is a problem: its title is that of the status, its detail for people.
type Document struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Of is the problem that an error makes.
func Of(err error) Document {
	status, detail := Status(err), station.Reason(err)
	if status == http.StatusInternalServerError {
		detail = OurFault
	}
	return Document{http.StatusText(status), status, detail}
}

// Status is the one table from kinds of error to HTTP status; what is of no kind
// is our fault.
func Status(err error) int {
	var limit *client.LimitError
	if errors.As(err, &limit) {
		return http.StatusTooManyRequests
	}
	for _, k := range []struct {
		kind   error
		status int
	}{
		{ErrMalformed, http.StatusBadRequest},
		{station.ErrNotFound, http.StatusNotFound},
		{station.ErrInvalid, http.StatusUnprocessableEntity},
		{station.ErrConflict, http.StatusConflict},
		{station.ErrTooLarge, http.StatusRequestEntityTooLarge},
		{station.ErrUnauthentic, http.StatusUnauthorized},
		{station.ErrForbidden, http.StatusForbidden},
		{station.ErrUnavailable, http.StatusServiceUnavailable},
		{context.Canceled, http.StatusServiceUnavailable},
		{context.DeadlineExceeded, http.StatusServiceUnavailable},
	} {
		if errors.Is(err, k.kind) {
			return k.status
		}
	}
	return http.StatusInternalServerError
}

// partPatience is after how many seconds a part that is down may be back.
const partPatience = "2"

// RetryAfter is the header of answers that ask to come again, in seconds: of a
// limit, as long as it holds; of what is unavailable, 2. Empty elsewhere.
func RetryAfter(err error) string {
	var limit *client.LimitError
	switch {
	case errors.As(err, &limit):
		return strconv.Itoa(limit.Seconds())
	case Status(err) == http.StatusServiceUnavailable:
		return partPatience
	}
	return ""
}

// Write answers with the problem that an error makes.
func Write(w http.ResponseWriter, err error) {
	if after := RetryAfter(err); after != "" {
		w.Header().Set("Retry-After", after)
	}
	Of(err).write(w)
}

// Answer answers with a status and the reason for it. A 503 asks to come again in
// 2 s, unless a Retry-After was set before.
func Answer(w http.ResponseWriter, status int, detail string) {
	if status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", partPatience)
	}
	Document{http.StatusText(status), status, detail}.write(w)
}

func (d Document) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", MediaType)
	w.WriteHeader(d.Status)
	_ = json.NewEncoder(w).Encode(d) // a client that is gone needs none
}
