package relay

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// cookies returns the response's cookies as a request's header, and one by name.
func cookies(r *http.Response, name string) (header string, found *http.Cookie) {
	for _, c := range r.Cookies() {
		header = c.Name + "=" + c.Value
		if c.Name == name {
			found = c
		}
	}
	return header, found
}

func status(t *testing.T, r *http.Response, want int) {
	t.Helper()
	if r.StatusCode != want {
		t.Fatalf("%s: status %d, want %d", r.Request.URL, r.StatusCode, want)
	}
}

// begin goes through the cookie check and returns the session's Cookie header.
func begin(t *testing.T, s *Server) string {
	t.Helper()
	r, _ := get(t, hls(s, "index.m3u8"))
	status(t, r, http.StatusFound)
	check, _ := cookies(r, checkName)
	location, err := r.Location()
	if err != nil {
		t.Fatal(err)
	}
	r, _ = get(t, location.String(), "Cookie", check)
	status(t, r, http.StatusOK)
	session, _ := cookies(r, sessionCookie)
	return session
}

func lastSegment(t *testing.T, text string) string {
	t.Helper()
	var list playlist.Media
	if err := list.Unmarshal([]byte(text)); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return list.Segments[len(list.Segments)-1].URI
}

func TestCookieCheckThenSessionThenStream(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	publish(t, s, 4*time.Second)
	onAir(t, s)

	r, _ := get(t, hls(s, "index.m3u8"))
	status(t, r, http.StatusFound)
	check, cookie := cookies(r, checkName)
	if got := r.Header.Get("Location"); got != "index.m3u8?cookieCheck=1" {
		t.Errorf("Location %q", got)
	}
	if cookie == nil || cookie.Value != "1" || !cookie.HttpOnly || cookie.Secure || cookie.Partitioned || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("over plain HTTP: %q", r.Header.Get("Set-Cookie"))
	}
	r, master := get(t, hls(s, "index.m3u8?cookieCheck=1"), "Cookie", check)
	status(t, r, http.StatusOK)
	session, cookie := cookies(r, sessionCookie)
	if cookie == nil || !cookie.HttpOnly || cookie.Secure || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("over plain HTTP: %q", r.Header.Get("Set-Cookie"))
	}
	if r.Header.Get("Content-Type") != playlistType {
		t.Errorf("Content-Type %q", r.Header.Get("Content-Type"))
	}
	var list playlist.Multivariant
	if err := list.Unmarshal([]byte(master)); err != nil || len(list.Variants) != 1 || list.Variants[0].URI != mediaName || list.Variants[0].Bandwidth < 200_000 {
		t.Fatalf("master playlist (%v):\n%s", err, master)
	}

	r, media := get(t, hls(s, mediaName), "Cookie", session)
	status(t, r, http.StatusOK)
	segment := lastSegment(t, media)
	r, whole := get(t, hls(s, segment), "Cookie", session)
	status(t, r, http.StatusOK)
	if r.Header.Get("Content-Type") != "audio/mp4" || whole[4:8] != "moof" {
		t.Errorf("segment of %d bytes, %q", len(whole), r.Header.Get("Content-Type"))
	}
	r, part := get(t, hls(s, segment), "Cookie", session, "Range", "bytes=188-375")
	if status(t, r, http.StatusPartialContent); part != whole[188:376] {
		t.Error("range is not that part of the segment")
	}
	r, body := ask(t, http.MethodHead, hls(s, mediaName), http.Header{"Cookie": {session}})
	if status(t, r, http.StatusOK); body != "" || r.ContentLength < 100 {
		t.Errorf("HEAD: body %q, length %d", body, r.ContentLength)
	}
	// A reload of the page is the same listener, without another redirect.
	r, _ = get(t, hls(s, "index.m3u8"), "Cookie", session)
	status(t, r, http.StatusOK)
	if got := s.Snapshot(); got.Sessions != 1 || got.SessionsTotal != 1 {
		t.Errorf("%d sessions, %d in all; want 1", got.Sessions, got.SessionsTotal)
	}
}

// One machine that loops over the first request, behind a proxy of ours.
func TestALoopOverTheMasterPlaylistIsStoppedAndForgesNoListener(t *testing.T) {
	s, _ := start(t, shortDir(t), func(o *Options) { o.SessionBurst, o.SessionEvery = 3, time.Hour })
	publish(t, s, 4*time.Second)
	onAir(t, s)
	from := func(address string) *http.Response {
		r, _ := get(t, hls(s, "index.m3u8?cookieCheck=1"), "X-Forwarded-For", address)
		return r
	}
	for range 3 {
		status(t, from("198.51.100.1"), http.StatusOK)
	}
	r := from("198.51.100.1")
	status(t, r, http.StatusTooManyRequests)
	if r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	status(t, from("6.6.6.6, 198.51.100.1"), http.StatusTooManyRequests)
	status(t, from("203.0.113.9"), http.StatusOK)
	got := s.Snapshot()
	if readers := s.mainItem(time.Now()).Readers; got.Sessions != 0 || len(readers) != 0 || got.SessionsTotal != 4 || got.Hurried != 2 {
		t.Errorf("%d listeners, %d readers, %d sessions begun, %d refused", got.Sessions, len(readers), got.SessionsTotal, got.Hurried)
	}
	for i := range 12_000 { // more addresses than are remembered, each of which begins one
		if err := s.begins.Take("listener " + strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if status(t, from("198.51.100.1"), http.StatusTooManyRequests); s.Snapshot().Hurried != 3 {
		t.Error("who has begun too many is forgotten before those who have not")
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	session := begin(t, s)
	_, media := get(t, hls(s, mediaName), "Cookie", session)
	segment := lastSegment(t, media)
	forged := session[:len(session)-1] + "A"
	if forged == session {
		forged = session[:len(session)-1] + "B"
	}
	for _, c := range []struct {
		what, name, cookie string
		want               int
	}{
		{"playlist without session", mediaName, "", 401},
		{"segment without session", segment, "", 401},
		{"forged session", segment, forged, 401},
		{"nonsense session", segment, sessionCookie + "=x", 401},
		{"nonsense session in the query", segment + "?session=../../etc", "", 401},
		{"blocking reload", mediaName + "?_HLS_msn=7", session, 400},
		{"blocking reload of a part", mediaName + "?_HLS_msn=7&_HLS_part=1", session, 400},
		{"blocking reload without session", mediaName + "?_HLS_msn=7", "", 400},
		{"blocking reload of the master playlist", "index.m3u8?_HLS_msn=7", "", 400},
		{"segment that is gone", "seg1.m4s", session, 404},
		{"no such playlist", "other.m3u8", session, 404},
		{"another kind of file", "index.html", session, 404},
	} {
		if r, _ := get(t, hls(s, c.name), "Cookie", c.cookie); r.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", c.what, r.StatusCode, c.want)
		}
	}
	if r, _ := ask(t, http.MethodPost, hls(s, "index.m3u8"), nil); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", r.StatusCode)
	}
	if r, _ := get(t, hls(s, "index.m3u8"), "Origin", "http://elsewhere.example"); r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("another origin may read the stream")
	}
}

func TestCookiesBehindHTTPSAreSecureAndPartitioned(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	r, _ := get(t, hls(s, "index.m3u8"), "X-Forwarded-Proto", "https")
	status(t, r, http.StatusFound)
	got := r.Header.Get("Set-Cookie")
	for _, want := range []string{"cookieCheck=1", "HttpOnly", "Secure", "SameSite=None", "Partitioned"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	// Only a proxy on this machine is believed.
	far, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	far.RemoteAddr = "203.0.113.9:1234"
	far.Header.Set("X-Forwarded-Proto", "https")
	if overHTTPS(far) {
		t.Error("a listener's own X-Forwarded-Proto is believed")
	}
}

// iOS over plain HTTP, ffmpeg, curl: no cookie comes back, every URI carries
// the session.
func TestAClientWithoutCookiesCarriesItsSessionInTheQuery(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	r, master := get(t, hls(s, "index.m3u8?cookieCheck=1"))
	status(t, r, http.StatusOK)
	if len(r.Cookies()) != 0 {
		t.Errorf("cookies %v for a client that keeps none", r.Cookies())
	}
	lines := strings.Fields(master)
	uri := lines[len(lines)-1]
	if !strings.HasPrefix(uri, mediaName+"?session=") {
		t.Fatalf("master names %q", uri)
	}
	r, media := get(t, hls(s, uri))
	status(t, r, http.StatusOK)
	segment := lastSegment(t, media)
	if !strings.Contains(segment, ".m4s?session=") {
		t.Fatalf("playlist names %q", segment)
	}
	r, _ = get(t, hls(s, segment))
	status(t, r, http.StatusOK)
	if got := s.Snapshot().Sessions; got != 1 {
		t.Errorf("%d sessions, want 1", got)
	}
}

func TestBeforeTheFirstSegmentAPlayerIsToldToTryAgain(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	r, _ := get(t, hls(s, "index.m3u8?cookieCheck=1"), "Cookie", "cookieCheck=1")
	status(t, r, http.StatusServiceUnavailable)
	if r.Header.Get("Retry-After") == "" || s.Snapshot().Sessions != 0 {
		t.Errorf("Retry-After %q, %d sessions", r.Header.Get("Retry-After"), s.Snapshot().Sessions)
	}
}

func TestARelayRestartKeepsItsListeners(t *testing.T) {
	dir, address := shortDir(t), fmt.Sprintf("127.0.0.1:%d", testkit.Port(t))
	kept := func(o *Options) { o.HLSAddress = address }
	s, stop := start(t, dir, kept)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	session := begin(t, s)
	stop()

	s, _ = start(t, dir, kept)
	if r, _ := get(t, hls(s, mediaName), "Cookie", session); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("known listener, nothing published yet: status %d, want 503", r.StatusCode)
	}
	publish(t, s, 4*time.Second)
	onAir(t, s)
	r, _ := get(t, hls(s, mediaName), "Cookie", session)
	status(t, r, http.StatusOK)
	if info, err := os.Stat(filepath.Join(dir, secretFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("session key: %v %v", info, err)
	}
}

// What an operator would try from a terminal.
func TestCurlFollowsTheRedirectWithItsCookieJar(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	jar := filepath.Join(t.TempDir(), "jar")
	curl := func(args ...string) string {
		out, err := proc.Output(t.Context(), proc.Spec{
			Name: "curl", Path: "curl", Args: append([]string{"-s", "-w", "\n%{http_code} %{num_redirects}"}, args...),
		}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if out := curl("-L", "-b", jar, "-c", jar, hls(s, "index.m3u8")); !strings.HasSuffix(out, "200 1") || !strings.Contains(out, "\n"+mediaName+"\n") {
		t.Fatalf("master: %s", out)
	}
	if out := curl("-b", jar, hls(s, mediaName)); !strings.HasSuffix(out, "200 0") || !strings.Contains(out, "#EXT-X-PROGRAM-DATE-TIME:") {
		t.Fatalf("media: %s", out)
	}
	if out := curl(hls(s, mediaName)); !strings.HasSuffix(out, "401 0") {
		t.Fatalf("without the jar: %s", out)
	}
}

func BenchmarkMediaPlaylist(b *testing.B) {
	s := newStation(noon)
	s.connect()
	s.run(time.Minute)
	for b.Loop() {
		if _, err := s.window.text("?session=x"); err != nil {
			b.Fatal(err)
		}
	}
}
