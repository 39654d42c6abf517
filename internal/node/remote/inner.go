package remote

import (
	"bytes"
	"context"
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
// by which the live takeover follows the desk. A node answers all at each, as control planes
// before this one had the first alone; so it is upgraded before the control plane, or with it.
const (
	subjectInner      = "athir.node.inner"
	subjectInnerOrder = "athir.node.inner.order"
	subjectInnerNews  = "athir.node.inner.news"
)

const (
	// innerWait is longer than such a process holds a request that waits for news.
	innerWait = 15 * time.Second
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
}

type innerAnswer struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`
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
	subject := subjectInnerOrder
	switch {
	case r.Method == http.MethodGet && i.News:
		subject = subjectInnerNews
	case r.Method == http.MethodGet:
		subject = subjectInner
	}
	got, err := bus.Call[innerAnswer](r.Context(), i.Bus, subject, innerWait, ask)
	if err != nil {
		return nil, err
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
func serveInner(ctx context.Context, line *bus.Bus, parts map[string]http.RoundTripper) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, subject := range []string{subjectInner, subjectInnerOrder, subjectInnerNews} {
		g.Go(func() error {
			return line.Serve(ctx, subject, ordersAtOnce, bus.Answering(func(ctx context.Context, in innerAsk) (innerAnswer, error) { return obeyInner(ctx, parts, in) }))
		})
	}
	return g.Wait()
}

// obeyInner passes a request on to a process of this node.
func obeyInner(ctx context.Context, parts map[string]http.RoundTripper, in innerAsk) (out innerAnswer, err error) {
	part, ok := parts[in.Part]
	if !ok {
		return out, fmt.Errorf("node: it has no part %.20q: %w", in.Part, station.ErrNotFound)
	}
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
	resp, err := part.RoundTrip(req)
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
