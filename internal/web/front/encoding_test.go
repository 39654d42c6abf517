package front_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/web/front"
)

// What the control plane has compressed goes through a front as it is, and what a client takes
// is the control plane's to choose: nothing is compressed twice, or for one who does not take it.
func TestCompressedAnswersPassThroughAsTheyAre(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, strings.Repeat(`{"title":"أغنية"}`, 200))
	_ = w.Close()
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Vary", "Accept-Encoding")
		h.Set("ETag", `W/"one"`)
		h.Set("Asked", r.Header.Get("Accept-Encoding"))
		switch {
		case r.Header.Get("If-None-Match") == `W/"one"`:
			w.WriteHeader(http.StatusNotModified)
		case r.Header.Get("Accept-Encoding") == "gzip":
			h.Set("Content-Encoding", "gzip")
			h.Set("Content-Length", strconv.Itoa(packed.Len()))
			_, _ = w.Write(packed.Bytes())
		default:
			_, _ = io.WriteString(w, "plain")
		}
	}))
	defer control.Close()
	door := httptest.NewServer(front.Handler(front.Options{
		Log: slog.New(slog.DiscardHandler), Pages: http.NotFoundHandler(), Control: strings.TrimPrefix(control.URL, "http://"),
	}))
	defer door.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	for _, c := range []struct{ method, path, takes, has, want string }{
		{"GET", "/api/status", "gzip", "", packed.String()},
		{"POST", "/api/comments", "gzip", "", packed.String()}, // a write that may be held
		{"GET", "/api/status", "", "", "plain"},
		{"HEAD", "/api/status", "gzip", "", ""},
		{"GET", "/api/upnext", "gzip", `W/"one"`, ""},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), c.method, door.URL+c.path, strings.NewReader(map[string]string{"POST": `{"id":"write-one"}`}[c.method]))
		if c.takes != "" {
			req.Header.Set("Accept-Encoding", c.takes)
		}
		if c.has != "" {
			req.Header.Set("If-None-Match", c.has)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		compressed := c.takes == "gzip" && c.has == ""
		if string(body) != c.want || res.Header.Get("Asked") != c.takes || res.Header.Get("Vary") != "Accept-Encoding" || res.Header.Get("ETag") != `W/"one"` ||
			(res.Header.Get("Content-Encoding") == "gzip") != compressed || compressed && res.ContentLength != int64(packed.Len()) {
			t.Errorf("%+v: %d %d bytes of %d %v", c, res.StatusCode, len(body), res.ContentLength, res.Header)
		}
	}
}
