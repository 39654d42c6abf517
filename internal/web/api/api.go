// Package api is the control plane's HTTP surface. routes.go is its endpoint
// table; OpenAPI comes from the same source and is served at /openapi.json.
// Errors are RFC 9457 problem documents.
//
// api decides nothing: it asks the parts through Options and answers.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// maxBody is the largest JSON body in bytes.
const maxBody = 1 << 20

// Process is one supervised program of the broadcast node.
type Process struct {
	Name     string `json:"name" doc:"Program"`
	State    string `json:"state" enum:"waiting,starting,running,backoff,stopped"`
	PID      int    `json:"pid,omitempty"`
	Restarts int    `json:"restarts" doc:"Since the node started"`
	Since    int64  `json:"since" doc:"Epoch milliseconds of the last change of state"`
	LastExit string `json:"lastExit,omitempty" doc:"How it last ended"`
}

// Node is what the broadcast node says of itself.
type Node struct {
	Programs []Process
	// Sounding: the programs between rotation and listeners run.
	Sounding bool
}

// Stream is the /stream fan-out.
type Stream interface {
	// Handler returns a channel's audio; false for an unknown channel.
	Handler(channelID string) (http.Handler, bool)
	Listeners() int
	BytesOut() uint64
}

// Options are the parts the surface asks. All are required.
type Options struct {
	Log      *slog.Logger
	Version  string
	Name     string // of the station
	Language string
	Zone     *time.Location

	Air       func() *scheduler.View
	Completed func(ctx context.Context, m scheduler.Marker) (outcome string, err error)
	Library   func() *media.Snapshot
	Node      func(ctx context.Context) (Node, error)
	Count     func() telemetry.Count
	Stream    Stream

	SyncToken string
	Pages     http.Handler
	HLSPrefix string // with slashes at both ends
	HLS       http.Handler
}

// Server answers HTTP requests.
type Server struct {
	opt     Options
	reg     http.Handler  // Prometheus
	testing chan struct{} // a place for each network test under way
}

// New makes a Server.
func New(opt Options) *Server {
	s := &Server{opt: opt, testing: make(chan struct{}, networkTests)}
	s.reg = s.newMetrics()
	return s
}

func newAPI(mux *http.ServeMux, version string) huma.API {
	cfg := huma.DefaultConfig("Athir", version)
	cfg.CreateHooks = nil // no $schema fields in answers
	cfg.DocsPath, cfg.SchemasPath = "", ""
	return humago.New(mux, cfg)
}

// endpoint puts one row of the table into service.
type endpoint func(mux *http.ServeMux, api huma.API, op huma.Operation)

// typed is a JSON endpoint; its types are its documentation.
func typed[I, O any](fn func(context.Context, *I) (*O, error)) endpoint {
	return func(_ *http.ServeMux, api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
			out, err := fn(ctx, in)
			return out, problem(err)
		})
	}
}

// raw is an endpoint that writes something other than JSON. A raw endpoint is
// open: guards belong to typed ones.
func raw(fn func(http.ResponseWriter, *http.Request) error) endpoint {
	return func(mux *http.ServeMux, api huma.API, op huma.Operation) {
		op.Responses = map[string]*huma.Response{"200": {Description: "OK"}}
		op.Middlewares = nil
		api.OpenAPI().AddOperation(&op)
		mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
			if err := fn(w, r); err != nil {
				writeProblem(w, err)
			}
		})
	}
}

// statusOf is the one table from kinds of error to HTTP status.
func statusOf(err error) int {
	for _, k := range []struct {
		kind   error
		status int
	}{
		{station.ErrNotFound, http.StatusNotFound},
		{station.ErrInvalid, http.StatusUnprocessableEntity},
		{station.ErrConflict, http.StatusConflict},
		{station.ErrTooLarge, http.StatusRequestEntityTooLarge},
		{station.ErrUnauthentic, http.StatusUnauthorized},
		{station.ErrUnavailable, http.StatusServiceUnavailable},
		{context.Canceled, http.StatusServiceUnavailable},
	} {
		if errors.Is(err, k.kind) {
			return k.status
		}
	}
	return http.StatusInternalServerError
}

func problem(err error) error {
	if err == nil {
		return nil
	}
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		return huma.NewError(status, "something went wrong on our side", nil)
	}
	return huma.NewError(status, err.Error())
}

func writeProblem(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	detail := err.Error()
	if status == http.StatusInternalServerError {
		detail = "something went wrong on our side"
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail})
}

// secured sets what every answer carries.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// recovered turns a panic into an answer and a log line with its stack.
func recovered(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler { //nolint:errorlint // a panic value, compared as net/http does
				panic(p) // a proxy's way to cut a connection
			}
			log.Error("handler panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			writeProblem(w, errors.New("something went wrong on our side"))
		}()
		next.ServeHTTP(w, r)
	})
}

func operationID(method, path string) string {
	clean := strings.NewReplacer("/", "-", "{", "", "}", "", ".", "-").Replace(strings.Trim(path, "/"))
	return strings.ToLower(method) + "-" + clean
}
