package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The errors of this package name the address without its query, which may be a
// secret, and give the remedy. One whose Lasting method returns true recurs at
// every retry.

// BlockedError says that an address is not fetched at all.
type BlockedError struct{ URL, Why, Remedy string }

func (e *BlockedError) Error() string { return say("blocked", e.URL, e.Why, e.Remedy) }

// Lasting is true.
func (e *BlockedError) Lasting() bool { return true }

// TooLargeError says that a body is larger than may be.
type TooLargeError struct {
	URL   string
	Limit int64 // bytes
	Size  int64 // as the server stated it; 0 when it came without saying so
}

func (e *TooLargeError) Error() string {
	why := fmt.Sprintf("it is larger than %s", megabytes(e.Limit))
	if e.Size > 0 {
		why = fmt.Sprintf("it is %s, more than %s", megabytes(e.Size), megabytes(e.Limit))
	}
	return say("too large", e.URL, why, "")
}

// Lasting is true.
func (e *TooLargeError) Lasting() bool { return true }

// StatusError is an answer other than the one asked for.
type StatusError struct {
	URL        string
	Code       int           // of HTTP
	RetryAfter time.Duration // as the server asks; 0 when it does not
	// Origin is of another scheme, host or port, as https://host, if a redirect led there and a
	// key of the caller's did not go with it. Empty: no key was left behind.
	Origin string
}

func (e *StatusError) Error() string {
	why := fmt.Sprintf("the server answered %d %s", e.Code, http.StatusText(e.Code))
	remedy := ""
	switch {
	case e.RetryAfter > 0:
		remedy = fmt.Sprintf("try again in %s", e.RetryAfter.Round(time.Second))
	case e.Unopened():
		remedy = fmt.Sprintf("the address leads to %s, where no key is sent: give that address", e.Origin)
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusForbidden:
		remedy = "it requires a login; only open addresses can be fetched"
	case e.Lasting():
		remedy = "check the address"
	}
	return say("not fetched", e.URL, why, remedy)
}

// Unopened reports an answer that a key may have opened, if it had not been left behind at a
// redirect.
func (e *StatusError) Unopened() bool {
	return e.Origin != "" && (e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden)
}

// Lasting is true where the server blames the request.
func (e *StatusError) Lasting() bool {
	switch e.Code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.Code < 500
}

// TimeoutError says which part took too long.
type TimeoutError struct {
	URL, Part string
	After     time.Duration
}

func (e *TimeoutError) Error() string {
	return say("not fetched", e.URL, fmt.Sprintf("%s within %s", e.Part, e.After), "")
}

// Timeout is true, as net.Error has it.
func (e *TimeoutError) Timeout() bool { return true }

// ContentError says that what came is not what may be used.
type ContentError struct{ URL, Why, Remedy string }

func (e *ContentError) Error() string { return say("not usable", e.URL, e.Why, e.Remedy) }

// Lasting is true.
func (e *ContentError) Lasting() bool { return true }

// say builds "blocked https://host/path: why (remedy)".
func say(what, address, why, remedy string) string {
	var b strings.Builder
	b.WriteString(what)
	if address != "" {
		b.WriteString(" " + address)
	}
	b.WriteString(": " + why)
	if remedy != "" {
		b.WriteString(" (" + remedy + ")")
	}
	return b.String()
}

func megabytes(n int64) string {
	if n < 1_000_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Redact writes an address for logs and messages: without user name, query and
// fragment, and not longer than a line.
func Redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that is not valid"
	}
	return redact(u)
}

// Secretless is the text of an error of Send with no more of the address than
// its origin: the path of a push service's or a receiver's is often its key.
// check is the Check of the Client that sent.
func Secretless(err error, address string, check func(address string) (*url.URL, error)) string {
	u, unfit := check(address)
	if unfit != nil {
		if u, unfit = url.Parse(address); unfit != nil {
			return err.Error() // it does not contain the address
		}
	}
	return strings.ReplaceAll(err.Error(), redact(u), u.Scheme+"://"+u.Host)
}

func redact(u *url.URL) string {
	const most = 200
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	s := strings.ToValidUTF8(shown.String(), "?")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// withAddress finds one of this package's errors in err and gives it the address
// it happened at; nil when there is none.
func withAddress(err error, shown string) error {
	var (
		blocked *BlockedError
		content *ContentError
		slow    *TimeoutError
		large   *TooLargeError
		status  *StatusError
	)
	// Copies: an error may have been made once for several requests.
	switch {
	case errors.As(err, &blocked):
		e := *blocked
		e.URL = shown
		return &e
	case errors.As(err, &content):
		e := *content
		e.URL = shown
		return &e
	case errors.As(err, &slow):
		e := *slow
		e.URL = shown
		return &e
	case errors.As(err, &large):
		e := *large
		e.URL = shown
		return &e
	case errors.As(err, &status):
		e := *status
		e.URL = shown
		return &e
	}
	return nil
}
