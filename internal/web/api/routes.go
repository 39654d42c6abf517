package api

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// route is one row of the endpoint table.
type route struct {
	method, path string
	guard        guard
	summary      string
	serve        endpoint
}

const (
	get  = http.MethodGet
	post = http.MethodPost
	put  = http.MethodPut
)

// routes is the endpoint table, in the mission's order. Rows of the mission
// whose part is not built yet are absent, never stubbed.
func (s *Server) routes() []route {
	return slices.Concat([]route{
		// Streaming
		{get, "/stream", open, "The main channel's audio", raw(s.stream)},
		{get, "/stream/{channelId}", open, "A channel's audio", raw(s.stream)},
		// Channels
		{get, "/api/channels", open, "List channels", typed(s.channels)},
		// Content and library
		{get, "/api/library", open, "Inventory of the media library", typed(s.library)},
	}, s.production(), []route{
		// Media sync: the token is in the query, and checked there
		{get, "/api/sync/media", open, "One media file, for the broadcast node; rel and token in the query", raw(s.syncMedia)},
		{get, "/api/sync/m3u", open, "The rotation file, for the broadcast node; token in the query", raw(s.syncM3U)},
	}, s.stationControl(), []route{
		// Telemetry and other routes
		{get, "/api/status", open, "Now playing, listeners, bandwidth", typed(s.status)},
		{get, "/api/schedule", open, "The full rotation with onAir and aired flags; why, with explain", typed(s.schedule)},
		{get, "/api/upnext", open, "Upcoming queue with titles, artists and votes", typed(s.upnext)},
		{post, "/api/upnext/votes", open, "Vote on a track of the queue", typed(s.vote)},
		{get, "/api/upnext/votes", open, "Current vote counts", typed(s.votes)},
		{get, "/next-tracks.json", open, "Upcoming queue", typed(s.nextTracks)},
		{get, "/network-test-payload", open, "Synthetic payload for network testing", raw(s.networkTest)},
		{get, "/ping", open, "Epoch milliseconds, plain text", raw(s.ping)},
		{get, "/api/reactions", open, "How often each emoji was sent", typed(s.reactions)},
		{post, "/api/reactions", open, "React: one emoji, one to ten clicks", typed(s.react)},
		{get, "/api/vibe", open, "Votes on the vibe, and one's own", typed(s.vibe)},
		{post, "/api/vibe", open, "Vote for a vibe", typed(s.voteVibe)},
		{post, "/metadata", engineOnly, "Track marker of the playout engine", typed(s.metadata)},
		// Operation
		{get, "/healthz", open, "Whether the control plane works", typed(s.health)},
		{get, "/metrics", open, "Prometheus metrics", raw(s.metrics)},
	})
}

// stationControl is the mission's section Station control. The rows of clocks,
// GET mood, GET queries and rules are ours.
func (s *Server) stationControl() []route {
	const at = "/api/station"
	return []route{
		{get, at + "/state", stationKey, "Snapshot: rotation, queue, decks, config, live, now playing", typed(s.state)},
		{get, at + "/config", stationKey, "The station configuration", typed(s.config)},
		{put, at + "/config", stationKey, "Deep-merge a patch into the configuration (RFC 7396)", patches[policy.Document](s.patchConfig)},
		{put, at + "/genres", stationKey, "Update GENRE_SPLIT", patches[genres](s.section("GENRE_SPLIT"))},
		{put, at + "/weights", stationKey, "Update MASHUP_CHANCE and STOCHASTIC_SFX_CHANCE", typed(s.setWeights)},
		{put, at + "/rotation", stationKey, "Update the rotation's knobs", patches[rotation.Knobs](s.section("ROTATION"))},
		{put, at + "/dayparts", stationKey, "Set the daypart windows", patches[dayparts](s.sectionList("DAYPARTS", "dayparts"))},
		{post, at + "/dayparts/clear", stationKey, "Take the operator's windows away: the built-in ones hold", typed(s.clearDayparts)},
		{get, at + "/clocks", stationKey, "The hour clocks", typed(s.clocks)},
		{put, at + "/clocks", stationKey, "Set the hour clocks", patches[clocks](s.sectionList("CLOCKS", "clocks"))},
		{get, at + "/mood", stationKey, "The mood in force, and all presets", typed(s.mood)},
		{put, at + "/mood", stationKey, "Apply a mood preset", typed(s.setMood)},
		{get, at + "/singers", stationKey, "Singer catalogs per category", typed(s.singers)},
		{post, at + "/singers", stationKey, "Add, remove or replace singers of a category", typed(s.setSingers)},
		{get, at + "/queries", stationKey, "Trend queries per category", typed(s.queries)},
		{put, at + "/queries", stationKey, "Replace the trend queries of a category", typed(s.setQueries)},
		{post, at + "/content/fetch", stationKey, "Fetch new material of a category", long(ContentLane, "content fetch", s.fetch)},
		{post, at + "/content/scrub", stationKey, "Archive junk of a category", long(ContentLane, "content scrub", s.scrub)},
		{post, at + "/content/refresh", stationKey, "Refresh the library", s.refresh()},
		{post, at + "/rotation/rebuild", stationKey, "Rebuild the rotation on air and push it", typed(s.rebuild)},
		{post, at + "/skip", stationKey, "Skip what plays", typed(s.skip)},
		{post, at + "/play", stationKey, "Force a track of a category to the head, and skip to it", typed(s.play)},
		{post, at + "/config/save", stationKey, "Keep the configuration over restarts", typed(s.saveConfig)},
		{post, at + "/config/reset", stationKey, "Delete the configuration file; the defaults are in force", typed(s.resetConfig)},
		{get, at + "/log", stationKey, "The newest lines of a log", typed(s.log)},
		{get, at + "/rules", stationKey, "The rules of the rotation, the least important first", typed(s.rules)},
	}
}

// stationPrefix is what stands behind the station key, known route or not.
const stationPrefix = "/api/station/"

// Handler serves the table, the pages and /openapi.json.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	api := newAPI(mux, s.opt.Version)
	methods := map[string][]string{}
	for _, r := range s.routes() {
		op := huma.Operation{
			OperationID: operationID(r.method, r.path), Method: r.method, Path: r.path, Summary: r.summary,
			MaxBodyBytes: maxBody, Middlewares: huma.Middlewares{s.admit(api, r.guard)},
		}
		if r.guard == stationKey {
			op.Security = []map[string][]string{{keyScheme: {}}}
		}
		r.serve(s, mux, api, op)
		methods[r.path] = append(methods[r.path], r.method)
	}
	mux.Handle("/api/", s.unknown(methods))
	mux.Handle("GET "+s.opt.HLSPrefix, s.opt.HLS)
	mux.Handle("/", s.opt.Pages)
	return secured(recovered(s.opt.Log, mux))
}

// unknown answers for paths and methods that no row of the table has. Whoever
// has no key learns nothing of what lies behind it.
func (s *Server) unknown(methods map[string][]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, stationPrefix) {
			if err := s.refusal(stationKey, r); err != nil {
				for name, value := range refusalHeaders(stationKey, err) {
					w.Header().Set(name, value)
				}
				writeStatus(w, refusalStatus(err), err.Error())
				return
			}
		}
		if allowed := methods[r.URL.Path]; len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			writeStatus(w, http.StatusMethodNotAllowed, "this route takes "+strings.Join(allowed, " and "))
			return
		}
		writeStatus(w, http.StatusNotFound, "there is no such route: see /openapi.json")
	})
}

// audited logs what an operator has done, and from where.
func (s *Server) audited(ctx huma.Context) {
	if ctx.Method() == get {
		return
	}
	r, _ := humago.Unwrap(ctx)
	level := slog.LevelInfo
	if ctx.Status() >= http.StatusBadRequest {
		level = slog.LevelWarn
	}
	s.opt.Log.Log(ctx.Context(), level, "station control", "route", ctx.Method()+" "+ctx.Operation().Path,
		"status", ctx.Status(), "from", from(r))
}

// from is where a request comes from, for the log.
func from(r *http.Request) string {
	if address := client.Address(r); address != "" {
		return address
	}
	return "this machine"
}
