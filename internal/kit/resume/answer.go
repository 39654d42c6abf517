package resume

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// answer puts into the library's answers what it does not know: the receipt, when the
// upload expires, a Location that holds behind any proxy, and problem documents.
type answer struct {
	http.ResponseWriter
	uploads *Uploads
	r       *http.Request
	q       *request

	wrote   bool
	refused int // status of an answer of the library's whose text is dropped
}

// Unwrap leads http.ResponseController to the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.wrote || a.refused != 0 {
		return
	}
	if status < http.StatusBadRequest {
		a.wrote = true
		a.complete(status)
		a.ResponseWriter.WriteHeader(status)
		return
	}
	a.refused = status
	a.Header().Del("Content-Length") // of the library's text
	a.Header().Del("Content-Type")
	if reason := a.q.feed.why(); reason != nil && a.q.fault == nil {
		a.q.fault = reason
	}
	if a.q.fault != nil {
		a.fail(a.q.fault)
	}
}

// Write implements http.ResponseWriter. The library writes nothing but the text of an
// error, "ERR_CODE: text", at once.
func (a *answer) Write(text []byte) (int, error) {
	if a.refused == 0 || a.wrote {
		return len(text), nil
	}
	code, detail, _ := strings.Cut(strings.TrimSpace(string(text)), ": ")
	switch {
	case code == "ERR_READ_TIMEOUT":
		a.fail(errStalled)
	case code == "ERR_MAX_SIZE_EXCEEDED":
		a.fail(a.uploads.errTooLarge())
	case a.refused == http.StatusInternalServerError:
		a.uploads.opts.Log.Debug("a connection broke while it brought an upload", "err", detail)
		a.refuse(a.refused, "the connection broke: go on from the offset")
	default:
		a.refuse(a.refused, detail)
	}
	return len(text), nil
}

// end writes a refusal that came without a text, as to HEAD.
func (a *answer) end() {
	if a.refused != 0 {
		a.refuse(a.refused, "")
	}
}

// complete adds the headers of an answer that is no refusal.
func (a *answer) complete(status int) {
	h := a.Header()
	if a.r.Method == http.MethodOptions {
		h.Set("Tus-Extension", h.Get("Tus-Extension")+",expiration")
		return
	}
	if a.r.Method == http.MethodHead {
		h.Del("Content-Length") // there is nothing to be read
	}
	if a.q.hold == nil || a.r.Method == http.MethodDelete {
		return
	}
	e := a.q.hold.entry
	if status == http.StatusCreated {
		h.Set("Location", a.uploads.opts.Base+e.ID)
	}
	if e.taken() {
		for name, value := range e.Receipt {
			h.Set(name, value)
		}
		return
	}
	h.Set("Upload-Expires", a.uploads.expires(e).UTC().Format(http.TimeFormat))
}

// fail answers with an error.
func (a *answer) fail(err error) {
	if errors.Is(err, errBusy) {
		a.refuse(http.StatusLocked, err.Error())
		return
	}
	if !a.wrote {
		a.wrote = true
		a.uploads.opts.Problem(a.ResponseWriter, a.r, err)
	}
}

// refuse answers with a status of the protocol's that no kind of error has.
func (a *answer) refuse(status int, detail string) {
	if !a.wrote {
		a.wrote = true
		writeDocument(a.ResponseWriter, status, detail)
	}
}

// writeProblem is the default of Options.Problem.
func writeProblem(w http.ResponseWriter, _ *http.Request, err error) {
	status, detail := station.Status(err), station.Reason(err)
	var limit *client.LimitError
	switch {
	case errors.As(err, &limit):
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(limit.Seconds()))
	case status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "2")
	case status == http.StatusInternalServerError:
		detail = "something went wrong on our side"
	}
	writeDocument(w, status, detail)
}

func writeDocument(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{http.StatusText(status), status, detail}) // the client may have left
}
