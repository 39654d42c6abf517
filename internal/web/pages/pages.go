// Package pages serves the station's web pages, which are built from web/ and
// embedded in the binary: the documents, and the hashed files they load.
//
// It answers from memory, and its content security policy allows the pages only their own
// origin. Of the station it knows the face, which pages wear and which it serves with them, on
// fronts as it was last told; and in a page's head what others say that it shows. The rest pages
// fetch from /api, /hls and /stream.
package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/negotiate"
	"github.com/athir-radio/athir/internal/station"
)

// dist is written by `make pages`; a fresh clone holds only .keep.
//
//go:embed all:dist
var dist embed.FS

// policy is the content security policy, one directive a line. It is a file so that
// the browser tests run the pages under the same policy.
//
//go:embed csp.txt
var policy string

// Page names one document.
type Page string

// The documents.
const (
	Player Page = "index.html"  // for listeners, at /
	Chat   Page = "chat.html"   // for listeners who talk, at /chat
	Studio Page = "studio.html" // for the operator, at /studio
	GoLive Page = "golive.html" // for presenters with a phone, at /go-live
	Social Page = "social.html" // for listeners who send something, at /social.html
	// History is what was on the air, at /history, and each track's own page, at /track/{id}.
	History Page = "history.html"
	// Podcasts is what can be heard on demand, at /podcasts, and each show's and episode's own page.
	Podcasts Page = "podcasts.html"
	// Embed is the player in other sites' pages, at /embed: the only page that they may frame.
	Embed Page = "embed.html"
)

// trackPrefix is where the pages of tracks are, followed by an id.
const trackPrefix = "/track/"

// embedScript puts the embedded player into other sites' pages.
const embedScript = "/embed.js"

// TrackOf is the id of the track whose page an address is of.
func TrackOf(path string) (id string, is bool) {
	id, is = strings.CutPrefix(path, trackPrefix)
	return id, is && station.IsTrackID(id)
}

// document is the address by which a page's file is known: all tracks have one page, and all shows
// and episodes.
func document(path string) string {
	if _, _, is := ShowOf(path); is {
		return Podcasts.url()
	}
	if _, is := TrackOf(path); is {
		return History.url()
	}
	return path
}

func (p Page) url() string {
	switch p {
	case Player:
		return "/"
	case GoLive:
		return "/go-live"
	case Social:
		return "/social.html" // the mission's address
	}
	return "/" + strings.TrimSuffix(string(p), ".html")
}

// Options of pages. The zero value serves them as they were built.
type Options struct {
	// Dress is the face that pages wear now, and its files; nil: there is none.
	Dress func() *Dress
	// Describe says what a request for a page shows; nil, or a page without one: the station.
	Describe map[Page]func(*http.Request) *Description
	// Feeds are those that programs find on the player's page, on that of what was on the air and on
	// that of all shows; those pages name shows where there are any by it. May be nil.
	Feeds func() []Feed
	// Home is where a page that is not there leads; "/" when empty.
	Home string
	// Now is time.Now when nil.
	Now func() time.Time
	// Built are the files of the pages; nil: those that were built with this program.
	Built fs.FS
}

// New answers GET and HEAD of the given pages, of every file they load and of the files of the
// station's face; all else gets 404 or 405. If the binary was built without the pages, it answers
// 503 and says how to build them.
func New(opt Options, pages ...Page) http.Handler {
	if opt.Built == nil {
		opt.Built = builtIn()
	}
	return handler(opt.Built, opt, pages)
}

// builtIn are the files that were built with this program.
func builtIn() fs.FS {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the directory is part of this package
	}
	return built
}

func handler(built fs.FS, opt Options, pages []Page) http.Handler {
	files, err := load(built, pages)
	header := strings.Join(strings.Split(strings.TrimSpace(policy), "\n"), "; ")
	dressed := newDresser(opt, files, pages)
	framed := strings.Replace(header, "frame-ancestors 'none'", "frame-ancestors *", 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", header)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", permissions(r.URL.Path))
		switch r.URL.Path {
		case Embed.url():
			h.Set("Content-Security-Policy", framed)
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		case embedScript:
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
			h.Set("Access-Control-Allow-Origin", "*") // for a script tag with integrity
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		if dressed.file(w, r) {
			return
		}
		if err != nil {
			h.Set("Cache-Control", "no-store")
			http.Error(w, "The pages are not built into this binary. Run `make pages`, then build again.",
				http.StatusServiceUnavailable)
			return
		}
		if dressed.page(w, r) {
			return
		}
		f, ok := files[document(r.URL.Path)]
		if !ok {
			dressed.missing(w, r)
			return
		}
		f.serve(w, r)
	})
}

// permissions returns the Permissions-Policy of a path: the chat records voice notes,
// listeners record what they send, presenters speak, and so does the studio.
func permissions(path string) string {
	switch path {
	case Chat.url(), Social.url(), GoLive.url(), Studio.url():
		return "camera=(), geolocation=(), microphone=(self)"
	}
	return "camera=(), geolocation=(), microphone=()"
}

// file is one answer, in each encoding that was built.
type file struct {
	contentType  string
	cacheControl string
	etag         string // unquoted; the encoding is appended
	plain        []byte
	gzip, brotli []byte // nil where not built
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	body, encoding := f.choose(r.Header.Get("Accept-Encoding"))
	h := w.Header()
	etag := `"` + f.etag + encoding + `"`
	h.Set("ETag", etag)
	h.Set("Cache-Control", f.cacheControl)
	if f.gzip != nil || f.brotli != nil {
		h.Set("Vary", "Accept-Encoding")
	}
	if negotiate.Has(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.contentType)
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // an error means that the client is gone
}

// missing serves it where there is nothing: with 404, which search engines go by.
func (f *file) missing(w http.ResponseWriter, r *http.Request) {
	body, encoding := f.choose(r.Header.Get("Accept-Encoding"))
	h := w.Header()
	h.Set("Cache-Control", f.cacheControl)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", f.contentType)
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusNotFound)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error means that the client is gone
	}
}

func (f *file) choose(accept string) (body []byte, encoding string) {
	if f.brotli != nil && negotiate.Accepts(accept, "br") {
		return f.brotli, "br"
	}
	if f.gzip != nil && negotiate.Accepts(accept, "gzip") {
		return f.gzip, "gzip"
	}
	return f.plain, ""
}

// load reads every file of the build; a page that is missing is an error.
func load(built fs.FS, pages []Page) (map[string]*file, error) {
	files := make(map[string]*file)
	err := fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contentType, ok := contentTypes[path.Ext(name)]
		if !ok || path.Ext(name) == ".html" {
			return nil // .keep, and the compressed copies; pages come below
		}
		files["/"+name], err = read(built, name, contentType)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		if files[page.url()], err = read(built, string(page), contentTypes[".html"]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// contentTypes replaces the system's table, which differs between machines.
var contentTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".ico":         "image/x-icon",
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".mp3":         "audio/mpeg",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

func newFile(contentType, cacheControl string, plain []byte) *file {
	sum := sha256.Sum256(plain)
	return &file{contentType: contentType, cacheControl: cacheControl, plain: plain, etag: hex.EncodeToString(sum[:8])}
}

func read(built fs.FS, name, contentType string) (*file, error) {
	plain, err := fs.ReadFile(built, name)
	if err != nil {
		return nil, err
	}
	f := newFile(contentType, cacheControl(name), plain)
	if f.gzip, err = fs.ReadFile(built, name+".gz"); err != nil {
		f.gzip = nil
	}
	if f.brotli, err = fs.ReadFile(built, name+".br"); err != nil {
		f.brotli = nil
	}
	return f, nil
}

// worker shows notifications. It is at the root, so that its scope is every page, and
// browsers revalidate it each time, like a page.
const worker = "sw.js"

// cacheControl lets assets be cached for good: their names carry a hash of their
// content.
func cacheControl(name string) string {
	switch {
	case strings.HasPrefix(name, "assets/"):
		return "public, max-age=31536000, immutable"
	case strings.HasSuffix(name, ".html"), name == worker:
		return "no-cache"
	case "/"+name == embedScript:
		return "public, max-age=3600" // other sites ask for it by this name for years
	default:
		return "public, max-age=86400"
	}
}
