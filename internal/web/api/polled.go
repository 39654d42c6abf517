package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/held"
	"github.com/athir-radio/athir/internal/kit/negotiate"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

const (
	// fresh is how long an answer is served while its state is unchanged: figures
	// of the node and the listeners change without a change of state.
	fresh = 250 * time.Millisecond
	// scrapedEvery is the same for metrics, which nobody reads for the moment.
	scrapedEvery = time.Second
	// usable is how old an answer may be while a newer one is being built.
	usable = 2 * time.Second
	// making bounds the time to build an answer.
	making = 5 * time.Second
)

// polled is an endpoint whose answer is the same for all clients without the station
// key, and for all with it: each is built once for many requests, and clients that have
// it already get 304. state identifies what the answer was built from: when it changes,
// the answer is built anew. Requests with a query are answered one by one, where the
// route has one.
func polled(e endpoint, state func() any) endpoint { return polledFor(fresh, e, state) }

// polledFor is polled with another time for which an answer is served.
func polledFor(fresh time.Duration, e endpoint, state func() any) endpoint {
	return func(s *Server, mux *http.ServeMux, api huma.API, op huma.Operation) {
		guards := op.Middlewares
		op.Middlewares = nil
		gives(http.StatusNotModified)(&op)
		inner := http.NewServeMux()
		e(s, inner, elsewhere{api, humago.NewAdapter(inner, "")}, op)
		asks := hasQuery(api.OpenAPI(), op.Path)
		compresses := op.Metadata[compressed] != nil
		everyones := &kept{path: op.Path, handler: inner, state: state, fresh: fresh, compressed: compresses}
		operators := &kept{path: op.Path, handler: inner, state: state, fresh: fresh, compressed: compresses}
		serve := guards.Handler(func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			r = r.WithContext(ctx.Context()) // with what recognize has found
			k := everyones
			if forOperator(r.Context()) {
				k = operators
			}
			if asks && r.URL.RawQuery != "" {
				inner.ServeHTTP(w, r)
				return
			}
			k.ServeHTTP(w, r)
		})
		mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
			serve(humago.NewContext(&op, r, w))
		})
	}
}

// tagged is an endpoint whose answer has a tag, one for every query: whoever has that of now gets
// 304, and nothing is put together. tag must not be newer than what the endpoint then reads; an
// empty one is none.
func tagged(e endpoint, tag func(ctx huma.Context) string) endpoint {
	return func(s *Server, mux *http.ServeMux, api huma.API, op huma.Operation) {
		gives(http.StatusNotModified)(&op)
		op.Middlewares = append(slices.Clone(op.Middlewares), func(ctx huma.Context, next func(huma.Context)) {
			now := tag(ctx)
			if now == "" {
				next(ctx)
				return
			}
			a := answer{tag: `W/"` + now + `"`} // weak: it may be compressed
			ctx.SetHeader("ETag", a.tag)
			if a.matches(ctx.Header("If-None-Match")) {
				ctx.SetHeader("Cache-Control", "private, no-cache")
				ctx.SetStatus(http.StatusNotModified)
				return
			}
			next(ctx)
		})
		e(s, mux, api, op)
	}
}

// hasQuery reports whether GET of a route takes anything in its query. Otherwise a query
// means nothing, and must not be a way around the kept answer.
func hasQuery(doc *huma.OpenAPI, path string) bool {
	item := doc.Paths[path]
	return item != nil && item.Get != nil && slices.ContainsFunc(item.Get.Parameters, func(p *huma.Param) bool { return p.In == "query" })
}

// elsewhere is an API whose operations are documented with the others, but served by
// another mux.
type elsewhere struct {
	huma.API
	adapter huma.Adapter
}

func (e elsewhere) Adapter() huma.Adapter { return e.adapter }

// kept serves the newest answer of a handler.
type kept struct {
	path    string
	handler http.Handler
	state   func() any
	fresh   time.Duration // how long an answer is served
	// compressed says that answers may be: Vary is there even where one is not.
	compressed bool

	last     atomic.Pointer[answer]
	mu       sync.Mutex
	building *attempt // nil when no answer is being built
}

// attempt is an answer that is being built.
type attempt struct {
	done   chan struct{}
	answer *answer // set once done is closed
}

type answer struct {
	state  any
	at     time.Time
	status int
	head   http.Header
	body   []byte
	clock  int       // where the digits of serverTime begin; 0 without it
	tag    string    // ETag; empty with serverTime. It is weak: one for every encoding.
	gzip   *squeezed // nil where the answer is not compressed
}

func (k *kept) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := k.get(r.Context())
	if a == nil {
		return // the client has left
	}
	maps.Copy(w.Header(), a.head)
	if k.compressed {
		w.Header().Add("Vary", "Accept-Encoding")
	}
	body := a.body
	switch {
	case a.clock > 0:
		body = slices.Clone(body)
		copy(body[a.clock:], strconv.FormatInt(time.Now().UnixMilli(), 10))
	case a.tag != "":
		w.Header()["Etag"] = []string{a.tag}
		if a.matches(r.Header.Get("If-None-Match")) {
			delete(w.Header(), "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if a.gzip != nil && negotiate.Accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		body = a.gzip.bytes(body, a.clock)
		w.Header()["Content-Encoding"] = []string{"gzip"}
	}
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the client may have left
}

// matches reports whether a client has this answer already.
func (a *answer) matches(tags string) bool { return negotiate.Has(tags, a.tag) }

// get returns an answer for the current state; nil when ctx ends first.
func (k *kept) get(ctx context.Context) *answer {
	for {
		state := k.state()
		a := k.last.Load()
		if a != nil && a.state == state && time.Since(a.at) < k.fresh {
			return a
		}
		m, mine := k.make()
		if mine {
			k.finish(ctx, m, state)
		} else if a != nil && a.state == state && time.Since(a.at) < usable {
			return a
		}
		select {
		case <-m.done:
		case <-ctx.Done():
			return nil
		}
		// An answer that was begun for another request may be of an earlier state.
		if mine || m.answer.state == state {
			return m.answer
		}
	}
}

// make returns the answer that is being built; mine tells the caller to build it.
func (k *kept) make() (m *attempt, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.building != nil {
		return k.building, false
	}
	k.building = &attempt{done: make(chan struct{})}
	return k.building, true
}

// finish builds an answer. It goes on if the client leaves, for others wait for it.
func (k *kept) finish(ctx context.Context, m *attempt, state any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), making)
	defer cancel()
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.building = nil
		close(m.done)
	}()
	m.answer = &answer{state: state, at: time.Now(), status: http.StatusInternalServerError}
	page := held.New(http.Header{}, math.MaxInt)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.path, nil)
	if err != nil {
		return
	}
	k.handler.ServeHTTP(page, req)
	m.answer.status, m.answer.head, m.answer.body = page.Status, page.Header(), page.Body.Bytes()
	m.answer.head.Del("Vary") // is added to that of each request
	if page.Status != http.StatusOK {
		return // errors are not kept
	}
	m.answer.clock = clockIn(m.answer.body)
	if m.answer.clock == 0 {
		sum := sha256.Sum256(m.answer.body)
		m.answer.tag = `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		if m.answer.head.Get("Cache-Control") == "" {
			m.answer.head.Set("Cache-Control", "no-cache") // revalidate each time
		}
	}
	if k.compressed && squeezes(m.answer.head, m.answer.body, m.answer.clock) {
		m.answer.gzip = &squeezed{}
	}
	k.last.Store(m.answer)
}

// The states that answers are built from.

type airState struct {
	air        *scheduler.View
	votes, art uint64
}

// ofAir is the state of answers about the rotation.
func (s *Server) ofAir() any { return airState{s.opt.Air(), s.voted.Load(), s.artVersion()} }

type stationState struct {
	air       *scheduler.View
	lib       *media.Snapshot
	mastering Mastering
	art       uint64
	face      any
}

// ofStation is the state of answers about the air and the library.
func (s *Server) ofStation() any {
	return stationState{s.opt.Air(), s.opt.Library(), s.opt.Mastering(), s.artVersion(), s.ofFace()}
}

type healthState struct {
	air    *scheduler.View
	faults string
}

// ofHealth is the state of answers about health: a fault shows at once.
func (s *Server) ofHealth() any {
	return healthState{s.opt.Air(), strings.Join(s.faults(), "; ")}
}

// ofNothing is the state of answers that only time makes old.
func ofNothing() any { return nil }

// clockIn finds the digits of serverTime, which are filled in at each request.
func clockIn(body []byte) int {
	const name = `"serverTime":`
	at := bytes.LastIndex(body, []byte(name)) + len(name)
	if at < len(name) || len(body) < at+13 {
		return 0
	}
	if _, err := strconv.ParseUint(string(body[at:at+13]), 10, 64); err != nil {
		return 0
	}
	return at
}
