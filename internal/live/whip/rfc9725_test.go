package whip_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip"
	"github.com/athir-radio/athir/internal/live/whip/sdp"
)

// The clauses of RFC 9725 about HTTP, in its order, and those of the RFCs it cites.
func TestEveryClauseOfRFC9725(t *testing.T) {
	h := open(t, nil)
	h.control.refused["early"] = live.Admission{Code: "early", Detail: "your show begins at six", RetryAt: 1_900_000_000_000}
	h.control.refused["revoked"] = live.Admission{Code: "revoked", Detail: "this key was revoked"}
	h.control.refused["limited"] = live.Admission{Code: "limited", Detail: "too often"}
	// The control plane's clock is decades behind ours: only the difference counts.
	h.control.refused["shut"] = live.Admission{Code: "limited", Detail: "too often", Now: 86_400_000, RetryAt: 86_400_000 + 41_500}
	p := newPhone(t, h, "sara").publish()
	offer := p.pc.LocalDescription().SDP
	endpoint, resource := h.public.URL+"/whip", p.url
	const sdpType, fragType = "application/sdp", "application/trickle-ice-sdpfrag"
	good := fragment(offer)
	// with returns a request's header: a token, a type, If-Match.
	with := func(token, kind string, match ...string) http.Header {
		out := http.Header{}
		if token != "" {
			out.Set("Authorization", "Bearer "+token)
		}
		if kind != "" {
			out.Set("Content-Type", kind)
		}
		if match != nil {
			out["If-Match"] = match
		}
		return out
	}
	key := p.key
	for _, c := range []struct {
		section, what string
		method, url   string
		header        http.Header
		body          string
		status        int
		has           http.Header // an empty value: there must be none
	}{
		// 4.1: no representation; a GET is answered 2xx without content.
		{"4.1", "GET of the endpoint", "GET", endpoint, nil, "", 204, nil},
		{"4.1", "HEAD of the endpoint", "HEAD", endpoint, nil, "", 204, nil},
		{"4.1", "GET of the session", "GET", resource, nil, "", 204, nil},
		{"4.1", "HEAD of the session", "HEAD", resource, nil, "", 204, nil},
		{"4.1", "PUT of the session", "PUT", resource, nil, "", 405, http.Header{"Allow": {"OPTIONS, GET, HEAD, PATCH, DELETE"}}},
		{"4.1", "POST to the session", "POST", resource, with(key, sdpType), offer, 405, nil},
		{"4.1", "PUT of the endpoint", "PUT", endpoint, nil, "", 405, http.Header{"Allow": {"OPTIONS, GET, HEAD, POST"}}},
		{"4.1", "DELETE of the endpoint", "DELETE", endpoint, nil, "", 405, nil},
		{"4.1", "PATCH of the endpoint", "PATCH", endpoint, nil, "", 405, nil},
		{"4.1", "a refusal is a problem document", "PUT", resource, nil, "", 405, http.Header{"Content-Type": {"application/problem+json"}}},

		// 4.2: the offer.
		{"4.2", "another media type", "POST", endpoint, with(key, "application/json"), offer, 415, http.Header{"Accept-Post": {sdpType}}},
		{"4.2", "no media type", "POST", endpoint, with(key, ""), offer, 415, nil},
		{"4.2", "a media type with a parameter", "POST", endpoint, with(key, "application/SDP; charset=utf-8"), "no", 400, nil},
		{"4.2", "malformed SDP", "POST", endpoint, with(key, sdpType), "hello", 400, nil},
		{"4.2", "an empty body", "POST", endpoint, with(key, sdpType), "", 400, nil},
		{"4.2", "a body beyond 64 KiB", "POST", endpoint, with(key, sdpType), strings.Repeat("a", sdp.MostOffer+1), 413, nil},
		{"4.2", "recvonly", "POST", endpoint, with(key, sdpType), strings.ReplaceAll(strings.ReplaceAll(offer, "a=sendrecv", "a=recvonly"), "a=sendonly", "a=recvonly"), 422, nil},
		{"4.2", "OPTIONS of the endpoint", "OPTIONS", endpoint, nil, "", 200, http.Header{"Accept-Post": {sdpType}}},
		{"4.2", "OPTIONS of the session", "OPTIONS", resource, nil, "", 200, http.Header{"Accept-Patch": {fragType}, "Accept-Post": {sdpType}}},
		{"4.2", "preflight of the endpoint", "OPTIONS", endpoint, http.Header{"Origin": {"https://other.example"}, "Access-Control-Request-Method": {"POST"}}, "", 200,
			http.Header{"Access-Control-Allow-Origin": {"https://other.example"}, "Access-Control-Allow-Methods": {"POST"}, "Access-Control-Allow-Headers": {"Authorization, Content-Type, If-Match"}, "Link": {""}}},
		{"4.2", "preflight of the session", "OPTIONS", resource, http.Header{"Origin": {"https://other.example"}, "Access-Control-Request-Method": {"PATCH"}}, "", 200,
			http.Header{"Access-Control-Allow-Methods": {"PATCH, DELETE"}}},

		// 4.3.1: PATCH and its preconditions.
		{"4.3.1", "another media type", "PATCH", resource, with(key, sdpType, p.etag), good, 415, http.Header{"Accept-Patch": {fragType}}},
		{"4.3.1", "a malformed fragment", "PATCH", resource, with(key, fragType, p.etag), "hello", 400, nil},
		{"4.3.1", "no entity tag", "PATCH", resource, with(key, fragType), good, 428, nil},
		{"4.3.1", "an outdated entity tag", "PATCH", resource, with(key, fragType, `"old"`), good, 412, nil},
		{"4.3.1", "a weak entity tag", "PATCH", resource, with(key, fragType, "W/"+p.etag), good, 412, nil},
		{"4.3.1", "one of several entity tags", "PATCH", resource, with(key, fragType, `"old", `+p.etag), good, 204, nil},
		{"4.3.1", "a fragment beyond 16 KiB", "PATCH", resource, with(key, fragType, p.etag), strings.Repeat("a=x\r\n", 4000), 413, nil},
		// 4.3.2: trickle.
		{"4.3.2", "candidates of the ICE session", "PATCH", resource, with(key, fragType, p.etag), good, 204, http.Header{"ETag": {""}, "Content-Type": {""}}},
		{"4.3.2", "candidates that cannot be resolved", "PATCH", resource, with(key, fragType, p.etag), good + "a=candidate:1 1 udp 1 nobody.invalid 9 typ host\r\n", 204, nil},
		{"4.3.2", "candidates of a transport that is not taken", "PATCH", resource, with(key, fragType, p.etag), good + "a=candidate:1 1 sctp 1 192.0.2.1 9 typ host\r\n", 204, nil},
		{"4.3.2", "another mid", "PATCH", resource, with(key, fragType, p.etag), "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:77\r\n", 422, nil},

		// 4.4: what WebRTC is held to.
		{"4.4.2", "two audio tracks", "POST", endpoint, with(key, sdpType), offer + offer[strings.Index(offer, "m=audio"):], 422, nil},
		{"4.4.3", "video beside: not half an answer", "POST", endpoint, with(key, sdpType), offer + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:1\r\na=sendonly\r\na=rtpmap:96 VP8/90000\r\n", 422, nil},
		{"4.4.4", "setup:passive", "POST", endpoint, with(key, sdpType), strings.ReplaceAll(offer, "actpass", "passive"), 422, nil},

		// 4.7: bearer tokens (RFC 6750, section 3).
		{"4.7", "no token", "POST", endpoint, with("", sdpType), offer, 401, http.Header{"WWW-Authenticate": {`Bearer realm="whip"`}}},
		{"4.7", "a wrong token", "POST", endpoint, with("sara.wrong", sdpType), offer, 401, http.Header{"WWW-Authenticate": {`Bearer realm="whip", error="invalid_token"`}}},
		{"4.7", "a token that is no key", "POST", endpoint, with("nodot", sdpType), offer, 401, nil},
		{"4.7", "another scheme", "POST", endpoint, http.Header{"Authorization": {"Basic c2FyYTpzZWNyZXQ="}, "Content-Type": {sdpType}}, offer, 401, nil},
		{"4.7", "another publisher's token at the session", "PATCH", resource, with("omar.secret", fragType, p.etag), good, 401, nil},
		{"4.7", "another publisher's token at the session's end", "DELETE", resource, with("omar.secret", ""), "", 401, nil},
		{"4.7", "outside its time", "POST", endpoint, with("early.secret", sdpType), offer, 403, http.Header{"Content-Type": {"application/problem+json"}}},
		{"4.7", "revoked", "POST", endpoint, with("revoked.secret", sdpType), offer, 403, nil},
		{"4.5", "asked too often", "POST", endpoint, with("limited.secret", sdpType), offer, 429, nil},
		{"4.5", "asked too often, and the clocks differ", "POST", endpoint, with("shut.secret", sdpType), offer, 429, http.Header{"Retry-After": {"42"}}},

		{"4.2", "an unknown session", "DELETE", endpoint + "/0123456789abcdef", with(key, ""), "", 404, nil},
		{"4.2", "PATCH of an unknown session", "PATCH", endpoint + "/0123456789abcdef", with(key, fragType, "*"), good, 404, nil},
		{"4.3.1", "the end ignores entity tags", "DELETE", resource, with(key, "", `"old"`), "", 200, nil},
		{"4.2", "a session that ended", "DELETE", resource, with(key, ""), "", 404, nil},
		{"4.2", "PATCH of a session that ended", "PATCH", resource, with(key, fragType, "*"), good, 404, nil},
	} {
		resp := h.ask(c.method, c.url, c.header, c.body)
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s, %s: %s, want %d: %s", c.section, c.what, resp.Status, c.status, body)
		}
		if (resp.StatusCode == 204 || c.method == "HEAD") && len(body) > 0 {
			t.Errorf("%s, %s: a body of %d bytes", c.section, c.what, len(body))
		}
		for name, want := range c.has {
			if got := resp.Header.Get(name); got != want[0] {
				t.Errorf("%s, %s: %s is %q, want %q", c.section, c.what, name, got, want[0])
			}
		}
		if resp.StatusCode == 403 && c.what == "outside its time" && !strings.Contains(string(body), `"code":"early"`) {
			t.Errorf("%s, %s: %s", c.section, c.what, body)
		}
		if resp.StatusCode == 429 && resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s, %s: no Retry-After", c.section, c.what)
		}
	}
}

// What the 201 holds (4.2, 4.3.1, 4.4.1, 4.6).
func TestTheAnswerHoldsWhatRFC9725AsksFor(t *testing.T) {
	h := open(t, nil)
	p := newPhone(t, h, "sara")
	header := p.header("application/sdp")
	header.Set("Origin", "https://other.example")
	resp := h.ask(http.MethodPost, h.public.URL+"/whip", header, p.offer(false))
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Content-Type") != "application/sdp" {
		t.Fatalf("%s: %s", resp.Status, body)
	}
	location := resp.Header.Get("Location")
	if id, ok := strings.CutPrefix(location, "/whip/"); !ok || len(id) < 32 {
		t.Errorf("Location %q can be guessed", location)
	}
	if tag := resp.Header.Get("ETag"); !strings.HasPrefix(tag, `"`) || len(tag) < 8 {
		t.Errorf("ETag %q is no strong one", tag)
	}
	if got := resp.Header.Get("Accept-Patch"); got != "application/trickle-ice-sdpfrag" {
		t.Errorf("Accept-Patch %q", got)
	}
	for _, name := range []string{"Location", "ETag", "Link"} {
		if !strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), name) {
			t.Errorf("%s is not shown to pages elsewhere", name)
		}
	}
	want := []string{
		`<stun:127.0.0.1:3478>; rel="ice-server"`,
		`<turn:127.0.0.1:3478?transport=udp>; rel="ice-server"; username="1:\"sara\""; credential="pass"; credential-type="password"`,
		`<turn:127.0.0.1:3478?transport=tcp>; rel="ice-server"; username="1:\"sara\""; credential="pass"; credential-type="password"`,
	}
	if got := resp.Header.Values("Link"); !slices.Equal(got, want) {
		t.Errorf("Link %q", got)
	}
	if got := h.do(http.MethodOptions, h.public.URL+"/whip", nil, "").Header.Values("Link"); !slices.Equal(got, want) {
		t.Errorf("Link of OPTIONS %q", got)
	}
	for _, line := range []string{"a=ice-lite", "a=recvonly", "a=setup:passive", "a=rtcp-mux", "a=rtcp-mux-only", "a=group:BUNDLE 0", "a=rtcp-fb:111 nack",
		"a=end-of-candidates", "a=fmtp:111 minptime=10;stereo=1;sprop-stereo=1;useinbandfec=0;usedtx=0"} {
		if !strings.Contains(string(body), line+"\r\n") && !strings.Contains(string(body), line+" \r\n") {
			t.Errorf("%q is missing in\n%s", line, body)
		}
	}
	for _, a := range h.server.MediaUDP() {
		if !strings.Contains(string(body), " "+a.Addr().String()+" ") {
			t.Errorf("no candidate for %s in\n%s", a, body)
		}
	}
	if strings.Count(string(body), "a=candidate:") < 2 || !strings.Contains(string(body), "tcptype passive") {
		t.Errorf("candidates of UDP and TCP are missing in\n%s", body)
	}
}

func TestWhipInfoIsExactlyThat(t *testing.T) {
	h := open(t, nil)
	resp := h.ask(http.MethodGet, h.public.URL+"/whip-info", nil, "")
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	want := `{"stun":["stun:127.0.0.1:3478"],"turn":[{"urls":["turn:127.0.0.1:3478?transport=udp","turn:127.0.0.1:3478?transport=tcp"],"username":"1:\"sara\"","credential":"pass"}],"live":false}` + "\n"
	if string(body) != want {
		t.Errorf("%s", body)
	}
	if resp := h.get("/go-live"); resp.StatusCode != http.StatusOK {
		t.Errorf("the page answers %s", resp.Status)
	}
}

// Who shows a key that was admitted is told ICE servers for publishers, in the answer to the
// offer and from then on; nobody else is, and a key that was refused since is not.
func TestAKnownKeyGetsICEServersForPublishers(t *testing.T) {
	h := open(t, func(o *whip.Options) {
		o.ICEServers = func(_ string, known bool) ([]string, []whip.Turn) {
			return []string{fmt.Sprintf("stun:known-%t", known)}, nil
		}
	})
	told := func(method, token string) bool {
		t.Helper()
		path := map[string]string{http.MethodOptions: "/whip", http.MethodGet: "/whip-info"}[method]
		resp := h.ask(method, h.public.URL+path, http.Header{"Authorization": {"Bearer " + token}}, "")
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return strings.Contains(resp.Header.Get("Link")+string(body), "stun:known-true")
	}
	if told(http.MethodOptions, "sara.secret") || told(http.MethodGet, "sara.secret") || told(http.MethodGet, "") {
		t.Error("a key that nobody has checked is known")
	}
	p := newPhone(t, h, "sara")
	header, offer := p.header("application/sdp"), p.offer(false)
	resp := h.do(http.MethodPost, h.public.URL+"/whip", header, offer)
	if resp.StatusCode != http.StatusCreated || !strings.Contains(resp.Header.Get("Link"), "stun:known-true") {
		t.Errorf("%s %s", resp.Status, resp.Header.Get("Link"))
	}
	if !told(http.MethodOptions, "sara.secret") || !told(http.MethodGet, "sara.secret") {
		t.Error("a key that was admitted is not known")
	}
	header.Set("Authorization", "Bearer sara.wrong")
	h.do(http.MethodPost, h.public.URL+"/whip", header, offer)
	if told(http.MethodOptions, "sara.wrong") || told(http.MethodOptions, "omar.secret") || !told(http.MethodOptions, "sara.secret") {
		t.Error("another key is known, or this one not any more")
	}
	h.control.mu.Lock()
	h.control.refused["sara"] = live.Admission{Code: "revoked"}
	h.control.mu.Unlock()
	header.Set("Authorization", "Bearer sara.secret")
	h.do(http.MethodPost, h.public.URL+"/whip", header, offer)
	if told(http.MethodOptions, "sara.secret") {
		t.Error("a key that was refused is known")
	}
}

// An ICE restart that cannot be done keeps the session (4.3.3), and one that can replaces
// the entity tag.
func TestAfterARestartTheOldEntityTagIsOver(t *testing.T) {
	h := open(t, nil)
	p := newPhone(t, h, "sara").publish().connected()
	old := p.etag
	header := p.header("application/trickle-ice-sdpfrag")
	header["If-Match"] = []string{"*"}
	resp := h.ask(http.MethodPatch, p.url, header, fragment(p.offer(true)))
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/trickle-ice-sdpfrag" {
		t.Fatalf("%s: %s", resp.Status, body)
	}
	for _, line := range []string{"a=ice-lite\r\n", "a=ice-options:trickle ice2\r\n", "a=ice-ufrag:", "a=ice-pwd:", "a=candidate:", "a=end-of-candidates\r\n", "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n", "a=mid:0\r\n"} {
		if !strings.Contains(string(body), line) {
			t.Errorf("%q is missing in\n%s", line, body)
		}
	}
	header["If-Match"] = []string{old}
	if resp := h.do(http.MethodPatch, p.url, header, "a=end-of-candidates\r\n"); resp.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("the old tag: %s", resp.Status)
	}
	header["If-Match"] = []string{resp.Header.Get("ETag")}
	if resp := h.do(http.MethodPatch, p.url, header, "a=end-of-candidates\r\n"); resp.StatusCode != http.StatusNoContent {
		t.Errorf("the new tag: %s", resp.Status)
	}
}
