package e2e

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// A whole station behind each of the files in deploy/: whatever a listener, an operator and
// a presenter does over https works there.
func TestHTTPSInFrontOfAStation(t *testing.T) {
	s := look(t)
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			s := &station{t, s.machine}
			f := start(t, s.doorsOf())
			f.pages()
			f.writes()
			f.believesNobody(s, name)
			f.events()
			f.sound()
			f.segments()
			f.uploads(s)
			f.phone(s)
		})
	}
}

// browser is a client that keeps cookies.
func (f *front) browser() *http.Client {
	f.t.Helper()
	c := f.client("127.0.0.1", true)
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	c.Jar = jar
	return c
}

// loaded is what a page loads.
var loaded = regexp.MustCompile(`(?:src|href)="(/[^"]+\.(?:js|css))"`)

func (f *front) pages() {
	f.t.Helper()
	c := f.browser()
	for _, page := range []string{"/", "/chat", "/social.html", "/studio", "/go-live"} {
		resp, text := f.ask(c, http.MethodGet, page, "")
		if resp.StatusCode != http.StatusOK || !strings.Contains(text, "<html") {
			f.t.Errorf("%s: %s %.200s", page, resp.Status, text)
			continue
		}
		for _, m := range loaded.FindAllStringSubmatch(text, -1) {
			if resp, _ := f.ask(c, http.MethodGet, m[1], ""); resp.StatusCode != http.StatusOK {
				f.t.Errorf("%s loads %s: %s", page, m[1], resp.Status)
			}
		}
	}
	for _, path := range []string{"/openapi.json", "/asyncapi.json", "/docs", "/ping", "/api/status", "/next-tracks.json", "/whip-info"} {
		if resp, text := f.ask(c, http.MethodGet, path, ""); resp.StatusCode != http.StatusOK {
			f.t.Errorf("%s: %s %.200s", path, resp.Status, text)
		}
	}
	// What only programs beside the station ask for is not at the front.
	if resp, _ := f.ask(c, http.MethodGet, "/metrics", ""); resp.StatusCode != http.StatusNotFound {
		f.t.Errorf("/metrics: %s", resp.Status)
	}
}

// writes sends what a listener and an operator send from their pages: the station takes
// their origin for its own.
func (f *front) writes() {
	f.t.Helper()
	c := f.browser()
	if resp, text := f.ask(c, http.MethodPost, "/api/reactions", `{"emoji":"🔥"}`, "Content-Type", "application/json", "Sec-Fetch-Site", "same-origin"); resp.StatusCode != http.StatusOK {
		f.t.Errorf("a reaction: %s %.200s", resp.Status, text)
	}
	for key, want := range map[string]int{"": http.StatusUnauthorized, testStationKey: http.StatusOK} {
		if resp, text := f.ask(c, http.MethodGet, "/api/station/state", "", "X-Station-Key", key); resp.StatusCode != want {
			f.t.Errorf("the studio with the key %q: %s %.200s", key, resp.Status, text)
		}
	}
}

// believesNobody guesses keys and tests the network in somebody else's name, at the control
// plane and through the player. They would be refused next: that address has no more tries.
func (f *front) believesNobody(s *station, name string) {
	f.t.Helper()
	c := f.client("127.0.0.1", true)
	victim := map[string]string{"nginx": "203.0.113.71", "caddy": "203.0.113.72"}[name]
	for _, chain := range []string{victim, victim + ", 127.0.0.1", "198.51.100.9, " + victim + ", 127.0.0.1"} {
		for range 20 {
			forged := []string{"X-Forwarded-For", chain, "Forwarded", "for=" + victim, "X-Station-Key", "a guess"}
			if resp, text := f.ask(c, http.MethodGet, "/api/station/state", "", forged...); resp.StatusCode != http.StatusUnauthorized {
				f.t.Fatalf("a guess under %q: %s %.200s", chain, resp.Status, text)
			}
			if resp, text := f.ask(c, http.MethodGet, "/network-test-payload?bytes=1", "", forged...); resp.StatusCode != http.StatusOK {
				f.t.Fatalf("a network test under %q: %s %.200s", chain, resp.Status, text)
			}
		}
	}
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, s.url("control", "/api/station/state"), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", victim)
	req.Header.Set("X-Station-Key", testStationKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		f.t.Errorf("who was named by others is refused: %s", resp.Status)
	}
}

// events come over a WebSocket, and a comment goes there and comes back.
func (f *front) events() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	how := &websocket.DialOptions{HTTPClient: f.client("127.0.0.1", false), HTTPHeader: http.Header{"Origin": {f.at("")}}}
	c, err := sockettest.DialAs(ctx, f.at(""), map[string]string{"key": testStationKey}, how)
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	testkit.Eventually(f.t, "an event over wss", func() bool { return len(c.All()) > 0 })
	how.HTTPHeader = http.Header{"Origin": {"https://evil.example"}}
	if c, err := sockettest.DialAs(ctx, f.at(""), nil, how); err == nil {
		c.Close()
		f.t.Error("another site's page is let in")
	}
	resp, text := f.ask(f.browser(), http.MethodGet, "/socket.io/?EIO=4&transport=polling", "")
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(text, "0{") {
		f.t.Errorf("polling: %s %.200s", resp.Status, text)
	}
}

// sound flows for longer than what a new listener is given at once.
func (f *front) sound() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.at("/stream"), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	resp, err := f.client("127.0.0.1", true).Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	head := make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, head); err != nil || string(head) != "OggS" {
		f.t.Fatalf("/stream: %s %q %v", resp.Status, head, err)
	}
	if n, err := io.CopyN(io.Discard, resp.Body, flowing); err != nil {
		f.t.Errorf("/stream ends after %d bytes: %v", n, err)
	}
}

// flowing is some six seconds of the tests' stream, of which three come at once.
const flowing = 128 << 10

// segments are played as a browser plays them: with a cookie that is kept over https only.
func (f *front) segments() {
	f.t.Helper()
	c := f.browser()
	at, list := "/hls/main/index.m3u8", ""
	for range 4 { // to the cookie, to the master playlist, to the media playlist
		resp, text := f.ask(c, http.MethodGet, at, "")
		if resp.StatusCode == http.StatusFound {
			for _, cookie := range resp.Cookies() {
				if !cookie.Secure {
					f.t.Errorf("the cookie %s is not for https alone", cookie.Name)
				}
			}
			text = resp.Header.Get("Location")
		} else if resp.StatusCode != http.StatusOK || !strings.HasPrefix(text, "#EXTM3U") {
			f.t.Fatalf("%s: %s %.300s", at, resp.Status, text)
		}
		last := listedLast(text)
		base, err := url.Parse(f.at(at))
		if err != nil {
			f.t.Fatal(err)
		}
		next, err := base.Parse(last)
		if err != nil {
			f.t.Fatal(err)
		}
		if at, list = next.RequestURI(), text; strings.Contains(text, "#EXTINF") {
			break
		}
	}
	if !strings.Contains(list, "#EXTINF") {
		f.t.Fatalf("no media playlist at %s: %s", at, list)
	}
	resp, segment := f.ask(c, http.MethodGet, at, "")
	if resp.StatusCode != http.StatusOK || len(segment) < 1000 || !strings.HasPrefix(segment[4:], "moof") {
		f.t.Errorf("the segment %s: %s, %d bytes", at, resp.Status, len(segment))
	}
}

func listedLast(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// uploads that break are with the station as far as they came, beyond the megabyte that a
// web server lets in by itself.
func (f *front) uploads(s *station) {
	f.t.Helper()
	const whole, sent = 4 << 20, 3 << 20
	c := f.browser()
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	resp, text := f.ask(c, http.MethodPost, "/api/social/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", strconv.Itoa(whole),
		"Upload-Metadata", "type "+b64("song")+",title "+b64("over https")+",rights "+b64("true"))
	if resp.StatusCode != http.StatusCreated {
		f.t.Fatalf("an upload: %s %.300s", resp.Status, text)
	}
	at, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		f.t.Fatal(err)
	}
	body, more := io.Pipe()
	ctx, breaks := context.WithCancel(f.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, f.at(at.Path), body)
	if err != nil {
		f.t.Fatal(err)
	}
	req.ContentLength = whole
	for name, value := range map[string]string{"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"} {
		req.Header.Set(name, value)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := c.Do(req); err == nil {
			_ = resp.Body.Close()
			f.t.Errorf("half an upload: %s", resp.Status)
		}
		_ = body.Close()
	}()
	_, _ = more.Write(make([]byte, sent))
	breaks()
	testkit.Receive(f.t, "the upload breaks", done)
	s.eventually("what was sent of a broken upload is with the station", func() bool {
		resp, _ := f.ask(c, http.MethodHead, at.Path, "", "Tus-Resumable", "1.0.0")
		offset, _ := strconv.Atoi(resp.Header.Get("Upload-Offset"))
		return offset > 1<<20 && offset <= sent
	})
	if resp, text := f.ask(c, http.MethodDelete, at.Path, "", "Tus-Resumable", "1.0.0"); resp.StatusCode != http.StatusNoContent {
		f.t.Errorf("giving an upload up: %s %.300s", resp.Status, text)
	}
}

// phone asks for a session as the page /go-live does, hears its news, and ends it.
func (f *front) phone(s *station) {
	f.t.Helper()
	peer, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		f.t.Fatal(err)
	}
	defer peer.Close() //nolint:errcheck // never connected
	if _, err := peer.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}); err != nil {
		f.t.Fatal(err)
	}
	offer, err := peer.CreateOffer(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	id, secret := s.publisher("هالة", false)
	key := "Bearer " + id + "." + secret
	c := f.browser()
	var resp *http.Response
	var text string
	s.eventually("a phone is let in or refused", func() bool { // 503: the station cannot check its key just now
		resp, text = f.ask(c, http.MethodPost, "/whip", offer.SDP, "Content-Type", "application/sdp", "Authorization", key)
		return resp.StatusCode != http.StatusServiceUnavailable
	})
	if resp.StatusCode != http.StatusCreated || !strings.HasPrefix(text, "v=0") {
		f.t.Fatalf("POST /whip: %s %.300s", resp.Status, text)
	}
	session, err := resp.Location()
	if err != nil || !strings.HasPrefix(session.String(), f.at("/whip/")) {
		f.t.Fatalf("the session is at %v, %v", session, err)
	}
	f.hears(c, session.Path+"/facts", key)
	if resp, text := f.ask(c, http.MethodDelete, session.Path, "", "Authorization", key); resp.StatusCode != http.StatusOK {
		f.t.Errorf("DELETE of the session: %s %.300s", resp.Status, text)
	}
}

// hears waits for the first event of a presenter's page.
func (f *front) hears(c *http.Client, path, key string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.at(path), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", key)
	resp, err := c.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	text, ok := strings.CutPrefix(line, "data: ")
	if !ok || err != nil || !json.Valid([]byte(text)) {
		f.t.Errorf("the news of a session: %s %q %v", resp.Status, line, err)
	}
}
