package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// What a listener wrote as a title stays text, however it is written.
func TestASharedLinkIsDescribedAndItsTextsAreEscaped(t *testing.T) {
	built := fstest.MapFS{}
	for _, name := range []string{"index.html", "chat.html"} {
		built[name] = &fstest.MapFile{Data: []byte("<html><head><title>x</title></head><body></body></html>")}
		built[name+".gz"] = &fstest.MapFile{Data: []byte("gzip")}
	}
	h := Describe(handler(built, []Page{Player, Chat}), Chat, func(r *http.Request) *Description {
		if r.URL.Query().Get("post") == "" {
			return nil
		}
		return &Description{Title: `"><script>alert(1)</script>`, Text: "قمر", URL: "https://radio.example/chat?post=1"}
	})
	get := func(method, path string) (int, http.Header, string) {
		rec := httptest.NewRecorder()
		req := httptest.NewRequest(method, path, nil)
		req.Header.Set("Accept-Encoding", "gzip")
		h.ServeHTTP(rec, req)
		body, _ := io.ReadAll(rec.Body)
		return rec.Code, rec.Header(), string(body)
	}
	code, head, body := get("GET", "/chat?post=1")
	if code != 200 || !strings.Contains(body, `content="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"`) || strings.Contains(body, "<script>alert") ||
		!strings.Contains(body, `property="og:description" content="قمر"`) || head.Get("Content-Encoding") != "" || head.Get("ETag") != "" {
		t.Errorf("%d %v %s", code, head, body)
	}
	if code, head, body := get("HEAD", "/chat?post=1"); code != 200 || body != "" || head.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %v %q", code, head, body)
	}
	if _, _, body := get("GET", "/chat"); body != "gzip" {
		t.Errorf("without a post: %q", body)
	}
	if _, _, body := get("GET", "/?post=1"); body != "gzip" {
		t.Errorf("another page: %q", body)
	}
}
