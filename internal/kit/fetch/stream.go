package fetch

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Stream is a body that is used while it comes.
type Stream struct {
	Status int         // 200, or 206 where a part was asked for
	Header http.Header // of the answer
	URL    string      // where it comes from in the end, after redirects
	Size   int64       // of Body in bytes; -1: not known
	Body   io.Reader   // decompressed; it ends with an error when it pauses for Options.Idle
}

// Stream asks once and passes the answer to use, for what has no end or cannot wait for
// it: only ctx bounds how long it takes, and use how much of it is read.
func (c *Client) Stream(ctx context.Context, r Request, use func(Stream) error) error {
	u, err := c.Check(r.URL)
	if err != nil {
		return err
	}
	header := r.header()
	if r.Range != "" {
		header.Set("Range", r.Range)
	}
	return c.once(ctx, u, header, func(answer *http.Response) error {
		if answer.StatusCode != http.StatusOK && (r.Range == "" || answer.StatusCode != http.StatusPartialContent) {
			return statusError(answer)
		}
		s := Stream{Status: answer.StatusCode, Header: answer.Header, URL: answer.Request.URL.String(), Size: answer.ContentLength}
		if s.Body, err = plain(answer); err != nil {
			return err
		}
		if s.Body != answer.Body {
			s.Size = -1
		}
		return use(s)
	})
}

// Keeping returns the same Client, but connections stay open for so long for the next
// request of their hosts; who asks for it calls Close at the end.
func (c *Client) Keeping(open time.Duration) *Client {
	o := c.o
	o.Keep = open
	return New(o)
}
