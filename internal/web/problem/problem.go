// Package problem writes the station's error answers: problem documents (RFC 9457) of
// type about:blank, which is omitted, with the status of their kind (package station).
// Internal errors are not explained to callers; the handler logs them.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// MediaType is the media type of problem documents.
const MediaType = "application/problem+json"

// OurFault is the detail of every internal error.
const OurFault = "something went wrong on our side"

// ErrMalformed is a body that is not JSON.
var ErrMalformed = errors.New("not JSON")

// Document is a problem. Title is the status's text, Detail is for people.
type Document struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`

	Reason *Reason `json:"reason,omitempty"`
}

// Reason is why a rule of the station stands against what was asked, in words of both
// languages: the member reason of a problem document.
type Reason struct {
	Code string `json:"code" doc:"The rule, for programs"`
	En   string `json:"en"`
	Ar   string `json:"ar"`
	At   int64  `json:"at,omitempty" doc:"Epoch milliseconds: from when it may be asked again, or when what was asked for comes; missing while that is unknown"`
}

// spoken is an error that has words of both languages; at is zero where no time is known.
type spoken interface {
	error
	Spoken() (code, en, ar string, at time.Time)
}

// ReasonOf returns the reason that an error gives; nil for one that gives none.
func ReasonOf(err error) *Reason {
	var words spoken
	if !errors.As(err, &words) {
		return nil
	}
	code, en, ar, at := words.Spoken()
	out := &Reason{Code: code, En: en, Ar: ar}
	if !at.IsZero() {
		out.At = at.UnixMilli()
	}
	return out
}

// Of returns the problem for an error. That of a full disk is told without its path: the
// log has that.
func Of(err error) Document {
	status, detail := Status(err), station.Reason(err)
	switch {
	case DiskFull(err):
		detail = store.ErrDiskFull.Error()
	case status == http.StatusInternalServerError:
		detail = OurFault
	}
	return Document{http.StatusText(status), status, detail, ReasonOf(err)}
}

// DiskFull reports that nothing could be written because a disk, or the user's share of
// it, is full. It works again once there is room.
func DiskFull(err error) bool {
	return errors.Is(err, store.ErrDiskFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Status is the HTTP status of an error: station.Status, and what only those outside meet.
func Status(err error) int {
	var limit *client.LimitError
	switch {
	case errors.As(err, &limit):
		return http.StatusTooManyRequests
	case DiskFull(err):
		return http.StatusServiceUnavailable
	case errors.Is(err, ErrMalformed):
		return http.StatusBadRequest
	}
	status := station.Status(err)
	if status == http.StatusInternalServerError && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return http.StatusServiceUnavailable
	}
	return status
}

// partPatience is the Retry-After, in seconds, while a part is down.
const partPatience = "2"

// RetryAfter returns the Retry-After header for an error, in seconds: for a limit,
// until it ends; for an unavailable part, 2. Empty for other errors.
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

// Write answers with the problem for an error.
func Write(w http.ResponseWriter, err error) {
	if after := RetryAfter(err); after != "" {
		w.Header().Set("Retry-After", after)
	}
	Of(err).write(w)
}

// Answer answers with a status and its reason. A 503 gets a Retry-After of 2 s, unless
// one is set already.
func Answer(w http.ResponseWriter, status int, detail string) {
	if status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", partPatience)
	}
	Document{Title: http.StatusText(status), Status: status, Detail: detail}.write(w)
}

func (d Document) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", MediaType)
	w.WriteHeader(d.Status)
	_ = json.NewEncoder(w).Encode(d) // the client may have left
}
