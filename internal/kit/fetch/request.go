package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Request says what is fetched.
type Request struct {
	URL    string
	Accept string // media types; anything when empty
	// Limit is the largest body in bytes, after decompression; 8 MB for a
	// Document and 512 MB for a File when 0.
	Limit int64
	// ETag and LastModified, from an earlier Document, ask for it only if it
	// changed since.
	ETag, LastModified string
	// Inspect, when not nil, sees the beginning of a File (4 KB, or all of a
	// shorter one) before the rest is fetched, and may refuse it.
	Inspect func(head []byte, h http.Header) error
	// Range asks for a part of a Stream, as the header of that name.
	Range string
	// Header goes along to the address itself: a key of the caller's, say. Where a redirect
	// leads to another scheme, host or port it does not go with it.
	Header http.Header
}

// header is what a request of the caller's begins with.
func (r Request) header() http.Header {
	out := accepting(r.Accept)
	for name, values := range r.Header {
		out[http.CanonicalHeaderKey(name)] = values
	}
	return out
}

// foreign removes from a request that was redirected to another origin all but what this
// package says itself.
func foreign(h http.Header) {
	for name := range h {
		switch name {
		case "Accept", "Accept-Encoding", "User-Agent", "Range", "If-Range", "If-None-Match", "If-Modified-Since":
		default:
			h.Del(name)
		}
	}
}

// sameOrigin reports two addresses of one scheme, host and port, as Check writes them.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// once sends one request and passes the answer to use. The answer's body ends with
// an error when it pauses for too long; it is closed afterwards.
func (c *Client) once(ctx context.Context, u *url.URL, header http.Header, use func(*http.Response) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	header.Set("User-Agent", c.UserAgent())
	request := (&http.Request{Method: http.MethodGet, URL: u, Header: header, Host: u.Host}).WithContext(ctx)
	answer, err := c.http.Do(request)
	if err != nil {
		return c.explain(ctx, u, err)
	}
	defer answer.Body.Close() //nolint:errcheck // read as far as it is wanted
	if answer.Request != nil {
		u = answer.Request.URL
	}
	body := &steady{body: answer.Body, cancel: cancel, idle: c.o.Idle}
	body.explain = func(err error) error { return c.explain(ctx, u, err) }
	body.timer = time.AfterFunc(c.o.Idle, body.stalled)
	body.timer.Stop()
	defer body.timer.Stop()
	answer.Body = body
	return use(answer)
}

// steady is a body that must keep coming.
type steady struct {
	body    io.ReadCloser
	cancel  context.CancelCauseFunc
	idle    time.Duration
	timer   *time.Timer
	explain func(error) error
}

func (s *steady) stalled() {
	s.cancel(&TimeoutError{Part: "the body stopped: nothing came", After: s.idle})
}

func (s *steady) Read(p []byte) (int, error) {
	s.timer.Reset(s.idle)
	n, err := s.body.Read(p)
	s.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) { // ErrUnexpectedEOF is not EOF
		err = s.explain(err)
	}
	return n, err
}

func (s *steady) Close() error {
	s.timer.Stop()
	return s.body.Close()
}

// local is an error of this machine (a full disk): the network is not to blame.
type local struct{ error }

func (l local) Unwrap() error { return l.error }

// persist calls try until it succeeds, fails for good, or has failed as often as
// the options say.
func (c *Client) persist(ctx context.Context, u *url.URL, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Whole, &TimeoutError{Part: "not done", After: c.o.Whole})
	defer cancel()
	pause := c.o.Backoff
	for n := 1; ; n++ {
		err := try(ctx)
		if err == nil {
			return nil
		}
		wait, again := c.again(err, pause)
		if ctx.Err() != nil {
			return c.explain(ctx, u, context.Cause(ctx))
		}
		if n >= c.o.Attempts || !again {
			return err
		}
		pause *= 4
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return c.explain(ctx, u, context.Cause(ctx))
		case <-timer.C:
		}
	}
}

// again reports whether a failed try is worth another one, and after which pause.
func (c *Client) again(err error, pause time.Duration) (time.Duration, bool) {
	var lasting interface{ Lasting() bool }
	var status *StatusError
	switch {
	case errors.As(err, new(local)), errors.As(err, &lasting) && lasting.Lasting():
		return 0, false
	case errors.As(err, &status) && status.RetryAfter > 0:
		return max(pause, status.RetryAfter), status.RetryAfter <= c.o.Patience
	}
	return pause, true
}

// statusError is an answer that is not what was asked for.
func statusError(answer *http.Response) error {
	return &StatusError{URL: redact(answer.Request.URL), Code: answer.StatusCode, RetryAfter: retryAfter(answer.Header), Origin: leftBehind(answer.Request)}
}

// leftBehind is the origin that redirects led to, if a header did not go there.
func leftBehind(last *http.Request) string {
	first := last
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	kept := first.Header.Clone()
	foreign(kept)
	if sameOrigin(first.URL, last.URL) || len(kept) == len(first.Header) {
		return ""
	}
	return last.URL.Scheme + "://" + last.URL.Host
}

// explain turns what net/http returned for a request into this package's errors.
// ctx is the one the request ran under.
func (c *Client) explain(ctx context.Context, u *url.URL, err error) error {
	var outer *url.Error // of http.Client: it names the whole address, query and all
	if errors.As(err, &outer) {
		if last, parsed := url.Parse(outer.URL); parsed == nil && last.Host != "" {
			u = last
		}
		err = outer.Err
	}
	shown := redact(u)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if named := withAddress(err, shown); named != nil {
		return named
	}
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() && ctx.Err() == nil {
		return &TimeoutError{URL: shown, Part: "no answer", After: c.o.Header}
	}
	return fmt.Errorf("fetch %s: %w", shown, err)
}
