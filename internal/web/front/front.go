// Package front serves the pages and everything they need from one origin: the
// HLS session cookie is only kept when page and stream share one (mission:
// Authentication, HLS stream). What it passes on is a list, never "everything".
package front

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/web/problem"
)

// HLSPrefix is where pages find the relay: HLSPrefix + "main/index.m3u8".
const HLSPrefix = "/hls/"

// EventsPath is where clients of events connect.
const EventsPath = "/socket.io/"

// Events passes EventsPath on to an edge, WebSocket upgrades included.
func Events(log *slog.Logger, edge string) http.Handler {
	return proxy(log, edge, "", pollWait)
}

const (
	// answerWait is how long a server behind the front may take to begin its answer.
	answerWait = 20 * time.Second
	// pollWait is the same for an edge, which holds a poll until it has an event,
	// at most for one heartbeat of 25 s.
	pollWait = 50 * time.Second
)

// vouched adds the token to forwarded requests. It must be added to what goes out: a
// proxy first takes away what the client names in Connection, whose token would then
// be missing and whose guesses and requests would count for the edge's own address.
func vouched(token func() string, to *httputil.ReverseProxy) *httputil.ReverseProxy {
	return shown(client.EdgeHeader, token, to)
}

func shown(header string, token func() string, to *httputil.ReverseProxy) *httputil.ReverseProxy {
	rewrite := to.Rewrite
	to.Rewrite = func(r *httputil.ProxyRequest) {
		rewrite(r)
		r.Out.Header.Del(header)
		if token == nil {
			return
		}
		if shown := token(); shown != "" {
			r.Out.Header.Set(header, shown)
		}
	}
	return to
}

// Trusted accepts the forwarded addresses of an edge on another machine whose token
// admits holds good, as it does those of a proxy on this machine.
//
// A guest, an edge with a credential of its own, speaks for listeners alone: what it would not
// pass on counts for the address that it comes from itself, and no key that comes by it is
// looked at. Whoever had its credential could otherwise try keys without end, each from another
// address.
func Trusted(admits func(token string) (ok, guest bool), next http.Handler) http.Handler {
	passed := http.NewServeMux()
	for _, route := range slices.Concat(public, uploads, []string{"GET " + HLSPrefix}) {
		passed.Handle(route, next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent := r.Header.Get(client.EdgeHeader); sent != "" {
			r.Header.Del(client.EdgeHeader)
			if r.Header.Get("X-Forwarded-For") != "" {
				vouch(r, sent, admits, passed)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// keys are the headers by which operators and moderators show theirs.
var keys = []string{"X-Station-Key", "X-Admin-Key", "Authorization"}

// vouch has a request of an edge count for the address that it forwards.
func vouch(r *http.Request, token string, admits func(token string) (ok, guest bool), passed *http.ServeMux) {
	ok, guest := admits(token)
	if !ok {
		return
	}
	if guest {
		for _, name := range keys {
			r.Header.Del(name)
		}
		client.DropSession(r)
		if _, pattern := passed.Handler(r); pattern == "" {
			return
		}
	}
	r.RemoteAddr = "127.0.0.1:0"
	crowd.Release(r.Context()) // it carries many listeners
}

// public lists the routes that the front forwards to the control plane: reading, and
// what every listener may do.
var public = []string{
	"GET /ping", "GET /stream", "GET /stream/{channelId}", "GET /api/status", "GET /api/schedule", "GET /api/upnext",
	"GET /api/library", "GET /api/channels", "GET /next-tracks.json", "GET /network-test-payload",
	"GET /api/upnext/votes", "POST /api/upnext/votes", "GET /api/reactions", "POST /api/reactions", "GET /api/vibe", "POST /api/vibe",
	"GET /api/comments", "POST /api/comments", "GET /api/chat/rooms", "GET /api/chat/rooms/{room}/messages", "GET /chat/media/{file}",
	"GET /api/subscribe", "POST /api/subscribe", "POST /api/subscribe/mine", "DELETE /api/subscribe",
	"GET /api/telemetry/listeners", "GET /api/history", "GET /api/tracks/{id}", "GET /api/tracks/{id}/lyrics", "GET /api/oembed", "GET /api/library/covers/{id}",
	"GET /api/requests", "POST /api/requests", "GET /api/requests/search", "DELETE /api/requests/{id}",
	"GET /api/social/posts", "GET /api/social/posts/{id}", "POST /api/social/posts", "GET /api/social/posts/{id}/audio", "GET /api/social/posts/{id}/cover",
	"POST /api/social/posts/{id}/vote", "POST /api/social/posts/{id}/react", "POST /api/social/posts/{id}/report",
	"POST /api/social/posts/{id}/withdraw", "POST /api/social/posts/{id}/appeal",
	"GET /api/social/status", "GET /api/social/next", "GET /api/social/chart",
	"GET /api/podcasts", "GET /api/podcasts/{show}", "GET /api/podcasts/{show}/episodes", "GET /api/podcasts/{show}/episodes/{id}",
	"GET /podcasts/{show}/feed.xml", "GET /podcasts/{show}/cover.jpg",
	"GET /podcasts/{show}/{episode}/audio.mp3", "GET /podcasts/{show}/{episode}/chapters.json", "GET /podcasts/{show}/{episode}/transcript.txt",
	"OPTIONS /podcasts/{show}/feed.xml", "OPTIONS /podcasts/{show}/cover.jpg",
	"OPTIONS /podcasts/{show}/{episode}/audio.mp3", "OPTIONS /podcasts/{show}/{episode}/chapters.json", "OPTIONS /podcasts/{show}/{episode}/transcript.txt",
}

// uploads lists those whose bodies are files: they may take as long as they keep coming.
var uploads = []string{"POST /api/social/upload/{type}", "/api/social/tus", "/api/social/tus/"}

// longestUpload bounds how long one request may bring a file.
const longestUpload = 2 * time.Hour

// coming gives a request's body time for as long as it keeps coming.
func coming(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			r.Body = struct {
				io.Reader
				io.Closer
			}{deadline.Reader(w, r.Body, stall, longestUpload), r.Body}
		}
		next.ServeHTTP(w, r)
	})
}

// Options of a front.
type Options struct {
	Log     *slog.Logger
	Pages   http.Handler // of listeners
	Control string       // host:port of the control plane
	// Made makes the pages where they ask the control plane something; nil: they are Pages.
	Made func(control http.Handler) http.Handler
	// Only are the routes that are passed on where the pages need few of them, as "GET /x";
	// HLS is then none. Nil: all that every listener may use.
	Only []string
	// Relay is host:port of the HLS relay; when empty, HLS is requested from the
	// control plane, which forwards it.
	Relay string
	// HLS serves it in this process, in place of Relay; may be nil.
	HLS http.Handler
	// Events answers below EventsPath; nil for none.
	Events http.Handler
	// Token lets the control plane trust the addresses that are forwarded; see Trusted. Nil:
	// there is none.
	Token func() string
	// Problem says why this process cannot do its work; empty, or a nil Problem, means
	// that it can.
	Problem func() string
	// Ends is closed when this process ends: writes that wait are refused then. Nil: never.
	Ends <-chan struct{}
	// Stall is how long a client may take nothing of an answer; DefaultStall when
	// zero.
	Stall time.Duration
}

// DefaultStall is as long as /stream itself waits for a listener.
const DefaultStall = 30 * time.Second

// Handler serves pages, HLS and the public part of the API.
func Handler(opt Options) http.Handler {
	mux := http.NewServeMux()
	stall := cmp.Or(opt.Stall, DefaultStall)
	passed := vouched(opt.Token, proxy(opt.Log, opt.Control, "", answerWait))
	control := patient(passed, stall)
	held := *passed
	held.Transport = &again{once: passed.Transport, ends: opt.Ends}
	waiting := patient(&held, stall)
	routes := opt.Only
	if routes == nil {
		routes = public
		audio := control
		switch {
		case opt.HLS != nil:
			audio = patient(http.StripPrefix(strings.TrimSuffix(HLSPrefix, "/"), opt.HLS), stall)
		case opt.Relay != "":
			audio = patient(hls(opt.Log, opt.Relay), stall)
		}
		mux.Handle("GET "+HLSPrefix, audio)
	}
	for _, route := range routes {
		if slices.Contains(writes, route) {
			mux.Handle(route, waiting)
		} else {
			mux.Handle(route, control)
		}
	}
	if opt.Only == nil {
		for _, route := range uploads {
			mux.Handle(route, coming(control, stall))
		}
	}
	if opt.Events != nil {
		mux.Handle(EventsPath, opt.Events)
	}
	mux.Handle("GET "+LivePath, http.HandlerFunc(answers))
	mux.Handle("GET /healthz", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if opt.Problem != nil {
			if text := opt.Problem(); text != "" {
				http.Error(w, text, http.StatusServiceUnavailable)
				return
			}
		}
		answers(w, r)
	}))
	if opt.Made != nil {
		opt.Pages = opt.Made(passed)
	}
	mux.Handle("/", opt.Pages)
	return mux
}

// LivePath answers while the process does. Its supervisor asks there: what /healthz
// complains of, no restart mends.
const LivePath = "/livez"

func answers(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) }

// HLS passes HLSPrefix on to the relay. The token has a relay on another machine count a
// listener for the address that is forwarded; nil for one on this machine, which believes it.
func HLS(log *slog.Logger, relay string, token func() string) http.Handler {
	return patient(shown(client.FrontHeader, token, hls(log, relay)), DefaultStall)
}

func hls(log *slog.Logger, relay string) *httputil.ReverseProxy {
	return proxy(log, relay, strings.TrimSuffix(HLSPrefix, "/"), answerWait)
}

// patient serves a client for as long as it reads, and cuts it once it has taken
// nothing for stall: its connection would otherwise be held for ever.
func patient(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(deadline.Writer(w, stall), r)
	})
}

// proxy passes requests on with the prefix taken off, and puts it back on in
// redirects. The relay's cookies name no path.
func proxy(log *slog.Logger, target, prefix string, wait time.Duration) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: target})
			r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, prefix)
			r.Out.URL.RawPath = strings.TrimPrefix(r.In.URL.RawPath, prefix)
			r.Out.Host = r.In.Host
			forward(r)
			if r.Out.Body != nil {
				r.Out.Body = &sent{ReadCloser: r.Out.Body}
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			if loc := resp.Header.Get("Location"); prefix != "" && strings.HasPrefix(loc, "/") {
				resp.Header.Set("Location", prefix+loc)
			}
			return nil
		},
		FlushInterval: -1,                                                // audio goes on at once
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug), // of what breaks off
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if status, detail := faultOf(r); status != 0 {
				problem.Answer(w, status, detail)
				return
			}
			if !errors.Is(err, context.Canceled) {
				log.Debug("cannot forward request", "path", r.URL.Path, "err", err)
			}
			problem.Answer(w, http.StatusServiceUnavailable, "this part of the station is starting or down")
		},
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       time.Minute,
			ResponseHeaderTimeout: wait,
			DisableCompression:    true,
		},
	}
}

// forward sets the headers that name the client. Forwarded and X-Forwarded-* are
// accepted only from a proxy on this machine: anyone else can write anything there.
func forward(r *httputil.ProxyRequest) {
	peer, _, err := net.SplitHostPort(r.In.RemoteAddr)
	trusted := err == nil && net.ParseIP(peer).IsLoopback()
	if trusted {
		r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
		if said := r.In.Header["Forwarded"]; said != nil {
			r.Out.Header["Forwarded"] = said
		}
	}
	r.SetXForwarded()
	if !trusted {
		return
	}
	if r.In.Header.Get("X-Forwarded-Proto") == "https" { // a proxy with TLS stands in front
		r.Out.Header.Set("X-Forwarded-Proto", "https")
	}
	if host := r.In.Header.Get("X-Forwarded-Host"); host != "" {
		r.Out.Header.Set("X-Forwarded-Host", host)
	}
}
