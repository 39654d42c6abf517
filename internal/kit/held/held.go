// Package held keeps an HTTP answer in memory, for those who ask a handler of their own
// process.
//
// It knows nothing of what the answer says.
package held

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
)

// Answer is an http.ResponseWriter that keeps what is written. Make it with New.
type Answer struct {
	Status int
	Body   bytes.Buffer
	header http.Header
	most   int
}

// New returns an answer with a header, of so many bytes at most.
func New(header http.Header, most int) *Answer {
	return &Answer{Status: http.StatusOK, header: header, most: most}
}

// Header is that of the answer.
func (a *Answer) Header() http.Header { return a.header }

// WriteHeader keeps the status.
func (a *Answer) WriteHeader(status int) { a.Status = status }

// Write keeps what there is room for; the error is http.ErrContentLength.
func (a *Answer) Write(b []byte) (int, error) {
	if len(b) > a.most-a.Body.Len() {
		return 0, http.ErrContentLength
	}
	return a.Body.Write(b)
}

// Ask asks a handler for a path on behalf of whoever sent r, and returns its answer of so many
// bytes at most. It sends nothing of r but whom it is from. ctx must not be that of r: a proxy
// aborts the request whose context it has where the answer breaks off.
func Ask(ctx context.Context, r *http.Request, h http.Handler, path string, most int) *Answer {
	ask := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: path}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Host: r.Host, RemoteAddr: r.RemoteAddr, Header: http.Header{},
	}).WithContext(ctx)
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"} {
		if values := r.Header.Values(name); len(values) > 0 {
			ask.Header[name] = values
		}
	}
	got := New(http.Header{}, most)
	h.ServeHTTP(got, ask)
	return got
}
