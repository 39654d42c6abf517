package relay

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/negotiate"
)

const (
	sessionCookie = "hlsSession"
	sessionQuery  = "session" // MediaMTX's names, both
	checkName     = "cookieCheck"

	playlistType = "application/vnd.apple.mpegurl"
)

// output is what listeners are served from: the window of the stream, and who they are.
type output struct {
	log      *slog.Logger
	window   *window
	sessions *sessions
	begins   *client.Limits // of sessions, by address
	count    *counters
	fresh    func() bool // the window is recent enough to start listening with
	open     bool        // see Options.Uncounted
	edge     func(token string) bool
	front    func(token string) bool
	stage    *stage // nil at an edge
}

func newOutput(o Options, w *window, secret []byte, now time.Time) *output {
	out := &output{
		log: o.Log, window: w, count: &counters{}, open: o.Uncounted, edge: o.Edge, front: o.Front,
		sessions: newSessions(sessionLimits{fresh: o.SessionFresh, idle: o.SessionIdle, back: o.SessionReturn, most: o.MaxSessions}, secret, now),
		begins:   client.NewLimits(o.SessionBurst, o.SessionEvery, time.Now),
	}
	out.sessions.who = o.Who
	return out
}

// hlsHandler serves listeners. There is no Access-Control header: the page and
// the stream share one origin. What is open to all is served by serveOpen.
//
//	request                           answer
//	any playlist with _HLS_msn        400: no low-latency blocking reload here
//	index.m3u8 with a live session    200 master playlist
//	index.m3u8                        302 to ?cookieCheck=1, sets cookieCheck
//	index.m3u8?cookieCheck=1          503 while nothing is published; else a new
//	                                  session and 200: in a cookie when the
//	                                  cookieCheck cookie came back, in the URIs
//	                                  of the playlist when it did not; 429 when
//	                                  the address begins too many
//	playlist, segment, no session     401
//	segment that is not there         404
func (o *output) hlsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+MainPath+"/{file}", func(w http.ResponseWriter, r *http.Request) { o.serveFile(w, r, r.PathValue("file")) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.passedOn(r)
		// What a player asks for needs no routing; the mux answers all else.
		if name, ours := strings.CutPrefix(r.URL.Path, "/"+MainPath+"/"); ours && r.Method == http.MethodGet && plain(name) {
			o.serveFile(w, r, name)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// passedOn has a request that the control plane passes on from another machine count for the
// address that it names, as one of a proxy on this machine does: all listeners by that door
// would else be of the control plane's country, and share its limit of new sessions.
func (o *output) passedOn(r *http.Request) {
	token := r.Header.Get(client.FrontHeader)
	if token == "" {
		return
	}
	r.Header.Del(client.FrontHeader)
	if r.Header.Get("X-Forwarded-For") != "" && o.front != nil && o.front(token) {
		r.RemoteAddr = "127.0.0.1:0"
	}
}

// plain reports whether a name is of the kind that our playlists hold.
func plain(name string) bool {
	for _, c := range []byte(name) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '_' && c != '.' {
			return false
		}
	}
	return name != "" && name[0] != '.'
}

func (o *output) serveFile(w http.ResponseWriter, r *http.Request, name string) {
	query := r.URL.Query()
	playlist := strings.HasSuffix(name, ".m3u8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if playlist && blocking(query) {
		refuse(w, http.StatusBadRequest, "blocking playlist reload (_HLS_msn) is not supported")
		return
	}
	counted := &countingWriter{ResponseWriter: w, count: o.count}
	if edge := o.fromEdge(r); edge || o.open {
		o.serveOpen(counted, r, name, edge)
		return
	}
	token := o.presented(r, query)
	switch {
	case name == masterName:
		o.serveMaster(counted, r, query)
	case !playlist && !strings.HasSuffix(name, segmentEnd) && !strings.HasSuffix(name, headEnd):
		http.NotFound(w, r)
	case !o.sessions.touch(token, time.Now(), r):
		o.count.refused.Add(1)
		refuse(w, http.StatusUnauthorized, "no session: begin with "+masterName)
	case playlist:
		o.serveMedia(counted, r, name, query)
	default:
		o.serveSegment(counted, r, name, token)
	}
}

func blocking(query url.Values) bool {
	return query.Has("_HLS_msn") || query.Has("_HLS_part")
}

// presented is the session token a request carries. The query comes first: a
// URI with a session in it was made for this very player, while the cookie may
// be that of another tab.
func (o *output) presented(r *http.Request, query url.Values) string {
	if token := query.Get(sessionQuery); token != "" {
		return token
	}
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		return cookie.Value
	}
	return ""
}

func (o *output) serveMaster(w http.ResponseWriter, r *http.Request, query url.Values) {
	w.Header().Set("Cache-Control", "no-store")
	if token := o.presented(r, query); token != "" && o.sessions.touch(token, time.Now(), r) {
		o.writeMaster(w, r, query, query.Get(sessionQuery))
		return
	}
	if query.Get(checkName) != "1" {
		setCookie(w, r, checkName, "1")
		// A relative reference survives any path prefix a proxy adds.
		w.Header().Set("Location", masterName+"?"+checkName+"=1"+chosenSuffix(query))
		w.WriteHeader(http.StatusFound)
		return
	}
	if !o.fresh() {
		// hls.js asks again after a 5xx, never after a 404.
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "nothing is being published")
		return
	}
	if o.begins.Take(client.Address(r)) != nil {
		o.count.hurried.Add(1)
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusTooManyRequests, "too many new sessions from this address")
		return
	}
	token, ok := o.sessions.begin(time.Now(), r)
	if !ok {
		o.count.busy.Add(1)
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "too many listeners")
		return
	}
	if cookie, err := r.Cookie(checkName); err == nil && cookie.Value == "1" {
		setCookie(w, r, sessionCookie, token)
		token = ""
	}
	o.writeMaster(w, r, query, token)
}

// qualityQuery has the master playlist name one rendition, by its bitrate in kbit/s: for players
// that choose by themselves, and not by hand.
const qualityQuery = "quality"

// chosenSuffix keeps a quality over the redirect.
func chosenSuffix(query url.Values) string {
	if kbps, err := strconv.Atoi(query.Get(qualityQuery)); err == nil {
		return "&" + qualityQuery + "=" + strconv.Itoa(kbps)
	}
	return ""
}

func (o *output) writeMaster(w http.ResponseWriter, r *http.Request, query url.Values, inQuery string) {
	list, err := o.window.master(o.window.chosen(query.Get(qualityQuery)))
	if err != nil {
		o.log.Error("cannot render playlist", "err", err)
		refuse(w, http.StatusInternalServerError, "cannot render the playlist")
		return
	}
	writePlaylist(w, r, list, querySuffix(inQuery))
}

func (o *output) serveMedia(w http.ResponseWriter, r *http.Request, name string, query url.Values) {
	rendition, ok := o.window.ofMedia(name)
	if !ok {
		http.NotFound(w, r)
		return
	}
	o.count.playlists.Add(1)
	w.Header().Set("Cache-Control", "private, no-cache")
	list := o.window.media(rendition)
	if list == nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "nothing is being published")
		return
	}
	writePlaylist(w, r, list, querySuffix(query.Get(sessionQuery)))
}

func querySuffix(token string) string {
	if token == "" {
		return ""
	}
	return "?" + sessionQuery + "=" + token // base64url needs no escaping
}

// writePlaylist answers compressed where all get the same bytes: every two seconds a playlist is
// a twentieth of what a listener of the lowest rendition loads.
func writePlaylist(w http.ResponseWriter, r *http.Request, list *rendered, suffix string) {
	text := list.with(suffix)
	if suffix == "" {
		w.Header().Add("Vary", "Accept-Encoding")
		if negotiate.Accepts(r.Header.Get("Accept-Encoding"), "gzip") {
			text = list.packed()
			w.Header().Set("Content-Encoding", "gzip")
		}
	}
	w.Header().Set("Content-Type", playlistType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text)
	}
}

func (o *output) serveSegment(w http.ResponseWriter, r *http.Request, name, token string) {
	// A segment's name is never used twice; only its listener may keep it.
	o.writeSegment(w, r, name, "private, max-age=60, immutable", func() {
		if r.Method == http.MethodGet {
			o.sessions.hear(token, time.Now())
		}
	})
}

// writeSegment answers with a segment. Where there is one, found is called before it is
// written: who has it, is counted.
func (o *output) writeSegment(w http.ResponseWriter, r *http.Request, name, cache string, found func()) {
	data := o.window.file(name)
	if data == nil {
		// A player that was away must not keep asking a cache for it.
		w.Header().Set("Cache-Control", "no-store")
		refuse(w, http.StatusNotFound, "no such segment, or it has expired")
		return
	}
	found()
	o.count.segments.Add(1)
	w.Header().Set("Cache-Control", cache)
	w.Header().Set("Content-Type", "audio/mp4")
	if r.Header.Get("Range") != "" {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		return
	}
	// All of it in one write: ServeContent would copy it through a buffer.
	w.Header().Set("Accept-Ranges", "bytes")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(data)
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	http.Error(w, why, status)
}

// setCookie sets a cookie without Path: it goes to the directory of the
// playlist as the browser sees it, whatever prefix a proxy adds.
//
// Behind HTTPS it is partitioned, so it works in a page embedded elsewhere and
// tells that page nothing of other sites. Browsers drop such a cookie on plain
// HTTP, where it is a plain one of this site.
func setCookie(w http.ResponseWriter, r *http.Request, name, value string) {
	cookie := &http.Cookie{Name: name, Value: value, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if overHTTPS(r) {
		cookie.Secure, cookie.Partitioned, cookie.SameSite = true, true, http.SameSiteNoneMode
	}
	http.SetCookie(w, cookie)
}

// overHTTPS believes X-Forwarded-Proto from this machine only.
func overHTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return false
	}
	return strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// countingWriter counts the bytes of bodies.
type countingWriter struct {
	http.ResponseWriter
	count *counters
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.count.bytesSent.Add(uint64(n))
	return n, err
}
