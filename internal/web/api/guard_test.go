package api_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

func TestEveryStationRouteStandsBehindTheKey(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	var behind int
	for _, row := range api.Rows() {
		// What makes work needs the key as well; listeners vote, and the node's live
		// programs show the token.
		listeners := map[string]bool{"/api/upnext/votes": true, "/api/reactions": true, "/api/vibe": true, "/api/subscribe": true, "/api/subscribe/mine": true, "/api/comments": true, "/api/requests": true, "/api/social/posts": true, "/api/social/upload/{type}": true,
			"/api/session": true, "/api/session/passkey/begin": true, "/api/session/passkey": true, "/api/session/invitation": true, "/api/session/invitation/accept": true}
		for _, does := range []string{"vote", "react", "report", "withdraw", "appeal"} {
			listeners["/api/social/posts/{id}/"+does] = true // the last two with the post's own secret
		}
		work := (row.Method == "POST" || row.Method == "PUT") && row.Path != "/metadata" && !listeners[row.Path] && !strings.HasPrefix(row.Path, "/api/live/")
		must := strings.HasPrefix(row.Path, "/api/station") || row.Path == "/api/social/posts/{id}/alike" || strings.HasPrefix(row.Path, "/api/jobs") || strings.HasPrefix(row.Path, "/api/account") || strings.HasPrefix(row.Path, "/api/people") || work ||
			row.Method == "DELETE" && strings.HasPrefix(row.Path, "/api/channels")
		if must != row.BehindKey {
			t.Errorf("%s %s: behind the key: %v", row.Method, row.Path, row.BehindKey)
		}
		if !row.BehindKey {
			continue
		}
		behind++
		// The body is never looked at: it could not be refused for what it is.
		for name, headers := range map[string][]string{"none": nil, "wrong": {"X-Station-Key", "open-sesame!"}} {
			headers = append(headers, "X-Forwarded-For", "198.51.100."+strconv.Itoa(behind))
			code, head, body := r.call(t, row.Method, row.Path, `{"no":`, headers...)
			if code != http.StatusUnauthorized || !strings.HasPrefix(head.Get("WWW-Authenticate"), "Bearer") ||
				head.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s with %s key: %d %v %s", row.Method, row.Path, name, code, head, body)
			}
		}
		if code, _, body := r.call(t, row.Method, row.Path, `{"no":`, "X-Station-Key", "open-sesame"); code == http.StatusUnauthorized {
			t.Errorf("%s %s with the key: %d %s", row.Method, row.Path, code, body)
		}
	}
	if behind < 20 {
		t.Errorf("only %d routes stand behind the key", behind)
	}
	// Whatever the table does not hold: other methods, paths that lie.
	for _, q := range [][2]string{
		{"DELETE", "/api/station/config"}, {"PATCH", "/api/station/config"}, {"OPTIONS", "/api/station/config"}, {"HEAD", "/api/station/state"},
		{"GET", "/api/station/"}, {"GET", "/api/station/nothing"}, {"GET", "/api/station/state/"}, {"GET", "/api/%73tation/state"},
		{"GET", "/api/status/../station/state"}, {"GET", "//api//station/state"}, {"GET", "/api/./station/state"},
		{"GET", "/api/station%2Fstate/"}, {"TRACE", "/api/station/skip"},
	} {
		code, _, body := r.call(t, q[0], q[1], "")
		if code == http.StatusOK || strings.Contains(body, "ROTATION") {
			t.Errorf("%s %s: %d %s", q[0], q[1], code, body)
		}
	}
}

func TestStationKeyIsTakenFromEitherHeader(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	for name, c := range map[string]struct {
		want    int
		headers []string
	}{
		"x-station-key":                 {200, []string{"x-station-key", "open-sesame"}},
		"Bearer":                        {200, []string{"Authorization", "Bearer open-sesame"}},
		"bearer in lower case":          {200, []string{"Authorization", "bearer  open-sesame"}},
		"Authorization alone":           {200, []string{"Authorization", "open-sesame"}},
		"beside a proxy's own":          {200, []string{"X-Station-Key", "open-sesame", "Authorization", "Basic YTpi"}},
		"an empty one beside a Bearer":  {200, []string{"X-Station-Key", "", "Authorization", "Bearer open-sesame"}},
		"empty":                         {401, []string{"X-Station-Key", ""}},
		"an empty Bearer":               {401, []string{"Authorization", "Bearer "}},
		"a part":                        {401, []string{"X-Station-Key", "open-sesam"}},
		"other case":                    {401, []string{"X-Station-Key", "Open-Sesame"}},
		"Basic":                         {401, []string{"Authorization", "Basic open-sesame"}},
		"a second value":                {401, []string{"X-Station-Key", "no, open-sesame"}},
		"the token of the engine":       {401, []string{"Authorization", "Bearer sesame"}},
		"in a cookie":                   {401, []string{"Cookie", "x-station-key=open-sesame"}},
		"with the other method's name":  {401, []string{"X-HTTP-Method-Override", "GET"}},
		"a wrong one before the Bearer": {401, []string{"X-Station-Key", "no", "Authorization", "Bearer open-sesame"}},
	} {
		if code, _, body := r.call(t, "GET", "/api/station/mood", "", c.headers...); code != c.want {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	if code, _, _ := r.call(t, "GET", "/api/station/mood?x-station-key=open-sesame&key=open-sesame", ""); code != 401 {
		t.Errorf("in the address: %d", code)
	}
}

func TestWrongKeysAreFewPerAddress(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey, o.Now = secret.Of("open-sesame"), standing })
	ask := func(from, key string) (int, string) {
		code, head, _ := r.call(t, "GET", "/api/station/mood", "", "X-Forwarded-For", from, "X-Station-Key", key)
		return code, head.Get("Retry-After")
	}
	for range 30 { // a page that has not asked for the key yet guesses nothing
		if code, _ := ask("198.51.100.7", ""); code != 401 {
			t.Fatalf("without a key: %d", code)
		}
	}
	for range 30 {
		if code, _ := ask("198.51.100.7", "open-sesame"); code != 200 {
			t.Fatalf("with the key: %d", code)
		}
	}
	for i := range 10 {
		if code, _ := ask("198.51.100.7", "guess"+strconv.Itoa(i)); code != 401 {
			t.Fatalf("guess %d: %d", i, code)
		}
	}
	for _, key := range []string{"guess", "open-sesame"} { // the right one is a guess like any other
		code, after := ask("198.51.100.7", key)
		if s, err := strconv.Atoi(after); code != http.StatusTooManyRequests || err != nil || s != 6 {
			t.Errorf("%s: %d, Retry-After %q", key, code, after)
		}
	}
	// An invention before the proxy's own entry makes nobody someone else.
	if code, _ := ask("6.6.6.6, 198.51.100.7", "guess"); code != http.StatusTooManyRequests {
		t.Errorf("with an invented address: %d", code)
	}
	if code, _ := ask("198.51.100.8", "open-sesame"); code != 200 {
		t.Errorf("another address: %d", code)
	}
	if text := r.lines.String(); strings.Contains(text, "sesame") || strings.Contains(text, "guess") || !strings.Contains(text, "198.51.100.7") {
		t.Errorf("the log: %s", text)
	}
}

func TestWithoutAKeyOtherSitesCannotSteer(t *testing.T) {
	r := newRig(t)
	if code, _, body := r.call(t, "POST", "/api/station/skip", ""); code != 200 {
		t.Fatalf("a program: %d %s", code, body)
	}
	if code, _, _ := r.call(t, "POST", "/api/station/skip", "", "Sec-Fetch-Site", "same-origin"); code != 200 {
		t.Errorf("our own page: %d", code)
	}
	for name, headers := range map[string][]string{
		"another site": {"Sec-Fetch-Site", "cross-site"}, "another port": {"Sec-Fetch-Site", "same-site"},
		"an old browser": {"Origin", "https://elsewhere.example"}, "a file": {"Origin", "null"},
	} {
		if code, _, body := r.call(t, "POST", "/api/station/skip", "", headers...); code != 403 {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	for host, want := range map[string]int{
		"localhost:5000": 200, "127.0.0.1:5000": 200, "[::1]:5000": 200, "studio:5000": 200,
		"elsewhere.example:5000": 403, "elsewhere.example.": 403, // led here by its name
	} {
		req := httptest.NewRequestWithContext(t.Context(), "POST", "/api/station/rotation/rebuild", nil)
		req.Host, req.RemoteAddr = host, "127.0.0.1:9"
		req.Header.Set("Origin", "http://"+host)
		answer := httptest.NewRecorder()
		if r.Config.Handler.ServeHTTP(answer, req); answer.Code != want {
			t.Errorf("as %s: %d", host, answer.Code)
		}
	}
	for host, want := range map[string]int{
		"elsewhere.example:5000": 403,                            // its page says that it comes through a proxy
		"radio.example":          200, "radio.example:8443": 200, // through ours
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5000})
		req := httptest.NewRequestWithContext(ctx, "POST", "/api/station/rotation/rebuild", nil)
		req.Host, req.RemoteAddr = host, "127.0.0.1:9"
		req.Header.Set("Origin", "http://"+host)
		req.Header.Set("X-Forwarded-For", "198.51.100.7")
		answer := httptest.NewRecorder()
		if r.Config.Handler.ServeHTTP(answer, req); answer.Code != want {
			t.Errorf("as %s, forwarded: %d", host, answer.Code)
		}
	}
	led := httptest.NewRequestWithContext(t.Context(), "GET", "/socket.io/", nil)
	led.Host, led.RemoteAddr = "elsewhere.example:5000", "127.0.0.1:9"
	stranger := httptest.NewRequestWithContext(t.Context(), "GET", "/socket.io/", nil)
	stranger.Host = "radio.example"
	stranger.Header.Set("Origin", "https://elsewhere.example") // which "*" lets in
	named := httptest.NewRequestWithContext(t.Context(), "GET", "/socket.io/", nil)
	named.Host = "radio.example"
	named.Header.Set("Origin", "https://friend.example")
	own := httptest.NewRequestWithContext(t.Context(), "GET", "/socket.io/", nil)
	own.Host, own.RemoteAddr = "localhost:5000", "127.0.0.1:9"
	own.Header.Set("Origin", "http://localhost:5000")
	for req, want := range map[*http.Request]bool{led: true, stranger: true, named: false, own: false} {
		if got := api.Foreign([]string{"*", "https://friend.example"})(req); got != want {
			t.Errorf("the socket as %s from %q: foreign is %t", req.Host, req.Header.Get("Origin"), got)
		}
	}
	if len(r.desk.told) != 2+4+2 {
		t.Errorf("told: %v", r.desk.told)
	}
	for _, foreign := range []bool{false, true} { // as an edge says
		if c, err := r.api.Staff("any", "", foreign); c.Rights.Has(people.All) == foreign || errors.Is(err, station.ErrForbidden) != foreign {
			t.Errorf("an event client, foreign: %t: %+v, %v", foreign, c, err)
		}
	}
	keyed := newRigWithKey(t, "open-sesame") // who knows the key may be any site
	if code, _, _ := keyed.call(t, "POST", "/api/station/skip", "", "Sec-Fetch-Site", "cross-site", "X-Station-Key", "open-sesame"); code != 200 {
		t.Errorf("another site with the key: %d", code)
	}
	if c, err := keyed.api.Staff("open-sesame", "", true); c.Rights != people.All || err != nil {
		t.Errorf("an event client of another site with the key: %+v, %v", c, err)
	}
}
