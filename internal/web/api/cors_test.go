package api_test

import (
	"net/http"
	"testing"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/web/api"
)

func TestPagesOfOtherSitesGetWhatTheSettingsSay(t *testing.T) {
	const listed, stranger = "https://radio.example", "https://stranger.example"
	rigs := map[string]*rig{}
	for name, origins := range map[string][]string{"none": nil, "listed": {listed}, "everyone": {"*"}, "both": {"*", listed}} {
		rigs[name] = newRigWith(t, func(o *api.Options) { o.Origins, o.StationKey = origins, secret.Of("open-sesame") })
	}
	for _, c := range []struct {
		settings, origin, method, path string
		may                            bool
	}{
		{"none", listed, "GET", "/api/status", false},
		{"listed", listed, "GET", "/api/status", true},
		{"listed", listed, "POST", "/api/reactions", true},
		{"listed", listed, "PUT", "/api/station/mood", true},
		{"listed", stranger, "GET", "/api/status", false},
		{"listed", stranger, "PUT", "/api/station/mood", false},
		{"listed", "https://radio.example.stranger.example", "GET", "/api/status", false},
		{"listed", "http://radio.example", "GET", "/api/status", false},
		{"listed", "null", "GET", "/api/status", false},
		{"everyone", stranger, "GET", "/api/status", true},
		{"everyone", stranger, "POST", "/api/upnext/votes", true},
		{"everyone", stranger, "PUT", "/api/station/mood", false},
		{"everyone", stranger, "GET", "/api/station/state", false},
		{"everyone", stranger, "POST", "/metadata", false},
		{"everyone", stranger, "POST", "/api/bulletin/generate", false},
		{"both", listed, "PUT", "/api/station/mood", true},
		{"both", stranger, "PUT", "/api/station/mood", false},
		{"both", stranger, "GET", "/api/upnext", true},
	} {
		r := rigs[c.settings]
		code, head, _ := r.call(t, "OPTIONS", c.path, "", "Origin", c.origin,
			"Access-Control-Request-Method", c.method, "Access-Control-Request-Headers", "content-type,x-station-key")
		allowed := head.Get("Access-Control-Allow-Origin")
		if (code == http.StatusNoContent && allowed != "") != c.may {
			t.Errorf("%s: %s asks for %s %s: %d, allowed %q", c.settings, c.origin, c.method, c.path, code, allowed)
		}
		if head.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: cookies are let in", c.settings)
		}
		if c.method != "GET" {
			continue
		}
		_, head, _ = r.call(t, "GET", c.path, "", "Origin", c.origin) // a refusal is read as well
		if got := head.Get("Access-Control-Allow-Origin"); (got == c.origin || got == "*") != c.may {
			t.Errorf("%s: %s gets %s: allowed %q", c.settings, c.origin, c.path, got)
		}
	}
}

// Without a key a page of another site orders nothing, unless it is listed.
func TestWithoutAKeyListedSitesMaySteer(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.Origins = []string{"https://radio.example", "*"} })
	for origin, want := range map[string]int{"https://radio.example": 200, "https://stranger.example": 403} {
		if code, _, body := r.call(t, "POST", "/api/station/rotation/rebuild", "", "Origin", origin, "Sec-Fetch-Site", "cross-site"); code != want {
			t.Errorf("%s: %d %s", origin, code, body)
		}
	}
}

// A browser sends another site's POST without asking where it has no type. Who
// is made to send it would answer for the words, with name and address.
func TestPagesOfOtherSitesMakeNobodyWrite(t *testing.T) {
	const listed, below, stranger = "https://radio.example", "https://a.radio.example", "https://stranger.example"
	rigs := map[string]*rig{}
	for name, origins := range map[string][]string{"none": nil, "listed": {listed, "https://*.radio.example"}, "everyone": {"*"}} {
		rigs[name] = newRigWith(t, func(o *api.Options) { o.Origins = origins })
	}
	for _, c := range []struct {
		settings string
		header   []string
		want     int
	}{
		{"none", nil, 200},
		{"none", []string{"Origin", rigs["none"].URL}, 200},
		{"none", []string{"Origin", stranger, "Sec-Fetch-Site", "same-origin"}, 200}, // a proxy changed the host
		{"none", []string{"Origin", stranger}, 403},
		{"none", []string{"Origin", "null"}, 403},
		{"none", []string{"Origin", stranger, "Sec-Fetch-Site", "cross-site"}, 403},
		{"listed", []string{"Origin", listed, "Sec-Fetch-Site", "cross-site"}, 200},
		{"listed", []string{"Origin", below, "Sec-Fetch-Site", "cross-site"}, 200},
		{"listed", []string{"Origin", stranger}, 403},
		{"everyone", []string{"Origin", stranger, "Sec-Fetch-Site", "cross-site"}, 200},
	} {
		if code, _, body := rigs[c.settings].call(t, "POST", "/api/reactions", `{"emoji":"❤️"}`, c.header...); code != c.want {
			t.Errorf("%s: %q: %d %s, want %d", c.settings, c.header, code, body, c.want)
		}
	}
	if code, _, _ := rigs["none"].call(t, "GET", "/api/status", "", "Origin", stranger); code != 200 {
		t.Errorf("to read: %d", code)
	}
}

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	for _, q := range [][2]string{{"GET", "/api/status"}, {"GET", "/api/nothing"}, {"PUT", "/api/station/mood"}, {"GET", "/ping"}, {"GET", "/openapi.json"}} {
		_, head, _ := r.call(t, q[0], q[1], "")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Strict-Transport-Security": "",
		} {
			if got := head.Get(name); got != want {
				t.Errorf("%s %s: %s: %q", q[0], q[1], name, got)
			}
		}
		_, head, _ = r.call(t, q[0], q[1], "", "X-Forwarded-Proto", "https", "X-Forwarded-For", "198.51.100.7")
		if head.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s %s behind TLS: no Strict-Transport-Security", q[0], q[1])
		}
	}
	if _, head, _ := r.call(t, "GET", "/stream", ""); head.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("audio cannot be played elsewhere: %v", head)
	}
}
