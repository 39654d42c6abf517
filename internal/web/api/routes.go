package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// route is one row of the endpoint table.
type route struct {
	method, path string
	guard        guard
	limit        limit
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
		{get, "/stream", open, unmetered, "The main channel's audio", raw(s.stream, audio)},
		{get, "/stream/{channelId}", open, unmetered, "A channel's audio", raw(s.stream, audio, channelID)},
		// Channels
		{get, "/api/channels", open, reading, "List channels", typed(s.channels)},
		{post, "/api/channels/create", programmes, operating, "Create a channel beside the main one", typed(s.createChannel, creates, may(409, 503))},
		{post, "/api/channels/{id}/queue", airs, operating, "Push a track onto a channel's queue; on main it is heard next", typed(s.queueOn, may(409, 503))},
		{http.MethodDelete, "/api/channels/{id}", programmes, operating, "Remove a channel", typed(s.removeChannel, may(409, 503))},
		// Content and library
		{get, "/api/library", open, searching, "Inventory of the media library", polled(typed(s.library), s.ofStation)},
	}, s.shelf(), s.shelfIntake(), s.shelfCovers(), s.lyricsRows(), s.playlists(), s.imports(), s.production(), []route{
		// Media sync: the token is in the query, and checked there
		{get, "/api/sync/media", open, unmetered, "One media file, for the broadcast node; rel and token in the query", raw(s.syncMedia, syncFile, syncPath)},
		{get, "/api/sync/m3u", open, unmetered, "The rotation file, for the broadcast node; token in the query", raw(s.syncM3U, syncFile)},
	}, s.stationControl(), s.queueByHand(), s.liveControl(), s.cartWall(), s.faces(), s.livePublishers(), s.liveRecordings(), s.liveNode(), s.deadAir(), s.alarms(), s.webhooks(), s.subscriptions(), s.moderation(), s.chatting(), s.socialPlatform(), s.requesting(), s.heardByListeners(), s.podcastRows(), s.sessions(), s.account(), s.people(), []route{
		// Telemetry and other routes
		{get, "/api/status", open, reading, "Now playing, listeners, bandwidth", polled(typed(s.status), s.ofStation)},
		{get, "/api/schedule", open, reading, "The full rotation with onAir and aired flags; why, with explain", polled(typed(s.schedule), s.ofAir)},
		{get, "/api/upnext", open, reading, "Upcoming queue with titles, artists and votes", polled(typed(s.upnext), s.ofAir)},
		{post, "/api/upnext/votes", open, writing, "Vote on a track of the queue", typed(s.vote, may(404, 409))},
		{get, "/api/upnext/votes", open, reading, "Current vote counts", typed(s.votes)},
		{get, "/next-tracks.json", open, reading, "Upcoming queue", polled(typed(s.nextTracks), s.ofAir)},
		{get, "/network-test-payload", open, heavy, "Synthetic payload for network testing", raw(s.networkTest, testBytes)},
		{get, "/ping", open, unmetered, "Epoch milliseconds, plain text", raw(s.ping, gives(200, "text/plain"))},
		{get, "/api/reactions", open, reading, "How often each emoji was sent", typed(s.reactions)},
		{post, "/api/reactions", open, writing, "React: one emoji, one to ten clicks", typed(s.react, may(409))},
		{get, "/api/vibe", open, reading, "Votes on the vibe, and one's own", typed(s.vibe)},
		{post, "/api/vibe", open, writing, "Vote for a vibe", typed(s.voteVibe, may(409))},
		{get, "/api/telemetry/listeners", open, searching, "Listeners and bandwidth by minute, hour or day", typed(s.listenersHistory)},
		{post, "/metadata", engineOnly, unmetered, "Track marker of the playout engine", typed(s.metadata, may(404, 409, 503))},
		// Operation
		{get, "/healthz", open, unmetered, "Whether the control plane works", polled(typed(s.health, may(503)), s.ofHealth)},
		{get, "/metrics", open, reading, "Prometheus metrics, at most a second old", polledFor(scrapedEvery, raw(s.metrics, gives(200, "text/plain")), ofNothing)},
	})
}

// stationControl returns the rows of the mission's section Station control, and
// those of clocks, GET mood, GET queries, history, undo and rules, which it does not have.
func (s *Server) stationControl() []route {
	const at = "/api/station"
	return []route{
		{get, at + "/state", inside, operating, "Snapshot: rotation, queue, decks, config, live, now playing", typed(s.state)},
		{get, at + "/config", looks, operating, "The station configuration", typed(s.config)},
		{put, at + "/config", programmes, operating, "Deep-merge a patch into the configuration (RFC 7396)", patches[policy.Document](s.patchConfig, may(503))},
		{put, at + "/genres", programmes, operating, "Update GENRE_SPLIT", patches[genres](s.section("GENRE_SPLIT"), may(503))},
		{put, at + "/weights", programmes, operating, "Update MASHUP_CHANCE and STOCHASTIC_SFX_CHANCE", typed(s.setWeights, may(503))},
		{put, at + "/rotation", programmes, operating, "Update the rotation's knobs", patches[rotation.Knobs](s.section("ROTATION"), may(503))},
		{put, at + "/dayparts", programmes, operating, "Set the daypart windows", patches[dayparts](s.sectionList("DAYPARTS", "dayparts"), may(503))},
		{post, at + "/dayparts/clear", programmes, operating, "Take the operator's windows away: the built-in ones hold", typed(s.clearDayparts, may(503))},
		{get, at + "/clocks", looks, operating, "The hour clocks", typed(s.clocks)},
		{put, at + "/clocks", programmes, operating, "Set the hour clocks", patches[clocks](s.sectionList("CLOCKS", "clocks"), may(503))},
		{get, at + "/mood", looks, operating, "The mood in force, and all presets", typed(s.mood)},
		{put, at + "/mood", programmes, operating, "Apply a mood preset", typed(s.setMood, may(503))},
		{get, at + "/singers", looks, operating, "Singer catalogs per category", typed(s.singers)},
		{post, at + "/singers", programmes, operating, "Add, remove or replace singers of a category", typed(s.setSingers, may(503))},
		{get, at + "/queries", looks, operating, "Trend queries per category", typed(s.queries)},
		{put, at + "/queries", programmes, operating, "Replace the trend queries of a category", typed(s.setQueries, may(503))},
		{post, at + "/content/fetch", programmes, heavy, "Fetch new material of a category", long(production.ContentLane, "content fetch", s.fetch)},
		{post, at + "/content/scrub", programmes, heavy, "Archive junk of a category", long(production.ContentLane, "content scrub", s.scrub)},
		{post, at + "/content/refresh", programmes, heavy, "Refresh the library", s.refresh()},
		{post, at + "/rotation/rebuild", airs, operating, "Rebuild the rotation on air and push it", typed(s.rebuild, may(409, 503))},
		{post, at + "/skip", airs, operating, "Skip what plays", typed(s.skip, may(409, 503))},
		{post, at + "/play", airs, operating, "Force a track of a category to the head, and skip to it", typed(s.play, may(404, 409, 503))},
		{post, at + "/config/save", programmes, operating, "Keep the configuration over restarts", typed(s.saveConfig, may(503))},
		{post, at + "/config/reset", programmes, operating, "Delete the configuration file; the defaults are in force", typed(s.resetConfig, may(503))},
		{get, at + "/config/history", inside, operating, "The newest changes of the configuration, and who made them", typed(s.configHistory)},
		{post, at + "/config/undo", programmes, operating, "Take a change of the configuration back; what was changed again since stays", typed(s.undoConfig, may(404, 409, 503))},
		{get, at + "/log", programmes, operating, "The newest lines of a log", typed(s.log)},
		{get, at + "/telemetry/airings", looks, operating, "What aired, with how many listening", twoForms[airingList]("What aired", s.listAirings)},
		{get, at + "/telemetry/tracks", looks, searching, "How listeners took to each track", twoForms[trackList]("Tracks", s.listTracks, may(503))},
		{get, at + "/telemetry/audience", looks, searching, "On what devices, in which countries and by which way the station is heard", twoForms[audienceBody]("Sums of listener hours", s.audience)},
		{get, at + "/telemetry/royalties", looks, searching, "The music of a month, as organisations of rights ask for it", twoForms[royaltiesBody]("The music of a month", s.royalties, may(503))},
		{get, at + "/rules", looks, operating, "The rules of the rotation, the least important first", typed(s.rules)},
	}
}

// stationPrefix is the part that needs the station key, even on unknown routes.
const stationPrefix = "/api/station/"

// Handler serves the table, the pages and /openapi.json.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	api := newAPI(mux, s.opt.Version)
	methods := map[string][]string{}
	rows, shared := s.routes(), share(s.opt.Origins)
	for _, r := range rows {
		term := s.opt.Limits.of(r.limit)
		op := huma.Operation{
			OperationID: operationID(r.method, r.path), Method: r.method, Path: r.path, Summary: r.summary, Description: term.text(),
			Tags: []string{section(r.path)}, Errors: refusals(r, term),
			MaxBodyBytes: term.body,
			Middlewares:  slices.Concat(crossing(shared.middleware(r)), s.metered(r.limit), huma.Middlewares{s.admit(r.guard)}, s.recognizing(r.guard)),
		}
		if r.compressible() {
			op.Metadata = map[string]any{compressed: true}
		}
		for _, scheme := range r.guard.schemes() {
			op.Security = append(op.Security, map[string][]string{scheme: {}})
		}
		if right := r.guard.right(); right != 0 {
			op.Extensions = map[string]any{"x-right": right.Names()[0]}
		}
		r.serve(s, mux, api, op)
		methods[r.path] = append(methods[r.path], r.method)
	}
	complete(api.OpenAPI())
	mux.Handle("GET /docs", docs(api.OpenAPI()))
	unknown := s.unknown(methods)
	mux.Handle("/api/", unknown)
	preflights(mux, rows, shared, unknown)
	if s.opt.Social != nil {
		s.uploads(mux)
	}
	s.shelfUploads(mux)
	mux.Handle("GET "+s.opt.HLSPrefix, s.opt.HLS)
	mux.Handle("/", s.opt.Pages)
	return secured(recovered(s.opt.Log, documents(mux, "/openapi.json", "/openapi.yaml", "/docs")))
}

// unknown answers paths and methods that no row of the table has. Without the key, a
// client learns nothing of which routes need it.
func (s *Server) unknown(methods map[string][]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, stationPrefix) {
			if _, err := s.need(people.Look, r); err != nil {
				for name, value := range refusalHeaders(looks, err) {
					w.Header().Set(name, value)
				}
				problem.Answer(w, refusalStatus(err), station.Reason(err))
				return
			}
		}
		if allowed := methods[r.URL.Path]; len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			problem.Answer(w, http.StatusMethodNotAllowed, "this route takes "+strings.Join(allowed, " and "))
			return
		}
		problem.Answer(w, http.StatusNotFound, "there is no such route: see /openapi.json")
	})
}

// from returns the sender's address, for the log.
func from(r *http.Request) string {
	if address := client.Address(r); address != "" {
		return address
	}
	return "this machine"
}
