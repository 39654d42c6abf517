package onsocial_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/athir-radio/athir/internal/app/onsocial"
	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// A link to a post is described on every front as on the control plane, by its own page; where
// the control plane has no such post, or is down, the page comes as it is.
func TestAPostsLinkIsDescribedOnAnEdge(t *testing.T) {
	asked := make(chan *http.Request, 10)
	noFace := face.Plain(face.Defaults{Name: "أثير", Language: face.Arabic})
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		switch r.URL.Path {
		case "/api/social/posts/7":
			_, _ = io.WriteString(w, `{"status":"approved","title":"\"><script>alert(1)</script>","artist":"نور","createdBy":"سلمى","page":"/social.html?post=7","audio":"/api/social/posts/7/audio"}`)
		case "/api/social/posts/8":
			_, _ = io.WriteString(w, `{"status":"pending","title":"not yet"}`)
		case "/api/social/posts/9":
			_, _ = io.WriteString(w, `{"status":"approved","title":"`+strings.Repeat("x", 3<<20)+`"}`)
		case "/api/social/posts/10":
			w.Header().Set("Content-Length", "1000") // and breaks off
			_, _ = io.WriteString(w, `{"status":"approved","title":"half`)
		default:
			http.NotFound(w, r)
		}
	}))
	plain := pages.NewWardrobe(func() *face.State { return noFace })
	built := func(control http.Handler) http.Handler {
		return pages.New(pages.Options{
			Dress: plain.Now, Now: func() time.Time { return time.Time{} },
			Built: fstest.MapFS{"index.html": {Data: []byte("<html><head></head>player</html>")}, "social.html": {Data: []byte("<html><head></head>of the front</html>")}},
			Describe: map[pages.Page]func(*http.Request) *pages.Description{
				pages.Social: onsocial.OnFrontWithin(control, func() string { return "أثير" }, time.Minute),
			},
		}, pages.Player, pages.Social)
	}
	srv := httptest.NewServer(front.Handler(front.Options{
		Log: slog.New(slog.DiscardHandler), Made: built, Control: strings.TrimPrefix(control.URL, "http://"),
	}))
	defer srv.Close()
	get := func(path string) string {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
		req.Header.Set("Authorization", "Bearer secret")
		req.Header.Set("X-Post-Token", "secret")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	page := get("/social.html?post=7")
	for _, want := range []string{
		"of the front", `property="og:title" content="&#34;&gt;&lt;script&gt;`, `content="نور · سلمى · أثير"`,
		`property="og:url" content="` + srv.URL + `/social.html?post=7"`, `property="og:audio" content="` + srv.URL + `/api/social/posts/7/audio"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in %s", want, page)
		}
	}
	if r := <-asked; r.Header.Get("X-Forwarded-For") != "127.0.0.1" || r.Header.Get("Authorization") != "" || r.Header.Get("X-Post-Token") != "" {
		t.Errorf("the control plane was asked with %v", r.Header)
	}
	undescribed := get("/social.html")
	if !strings.Contains(undescribed, `property="og:type" content="website"`) || strings.Contains(undescribed, "سلمى") {
		t.Errorf("without a post: %s", undescribed)
	}
	for _, path := range []string{"/social.html?post=8", "/social.html?post=9", "/social.html?post=10", "/social.html?post=404", "/social.html?post=../status"} {
		if got := get(path); got != undescribed {
			t.Errorf("%s: %.300s", path, got)
		}
	}
	if got := get("/?post=7"); strings.Contains(got, "سلمى") {
		t.Errorf("another page: %s", got)
	}
	control.Close()
	if got := get("/social.html?post=7"); got != undescribed {
		t.Errorf("without the control plane: %s", got)
	}
}
