package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// onDemand are pages of a station with shows.
func onDemand(describe func(*http.Request) *Description, feeds ...Feed) http.Handler {
	built := builtPages()
	for _, name := range []string{"podcasts.html", "history.html"} {
		built[name] = &fstest.MapFile{Data: built["index.html"].Data}
	}
	wardrobe := &Wardrobe{state: nile, built: built}
	return New(Options{
		Dress: wardrobe.Now, Built: built, Now: func() time.Time { return time.Unix(3000, 0) }, Feeds: func() []Feed { return feeds },
		Describe: map[Page]func(*http.Request) *Description{Podcasts: describe, History: describe},
	}, Player, Chat, Studio, History, Podcasts)
}

// feeds are those that a page names, with their titles.
func (p parsed) feeds() (out []Feed) {
	for _, n := range p.all("link") {
		if attribute(n, "rel") == "alternate" && attribute(n, "type") == "application/rss+xml" {
			out = append(out, Feed{attribute(n, "title"), attribute(n, "href")})
		}
	}
	return out
}

func (p parsed) linked() (out map[string]any) {
	p.t.Helper()
	for _, n := range p.all("script") {
		if attribute(n, "type") == "application/ld+json" {
			if err := json.Unmarshal([]byte(textOf(n)), &out); err != nil {
				p.t.Errorf("%v: %s", err, textOf(n))
			}
		}
	}
	return out
}

var show = Show{ //nolint:gochecknoglobals // constant
	Title: `مساء <النيل> "١"`, Text: "حوار كل مساء", Author: "سلمى", Language: "ar", Page: "/podcasts/nile", Cover: "/podcasts/nile/cover.jpg?v=c1", Feed: "/podcasts/nile/feed.xml",
}

// Programs find the feeds where there are shows, on the pages that listeners come by, and nothing
// where there are none.
func TestPagesNameTheFeedsOfShows(t *testing.T) {
	one := Feed{`<a> "b"`, "/podcasts/a/feed.xml"}
	h := onDemand(nil, one, Feed{"B", "/podcasts/b/feed.xml"})
	want := []Feed{{one.Title, "http://example.com/podcasts/a/feed.xml"}, {"B", "http://example.com/podcasts/b/feed.xml"}}
	for path, want := range map[string][]Feed{"/": want, "/history": want, "/podcasts": want, "/chat": nil, "/studio": nil} {
		if got := parse(t, bodyOf(t, ask(t, h, "GET", path))).feeds(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, path := range []string{"/", "/podcasts"} {
		if got := parse(t, bodyOf(t, ask(t, onDemand(nil), "GET", path))).feeds(); got != nil {
			t.Errorf("%s of a station without shows: %q", path, got)
		}
	}
	var many []Feed
	for i := range 500 {
		many = append(many, Feed{fmt.Sprint(i), fmt.Sprintf("/podcasts/s%d/feed.xml", i)})
	}
	if got := parse(t, bodyOf(t, ask(t, onDemand(nil, many...), "GET", "/"))).feeds(); len(got) != mostFeeds {
		t.Errorf("%d feeds on one page", len(got))
	}
	p := parse(t, bodyOf(t, ask(t, h, "GET", "/podcasts?utm=x")))
	if got := p.links("canonical"); !slices.Equal(got, []string{"http://example.com/podcasts"}) || textOf(p.all("title")[0]) != "البودكاست · إذاعة النيل" || p.meta("og:type")[0] != "website" {
		t.Errorf("all shows: %q %q", got, textOf(p.all("title")[0]))
	}
}

// What is shared of a show or an episode is shown as such, and can be heard where it is shared.
func TestShowsAndEpisodesAreDescribed(t *testing.T) {
	episode := Episode{
		Title: "</script><script>alert(1)</script>", Text: "عن الماء", Page: "/podcasts/nile/e", Audio: "/podcasts/nile/e/audio.mp3", Number: 7,
		Published: time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC), Duration: 61500 * time.Millisecond, Bytes: 480_000,
	}
	h := onDemand(func(r *http.Request) *Description {
		if _, id, is := ShowOf(r.URL.Path); is && id != "" {
			return episode.Description(r, show, "النيل")
		} else if is {
			return show.Description(r, "النيل")
		}
		return nil
	}, Feed{"another", "/podcasts/another/feed.xml"})
	for path, want := range map[string]map[string][]string{
		"/podcasts/nile": {
			"og:type": {"website"}, "og:title": {show.Title}, "og:description": {show.Text}, "og:url": {"http://example.com/podcasts/nile"},
			"og:image": {"http://example.com/podcasts/nile/cover.jpg?v=c1"}, "twitter:card": {"summary"}, "og:audio": nil,
		},
		"/podcasts/nile/e": {
			"og:type": {"article"}, "og:title": {episode.Title}, "og:description": {show.Title + " · عن الماء"}, "og:url": {"http://example.com/podcasts/nile/e"},
			"og:audio": {"http://example.com/podcasts/nile/e/audio.mp3"},
		},
	} {
		body := bodyOf(t, ask(t, h, "GET", path+"?t=90"))
		p := parse(t, body)
		for name, want := range want {
			if got := p.meta(name); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		if got := p.links("canonical"); !slices.Equal(got, []string{"http://example.com" + path}) {
			t.Errorf("%s: canonical %q", path, got)
		}
		if got := p.feeds(); !slices.Equal(got, []Feed{{show.Title, "http://example.com/podcasts/nile/feed.xml"}}) {
			t.Errorf("%s: feeds %q", path, got)
		}
		if got := textOf(p.all("title")[0]); !strings.HasPrefix(got, p.meta("og:title")[0]) {
			t.Errorf("%s: the title is %q", path, got)
		}
		if strings.Contains(body, "<script>alert") {
			t.Errorf("%s: %s", path, body)
		}
	}
	said := parse(t, bodyOf(t, ask(t, h, "GET", "/podcasts/nile/e"))).linked()
	series, _ := said["partOfSeries"].(map[string]any)
	media, _ := said["associatedMedia"].(map[string]any)
	if said["@type"] != "PodcastEpisode" || said["name"] != episode.Title || said["datePublished"] != "2026-10-05T08:00:00Z" || said["duration"] != "PT62S" || series["webFeed"] != "http://example.com/podcasts/nile/feed.xml" || media["contentUrl"] != "http://example.com/podcasts/nile/e/audio.mp3" {
		t.Errorf("%v", said)
	}
	// Hosts are whatever a client writes.
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/podcasts/nile/e", nil)
	r.Host = `x"><script>alert(2)</script>`
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != http.StatusOK || strings.Contains(body, "<script>alert") {
		t.Errorf("%d %s", w.Code, body)
	}
}

// Search engines forget what is not there by its status; the page is sent all the same, to those
// who have another listing of what there is.
func TestWhatIsNotThereIsMissingByItsStatus(t *testing.T) {
	h := onDemand(func(r *http.Request) *Description {
		if strings.Contains(r.URL.Path, "none") || strings.HasPrefix(r.URL.Path, "/track/") {
			return Missing()
		}
		return nil
	}, Feed{"A", "/podcasts/a/feed.xml"})
	for path, want := range map[string]int{"/podcasts": 200, "/podcasts/nile": 200, "/podcasts/none": 404, "/podcasts/nile/none": 404, "/history": 200, "/track/abcdefghij234567": 404} {
		answer := ask(t, h, "GET", path)
		body := bodyOf(t, answer)
		p := parse(t, body)
		if answer.StatusCode != want || !strings.Contains(body, "<p>the page</p>") || p.face().Version != 7 {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
		if want != 404 {
			continue
		}
		if answer.Header.Get("ETag") != "" || strings.Contains(body, "none") || strings.Contains(body, "abcdefghij") || !strings.HasPrefix(textOf(p.all("title")[0]), "الصفحة غير موجودة") {
			t.Errorf("%s: %v %s", path, answer.Header, body)
		}
		if got := ask(t, h, "HEAD", path); got.StatusCode != 404 || bodyOf(t, got) != "" {
			t.Errorf("HEAD %s: %d", path, got.StatusCode)
		}
		if got := ask(t, h, "GET", path, "If-None-Match", "*", "Accept-Encoding", "gzip"); got.StatusCode != 404 || got.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d %v", path, got.StatusCode, got.Header)
		}
	}
}

func TestThePathOfAnEpisodeIsRead(t *testing.T) {
	for path, want := range map[string][]string{
		"/podcasts/nile": {"nile", ""}, "/podcasts/nile/e2": {"nile", "e2"}, "/podcasts/مساء": {"مساء", ""},
		"/podcasts": nil, "/podcasts/": nil, "/podcasts/nile/": nil, "/podcasts//e": nil, "/podcasts/nile/e/f": nil, "/podcasts/nile/feed.xml": nil, "/podcasts/../x": nil, "/podcasts/..": nil, `/podcasts/a\b`: nil, "/podcastsx/nile": nil,
		"/podcasts/" + strings.Repeat("a", longestSlug+1): nil,
	} {
		slug, id, is := ShowOf(path)
		if is != (want != nil) || is && (slug != want[0] || id != want[1]) {
			t.Errorf("%s: %q %q %v", path, slug, id, is)
		}
	}
}

// The station's face in a manifest leads to what is on demand.
func TestTheManifestLeadsToWhatIsOnDemand(t *testing.T) {
	f := nile().Face()
	m := manifestOf(&f, func(p Page) bool { return p == Podcasts })
	if len(m.Shortcuts) != 1 || m.Shortcuts[0] != (shortcut{"البودكاست", "/podcasts"}) {
		t.Errorf("%+v", m.Shortcuts)
	}
}
