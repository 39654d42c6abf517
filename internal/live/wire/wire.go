// Package wire has the clients by which the parts of live ask each other over HTTP: the
// control plane asks the desk and the WHIP server of the node, and these ask the control
// plane who may go live.
//
// It decides nothing, and no question that may have reached somebody is asked twice.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostAnswer bounds an answer, in bytes.
	mostAnswer = 1 << 20
	// orderWait bounds an order. The desk answers once it has taken it, not once it is
	// carried out.
	orderWait = 5 * time.Second
	// newsWait is how long the desk may hold a question for news.
	newsWait = 5 * time.Second
)

// Desk is the live desk of the node.
type Desk struct {
	http.RoundTripper
	// News is the way of Report, which is held for seconds; nil: that of the rest.
	News http.RoundTripper
	// Pieces says that the way there bounds answers: what has no end is asked for in pieces.
	Pieces bool
	// Clock tells when a cart was fired. Reports are in the node's time: who asks for them converts it.
	Clock *Clock
}

// Put gives the desk an order. Errors: station.ErrUnavailable where the desk does not
// answer; whether it took the order is then unknown.
func (d Desk) Put(ctx context.Context, o live.Order) (live.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	var out live.Report
	return out, call(ctx, d, http.MethodPut, "http://node/order", nil, o, &out)
}

// Report returns what the desk tells once its version is no longer after, or after some
// seconds; with 0 at once.
func (d Desk) Report(ctx context.Context, after uint64) (live.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, newsWait+orderWait)
	defer cancel()
	var out live.Report
	path := "http://node/report?after=" + strconv.FormatUint(after, 10) + "&wait=" + strconv.FormatInt(newsWait.Milliseconds(), 10)
	var over http.RoundTripper = d
	if d.News != nil {
		over = d.News
	}
	return out, call(ctx, over, http.MethodGet, path, nil, nil, &out)
}

// Note tells the desk that the source at an address is muted on purpose, or not any more.
func (d Desk) Note(ctx context.Context, address string, muted bool) error {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return call(ctx, d, http.MethodPost, "http://node/note", nil, map[string]any{"url": address, "muted": muted}, nil)
}

// End disconnects an encoder, by its session.
func (d Desk) End(ctx context.Context, session string) error {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return call(ctx, d, http.MethodDelete, "http://node/encoders/"+url.PathEscape(session), nil, nil, nil)
}

// Relay is the node's relay.
type Relay struct{ http.RoundTripper }

// End disconnects an encoder that publishes by RTMP: its name, and nginx's number of its
// connection.
func (r Relay) End(ctx context.Context, name, connection string) error {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return call(ctx, r, http.MethodDelete, "http://node/encoders/"+url.PathEscape(name)+"/"+url.PathEscape(connection), nil, nil, nil)
}

// Phones are the sessions of the node's WHIP server.
type Phones struct {
	http.RoundTripper
	Clock *Clock
}

// Sessions lists them.
func (p Phones) Sessions(ctx context.Context) ([]live.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	out := []live.Session{}
	err := call(ctx, p, http.MethodGet, "http://node/sessions", nil, nil, &out)
	for i := range out {
		out[i].Since = p.Clock.Here(out[i].Since)
	}
	return out, err
}

// Relay are the figures of its TURN server. Error: station.ErrNotFound where it has none.
func (p Phones) Relay(ctx context.Context) (out live.RelayReport, err error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return out, call(ctx, p, http.MethodGet, "http://node/turn", nil, nil, &out)
}

// Hold has one session feed the pipe from now on.
func (p Phones) Hold(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return call(ctx, p, http.MethodPost, "http://node/sessions/"+url.PathEscape(id)+"/hold", nil, nil, nil)
}

// End ends one session; its page is told why.
func (p Phones) End(ctx context.Context, id, why string) error {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return call(ctx, p, http.MethodDelete, "http://node/sessions/"+url.PathEscape(id)+"?why="+url.QueryEscape(why), nil, nil, nil)
}

// Control is the control plane, as the processes of the node ask it.
type Control struct {
	Base  string         // "http://127.0.0.1:5000"
	Token *secret.Secret // the SYNC_TOKEN
	HTTP  http.RoundTripper
}

// askWait bounds each question to the control plane: somebody waits at the door.
const askWait = 5 * time.Second

const askAgain = 100 * time.Millisecond

// Admit asks whether somebody may go live now. A presenter who connects while the control
// plane starts again waits for it: many encoders take a refusal for a wrong password, and
// stop.
func (c Control) Admit(ctx context.Context, who live.Credentials) (out live.Admission, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	for {
		err = c.ask(ctx, http.MethodPost, "/api/live/admit", who, &out)
		// Refused, the question has reached nobody.
		if !errors.Is(err, syscall.ECONNREFUSED) || retry.Pause(ctx, askAgain) != nil {
			return out, err
		}
	}
}

// Arrived tells of a new audio track and returns the id of its stream.
func (c Control) Arrived(ctx context.Context, a live.Arrival) (id string, err error) {
	var out struct {
		ID string `json:"id"`
	}
	return out.ID, c.ask(ctx, http.MethodPost, "/api/live/arrived", a, &out)
}

// Left tells of its end.
func (c Control) Left(ctx context.Context, l live.Leaving) error {
	return c.ask(ctx, http.MethodPost, "/api/live/left", l, nil)
}

// Roll tells of all that come in.
func (c Control) Roll(ctx context.Context, r live.Roll) (out live.RollAnswer, err error) {
	return out, c.ask(ctx, http.MethodPost, "/api/live/roll", r, &out)
}

// Facts returns what the page of a presenter shows.
func (c Control) Facts(ctx context.Context, publisher, stream string) (out live.Facts, err error) {
	q := url.Values{"publisher": {publisher}, "stream": {stream}}
	return out, c.ask(ctx, http.MethodGet, "/api/live/facts?"+q.Encode(), nil, &out)
}

func (c Control) ask(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	return call(ctx, c.HTTP, method, c.Base+path, http.Header{"X-Sync-Token": {c.Token.Current()}}, in, out)
}

// call sends in as JSON, where there is one, and reads the answer into out.
func call(ctx context.Context, over http.RoundTripper, method, address string, header http.Header, in, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Client{Transport: over}).Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && ctx.Err() == context.Canceled { //nolint:errorlint // the context's own value
			return cause
		}
		return fmt.Errorf("%w: %w", err, station.ErrUnavailable)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("read answer: %w: %w", err, station.ErrUnavailable)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return refusal(resp.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

// longestReason bounds what is repeated of a refusal, in bytes.
const longestReason = 500

// refusal is the error of an answer: the words of a problem document (RFC 9457) or of
// plain text.
func refusal(status int, text []byte) error {
	var problem struct {
		Detail string `json:"detail"`
		Title  string `json:"title"`
	}
	words := string(bytes.TrimSpace(text[:min(len(text), longestReason)]))
	if json.Unmarshal(text, &problem) == nil && problem.Detail+problem.Title != "" {
		words = problem.Detail
		if words == "" {
			words = problem.Title
		}
	}
	return fmt.Errorf("%s (%d): %w", words, status, station.KindOf(status))
}
