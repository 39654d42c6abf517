package feed_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/feed"
)

const nile = "/podcasts/nile/feed.xml"

// Thousands of programs ask every hour: who has the feed gets no more than that.
func TestAFeedIsSentToThoseWhoDoNotHaveIt(t *testing.T) {
	r := newRig(t)
	first := r.ask("GET", nile)
	head := first.Header()
	tag, changed := head.Get("ETag"), head.Get("Last-Modified")
	if head.Get("Content-Type") != "application/rss+xml; charset=utf-8" || head.Get("Cache-Control") != "public, max-age=60" || head.Get("Vary") != "Accept-Encoding" || changed != "Mon, 05 Oct 2026 09:00:00 GMT" {
		t.Errorf("%v", head)
	}
	if head.Get("Access-Control-Allow-Origin") != "*" || head.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(head.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a player elsewhere, or a browser: %v", head)
	}
	zipped := r.ask("GET", nile, "Accept-Encoding", "br, gzip")
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text := all(t, z); text != strings.TrimSpace(first.Body.String()) || zipped.Header().Get("Content-Encoding") != "gzip" || zipped.Header().Get("ETag") == tag {
		t.Errorf("zipped: %d bytes, %v", len(text), zipped.Header())
	}
	if got := r.ask("HEAD", nile); got.Code != 200 || got.Body.Len() != 0 || got.Header().Get("Content-Length") != head.Get("Content-Length") || got.Header().Get("ETag") != tag {
		t.Errorf("HEAD: %d %v", got.Code, got.Header())
	}
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{[]string{"If-None-Match", tag}, 304}, {[]string{"If-None-Match", `"x", W/` + tag}, 304}, {[]string{"If-None-Match", "*"}, 304}, {[]string{"If-None-Match", `"x"`}, 200},
		{[]string{"If-None-Match", zipped.Header().Get("ETag"), "Accept-Encoding", "gzip"}, 304}, {[]string{"If-None-Match", tag, "Accept-Encoding", "gzip"}, 200},
		{[]string{"If-Modified-Since", changed}, 304}, {[]string{"If-Modified-Since", "Mon, 05 Oct 2026 08:59:59 GMT"}, 200}, {[]string{"If-Modified-Since", "yesterday"}, 200},
		{[]string{"If-None-Match", `"x"`, "If-Modified-Since", changed}, 200}, // the tag decides (RFC 9110, 13.1.3)
	} {
		got := r.ask("GET", nile, c.headers...)
		if got.Code != c.want || got.Code == 304 && (got.Body.Len() > 0 || got.Header().Get("ETag") == "") {
			t.Errorf("%q: %d, want %d", c.headers, got.Code, c.want)
		}
	}
	r.now = start.Add(time.Hour)
	r.change(func(s *podcast.Show, had []podcast.Episode) []podcast.Episode {
		had[0].Title, had[0].Changed, s.Changed = "another", r.now.UnixMilli(), r.now.UnixMilli()
		return had
	})
	if got := r.ask("GET", nile, "If-None-Match", tag, "If-Modified-Since", changed); got.Code != 200 || got.Header().Get("Last-Modified") != "Mon, 05 Oct 2026 13:00:00 GMT" || !strings.Contains(got.Body.String(), "<title>another</title>") {
		t.Errorf("after a change: %d %v", got.Code, got.Header())
	}
	// That a broadcast is no longer told of is in no date of the show.
	r.hasLive, r.live = true, feed.Live{Key: "k", Began: r.now}
	during := r.ask("GET", nile).Header()
	r.hasLive, r.now = false, start.Add(3*time.Hour)
	if got := r.ask("GET", nile, "If-Modified-Since", during.Get("Last-Modified")); got.Code != 200 || strings.Contains(got.Body.String(), "liveItem") {
		t.Errorf("after a broadcast: %d %v, before %v", got.Code, got.Header(), during)
	}
}

// The same content is the same document, whoever makes it.
func TestTheSameContentIsTheSameFeed(t *testing.T) {
	a, b := newRig(t), newRig(t)
	if x, y := a.ask("GET", nile), b.ask("GET", nile); x.Body.String() != y.Body.String() || x.Header().Get("ETag") != y.Header().Get("ETag") {
		t.Error("two processes make two feeds of one show")
	}
	other := a.ask("GET", nile, "Host", "other.example:4477").Body.String()
	check := strings.ReplaceAll(other, "other.example:4477", "radio.example")
	if check != a.feed() {
		t.Error("another host's feed differs by more than its addresses")
	}
}

// A show that is off or removed, an episode that is not published, and whatever is no name have
// nothing, and no path leads to other files.
func TestWhatListenersMayNotHearIsNotThere(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{
		"/podcasts/off/feed.xml", "/podcasts/gone/feed.xml", "/podcasts/none/feed.xml", "/podcasts/off/cover.jpg", "/podcasts/gone/cover.jpg", "/podcasts/gone/" + one + "/audio.mp3",
		"/podcasts/nile/none/audio.mp3", "/podcasts/nile/none/chapters.json", "/podcasts/nile/none/transcript.txt", "/podcasts/nile/" + one + "/chapters.json", "/podcasts/nile/" + one + "/transcript.txt",
		"/podcasts/nile/" + one + ".mp3", "/podcasts/nile/%2e%2e%2f" + one + "/audio.mp3", "/podcasts/%2e%2e/feed.xml", "/podcasts/nile%00/feed.xml", "/podcasts/nile/" + one + "%00/audio.mp3",
		"/podcasts/nile/..%5c" + one + "/audio.mp3", "/podcasts/NILE/feed.xml", "/podcasts/nile/" + strings.Repeat("a", 5000) + "/audio.mp3",
	} {
		got := r.ask("GET", path)
		if got.Code != 404 || strings.Contains(got.Body.String(), r.dir) || got.Header().Get("Cache-Control") == "public, max-age=60" {
			t.Errorf("%s: %d %v %.80q", path, got.Code, got.Header(), got.Body)
		}
	}
	if got := r.ask("POST", nile); got.Code != 405 {
		t.Errorf("POST: %d", got.Code)
	}
	if err := os.Remove(filepath.Join(r.dir, one+".mp3")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.dir, two+".mp3")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.dir, two+".mp3"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{one, two} {
		if got := r.ask("GET", sound(id)); got.Code != 404 || strings.Contains(got.Body.String(), r.dir) || got.Header().Get("ETag") != "" {
			t.Errorf("a file that is none: %d %v %s", got.Code, got.Header(), got.Body)
		}
	}
	r.fails = errors.New("no such table: secret")
	if got := r.ask("GET", nile); got.Code != 503 || got.Header().Get("Retry-After") == "" || strings.Contains(got.Body.String(), "secret") {
		t.Errorf("while it is down: %d %s", got.Code, got.Body)
	}
	r.fails = fmt.Errorf("shows: %w", station.ErrUnavailable)
	if got := r.ask("GET", nile); got.Code != 503 {
		t.Errorf("while it starts: %d", got.Code)
	}
}

// Players in other sites' pages ask for what has changed, and for parts: a browser asks first
// whether they may.
func TestOtherSitesPlayersMayAsk(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{nile, "/podcasts/nile/cover.jpg", sound(two), "/podcasts/nile/" + two + "/chapters.json", "/podcasts/nile/" + two + "/transcript.txt", "/podcasts/none/feed.xml"} {
		got := r.ask("OPTIONS", path, "Origin", "https://player.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "if-none-match,range")
		head := got.Header()
		if got.Code != 204 || head.Get("Access-Control-Allow-Origin") != "*" || head.Get("Access-Control-Allow-Credentials") != "" || got.Body.Len() != 0 {
			t.Errorf("%s: %d %v %s", path, got.Code, head, got.Body)
		}
		for _, name := range []string{"If-None-Match", "Range"} {
			if !strings.Contains(head.Get("Access-Control-Allow-Headers"), name) {
				t.Errorf("%s: %s is not allowed: %v", path, name, head)
			}
		}
		if got := r.ask("GET", path, "Origin", "https://player.example"); got.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", path, got.Header())
		}
	}
}

// Players seek by asking for parts, and go on with what they have only where it is the same file.
func TestASoundIsServedWholeAndInParts(t *testing.T) {
	r := newRig(t)
	file := string(r.file(one))
	whole := r.ask("GET", sound(one))
	tag, size := whole.Header().Get("ETag"), len(file)
	if whole.Code != 200 || whole.Body.String() != file || whole.Header().Get("Content-Type") != "audio/mpeg" || whole.Header().Get("Accept-Ranges") != "bytes" || whole.Header().Get("Content-Disposition") != "" {
		t.Errorf("%d, %d bytes, %v", whole.Code, whole.Body.Len(), whole.Header())
	}
	if got := r.ask("HEAD", sound(one)); got.Code != 200 || got.Body.Len() != 0 || got.Header().Get("Content-Length") != fmt.Sprint(size) || got.Header().Get("ETag") != tag {
		t.Errorf("HEAD: %d %v", got.Code, got.Header())
	}
	for _, c := range []struct {
		headers []string
		want    int
		body    string
		of      string
	}{
		{[]string{"Range", "bytes=0-1"}, 206, file[:2], fmt.Sprintf("bytes 0-1/%d", size)},
		{[]string{"Range", "bytes=20000-20999"}, 206, file[20000:21000], fmt.Sprintf("bytes 20000-20999/%d", size)},
		{[]string{"Range", "bytes=-5"}, 206, file[size-5:], fmt.Sprintf("bytes %d-%d/%d", size-5, size-1, size)},
		{[]string{"Range", fmt.Sprintf("bytes=%d-", size-3)}, 206, file[size-3:], fmt.Sprintf("bytes %d-%d/%d", size-3, size-1, size)},
		{[]string{"Range", "bytes=5-99999999999"}, 206, file[5:], fmt.Sprintf("bytes 5-%d/%d", size-1, size)},
		{[]string{"Range", fmt.Sprintf("bytes=%d-", size)}, 416, "", fmt.Sprintf("bytes */%d", size)},
		{[]string{"Range", "bytes=9-1"}, 416, "", ""}, {[]string{"Range", "bytes=" + strings.Repeat("9", 400) + "-"}, 416, "", ""},
		{[]string{"Range", "bytes=0-1", "If-Range", tag}, 206, file[:2], ""}, {[]string{"Range", "bytes=0-1", "If-Range", `"x"`}, 200, file, ""}, {[]string{"Range", "bytes=0-1", "If-Range", "W/" + tag}, 200, file, ""},
		{[]string{"If-None-Match", tag}, 304, "", ""}, {[]string{"If-Match", `"x"`}, 412, "", ""}, {[]string{"If-None-Match", tag, "Range", "bytes=0-1"}, 304, "", ""},
		// All parts together are longer than the file: it is sent as it is.
		{[]string{"Range", "bytes=0-,0-,0-"}, 200, file, ""},
		{[]string{"Range", "bytes=" + strings.Repeat("0-0,", 8) + "0-0"}, 416, "", ""}, {[]string{"Range", "bytes=" + strings.Repeat("0-0,", 100_000) + "0-0"}, 416, "", ""},
	} {
		got := r.ask("GET", sound(one), c.headers...)
		if got.Code != c.want || c.body != "" && got.Body.String() != c.body || c.of != "" && got.Header().Get("Content-Range") != c.of || got.Code == 416 && got.Body.Len() > 100 {
			t.Errorf("%.60q: %d, want %d; %d bytes, %v", c.headers, got.Code, c.want, got.Body.Len(), got.Header())
		}
	}
	several := r.ask("GET", sound(one), "Range", "bytes=0-9, 30000-30009, -7")
	_, of, err := mime.ParseMediaType(several.Header().Get("Content-Type"))
	if err != nil || several.Code != 206 {
		t.Fatalf("%d %v", several.Code, several.Header())
	}
	parts := multipart.NewReader(several.Body, of["boundary"])
	for _, want := range []string{file[:10], file[30000:30010], file[size-7:]} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(part); string(body) != want || part.Header.Get("Content-Type") != "audio/mpeg" {
			t.Errorf("a part: %q, want %q", body, want)
		}
	}
	// Its content is another: so is its tag.
	r.change(func(_ *podcast.Show, had []podcast.Episode) []podcast.Episode {
		had[1].File = two + ".mp3"
		return had
	})
	if got := r.ask("GET", sound(one), "Range", "bytes=0-1", "If-Range", tag); got.Code != 200 || got.Header().Get("ETag") == tag {
		t.Errorf("after it was made anew: %d", got.Code)
	}
}

func TestADownloadHasAName(t *testing.T) {
	r := newRig(t)
	kind, of, err := mime.ParseMediaType(r.ask("GET", sound(two)+"?download=1").Header().Get("Content-Disposition"))
	if err != nil || kind != "attachment" || !strings.Contains(of["filename"], "الحلقة الثانية") || !strings.HasSuffix(of["filename"], ".mp3") {
		t.Errorf("%q %q %v", kind, of, err)
	}
	r.change(func(_ *podcast.Show, had []podcast.Episode) []podcast.Episode {
		had[0].Title = "a\"b\r\nSet-Cookie: x=y/../..\x00\u202egpj"
		return had
	})
	head := r.ask("GET", sound(two)+"?download=1").Header()
	_, of, err = mime.ParseMediaType(head.Get("Content-Disposition"))
	if err != nil || head.Get("Set-Cookie") != "" || strings.ContainsAny(of["filename"], "\r\n/\\\x00\"") || strings.Contains(of["filename"], "\u202e") {
		t.Errorf("%q %q %v", head.Get("Content-Disposition"), of, err)
	}
}

func TestChaptersTextAndCover(t *testing.T) {
	r := newRig(t)
	got := r.ask("GET", "/podcasts/nile/"+two+"/chapters.json")
	var said struct {
		Version  string
		Chapters []struct {
			StartTime float64
			Title     string
		}
	}
	if err := json.Unmarshal(got.Body.Bytes(), &said); err != nil || said.Version != "1.2.0" || len(said.Chapters) != 2 || said.Chapters[1].StartTime != 61.5 || said.Chapters[1].Title != "أم كلثوم – انت عمري" {
		t.Errorf("%v %+v", err, said)
	}
	if got := r.ask("GET", "/podcasts/nile/"+two+"/chapters.json", "If-None-Match", got.Header().Get("ETag")); got.Code != 304 {
		t.Errorf("chapters again: %d", got.Code)
	}
	if got := r.ask("GET", "/podcasts/nile/"+two+"/transcript.txt"); got.Body.String() != "نشرة الأخبار" || got.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%q %v", got.Body, got.Header())
	}
	for v, want := range map[string]string{"?v=c1": "public, max-age=31536000, immutable", "": "public, max-age=300", "?v=c0": "no-cache"} {
		got := r.ask("GET", "/podcasts/nile/cover.jpg"+v)
		if got.Code != 200 || got.Header().Get("Cache-Control") != want || got.Header().Get("Content-Type") != "image/jpeg" {
			t.Errorf("%q: %d %v", v, got.Code, got.Header())
		}
		if again := r.ask("GET", "/podcasts/nile/cover.jpg"+v, "If-None-Match", got.Header().Get("ETag")); again.Code != 304 {
			t.Errorf("%q again: %d", v, again.Code)
		}
	}
}

// A player whose buffer is full takes nothing for long; its connection is given up, and it asks
// again from where it is. One that reads slowly gets all.
func TestWhoTakesNothingIsGivenUp(t *testing.T) {
	for _, c := range []struct {
		what   string
		pause  time.Duration
		served bool
	}{{"it reads slowly", 50 * time.Second, true}, {"it reads no more", 3 * time.Minute, false}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			memory := testkit.NewNetwork()
			srv := &http.Server{Handler: r.mux, ReadHeaderTimeout: time.Hour}
			done := make(chan struct{})
			go func() { defer close(done); _ = srv.Serve(memory) }()
			defer func() { _ = srv.Close(); <-done }()
			conn, err := memory.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close() //nolint:errcheck // a test's end
			if _, err := io.WriteString(conn, "GET "+sound(one)+" HTTP/1.1\r\nHost: radio.example\r\nUser-Agent: AntennaPod\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := int64(0)
			for range 5 {
				n, _ := io.CopyN(io.Discard, answer.Body, 64<<10)
				got += n
				time.Sleep(c.pause)
			}
			n, err := io.Copy(io.Discard, answer.Body)
			if got += n; (err == nil && got == answer.ContentLength) != c.served {
				t.Errorf("%s: %d of %d bytes, %v", c.what, got, answer.ContentLength, err)
			}
			_ = answer.Body.Close()
		})
	}
}
