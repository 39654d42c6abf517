package pages

import (
	"html"
	"net/url"
	"strings"
	"testing"
)

// Whoever could frame another page could have its buttons pressed unseen.
func TestOnlyTheEmbeddedPlayerIsFramedByOthers(t *testing.T) {
	h := built(t)
	for _, path := range []string{"/", "/chat", "/studio", "/go-live", "/social.html", "/history", "/track/abcdefghij234567", "/embed", "/embed.js", "/embed/", "/embed.html", "/nothing", "/assets/app-1a.js", "/sw.js"} {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			head := ask(t, h, method, path).Header
			csp, frames := head.Get("Content-Security-Policy"), "frame-ancestors 'none'"
			if path == "/embed" {
				frames = "frame-ancestors *"
			}
			if !strings.Contains(csp, frames+";") || strings.Count(csp, "frame-ancestors") != 1 || head.Get("X-Frame-Options") != "" {
				t.Errorf("%s %s: %s", method, path, csp)
			}
			want := ""
			if path == "/embed" || path == "/embed.js" {
				want = "cross-origin"
			}
			if got := head.Get("Cross-Origin-Resource-Policy"); got != want {
				t.Errorf("%s %s: Cross-Origin-Resource-Policy %q", method, path, got)
			}
		}
	}
	player, other := ask(t, h, "GET", "/embed").Header, ask(t, h, "GET", "/").Header
	if got := strings.Replace(player.Get("Content-Security-Policy"), "frame-ancestors *", "frame-ancestors 'none'", 1); got != other.Get("Content-Security-Policy") {
		t.Errorf("the embedded player's policy differs in more than who frames it: %s", got)
	}
	if got := ask(t, h, "GET", "/embed.js").Header; got.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(got.Get("Cache-Control"), "max-age=3600") {
		t.Errorf("the script: %v", got)
	}
	if got := other.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("the player's page is shared with %q", got)
	}
}

func TestAPageTellsHowItIsEmbedded(t *testing.T) {
	const name = `"><script>alert(1)</script>`
	link := OEmbedLink("https://radio.example", "/track/abcdefghij234567", name)
	_, href, _ := strings.Cut(link, `href="`)
	href, _, _ = strings.Cut(href, `"`)
	u, err := url.Parse(html.UnescapeString(href))
	if err != nil || u.Path != "/api/oembed" || u.Query().Get("url") != "https://radio.example/track/abcdefghij234567" || u.Query().Get("format") != "json" {
		t.Errorf("%s: %v", link, err)
	}
	if strings.Contains(link, "<script>") || !strings.Contains(link, `type="application/json+oembed"`) {
		t.Error(link)
	}
}
