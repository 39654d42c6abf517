// Package feed serves what the station offers on demand to the programs that subscribe to it: the
// feed of each show, its cover, and of each episode the sound, the chapters and the text. It
// counts downloads.
//
// The feed is RSS 2.0 with the elements of Apple's podcast directory and of the Podcasting 2.0
// namespace. Of a show that listeners do not find, and of an episode that they may not hear, there
// is nothing. What is kept in memory is bounded, whatever hosts it is asked for under.
package feed

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/negotiate"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

// Prefix is where the files are, below the name of their show.
const Prefix = "/podcasts/"

// Shows are the shows and their files. All but Cover answer from memory.
type Shows interface {
	// Show returns a show. Error: station.ErrNotFound.
	Show(slug string) (*podcast.Show, error)
	// Heard lists the episodes that listeners see now, the newest first. Error: station.ErrNotFound.
	Heard(slug string) ([]podcast.Episode, error)
	// Cover returns a JPEG and what tells it from another. Errors: station.ErrNotFound,
	// station.ErrUnavailable.
	Cover(ctx context.Context, slug string) (data []byte, stamp string, err error)
	// Sound returns the file of an episode that listeners may hear. Error: station.ErrNotFound.
	Sound(slug, id string) (path string, e podcast.Episode, err error)
	// Count counts one download more.
	Count(slug, id string)
}

// Live is a broadcast of a show while it is on the air, and for as long after as listeners are
// told of it.
type Live struct {
	Key                     string // another for each broadcast
	Title, Summary, Creator string
	Began                   time.Time
	Ended                   time.Time // zero: it is on the air
}

// Options of a handler.
type Options struct {
	Shows Shows
	// Station is the station's name.
	Station func() string
	// Live returns the broadcast of a show that its feed tells of; nil: none does.
	Live func(slug string) (Live, bool)
	// Now is time.Now when nil.
	Now func() time.Time
}

// Handler answers for the files below Prefix. Make it with New.
type Handler struct {
	opt  Options
	kept kept
	tell downloads
}

// New makes a Handler.
func New(opt Options) *Handler {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	h := &Handler{opt: opt}
	h.kept.turns = make(chan struct{}, mostMaking)
	h.tell.now = opt.Now
	return h
}

// Routes are the patterns of all files, as http.ServeMux has them.
func Routes() []string {
	return []string{
		"GET " + Prefix + "{show}/feed.xml", "GET " + Prefix + "{show}/cover.jpg",
		"GET " + Prefix + "{show}/{episode}/audio.mp3", "GET " + Prefix + "{show}/{episode}/chapters.json", "GET " + Prefix + "{show}/{episode}/transcript.txt",
	}
}

// Preflights are the patterns by which browsers ask whether pages elsewhere may ask for the files
// in ways that no link can, as for what has changed.
func Preflights() []string {
	out := Routes()
	for i, route := range out {
		out[i] = http.MethodOptions + strings.TrimPrefix(route, http.MethodGet)
	}
	return out
}

// Mount puts the files onto a mux.
func (h *Handler) Mount(mux *http.ServeMux) {
	for _, route := range Preflights() {
		mux.HandleFunc(route, allow)
	}
	for i, serve := range []func(http.ResponseWriter, *http.Request) error{h.feed, h.cover, h.audio, h.chapters, h.transcript} {
		mux.HandleFunc(Routes()[i], func(w http.ResponseWriter, r *http.Request) {
			secure(w.Header())
			if err := serve(w, r); err != nil {
				refuse(w, err)
			}
		})
	}
}

// secure sets what all answers have: other sites' players may read them, and no browser takes
// them for a page.
func secure(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
}

// allow answers a preflight, the same for every file that there is or is not.
func allow(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	secure(h)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "Range, If-None-Match, If-Modified-Since, If-Range")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

var (
	errHost = errors.New("the host's name is too long")
	errBusy = errors.New("many feeds are being made: try again in a moment")
)

// refuse answers with the reason in a line: no program that subscribes reads more.
func refuse(w http.ResponseWriter, err error) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	for _, name := range []string{"Content-Type", "Content-Disposition", "ETag"} {
		h.Del(name)
	}
	switch {
	case errors.Is(err, station.ErrNotFound):
		http.Error(w, "there is nothing at this address", http.StatusNotFound)
	case errors.Is(err, errHost):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, errBusy):
		h.Set("Retry-After", "2")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		h.Set("Retry-After", "10")
		http.Error(w, "this part of the station is starting or down", http.StatusServiceUnavailable)
	}
}

// show returns a show that listeners find. Error: station.ErrNotFound.
func (h *Handler) show(r *http.Request) (*podcast.Show, error) {
	s, err := h.opt.Shows.Show(r.PathValue("show"))
	if err != nil {
		return nil, err
	}
	if !s.Public() {
		return nil, station.ErrNotFound
	}
	return s, nil
}

// episode returns an episode that listeners may hear, and where its sound is.
func (h *Handler) episode(r *http.Request) (*podcast.Show, podcast.Episode, string, error) {
	s, err := h.show(r)
	if err != nil {
		return nil, podcast.Episode{}, "", err
	}
	path, e, err := h.opt.Shows.Sound(s.Slug, r.PathValue("episode"))
	return s, e, path, err
}

func (h *Handler) feed(w http.ResponseWriter, r *http.Request) error {
	show, err := h.show(r)
	if err != nil {
		return err
	}
	made, err := h.made(show, r)
	if err != nil {
		return err
	}
	body, tag := made.plain, made.tag
	head := w.Header()
	head.Set("Vary", "Accept-Encoding")
	zipped := made.gzip != nil && negotiate.Accepts(r.Header.Get("Accept-Encoding"), "gzip")
	if zipped {
		body, tag = made.gzip, made.tag+"-gzip"
	}
	tag = `"` + tag + `"`
	head.Set("ETag", tag)
	head.Set("Last-Modified", made.changed.UTC().Format(http.TimeFormat))
	head.Set("Cache-Control", "public, max-age=60")
	if unchanged(r, tag, made.changed) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if zipped {
		head.Set("Content-Encoding", "gzip")
	}
	send(w, r, "application/rss+xml; charset=utf-8", body)
	return nil
}

// unchanged reports whether a client has the answer (RFC 9110, 13.2.2).
func unchanged(r *http.Request, tag string, changed time.Time) bool {
	if tags := r.Header.Values("If-None-Match"); len(tags) > 0 {
		return negotiate.Has(strings.Join(tags, ","), tag)
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return err == nil && !changed.Truncate(time.Second).After(since)
}

func send(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error means that the client is gone
	}
}

func (h *Handler) cover(w http.ResponseWriter, r *http.Request) error {
	show, err := h.show(r)
	if err != nil {
		return err
	}
	data, stamp, err := h.opt.Shows.Cover(r.Context(), show.Slug)
	if err != nil {
		return err
	}
	head := w.Header()
	tag := `"` + hash(stamp) + `"`
	head.Set("ETag", tag)
	switch v := r.URL.Query().Get("v"); v {
	case stamp:
		head.Set("Cache-Control", "public, max-age=31536000, immutable")
	case "":
		head.Set("Cache-Control", "public, max-age=300")
	default: // of another cover, which this one must not be kept for
		head.Set("Cache-Control", "no-cache")
	}
	if unchanged(r, tag, h.opt.Now()) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	send(w, r, "image/jpeg", data)
	return nil
}

// origin is the address under which a client reaches the station. Error: errHost.
func origin(r *http.Request) (string, error) {
	if len(r.Host) > longestHost {
		return "", errHost
	}
	return client.Origin(r), nil
}

// longestHost is how many bytes a host may have, its port included (RFC 1035, 2.3.4): feeds repeat
// it in each address.
const longestHost = 255 + len(":65535")

// live is the broadcast that a show's feed tells of.
func (h *Handler) live(show *podcast.Show) (l Live, has bool) {
	if h.opt.Live == nil || show.From.Kind != podcast.Live {
		return Live{}, false
	}
	return h.opt.Live(show.Slug)
}

// mostItems is how many episodes a feed has.
const mostItems = 300

// source is all that the feed of a show is made of, but the host.
func (h *Handler) source(show *podcast.Show) (content, error) {
	heard, err := h.opt.Shows.Heard(show.Slug)
	if err != nil {
		return content{}, err
	}
	c := content{show: show, episodes: slices.Clip(heard[:min(len(heard), mostItems)]), station: h.opt.Station()}
	c.live, c.hasLive = h.live(show)
	return c, nil
}
