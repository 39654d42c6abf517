package fetch

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	documentLimit = 8 << 20
	documentTime  = 2 * time.Minute // of Options.Whole, for all tries
)

// Document is a small body, held in memory.
type Document struct {
	Body []byte // decompressed
	Type string // Content-Type, as stated
	URL  string // where it came from in the end, after redirects
	// ETag and LastModified are for the next Request.
	ETag, LastModified string
	// NotModified: nothing changed since the Request's ETag and LastModified;
	// there is no body.
	NotModified bool
}

// Document fetches a feed, a search result, a page.
func (c *Client) Document(ctx context.Context, r Request) (Document, error) {
	u, err := c.Check(r.URL)
	if err != nil {
		return Document{}, err
	}
	if r.Limit <= 0 {
		r.Limit = documentLimit
	}
	header := r.header()
	header.Set("Accept-Encoding", "gzip")
	if r.ETag != "" {
		header.Set("If-None-Match", r.ETag)
	}
	if r.LastModified != "" {
		header.Set("If-Modified-Since", r.LastModified)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, documentTime, &TimeoutError{Part: "not done", After: documentTime})
	defer cancel()
	var d Document
	err = c.persist(ctx, u, func(ctx context.Context) error {
		return c.once(ctx, u, header.Clone(), func(answer *http.Response) (err error) {
			d, err = readDocument(answer, r)
			return err
		})
	})
	if err != nil {
		return Document{}, err
	}
	return d, nil
}

func accepting(types string) http.Header {
	if types == "" {
		types = "*/*"
	}
	return http.Header{"Accept": {types}}
}

func readDocument(answer *http.Response, r Request) (Document, error) {
	d := Document{
		Type: answer.Header.Get("Content-Type"), URL: answer.Request.URL.String(),
		ETag: answer.Header.Get("ETag"), LastModified: answer.Header.Get("Last-Modified"),
	}
	asked := r.ETag != "" || r.LastModified != ""
	switch {
	case answer.StatusCode == http.StatusNotModified && asked:
		d.ETag, d.LastModified, d.NotModified = r.ETag, r.LastModified, true
		return d, nil
	case answer.StatusCode != http.StatusOK:
		return Document{}, statusError(answer)
	}
	shown := redact(answer.Request.URL)
	if answer.ContentLength > r.Limit {
		return Document{}, &TooLargeError{URL: shown, Limit: r.Limit, Size: answer.ContentLength}
	}
	body, err := plain(answer)
	if err != nil {
		return Document{}, err
	}
	d.Body, err = io.ReadAll(io.LimitReader(body, r.Limit+1))
	switch {
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, new(flate.CorruptInputError)):
		return Document{}, &ContentError{URL: shown, Why: "its compression is damaged"}
	case err == io.ErrUnexpectedEOF: //nolint:errorlint // bare: the compression's, not the connection's
		return Document{}, fmt.Errorf("fetch %s: the transfer broke off: %w", shown, err)
	case err != nil:
		return Document{}, err
	case int64(len(d.Body)) > r.Limit:
		return Document{}, &TooLargeError{URL: shown, Limit: r.Limit}
	}
	return d, nil
}

// plain is the body without its compression. What is compressed twice is left
// compressed once, and so will not be understood.
func plain(answer *http.Response) (io.Reader, error) {
	shown := redact(answer.Request.URL)
	switch strings.ToLower(strings.TrimSpace(answer.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return answer.Body, nil
	case "gzip", "x-gzip":
		body, err := gzip.NewReader(answer.Body)
		if errors.Is(err, gzip.ErrHeader) || err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // bare: the server ended there
			return nil, &ContentError{URL: shown, Why: "its compression is damaged"}
		}
		return body, err
	}
	return nil, &ContentError{URL: shown, Why: "it is compressed in a way that was not requested"}
}
