package pages

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/net/html"

	"github.com/athir-radio/athir/internal/face"
)

// builtPages are pages as vite writes them.
func builtPages() fstest.MapFS {
	out := fstest.MapFS{}
	for _, name := range []string{"index.html", "chat.html", "studio.html", "golive.html", "social.html"} {
		out[name] = &fstest.MapFile{Data: []byte(`<!doctype html>
<html lang="ar" dir="rtl">
  <head>
    <meta charset="utf-8" />
    <meta name="robots" content="all" />
    <!-- station -->
    <title>أثير · Athir</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml" />
    <!-- /station -->
    <script type="module" crossorigin src="/assets/app.js"></script>
    <link rel="stylesheet" crossorigin href="/assets/app.css">
  </head>
  <body><p>the page</p></body>
</html>
`)}
		out[name+".gz"] = &fstest.MapFile{Data: []byte("gzip of another head")}
		out[name+".br"] = &fstest.MapFile{Data: []byte("brotli of another head")}
	}
	return out
}

func dressedIn(state func() *face.State, describe map[Page]func(*http.Request) *Description) http.Handler {
	built := builtPages()
	wardrobe := &Wardrobe{state: state, built: built}
	return New(Options{Dress: wardrobe.Now, Describe: describe, Built: built, Now: func() time.Time { return time.Unix(3000, 0) }}, Player, Chat, Studio, GoLive, Social)
}

// nile is a face with everything in it.
func nile() *face.State {
	s := face.Plain(face.Defaults{Name: "Athir", Language: face.Arabic})
	s.Version = 7
	s.Own.Name = face.Both{AR: "إذاعة النيل", EN: "Nile Radio"}
	s.Own.Tagline = face.Both{AR: "صوت النهر", EN: "The river’s voice"}
	s.Own.Accent, s.Own.CSS = "#1f7a5c", "h1 { color: red }"
	return s
}

// parsed is a document as a browser has it.
type parsed struct {
	*html.Node
	t *testing.T
}

func parse(t *testing.T, document string) parsed {
	t.Helper()
	n, err := html.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return parsed{n, t}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// all are the elements of a name, with where each is.
func (p parsed) all(name string) (out []*html.Node) {
	for n := range p.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			out = append(out, n)
		}
	}
	return out
}

// meta is the content of the meta elements of a name or property, in order.
func (p parsed) meta(name string) (out []string) {
	for _, n := range p.all("meta") {
		if attribute(n, "property") == name || attribute(n, "name") == name {
			out = append(out, attribute(n, "content"))
		}
	}
	return out
}

func (p parsed) links(rel string) (out []string) {
	for _, n := range p.all("link") {
		if attribute(n, "rel") == rel {
			out = append(out, attribute(n, "href"))
		}
	}
	return out
}

func textOf(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}
	return out.String()
}

func (p parsed) face() (out face.Face) {
	p.t.Helper()
	for _, n := range p.all("script") {
		if attribute(n, "id") == "face" {
			if err := json.Unmarshal([]byte(textOf(n)), &out); err != nil {
				p.t.Errorf("face: %v: %s", err, textOf(n))
			}
			return out
		}
	}
	p.t.Error("there is no face")
	return out
}

// Whoever shows a link runs no script: what a page says of the station is in its head.
func TestAPageWearsTheStationsFace(t *testing.T) {
	s := nile()
	h := dressedIn(func() *face.State { return s }, nil)
	answer := ask(t, h, "GET", "/", "Host", "radio.example")
	document := bodyOf(t, answer)
	p := parse(t, document)
	for name, want := range map[string][]string{
		"description": {"صوت النهر"}, "og:site_name": {"إذاعة النيل"}, "og:type": {"website"}, "og:title": {"إذاعة النيل"}, "og:description": {"صوت النهر"},
		"og:url": {"http://example.com/"}, "og:image": {"http://example.com/card/now.png?v=7-a"}, "og:image:width": {"1200"}, "og:image:height": {"630"},
		"og:locale": {"ar_AR"}, "og:locale:alternate": {"en_US"}, "twitter:card": {"summary_large_image"}, "theme-color": {noonGround, nightGround}, "robots": {"all"},
	} {
		if got := p.meta(name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if titles := p.all("title"); len(titles) != 1 || textOf(titles[0]) != "إذاعة النيل" {
		t.Errorf("titles: %d", len(titles))
	}
	if got := p.links("stylesheet"); !slices.Equal(got, []string{"/assets/app.css", "/face/theme.css?v=7", "/face/custom.css?v=7"}) {
		t.Errorf("style sheets in order: %q", got)
	}
	if got := p.links("manifest"); !slices.Equal(got, []string{"/manifest.webmanifest?v=7"}) {
		t.Errorf("manifest: %q", got)
	}
	if f := p.face(); f.Name.EN != "Nile Radio" || f.Version != 7 || !f.Credit {
		t.Errorf("face: %+v", f)
	}
	for _, path := range slices.Concat(p.links("manifest"), p.links("stylesheet")[1:]) {
		if got := ask(t, h, "GET", path); got.StatusCode != 200 || got.Header.Get("Cache-Control") != keptLong {
			t.Errorf("%s: %d %v", path, got.StatusCode, got.Header)
		}
	}
	if got := ask(t, h, "GET", "/face/theme.css?v=6").Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("an address of another version is kept: %q", got)
	}

	// As it was before: compressed, tagged, and asked for again in vain.
	zipped := ask(t, h, "GET", "/", "Accept-Encoding", "gzip, br")
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(z); err != nil || string(body) != document || zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("zipped: %v, %d bytes, %v", err, len(body), zipped.Header)
	}
	if got := ask(t, h, "GET", "/", "Accept-Encoding", "gzip", "If-None-Match", zipped.Header.Get("ETag")); got.StatusCode != 304 {
		t.Errorf("asked for again: %d", got.StatusCode)
	}
	if got := ask(t, h, "HEAD", "/"); got.StatusCode != 200 || got.ContentLength != int64(len(document)) || bodyOf(t, got) != "" {
		t.Errorf("HEAD: %d %v", got.StatusCode, got.Header)
	}

	next := *s
	next.Version, next.Own.Languages = 8, []string{face.English}
	s = &next
	p = parse(t, bodyOf(t, ask(t, h, "GET", "/")))
	root := p.all("html")[0]
	if attribute(root, "lang") != "en" || attribute(root, "dir") != "ltr" || p.meta("og:locale:alternate") != nil || p.meta("og:title")[0] != "Nile Radio" {
		t.Errorf("in English alone: %v, %q", root.Attr, p.meta("og:locale:alternate"))
	}
}

// The operator's colour and style sheet must not make the studio unusable, in which they are
// mended.
func TestTheStudioWearsTheNameAndNoMore(t *testing.T) {
	h := dressedIn(nile, nil)
	for _, path := range []string{"/studio", "/go-live"} {
		body := bodyOf(t, ask(t, h, "GET", path))
		p := parse(t, body)
		if got := p.links("stylesheet"); !slices.Equal(got, []string{"/assets/app.css"}) || strings.Contains(body, "og:") || p.links("manifest") != nil {
			t.Errorf("%s: %s", path, body)
		}
		if !strings.Contains(textOf(p.all("title")[0]), "إذاعة النيل") || p.face().Name.AR != "إذاعة النيل" {
			t.Errorf("%s does not name the station", path)
		}
	}
}

// A post keeps its own description, and what a listener wrote as a title stays text.
func TestASharedLinkIsDescribedAndItsTextsAreEscaped(t *testing.T) {
	h := dressedIn(nile, map[Page]func(*http.Request) *Description{Social: func(r *http.Request) *Description {
		if r.URL.Query().Get("post") == "" {
			return nil
		}
		return &Description{Title: `"><script>alert(1)</script>`, Text: "قمر", URL: "https://radio.example/social.html?post=1", Image: "https://radio.example/cover.jpg"}
	}})
	body := bodyOf(t, ask(t, h, "GET", "/social.html?post=1"))
	p := parse(t, body)
	for name, want := range map[string]string{
		"og:title": `"><script>alert(1)</script>`, "og:description": "قمر", "og:type": "music.song", "og:url": "https://radio.example/social.html?post=1",
		"og:image": "https://radio.example/cover.jpg", "twitter:card": "summary",
	} {
		if got := p.meta(name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if len(p.all("script")) != 2 || strings.Contains(body, "<script>alert") {
		t.Errorf("%s", body)
	}
	if got := parse(t, bodyOf(t, ask(t, h, "GET", "/social.html"))).meta("og:type"); !slices.Equal(got, []string{"website"}) {
		t.Errorf("without a post: %q", got)
	}
	if got := parse(t, bodyOf(t, ask(t, h, "GET", "/?post=1"))).meta("og:type"); !slices.Equal(got, []string{"website"}) {
		t.Errorf("another page: %q", got)
	}
}

// Whatever stands in any text, the document has the elements that it has without it, and a
// program reads the text as it was written. Fails where something is not escaped.
func TestNoTextBreaksOutOfTheHead(t *testing.T) {
	hostile := []string{
		`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `<!--`, `-->`, `<!--<script>`, `]]>`, `' onload='x`, "\u2028\u2029", `</title><base href=//x>`, `&quot;&lt;`,
		stationEnds, stationBegins, `</head><body>`, "`${x}`", `\u003c/script>`, "{{.}}", "\x00", "$1${2}",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var out strings.Builder
		for range 1 + rng.IntN(3) {
			out.WriteString(hostile[rng.IntN(len(hostile))])
		}
		return out.String()
	}
	shape := func(p parsed) (out []string) {
		for n := range p.Descendants() {
			if n.Type == html.ElementNode {
				out = append(out, n.Parent.Data+">"+n.Data)
			}
		}
		return out
	}
	both := func() face.Both { return face.Both{AR: text(), EN: text()} }
	var want []string
	for i := range 60 {
		s := nile()
		about := &Description{Title: "a title", Text: "a text", URL: "https://radio.example/", Image: "https://radio.example/", Audio: "https://radio.example/", Feeds: []Feed{{"a feed", "/"}}, Data: data(linked{Name: "a name"})}
		if i > 0 {
			s.Own.Name, s.Own.Tagline, s.Own.About, s.Own.Contact.Address = both(), both(), both(), both()
			s.Own.Links = []face.Link{{Label: both(), URL: text()}}
			s.Own.Contact.Email, s.Own.Contact.Phone, s.Own.Contact.WhatsApp, s.Own.CSS = text(), text(), text(), text()
			about = &Description{Title: text(), Text: text(), URL: text(), Image: text(), Audio: text(), Kind: text(), Feeds: []Feed{{text(), text()}}, Data: data(linked{Name: text()})}
		}
		h := dressedIn(func() *face.State { return s }, map[Page]func(*http.Request) *Description{Chat: func(*http.Request) *Description { return about }})
		for _, path := range []string{"/", "/chat"} {
			p := parse(t, bodyOf(t, ask(t, h, "GET", path)))
			if got := shape(p); i == 0 && path == "/chat" {
				want = got
			} else if path == "/chat" && !slices.Equal(got, want) {
				t.Fatalf("%+v: the document has other elements:\n%q", s.Own, got)
			}
			if got, want := p.face(), s.Face(); got.Name != want.Name || !slices.Equal(got.Links, want.Links) || got.Contact != want.Contact {
				t.Fatalf("%+v was read as %+v", want, got)
			}
		}
		if p := parse(t, bodyOf(t, ask(t, h, "GET", "/chat"))); strings.ReplaceAll(about.Title, "\x00", "\ufffd") != p.meta("og:title")[0] {
			t.Fatalf("%q was read as %q", about.Title, p.meta("og:title"))
		}
		if p := parse(t, bodyOf(t, ask(t, h, "GET", "/nothing", "Accept", "text/html"))); len(p.all("script"))+len(p.all("base"))+len(p.all("title")) != 1 || len(p.all("img")) > 1 {
			t.Fatalf("the page of what is not there: %q", shape(p))
		}
	}
}

// A browser that goes astray is led home in the station's face; a program hears it in a line.
func TestAnAddressWithNothingHasAPageOfTheStations(t *testing.T) {
	h := dressedIn(nile, nil)
	answer := ask(t, h, "GET", "/nothing", "Accept", "text/html,application/xhtml+xml")
	body := bodyOf(t, answer)
	p := parse(t, body)
	if answer.StatusCode != 404 || !strings.Contains(body, "إذاعة النيل") || !strings.Contains(body, "الصفحة غير موجودة") || !strings.Contains(body, "Page not found") || attribute(p.all("a")[0], "href") != "/" {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	// Its own style sheet is let in by its sum alone.
	policy := answer.Header.Get("Content-Security-Policy")
	if styles := p.all("style"); len(styles) != 1 || textOf(styles[0]) != missingSheet || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sha256-") {
		t.Errorf("%s\n%s", policy, body)
	}
	for _, one := range [][]string{{"/nothing", "*/*"}, {"/api/nothing", "text/html"}, {"/assets/old.js", "text/html"}, {"/card/x.png", "text/html"}} {
		if got := ask(t, h, "GET", one[0], "Accept", one[1]); got.StatusCode != 404 || strings.Contains(bodyOf(t, got), "<html") {
			t.Errorf("%q: %d", one, got.StatusCode)
		}
	}
	for _, accept := range []string{"text/html", "*/*"} { // a cache must not give a browser the line
		if got := ask(t, h, "GET", "/nothing", "Accept", accept); got.Header.Get("Vary") != "Accept" {
			t.Errorf("%s: Vary %q", accept, got.Header.Get("Vary"))
		}
	}
	if got := ask(t, h, "HEAD", "/nothing", "Accept", "text/html"); got.StatusCode != 404 || bodyOf(t, got) != "" {
		t.Errorf("HEAD: %d", got.StatusCode)
	}
}

// What is rendered for one address is not served for another, and is bounded.
func TestRenderedPagesAreKeptAndBounded(t *testing.T) {
	s, built := nile(), builtPages()
	files, err := load(built, []Page{Player})
	if err != nil {
		t.Fatal(err)
	}
	dress, err := newDress(s, built)
	if err != nil {
		t.Fatal(err)
	}
	d := newDresser(Options{Dress: func() *Dress { return dress }}, files, []Page{Player})
	d.opt.Now = func() time.Time { return time.Unix(0, 0) }
	of := func(host string) *file {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.Host = host
		return d.document(Player, r, nil)
	}
	first := of("one.example")
	if of("one.example") != first || of("two.example") == first || !bytes.Contains(of("two.example").plain, []byte("http://two.example/")) {
		t.Error("pages of two addresses are mixed up, or made anew each time")
	}
	for i := range 300 {
		of(strings.Repeat("x", i%300) + ".example")
		if len(d.rendered) > mostRendered {
			t.Fatalf("%d documents are kept", len(d.rendered))
		}
	}
}

// A host of 30 kB would be in a head several times, and in every document that is kept.
func TestAHostThatIsNoneGetsNoPage(t *testing.T) {
	s, built := nile(), builtPages()
	h := New(Options{Dress: NewWardrobe(func() *face.State { return s }).Now, Built: built}, Player)
	for length, want := range map[int]int{20: http.StatusOK, longestHost: http.StatusOK, longestHost + 1: http.StatusBadRequest, 30_000: http.StatusBadRequest} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Host = strings.Repeat("'", length)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%d bytes: %d, want %d", length, w.Code, want)
		}
	}
}
