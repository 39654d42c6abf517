package api

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/station"
)

// A page plays sound by an address alone, without headers: the address has a ticket, signed
// for one thing and for some time.

// ticketTo is the address of a route whose query names a thing by a field, with a ticket for it.
// of is what the ticket is signed for: things of two kinds may have one name.
func (s *Server) ticketTo(route, field, name, of string, until time.Time) *ticketAnswer {
	out := &ticketAnswer{CacheControl: "no-store"}
	out.Body.Until = until.UnixMilli()
	out.Body.Path = route + "?" + url.Values{field: {name}, "ticket": {s.tickets.sign(of, out.Body.Until)}}.Encode()
	return out
}

// ticketed refuses a request whose ticket is not for that, a thing of a kind, or is over.
func (s *Server) ticketed(w http.ResponseWriter, r *http.Request, of, kind string, right guard) error {
	if s.tickets.valid(r.URL.Query().Get("ticket"), of, s.opt.Now()) {
		return nil
	}
	w.Header().Set("WWW-Authenticate", right.realm())
	return fmt.Errorf("the ticket is not for this %s, or no longer valid: ask for another: %w", kind, station.ErrUnauthentic)
}

// serveTicketed serves the file that a ticket was for.
func serveTicketed(w http.ResponseWriter, r *http.Request, folder, name string) error {
	f, err := openPlain(folder, name)
	w.Header().Set("Cache-Control", "private, no-cache")
	return serveFile(w, r, f, err, name)
}

// servesRanges documents a row that serves a file of some types, or parts of it.
func servesRanges(op *huma.Operation, types ...string) {
	for _, status := range []int{http.StatusOK, http.StatusPartialContent} {
		gives(status, types...)(op)
	}
	gives(http.StatusNotModified)(op)
	gives(http.StatusPreconditionFailed)(op)
	gives(http.StatusRequestedRangeNotSatisfiable, "text/plain")(op)
}
