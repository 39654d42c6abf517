package fetch

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Sending is a message to an address that came from outside: a subscriber's push
// service, an operator's receiver.
type Sending struct {
	URL    string
	Method string      // POST when empty
	Header http.Header // without User-Agent, which is the Client's
	Body   []byte
	// Limit is the most of the answer's body that is kept, in bytes; what is
	// longer is cut, not refused.
	Limit   int64
	Timeout time.Duration // from the connection to the end of the answer; 30 s when 0
}

// Answer is what came back, whatever its status.
type Answer struct {
	Status     int
	Body       []byte
	RetryAfter time.Duration // as the server asks; 0 when it does not
}

// Send sends a message once. It follows no redirect, which would hand the
// message to somebody else, and tries nothing again: who sends knows whether
// twice is harmless.
func (c *Client) Send(ctx context.Context, s Sending) (Answer, error) {
	u, err := c.Check(s.URL)
	if err != nil {
		return Answer{}, err
	}
	if s.Timeout <= 0 {
		s.Timeout = 30 * time.Second
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, &TimeoutError{Part: "no whole answer", After: s.Timeout})
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, cmp.Or(s.Method, http.MethodPost), u.String(), bytes.NewReader(s.Body))
	if err != nil {
		return Answer{}, fmt.Errorf("send to %s: %w", redact(u), err)
	}
	if s.Header != nil {
		request.Header = s.Header.Clone()
	}
	request.Header.Set("User-Agent", c.UserAgent())
	answer, err := c.post.Do(request)
	if err != nil {
		return Answer{}, c.explain(ctx, u, err)
	}
	defer answer.Body.Close() //nolint:errcheck // read as far as it is wanted
	out := Answer{Status: answer.StatusCode, RetryAfter: retryAfter(answer.Header)}
	if out.Body, err = io.ReadAll(io.LimitReader(answer.Body, s.Limit)); err != nil {
		return out, c.explain(ctx, u, err)
	}
	// The connection serves the next message only if this answer was read.
	_, _ = io.CopyN(io.Discard, answer.Body, drained)
	return out, nil
}

// drained is the most that is read of the unwanted rest of an answer, in bytes.
const drained = 16 << 10

// Close ends the connections that Keep has left open.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// notFollowed is the redirect policy of messages.
func notFollowed(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// retryAfter reads the header of that name; 0 without one.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
