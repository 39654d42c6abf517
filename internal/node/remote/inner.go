package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/station"
)

// The requests to the HTTP of the node's own processes. Questions may be held for seconds
// until there is news, and every page of the studio asks some: orders, which are all but
// GET, have places of their own and wait for none of them, and so has the question for news
// by which the live takeover follows the desk. Each process has its own of all three. A node
// answers all at each, as control planes before this one had the first alone; so it is
// upgraded before the control plane, or with it.
const (
	subjectInner      = "athir.node.inner"
	subjectInnerOrder = "athir.node.inner.order"
	subjectInnerNews  = "athir.node.inner.news"
)

const (
	// innerWait is longer than such a process holds a request that waits for news.
	innerWait = 15 * time.Second
	// mostQueued is how many requests to one process may wait for a place.
	mostQueued = 64
	// MostInner bounds a request's body and an answer's, in bytes: an answer must fit one
	// message of the bus, as text.
	MostInner = 256 << 10
)

type innerAsk struct {
	Part   string `json:"part"` // whose: "desk", "whip"
	Method string `json:"method"`
	Path   string `json:"path"` // with the query
	Range  string `json:"range,omitempty"`
	Body   []byte `json:"body,omitempty"`
	// Within is for how long the caller waits, in ms; 0: innerWait. The clocks of two
	// machines differ, so it is no moment.
	Within int64 `json:"within,omitempty"`
}

type innerAnswer struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`
	// Late: the process has no time, and there is nothing of the above. It is no error, by
	// which the caller would take the process for one that is not there.
	Late bool `json:"late,omitempty"`
}

// carried are the headers of an answer that come along.
func carried() []string {
	return []string{"Content-Type", "Content-Range", "Content-Length", "Accept-Ranges", "Retry-After", "Last-Modified"}
}

// Inner reaches the HTTP of one of the node's own processes over the bus. Answers are
// bounded: what streams or is long is asked for by Range, a piece at a time.
type Inner struct {
	Bus  *bus.Bus
	Part string
	To   func(subject string) string // where orders to the node go
	// News: whoever asks does so one question after another, and must not wait behind those
	// of others.
	News bool
}

// RoundTrip implements http.RoundTripper. Without an answer the error is
// station.ErrUnavailable, and whether the request was carried out is unknown.
func (i Inner) RoundTrip(r *http.Request) (*http.Response, error) {
	ask := innerAsk{Part: i.Part, Method: r.Method, Path: r.URL.RequestURI(), Range: r.Header.Get("Range")}
	if r.Body != nil {
		defer r.Body.Close() //nolint:errcheck // read to its end
		var err error
		if ask.Body, err = io.ReadAll(io.LimitReader(r.Body, MostInner+1)); err != nil {
			return nil, err
		}
		if len(ask.Body) > MostInner {
			return nil, fmt.Errorf("request to the node's %s: more than %d bytes: %w", i.Part, MostInner, station.ErrTooLarge)
		}
	}
	if until, ok := r.Context().Deadline(); ok {
		ask.Within = max(time.Until(until).Milliseconds()+1, 1)
	}
	subject := subjectInnerOrder
	switch {
	case r.Method == http.MethodGet && i.News:
		subject = subjectInnerNews
	case r.Method == http.MethodGet:
		subject = subjectInner
	}
	got, err := bus.Call[innerAnswer](r.Context(), i.Bus, i.To(subject), innerWait, ask)
	if err != nil {
		return nil, err
	}
	if got.Late {
		return nil, fmt.Errorf("ask the node's %s: it has no time: %w", i.Part, station.ErrUnavailable)
	}
	resp := &http.Response{
		StatusCode: got.Status, Status: fmt.Sprintf("%d %s", got.Status, http.StatusText(got.Status)), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(got.Body)), ContentLength: int64(len(got.Body)),
	}
	for name, value := range got.Header {
		resp.Header.Set(name, value)
	}
	return resp, nil
}

// serveInner answers for processes of this node until ctx ends.
func serveInner(ctx context.Context, line *bus.Bus, parts map[string]http.RoundTripper, at func(subject string) string) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, subject := range []string{subjectInner, subjectInnerOrder, subjectInnerNews} {
		c := newCounters(parts)
		g.Go(func() error { return line.Serve(ctx, at(subject), c.most(), bus.Answering(c.obey)) })
	}
	return g.Wait()
}

// counters is where the requests of one subject wait, by part: a process that is starved
// keeps those to another from nothing.
type counters map[string]*counter

// counter has the places at one process, and the room before it.
type counter struct {
	part         http.RoundTripper
	room, places chan struct{}
}

func newCounters(parts map[string]http.RoundTripper) counters {
	out := counters{}
	for name, part := range parts {
		out[name] = &counter{part: part, room: make(chan struct{}, ordersAtOnce+mostQueued), places: make(chan struct{}, ordersAtOnce)}
	}
	return out
}

// most is how many requests may be here at once: one more than there is room for, which is
// refused.
func (c counters) most() int { return len(c)*(ordersAtOnce+mostQueued) + 1 }

// obey passes a request on to a process of this node. It ends when its caller gives up: one
// that waits for a place until then is never passed on, as the caller has asked again.
func (c counters) obey(ctx context.Context, in innerAsk) (innerAnswer, error) {
	at, ok := c[in.Part]
	if !ok {
		return innerAnswer{}, fmt.Errorf("node: it has no part %.20q: %w", in.Part, station.ErrNotFound)
	}
	within := innerWait
	if in.Within > 0 && in.Within < innerWait.Milliseconds() {
		within = time.Duration(in.Within) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	select {
	case at.room <- struct{}{}:
		defer func() { <-at.room }()
	default:
		return innerAnswer{Late: true}, nil
	}
	select {
	case at.places <- struct{}{}:
		defer func() { <-at.places }()
	case <-ctx.Done():
	}
	var out innerAnswer
	err := ctx.Err()
	if err == nil {
		out, err = at.pass(ctx, in)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return innerAnswer{Late: true}, nil // nobody waits for it
	}
	return out, err
}

// pass asks the process.
func (c *counter) pass(ctx context.Context, in innerAsk) (out innerAnswer, err error) {
	req, err := http.NewRequestWithContext(ctx, in.Method, "http://node"+in.Path, bytes.NewReader(in.Body))
	if err != nil {
		return out, fmt.Errorf("node: %w: %w", err, station.ErrInvalid)
	}
	if len(in.Body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if in.Range != "" {
		req.Header.Set("Range", in.Range)
	}
	resp, err := c.part.RoundTrip(req)
	if err != nil {
		return out, fmt.Errorf("ask the node's %s: %w: %w", in.Part, err, station.ErrUnavailable)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if out.Body, err = io.ReadAll(io.LimitReader(resp.Body, MostInner+1)); err != nil {
		return out, fmt.Errorf("read the answer of the node's %s: %w: %w", in.Part, err, station.ErrUnavailable)
	}
	if len(out.Body) > MostInner {
		return innerAnswer{}, fmt.Errorf("answer of the node's %s: more than %d bytes, ask for a range: %w", in.Part, MostInner, station.ErrTooLarge)
	}
	out.Status, out.Header = resp.StatusCode, map[string]string{}
	for _, name := range carried() {
		if v := resp.Header.Get(name); v != "" {
			out.Header[name] = v
		}
	}
	return out, nil
}
