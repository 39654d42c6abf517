// Package held keeps an HTTP answer in memory, for those who ask a handler of their own
// process.
//
// It does not ask, and knows nothing of what the answer says.
package held

import (
	"bytes"
	"net/http"
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
