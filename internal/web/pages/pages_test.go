package pages

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

const appScript = "console.log('on the air')"

func built(t *testing.T) http.Handler {
	t.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(appScript))
	_ = z.Close()
	return handler(fstest.MapFS{
		".keep":               {},
		"index.html":          {Data: []byte("<title>player</title>")},
		"studio.html":         {Data: []byte("<title>studio</title>")},
		"chat.html":           {Data: []byte("<title>chat</title>")},
		"golive.html":         {Data: []byte("<title>go live</title>")},
		"social.html":         {Data: []byte("<title>social</title>")},
		"history.html":        {Data: []byte("<title>history</title>")},
		"podcasts.html":       {Data: []byte("<title>podcasts</title>")},
		"embed.html":          {Data: []byte("<title>embed</title>")},
		"embed.js":            {Data: []byte("document.currentScript")},
		"icon.svg":            {Data: []byte("<svg/>")},
		"sw.js":               {Data: []byte("self.skipWaiting()")},
		"assets/app-1a.js":    {Data: []byte(appScript)},
		"assets/app-1a.js.gz": {Data: zipped.Bytes()},
		"assets/app-1a.js.br": {Data: []byte("brotli bytes")},
		"assets/kufi-2b.woff2": {
			Data: []byte("font"),
		},
	}, Options{}, []Page{Player, Chat, Studio, GoLive, Social, History, Podcasts, Embed})
}

func ask(t *testing.T, h http.Handler, method, url string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestEachPageStandsAtItsAddressAndNothingElseDoes(t *testing.T) {
	h := built(t)
	for url, want := range map[string]int{
		"/": 200, "/chat": 200, "/studio": 200, "/go-live": 200, "/social.html": 200, "/history": 200, "/embed": 200, "/podcasts": 200, "/podcasts/nile": 200, "/podcasts/nile/abcdefghij234567": 200, "/embed.js": 200, "/track/abcdefghij234567": 200, "/sw.js": 200, "/icon.svg": 200, "/assets/app-1a.js": 200,
		"/index.html": 404, "/chat.html": 404, "/studio.html": 404, "/golive": 404, "/golive.html": 404, "/social": 404, "/history.html": 404, "/embed.html": 404, "/podcasts/": 404, "/podcasts/nile/": 404, "/podcasts/nile/a/b": 404, "/podcasts/nile/feed.xml": 404, "/podcasts/.env": 404, "/podcasts.html": 404, "/track/": 404, "/track/short": 404, "/track/ABCDEFGHIJ234567": 404, "/track/abcdefghij234567/": 404, "/.keep": 404, "/assets/app-1a.js.gz": 404,
		"/assets/": 404, "/assets/../pages.go": 404, "/nothing": 404,
	} {
		if got := ask(t, h, "GET", url).StatusCode; got != want {
			t.Errorf("GET %s: %d, want %d", url, got, want)
		}
	}
	if body := bodyOf(t, ask(t, h, "GET", "/studio")); !strings.Contains(body, "studio") {
		t.Errorf("GET /studio: %q", body)
	}
	if got := ask(t, h, "POST", "/"); got.StatusCode != 405 || got.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /: %d, Allow %q", got.StatusCode, got.Header.Get("Allow"))
	}
	alone := handler(fstest.MapFS{"index.html": {Data: []byte("player")}, "studio.html": {Data: []byte("studio")}}, Options{}, []Page{Player})
	if got := ask(t, alone, "GET", "/studio").StatusCode; got != 404 {
		t.Errorf("GET /studio of a handler that was given the player only: %d", got)
	}
}

func TestHashedFilesAreKeptForeverAndPagesAreAskedForAgain(t *testing.T) {
	h := built(t)
	if got := ask(t, h, "GET", "/assets/app-1a.js").Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("asset: Cache-Control %q", got)
	}
	first := ask(t, h, "GET", "/")
	if got := first.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("page: Cache-Control %q", got)
	}
	again := ask(t, h, "GET", "/", "If-None-Match", "W/"+first.Header.Get("ETag"))
	if again.StatusCode != 304 || bodyOf(t, again) != "" {
		t.Errorf("page asked for again with its ETag: %d", again.StatusCode)
	}
	if got := ask(t, h, "GET", "/", "If-None-Match", `"other"`).StatusCode; got != 200 {
		t.Errorf("page asked for with another ETag: %d", got)
	}
}

// A page that cannot ask for the microphone records nothing: the chat, the presenters'
// page, the listeners' page and the studio may, the others may not. The worker's scope is its directory, and it must not go
// stale.
func TestOnlyPagesThatSpeakMayRecordAndTheWorkerIsAskedForAgain(t *testing.T) {
	h := built(t)
	for url, want := range map[string]string{"/": "microphone=()", "/chat": "microphone=(self)", "/studio": "microphone=(self)", "/go-live": "microphone=(self)", "/social.html": "microphone=(self)"} {
		if got := ask(t, h, "GET", url).Header.Get("Permissions-Policy"); !strings.Contains(got, want) {
			t.Errorf("GET %s: Permissions-Policy %q, want %s", url, got, want)
		}
	}
	answer := ask(t, h, "GET", "/sw.js")
	if got := answer.Header.Get("Cache-Control"); got != "no-cache" || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/javascript") {
		t.Errorf("worker: Cache-Control %q, Content-Type %q", got, answer.Header.Get("Content-Type"))
	}
}

func TestFilesLeaveInTheBestEncodingTheClientTakes(t *testing.T) {
	h := built(t)
	tags := map[string]string{}
	for accept, want := range map[string]string{
		"gzip, deflate, br": "br", "gzip": "gzip", "gzip, br;q=0": "gzip", "": "", "identity": "", "GZIP;q=0.5": "gzip",
	} {
		answer := ask(t, h, "GET", "/assets/app-1a.js", "Accept-Encoding", accept)
		if got := answer.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q: encoding %q, want %q", accept, got, want)
		}
		if answer.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Vary %q", accept, answer.Header.Get("Vary"))
		}
		if tag, known := tags[answer.Header.Get("ETag")]; known && tag != want {
			t.Errorf("encodings %q and %q share an ETag", tag, want)
		}
		tags[answer.Header.Get("ETag")] = want
	}
	z, err := gzip.NewReader(ask(t, h, "GET", "/assets/app-1a.js", "Accept-Encoding", "gzip").Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(z); err != nil || string(body) != appScript {
		t.Errorf("unzipped: %q, %v", body, err)
	}
	if got := ask(t, h, "GET", "/assets/kufi-2b.woff2", "Accept-Encoding", "br"); got.Header.Get("Content-Encoding") != "" {
		t.Error("a font is compressed already and must leave as it is")
	}
	head := ask(t, h, "HEAD", "/assets/app-1a.js")
	if head.ContentLength != int64(len(appScript)) || bodyOf(t, head) != "" {
		t.Errorf("HEAD: length %d", head.ContentLength)
	}
}

func TestPagesMayLoadNothingFromElsewhere(t *testing.T) {
	answer := ask(t, built(t), "GET", "/")
	csp := answer.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'; ", "script-src 'self'; ", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("policy lacks %q: %s", want, csp)
		}
	}
	if regexp.MustCompile(`unsafe|https?:|\*`).MatchString(csp) {
		t.Errorf("policy opens a door: %s", csp)
	}
	if answer.Header.Get("X-Content-Type-Options") != "nosniff" || answer.Header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("headers: %v", answer.Header)
	}
}

func TestABinaryWithoutPagesSaysHowToBuildThem(t *testing.T) {
	answer := ask(t, handler(fstest.MapFS{".keep": {}}, Options{}, []Page{Player}), "GET", "/")
	if body := bodyOf(t, answer); answer.StatusCode != 503 || !strings.Contains(body, "make pages") {
		t.Errorf("%d %q", answer.StatusCode, body)
	}
}

// The embedded build, where there is one, must be whole: each page's own
// references resolve. A fresh clone has none and answers 503.
func TestEveryFileAnEmbeddedPageNamesIsEmbedded(t *testing.T) {
	h := New(Options{}, Player, Chat, Studio, GoLive, Social, History, Podcasts)
	for _, url := range []string{"/", "/chat", "/studio", "/go-live", "/social.html", "/history", "/podcasts"} {
		answer := ask(t, h, "GET", url)
		if answer.StatusCode == 503 {
			continue
		}
		body := bodyOf(t, answer)
		for _, ref := range regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(body, -1) {
			if ref[1] == "/stream" {
				continue
			}
			if got := ask(t, h, "GET", ref[1]).StatusCode; got != 200 {
				t.Errorf("%s names %s: %d", url, ref[1], got)
			}
		}
		if strings.Count(body, stationBegins) != 1 || strings.Count(body, stationEnds) != 1 || len(htmlTag.FindAllString(body, -1)) != 1 {
			t.Errorf("%s has no place for the station's lines:\n%s", url, body)
		}
		if regexp.MustCompile(`<script>|<style|style="|onload=|https?://`).MatchString(body) {
			t.Errorf("%s holds something its policy forbids:\n%s", url, body)
		}
	}
}
