// Package api is the control plane's HTTP surface. routes.go is its endpoint
// table; OpenAPI comes from the same source and is served at /openapi.json.
// Errors are RFC 9457 problem documents.
//
// The package decides nothing: it calls the parts in Options and answers.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// Process is one supervised program of the broadcast node.
type Process struct {
	Name     string `json:"name" doc:"Program"`
	State    string `json:"state" enum:"waiting,starting,running,backoff,stopped"`
	PID      int    `json:"pid,omitempty" doc:"With the station key"`
	Restarts int    `json:"restarts" doc:"Since the node started"`
	Since    int64  `json:"since" doc:"Epoch milliseconds of the last change of state"`
	LastExit string `json:"lastExit,omitempty" doc:"How it last ended, with the station key"`
	// Condition is how it works while it runs.
	Condition string `json:"condition,omitempty" enum:",well,full,starved,wedged" doc:"How it works while it runs; empty where that is not known. starved: it waits for a processor, memory or a disk; wedged: it could work and does not"`
	Why       string `json:"why,omitempty" doc:"The condition in words, with the station key"`
	Kills     int    `json:"kills,omitempty" doc:"How often its watchdog killed it"`
	Spared    string `json:"spared,omitempty" doc:"Why its watchdog does not kill it although it is wedged, with the station key"`
}

// Node is the state that the broadcast node reports.
type Node struct {
	Programs []Process
	// Sounding: all programs between rotation and listeners run.
	Sounding bool
	DiskFull bool
	Versions map[string]string // of Athir's own processes, by role
	Restart  []string          // settings that wait for a restart, and in brackets of what
}

// Stream is the /stream fan-out.
type Stream interface {
	// Handler returns a channel's audio; false for an unknown channel.
	Handler(channelID string) (http.Handler, bool)
	Listeners() int
	BytesOut() uint64
}

// Policy holds the station configuration. who is who changes it.
type Policy interface {
	Current() policy.Document
	// Saved reports whether the configuration in force would survive a restart.
	Saved() bool
	// Keeps reports whether changes are saved as they are made; Unsaved is why the newest
	// could not be.
	Keeps() bool
	Unsaved() error
	Patch(ctx context.Context, who string, patch json.RawMessage) (policy.Change, error)
	Mood(ctx context.Context, who, name string) (policy.Change, error)
	Singers(ctx context.Context, who string, e policy.Edit) (policy.Change, error)
	SetQueries(ctx context.Context, who string, e policy.Edit) (policy.Change, error)
	Save(ctx context.Context) error
	Reset(ctx context.Context, who string) (policy.Change, error)
	// History lists the newest changes, the newest first.
	History() []policy.Past
	// Undo takes a change back, 0: the newest; left names what was changed again since.
	Undo(ctx context.Context, who string, id int64) (c policy.Change, left []string, err error)
}

// Desk controls what is on air. Each method returns once the change is committed.
type Desk interface {
	Rebuild(ctx context.Context) error
	Skip(ctx context.Context) error
	// Play returns the track that will be heard.
	Play(ctx context.Context, w scheduler.Wish) (station.Track, error)
	// Queue plays a path after what is on air.
	Queue(ctx context.Context, path string) error
}

// Votes are the listeners' votes on the queue.
type Votes interface {
	// Counts returns the sum of votes for each path; without votes it has none.
	Counts() map[string]int
	// Cast sets one client's vote for a path in the queue: 1, -1, or 0 for none.
	Cast(ctx context.Context, from feedback.Client, path string, delta int) error
}

// Options are the parts that the API calls. All are required unless they say otherwise.
type Options struct {
	Log      *slog.Logger
	Version  string
	Name     string // the station's name in the settings
	Face     Face
	Language string
	Zone     *time.Location
	// Renditions are the bitrates of HLS in kbit/s, the main one first.
	Renditions []int
	// Icecast are the port and the mounts of the streaming server.
	Icecast Icecast

	Air       func() *scheduler.View
	Completed func(ctx context.Context, m scheduler.Marker) (outcome string, err error)
	Library   func() *media.Snapshot
	Mastering func() Mastering
	Quieter   func() []aircopy.Quieter // may be nil
	Node      func(ctx context.Context) (Node, error)
	Count     func() telemetry.Count
	Stream    Stream
	Channels  Channels

	Policy Policy
	Desk   Desk
	Queue  Queue
	Votes  Votes
	Jobs   Jobs

	Reactions Reactions
	Vibes     Vibes
	Chat      *chat.Chat
	Requests  *requests.Requests // nil if they are switched off

	DeadAir   DeadAir // nil if it is switched off
	Telemetry Telemetry
	// Countries tells by what listeners' countries are told; nil: they are not.
	Countries func() census.State
	// Metrics and Groups are of parts that the API does not call.
	Metrics []Metric
	Groups  []Group
	// Standing says which node has the air; nil where it is this machine's.
	Standing func() *NodeStanding
	// Admit refuses the markers of a node that does not have the station; nil where
	// there is one node.
	Admit func(node string, fence uint64) error
	// Faults lists what keeps the control plane from its work, in words for everybody;
	// nil when nothing can. /healthz fails while there is one.
	Faults func() []string

	Shelf    *Shelf
	Art      Art // nil: nothing is known of pictures and words in files
	Imports  *desk.Desk
	Social   *Social // nil if it is switched off
	Live     *Live   // nil if it is switched off: its routes answer 503
	Podcasts *Podcasts
	Push     Push // nil if it is switched off
	Webhooks Webhooks
	Alarms   Alarms // nil where nobody is told
	// Backup tells of the newest backup; nil where there are none.
	Backup func() Backup

	Content  Content
	Producer Producer
	// Logs hold the newest lines of the log files content and server.
	Logs map[string]func(lines int) ([]string, error)

	StationKey *secret.Secret // not set: no key is needed
	People     *people.People
	// Look lets everybody see the studio, without orders.
	Look   bool
	Limits Limits
	// Now is the clock that requests and guesses at the key are limited by;
	// time.Now when nil.
	Now func() time.Time
	// Origins are the other web sites whose pages may call the API,
	// "https://radio.example"; "*" allows every site on routes that need no key.
	Origins   []string
	SyncToken *secret.Secret
	Files     Files
	Pages     http.Handler
	HLSPrefix string // with slashes at both ends
	HLS       http.Handler
}

// Server answers HTTP requests.
type Server struct {
	opt     Options
	reg     http.Handler // Prometheus
	testing networkTesting
	voted   atomic.Uint64  // counts the votes on the queue
	guesses *client.Limits // at the station key
	tokens  *client.Limits // guesses at the SYNC_TOKEN
	meters  map[limit]*client.Limits
	foreign *http.CrossOriginProtection
	own     *http.CrossOriginProtection // lets the station's own pages alone give orders
	named   func(origin string) bool    // whether the settings name it
	tickets tickets
	batches batches      // of uploads
	refused quarantineOf // prepared for searches
	// attached holds a place for each request whose body is an attachment.
	attached client.Places
}

// New makes a Server.
func New(opt Options) *Server {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	s := &Server{opt: opt, tickets: newTickets()}
	s.guesses = client.NewLimits(guessesAtOnce, guessEvery, opt.Now)
	s.tokens = client.NewLimits(guessesAtOnce, guessEvery, opt.Now)
	s.meters = opt.Limits.meters(opt.Now)
	s.named = OriginNamed(opt.Origins)
	s.foreign, s.own = trusting(opt.Origins), trusting(nil)
	s.reg = s.newMetrics()
	return s
}

// keyScheme is the station key's name in the OpenAPI document.
const keyScheme = "stationKey"

// adminScheme is the name of the moderators' key.
const adminScheme = "socialAdminKey"

// cookieScheme is the name of a session's cookie.
const cookieScheme = "session"

// tokenScheme is the sync token's.
const tokenScheme = "syncToken"

func newAPI(mux *http.ServeMux, version string) huma.API {
	cfg := huma.DefaultConfig("Athir", version)
	cfg.CreateHooks = nil // no $schema fields in answers
	cfg.DocsPath, cfg.SchemasPath = "", ""
	cfg.Transformers = []huma.Transformer{bounded}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		keyScheme:    {Type: "apiKey", In: "header", Name: "x-station-key", Description: "The STATION_KEY, or a key of a user who has the right x-right; Authorization: Bearer takes it as well"},
		adminScheme:  {Type: "apiKey", In: "header", Name: "x-admin-key", Description: "The SOCIAL_ADMIN_KEY; Authorization: Bearer takes it as well, and the station key opens the same routes"},
		cookieScheme: {Type: "apiKey", In: "cookie", Name: client.SessionInClear, Description: "Of POST /api/session; over TLS its name is " + client.SessionOverTLS + ". Orders by it are taken from the station's own pages alone"},
		tokenScheme:  {Type: "apiKey", In: "header", Name: "x-sync-token", Description: "The SYNC_TOKEN; Authorization: Bearer takes it as well"},
	}
	cfg.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaNames())
	// Written as text, stored as numbers.
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[rotation.TimeOfDay](), reflect.TypeFor[string]())
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[rotation.Offset](), reflect.TypeFor[string]())
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[rotation.Weekday](), reflect.TypeFor[string]())
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[station.Date](), reflect.TypeFor[string]())
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[map[string]any]())
	return humago.New(mux, cfg)
}

// schemaNames tells types of the same name in two packages apart: the second one in
// the table gets its package's name too.
func schemaNames() func(t reflect.Type, hint string) string {
	taken := map[string]reflect.Type{}
	return func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Name() == "" {
			return name
		}
		if first, known := taken[name]; known && first != t {
			pkg := path.Base(t.PkgPath())
			return strings.ToUpper(pkg[:1]) + pkg[1:] + name
		}
		taken[name] = t
		return name
	}
}

// endpoint registers one row of the table.
type endpoint func(s *Server, mux *http.ServeMux, api huma.API, op huma.Operation)

// typed is a JSON endpoint, documented by its types.
func typed[I, O any](fn func(context.Context, *I) (*O, error), notes ...note) endpoint {
	return func(s *Server, _ *http.ServeMux, api huma.API, op huma.Operation) {
		op = noted(api, op, reflect.TypeFor[I](), notes)
		op.Middlewares = slices.Concat(compressing(op), op.Middlewares)
		huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
			out, err := fn(ctx, in)
			return out, s.answered(op, err)
		})
	}
}

// answered returns the answer for an error, and logs internal errors and full disks,
// which callers hear of without their paths.
func (s *Server) answered(op huma.Operation, err error) error {
	out := refusal(err)
	var status huma.StatusError
	if problem.DiskFull(err) || errors.As(out, &status) && status.GetStatus() == http.StatusInternalServerError {
		s.opt.Log.Error("request failed", "route", op.Method+" "+op.Path, "answer", problem.Of(err).Detail, "err", err)
	}
	return out
}

// raw is an endpoint that writes something other than JSON; its notes document it.
func raw(fn func(http.ResponseWriter, *http.Request) error, notes ...note) endpoint {
	return func(_ *Server, mux *http.ServeMux, api huma.API, op huma.Operation) {
		op = noted(api, op, nil, notes)
		api.OpenAPI().AddOperation(&op)
		serve := op.Middlewares.Handler(func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			if err := fn(w, r); err != nil {
				problem.Write(w, err)
			}
		})
		mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
			serve(humago.NewContext(&op, r, w))
		})
	}
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
				panic(p) // how a proxy cuts a connection
			}
			log.Error("handler panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			problem.Write(w, errors.New("handler panicked"))
		}()
		next.ServeHTTP(w, r)
	})
}

func operationID(method, path string) string {
	clean := strings.NewReplacer("/", "-", "{", "", "}", "", ".", "-").Replace(strings.Trim(path, "/"))
	return strings.ToLower(method) + "-" + clean
}
