package source_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// client reaches the tests' servers, and nothing else on this machine.
func client(t *testing.T) *fetch.Client {
	t.Helper()
	return fetch.New(fetch.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []fetch.PortRange{{From: 1, To: 65535}}, Backoff: time.Millisecond, Whole: time.Minute,
	})
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// feedOf serves one feed with a Content-Type.
func feedOf(t *testing.T, kind, body string) *source.Feeds {
	t.Helper()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(body))
	})
	return &source.Feeds{Client: client(t), Feeds: []source.Feed{{URL: s.URL + "/feed", Category: station.English, License: "with leave"}}}
}

const podcast = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/"
 xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:cc="http://creativecommons.org/ns#"
 xmlns:creativeCommons="http://backend.userland.com/creativeCommonsRssModule" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>Rock &amp;amp; Roll</title><link>https://example.org/</link><copyright>© Everybody</copyright><itunes:author>The Hosts</itunes:author>
<item><title>One &amp; only</title><guid isPermaLink="false">g1</guid><pubDate>Mon, 02 Feb 2026 10:00:00 GMT</pubDate><link>https://example.org/1</link>
 <enclosure url="https://cdn.example.org/1.mp3?sig=x" length="12345" type="audio/mpeg"/><itunes:duration>3:05</itunes:duration><itunes:author>أم كلثوم</itunes:author>
 <podcast:license url="https://creativecommons.org/licenses/by/4.0/">cc-by-4.0</podcast:license><category>Tarab</category></item>
<item><title>Two</title><guid>g2</guid><pubDate>Tue, 03 Feb 2026 10:00:00 +0200</pubDate><link>javascript:alert(1)</link>
 <media:group><media:content url="/pic.jpg" type="image/jpeg"/><media:content url="two.ogg" type="audio/ogg" duration="61"/><media:content url="two.flac" type="audio/flac" isDefault="true" duration="62" fileSize="99"/></media:group>
 <creativeCommons:license>http://creativecommons.org/licenses/by-sa/3.0/</creativeCommons:license></item>
<item><title>Three</title><pubDate>Sun, 01 Feb 2026 10:00:00 GMT</pubDate><enclosure url="http://169.254.169.254/three.mp3" type=""/><atom:link rel="license" href="https://example.org/terms"/></item>
<item><title>Video</title><enclosure url="https://cdn.example.org/v.mp4" type="video/mp4"/></item>
<item><title>Text only</title><guid>t</guid></item>
<item><title>Trailer</title><itunes:episodeType>trailer</itunes:episodeType><enclosure url="https://cdn.example.org/t.mp3" type="audio/mpeg"/></item>
<item><title>One again</title><guid>g1</guid><enclosure url="https://cdn.example.org/1b.mp3" type="audio/mpeg"/></item>
</channel></rss>`

func TestAPodcastGivesItsSoundsWithTheirLicences(t *testing.T) {
	t.Parallel()
	f := feedOf(t, "application/rss+xml", podcast)
	found := search(t, f, source.Want{Category: station.English})
	if got := titles(found); !slices.Equal(got, []string{"Two", "One & only", "Three"}) {
		t.Fatalf("got %q", got)
	}
	two, one, three := found[0], found[1], found[2]
	if one.Artist != "أم كلثوم" || one.Album != "Rock & Roll" || one.Genre != "Tarab" || one.License != "https://creativecommons.org/licenses/by/4.0/" ||
		one.Licensor != "Rock & Roll" || one.Duration != 185*time.Second || one.Size != 12345 || one.Page != "https://example.org/1" || one.URL != "https://cdn.example.org/1.mp3?sig=x" ||
		!one.Published.Equal(time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)) || one.Category != station.English || one.Source != "feed" {
		t.Errorf("got %+v", one)
	}
	if !strings.HasSuffix(two.URL, "/two.flac") || !strings.HasPrefix(two.URL, "http://127.0.0.1:") || two.Duration != 62*time.Second || two.Size != 99 || two.Page != "" ||
		two.Artist != "The Hosts" || two.License != "http://creativecommons.org/licenses/by-sa/3.0/" {
		t.Errorf("got %+v", two)
	}
	if three.License != "https://example.org/terms" || three.ID == "" {
		t.Errorf("got %+v", three)
	}
	if _, err := f.Fetch(t.Context(), three, t.TempDir(), nil); !source.Lasting(err) || !errors.As(err, new(*fetch.BlockedError)) {
		t.Errorf("a feed led to the metadata service: %v", err)
	}
	if got := titles(search(t, f, source.Want{Category: station.English, Target: 1, Longest: 3 * time.Minute, Known: func(_, id string) bool { return id == three.ID }})); !slices.Equal(got, []string{"Two"}) {
		t.Errorf("got %q", got)
	}
	if got := search(t, f, source.Want{Category: station.ArabicHits}); len(got) > 0 {
		t.Errorf("another category gets %q", titles(got))
	}
}

func TestFeedsThatAreNotQuiteRightAreReadAllTheSame(t *testing.T) {
	t.Parallel()
	item := func(title string) string {
		return "<item><title>" + title + `</title><guid>` + title + `</guid><enclosure url="http://x.example.org/a.mp3" type="audio/mpeg"/></item>`
	}
	rss := func(inside string) string {
		return `<rss version="2.0"><channel><title>T</title>` + inside + `</channel></rss>`
	}
	old := func(s string) string {
		b, err := charmap.Windows1256.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const utf8 = "application/rss+xml; charset=utf-8"
	for name, try := range map[string]struct {
		kind, body string
		want       []string
	}{
		"declared Windows-1256":      {"text/xml", `<?xml version="1.0" encoding="windows-1256"?>` + old(rss(item("أغنية"))), []string{"أغنية"}},
		"Windows-1256 by the server": {"text/xml; charset=windows-1256", old(rss(item("أغنية"))), []string{"أغنية"}},
		"Windows-1256 by nobody":     {"", old(rss(item("أغنية"))), []string{"أغنية"}},
		"mark and space before":      {utf8, "\xef\xbb\xbf\n " + rss(item("a")), []string{"a"}},
		"bare ampersand, entities":   {utf8, rss(item("a & b &nbsp;&eacute;")), []string{"a & b é"}},
		"bad byte in UTF-8":          {utf8, `<?xml version="1.0" encoding="utf-8"?>` + rss(item("a\xffb")), []string{"ab"}},
		"cut off":                    {utf8, `<rss version="2.0"><channel>` + item("a") + item("b") + "<item><tit", []string{"a", "b"}},
		"one damaged item":           {utf8, rss(item("a") + "<item><title>x < y</title></item>" + item("b")), []string{"a", "b"}},
		"control and bidi":           {utf8, rss(item("a\u202egpj.\u2066b\x01\u200f")), []string{"agpj.b"}},
		"entity bomb":                {utf8, `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>` + rss(item("c")), []string{"c"}},
		"atom": {"application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><title type="html">a &amp;amp; b</title><id>1</id>
			<link rel="enclosure" href="http://x.example.org/a.ogg" type="audio/ogg" length="5"/><link rel="license" href="http://l.example.org/"/></entry></feed>`, []string{"a & b"}},
	} {
		found := search(t, feedOf(t, try.kind, try.body), source.Want{Category: station.English})
		slices.SortFunc(found, func(a, b source.Candidate) int { return strings.Compare(a.Title, b.Title) })
		if got := titles(found); !slices.Equal(got, try.want) {
			t.Errorf("%s: got %q", name, got)
		}
		want := "with leave"
		if name == "atom" {
			want = "http://l.example.org/"
		}
		if len(found) > 0 && found[0].License != want {
			t.Errorf("%s: licence %q", name, found[0].License)
		}
	}
}

func TestWhatIsNoFeedIsAnErrorAndTheOthersAreStillRead(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"page": "<!DOCTYPE html><html><body>Sign in</body></html>", "nothing": "", "text": "hello", "json": `{"version":1}`, "deep": `<rss version="2.0"><channel>` + strings.Repeat("<x:a>", 500_000),
		"huge": `<rss version="2.0"><channel><title>` + strings.Repeat("x", 7<<20), "binary": "\x00\x01\x02\xff",
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/good" {
				_, _ = w.Write([]byte(podcast))
				return
			}
			_, _ = w.Write([]byte(body))
		})
		f := &source.Feeds{Client: client(t), Feeds: []source.Feed{{URL: s.URL + "/bad?key=secret", Category: station.English}, {URL: s.URL + "/good", Category: station.English}}}
		found, err := f.Search(t.Context(), source.Want{Category: station.English, Target: 10})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "/bad") || len(found) != 3 {
			t.Errorf("%s: %d found, %v", name, len(found), err)
		}
	}
}

// A feed that does not come along keeps no other waiting: this one answers only
// once the other has been asked for.
func TestFeedsAreReadSideBySide(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case <-asked:
			case <-r.Context().Done():
				return
			}
		} else {
			close(asked)
		}
		_, _ = w.Write([]byte(podcast))
	})
	f := &source.Feeds{Client: client(t), Feeds: []source.Feed{{URL: s.URL + "/slow", Category: station.English}, {URL: s.URL + "/good", Category: station.English}}}
	if found, err := f.Search(t.Context(), source.Want{Category: station.English, Target: 10}); err != nil || len(found) != 6 {
		t.Errorf("%q, %v", titles(found), err)
	}
}

func TestAFeedThatDidNotChangeIsNotSentAgain(t *testing.T) {
	t.Parallel()
	var sent, asked atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent.Add(1)
		_, _ = w.Write([]byte(podcast))
	})
	f := &source.Feeds{Client: client(t), Feeds: []source.Feed{{URL: s.URL, Category: station.English}}}
	first := search(t, f, source.Want{Category: station.English})
	if again := search(t, f, source.Want{Category: station.English}); !slices.Equal(titles(first), titles(again)) || len(again) != 3 || sent.Load() != 1 || asked.Load() != 2 {
		t.Errorf("sent %d times, asked %d times: %q", sent.Load(), asked.Load(), titles(again))
	}
}

func TestALinkIsFetchedIfItLeadsToASound(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			_, _ = fmt.Fprint(w, "<!DOCTYPE html><html><title>Sign in</title></html>")
		case "/list":
			_, _ = fmt.Fprint(w, "#EXTM3U\nfile:///etc/passwd\n")
		case "/pic":
			_, _ = fmt.Fprint(w, "\x89PNG\x0d\x0a\x1a\x0a....")
		case "/pdf":
			w.Header().Set("Content-Type", "audio/mpeg")
			_, _ = fmt.Fprint(w, "%PDF-1.7 ....")
		case "/live":
			w.Header().Set("icy-name", "Radio")
			_, _ = w.Write(flac)
		case "/named":
			w.Header().Set("Content-Disposition", `attachment; filename="../../Fairuz - Li%20\u202eBeirut.mp3"`)
			_, _ = w.Write(flac)
		default:
			_, _ = w.Write(flac)
		}
	})
	l := &source.Link{Client: client(t), Limit: 1 << 20}
	get := func(path string) (source.Fetched, error) {
		c, err := l.Candidate(s.URL+path, station.English)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		f, err := l.Fetch(t.Context(), c, dir, nil)
		if left, _ := os.ReadDir(dir); (err == nil) != (len(left) == 1) {
			t.Errorf("%s: left %v", path, left)
		}
		return f, err
	}
	for _, path := range []string{"/page", "/list", "/pic", "/pdf", "/live"} {
		if _, err := get(path); !source.Lasting(err) || !errors.As(err, new(*fetch.ContentError)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	f, err := get("/Umm%20Kulthum%20-%20Alf_Leila.mp3?token=1")
	if err != nil || f.Candidate.Artist != "Umm Kulthum" || f.Candidate.Title != "Alf Leila" || !strings.HasSuffix(f.File, ".flac") {
		t.Errorf("%+v %v", f, err)
	}
	f, err = get("/named")
	if err != nil || f.Candidate.Artist != "Fairuz" || strings.ContainsAny(f.File[len(f.File)-30:], " %\u202e") || strings.Contains(f.Candidate.Title, "\u202e") {
		t.Errorf("%+v %v", f, err)
	}
	found, err := l.Search(t.Context(), source.Want{Category: station.English, Target: 5, Queries: []string{"words", s.URL + "/a.mp3", "http://10.0.0.1/b.mp3", "file:///etc/passwd"}})
	if len(found) != 1 || err == nil {
		t.Errorf("%v %v", found, err)
	}
}

func TestTextsFromOutsideAreCleaned(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  a\t\r\n b  ":                       "a b",
		"a\u202eb\u2066c\u2069d\u200e\u200fe": "abcde",
		"a\x00b\x1b[31mc\u0085d":              "a b [31mc d",
		"نَصٌّ عربيّ":                         "نَصٌّ عربيّ",
		"می\u200cخواهم":                       "می\u200cخواهم",
		"e\u0301":                             "é",
		"\u200b\ufeff\u00ad":                  "",
		"a" + strings.Repeat("\u0323", 50):    "ạ" + strings.Repeat("\u0323", 4),
		"\U000e0041\ue000\ufffe\u3164x":       "x",
		"\xc7\xe1\xda\xd1\xc8":                "العرب",
		"a\u2028b":                            "a b",
	} {
		if got := source.Clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := source.Clean(strings.Repeat("ط ", 1<<20)); len(got) > 300 || len(got) < 290 {
		t.Errorf("%d bytes", len(got))
	}
}
