package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// route is one row of the endpoint table.
type route struct {
	method, path string
	guard        guard
	summary      string
	serve        endpoint
}

// routes is the endpoint table, in the mission's order. Rows of the mission
// whose part is not built yet are absent, never stubbed.
func (s *Server) routes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		// Streaming
		{get, "/stream", open, "The main channel's audio", raw(s.stream)},
		{get, "/stream/{channelId}", open, "A channel's audio", raw(s.stream)},
		// Channels
		{get, "/api/channels", open, "List channels", typed(s.channels)},
		// Content and library
		{get, "/api/library", open, "Inventory of the media library", typed(s.library)},
		// Telemetry and other routes
		{get, "/api/status", open, "Now playing, listeners, bandwidth", typed(s.status)},
		{get, "/api/schedule", open, "The full rotation with onAir and aired flags", typed(s.schedule)},
		{get, "/api/upnext", open, "Upcoming queue with titles and artists", typed(s.upnext)},
		{get, "/next-tracks.json", open, "Upcoming queue", typed(s.nextTracks)},
		{get, "/network-test-payload", open, "Synthetic payload for network testing", raw(s.networkTest)},
		{get, "/ping", open, "Epoch milliseconds, plain text", raw(s.ping)},
		{post, "/metadata", engineOnly, "Track marker of the playout engine", typed(s.metadata)},
		// Operation
		{get, "/healthz", open, "Whether the control plane works", typed(s.health)},
		{get, "/metrics", open, "Prometheus metrics", raw(s.metrics)},
	}
}

// Handler serves the table, the pages and /openapi.json.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	api := newAPI(mux, s.opt.Version)
	for _, r := range s.routes() {
		op := huma.Operation{
			OperationID: operationID(r.method, r.path), Method: r.method, Path: r.path, Summary: r.summary,
			MaxBodyBytes: maxBody, Middlewares: huma.Middlewares{s.admit(api, r.guard)},
		}
		r.serve(mux, api, op)
	}
	mux.Handle("GET "+s.opt.HLSPrefix, s.opt.HLS)
	mux.Handle("/", s.opt.Pages)
	return secured(recovered(s.opt.Log, mux))
}
