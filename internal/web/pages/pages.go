// Package pages serves the station's web pages, which are built from web/ and
// embedded in the binary: the documents, and the hashed files they load.
//
// It answers from memory, compressed beforehand, and its content security policy
// allows the pages only their own origin. It knows nothing of the station: the pages
// fetch what they show from /api, /hls and /stream, which others serve.
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
)

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

// Handler answers GET and HEAD of the given pages and of every file they load; all
// else gets 404 or 405. If the binary was built without the pages, it answers 503
// and says how to build them.
func Handler(pages ...Page) http.Handler {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the directory is part of this package
	}
	return handler(built, pages)
}

func handler(built fs.FS, pages []Page) http.Handler {
	files, err := load(built, pages)
	header := strings.Join(strings.Split(strings.TrimSpace(policy), "\n"), "; ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", header)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", permissions(r.URL.Path))
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		if err != nil {
			h.Set("Cache-Control", "no-store")
			http.Error(w, "The pages are not built into this binary. Run `make pages`, then build again.",
				http.StatusServiceUnavailable)
			return
		}
		f, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
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
	if matches(r.Header.Get("If-None-Match"), etag) {
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

func (f *file) choose(accept string) (body []byte, encoding string) {
	if f.brotli != nil && accepts(accept, "br") {
		return f.brotli, "br"
	}
	if f.gzip != nil && accepts(accept, "gzip") {
		return f.gzip, "gzip"
	}
	return f.plain, ""
}

// accepts reports whether an Accept-Encoding header (RFC 9110, 12.5.3) names
// the coding with a weight above zero.
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		value, ok := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
		if !ok {
			return true
		}
		q, err := strconv.ParseFloat(value, 64)
		return err == nil && q > 0
	}
	return false
}

// matches compares weakly, as If-None-Match requires (RFC 9110, 13.1.2).
func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		tag := strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if tag == etag || tag == "*" {
			return true
		}
	}
	return false
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
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

func read(built fs.FS, name, contentType string) (*file, error) {
	plain, err := fs.ReadFile(built, name)
	if err != nil {
		return nil, err
	}
	f := &file{contentType: contentType, plain: plain, cacheControl: cacheControl(name)}
	sum := sha256.Sum256(plain)
	f.etag = hex.EncodeToString(sum[:8])
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
	default:
		return "public, max-age=86400"
	}
}
