package source_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// library plays the Internet Archive: what a search finds, and the items' records
// in the forms uploaders give them.
type library struct {
	mu      sync.Mutex
	queries []string
	records int
	docs    string // the searches' answer; "{{" for one per record
	items   map[string]string
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.URL.Path == "/advancedsearch.php":
		q := r.URL.Query()
		if q.Get("output") != "json" || q.Get("rows") == "" || !slices.Contains(q["fl[]"], "identifier") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		l.queries = append(l.queries, q.Get("q"))
		if l.docs == "" || q.Get("page") != "1" {
			_, _ = fmt.Fprint(w, `{"responseHeader":{"status":0},"response":{"numFound":0,"start":0,"docs":[]}}`)
			return
		}
		_, _ = fmt.Fprint(w, l.docs)
	case strings.HasPrefix(r.URL.Path, "/metadata/"):
		l.records++
		if body, ok := l.items[strings.TrimPrefix(r.URL.Path, "/metadata/")]; ok {
			_, _ = fmt.Fprint(w, body)
			return
		}
		_, _ = fmt.Fprint(w, `{}`)
	case strings.HasPrefix(r.URL.Path, "/download/"):
		http.Redirect(w, r, "/14/items/"+strings.TrimPrefix(r.URL.EscapedPath(), "/download/"), http.StatusFound)
	case r.URL.EscapedPath() == "/14/items/album/"+`01%20%D9%83%D9%84%D9%85%D8%A9%20%23100%25%3F.flac`:
		_, _ = w.Write(flac)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

const by = `"licenseurl":"https://creativecommons.org/licenses/by/4.0/"`

func docs(ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, fmt.Sprintf(`{"identifier":%q,%s}`, id, by))
	}
	return `{"response":{"numFound":99,"docs":[` + strings.Join(all, ",") + `]}}`
}

func record(metadata, files string) string {
	return `{"created":1,"server":"ia800.example.org","metadata":{"mediatype":"audio",` + metadata + `},"files":[` + files + `]}`
}

func archive(t *testing.T, l *library) *source.Archive {
	t.Helper()
	return &source.Archive{Client: client(t), Base: serve(t, l.ServeHTTP).URL}
}

func TestTheArchiveGivesTheBestFileOfEveryOpenRecording(t *testing.T) {
	t.Parallel()
	song := `{"name":"a.mp3","source":"original","format":"VBR MP3","size":"100","length":"200.5"}`
	l := &library{
		docs: `{"response":{"numFound":9,"docs":[{"identifier":"album","licenseurl":["` + `https://creativecommons.org/licenses/by/4.0/` + `"]},{"identifier":["listed"]},
			{"identifier":"dark"},{"identifier":"lent"},{"identifier":"nc","licenseurl":"https://creativecommons.org/licenses/by-nc/4.0/"},{"identifier":"free"},{"identifier":"stated"},
			{"identifier":"evil"},{"identifier":"gone"},{"identifier":"album"},{"identifier":"../../etc"},{"identifier":""},{"identifier":7},{}]}}`,
		items: map[string]string{
			"album": record(`"title":"An  Album","creator":["Band \u202eA","B"],"date":"1999-05","subject":["Tarab"],`+by, `
				{"name":"01 كلمة #100%?.flac","source":"original","format":"Flac","size":"3000","length":"200.50","title":"One","track":"1"},
				{"name":"01 كلمة #100%?.mp3","source":"derivative","original":"01 كلمة #100%?.flac","format":"VBR MP3","size":"1000","length":"03:20"},
				{"name":"01 كلمة #100%?.png","source":"derivative","original":"01 كلمة #100%?.flac","format":"Spectrogram","size":"10"},
				{"name":"Two.wav","source":"original","format":"WAVE","size":"999999999999","length":"100"},
				{"name":"Two.mp3","source":"derivative","original":"Two.wav","format":"VBR MP3","size":"1000"},
				{"name":"Two_64kb.mp3","source":"derivative","original":"Two.wav","format":"64Kbps MP3","size":"500"},
				{"name":"private.mp3","source":"original","format":"VBR MP3","private":"true"},
				{"name":"short.mp3","source":"original","format":"VBR MP3","length":"1:10"},
				{"name":"album.m3u","source":"derivative","format":"VBR M3U"},
				{"name":"cover.jpg","source":"original","format":"JPEG"},
				{"source":"original","format":"VBR MP3"}`),
			"listed": record(`"title":["L"],`+strings.Replace(by, `:"`, `:["`, 1)+`]`, `{"name":["c/d e.ogg"],"format":["Ogg Vorbis"],"size":7,"length":300,"title":null,"artist":{"x":1}}`),
			"dark":   `{"is_dark":true,"metadata":{` + by + `},"files":[` + song + `]}`,
			"lent":   record(`"access-restricted-item":"true",`+by, song),
			"nc":     record(`"licenseurl":"https://creativecommons.org/licenses/by-nc/4.0/"`, song),
			"free":   record(`"title":"no licence"`, song),
			"stated": record(`"title":"PD","licenseurl":"http://creativecommons.org/publicdomain/mark/1.0/"`, `{"name":"../../up.mp3","format":"VBR MP3"}`),
			"evil":   record(`"licenseurl":"https://creativecommons.org.evil.example/licenses/by/4.0/"`, song),
		},
	}
	a := archive(t, l)
	found := search(t, a, source.Want{
		Category: station.ArabicHits, Shortest: 90 * time.Second, Singers: []string{`Umm" OR mediatype:movies "Kulthum\`, "  "}, Queries: []string{`jazz) OR (x`, "https://example.org/not-words"},
	})
	if got := titles(found); !slices.Equal(got, []string{"One", "Two", "d e", "up"}) {
		t.Fatalf("got %q", got)
	}
	one := found[0]
	if one.Artist != "Band A" || one.Album != "An Album" || one.Genre != "Tarab" || one.License != "https://creativecommons.org/licenses/by/4.0/" || one.Duration != 200500*time.Millisecond ||
		one.Size != 3000 || one.ID != "album/01 كلمة #100%?.flac" || one.Page != a.Base+"/details/album" || one.Published.Year() != 1999 || one.Source != "archive.org" || one.Category != station.ArabicHits {
		t.Errorf("got %+v", one)
	}
	if found[1].ID != "album/Two.wav" || found[1].URL != a.Base+"/download/album/Two.mp3" {
		t.Errorf("the large original's identity and its derivative's address: %+v", found[1])
	}
	if found[2].URL != a.Base+"/download/listed/c/d%20e.ogg" || found[2].Duration != 300*time.Second || found[3].URL != a.Base+"/download/stated/%2E%2E/%2E%2E/up.mp3" {
		t.Errorf("got %q, %q", found[2].URL, found[3].URL)
	}
	if want := `mediatype:audio AND (creator:"Umm OR mediatype:movies Kulthum" OR title:"Umm OR mediatype:movies Kulthum" OR subject:"Umm OR mediatype:movies Kulthum") AND NOT access-restricted-item:true AND licenseurl:*creativecommons*`; l.queries[0] != want {
		t.Errorf("asked %s", l.queries[0])
	}
	if len(l.queries) != 2 || !strings.Contains(l.queries[1], `("jazz)" AND "OR" AND "(x")`) {
		t.Errorf("asked %q", l.queries)
	}
	f, err := a.Fetch(t.Context(), one, t.TempDir(), nil)
	if err != nil || !strings.HasSuffix(f.File, ".flac") {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := a.Fetch(t.Context(), found[1], t.TempDir(), nil); !source.Lasting(err) {
		t.Errorf("a file that is gone: %v", err)
	}
	// What is known is not offered again; what has nothing new is not asked about.
	l.queries, l.records = nil, 0
	known := func(_, id string) bool { return strings.HasPrefix(id, "album/") || strings.HasPrefix(id, "listed/") }
	if got := titles(search(t, a, source.Want{Category: station.ArabicHits, Queries: []string{"x"}, Known: known})); !slices.Equal(got, []string{"up"}) {
		t.Errorf("got %q", got)
	}
	if l.records != 3 { // album, listed, stated
		t.Errorf("%d records were asked for", l.records)
	}
	any := archive(t, l)
	any.Licenses = []string{"any"}
	if got := search(t, any, source.Want{Category: station.English, Queries: []string{"x"}, Target: 50}); len(got) != 8 || strings.Contains(l.queries[len(l.queries)-1], "licenseurl") {
		t.Errorf("with any licence: %q", titles(got))
	}
}

func TestOneAlbumDoesNotFillASearch(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 9 {
		files = append(files, fmt.Sprintf(`{"name":"%d.mp3","format":"VBR MP3"}`, i))
	}
	l := &library{docs: docs("a", "b"), items: map[string]string{"a": record(by, strings.Join(files, ",")), "b": record(by, files[0])}}
	got := search(t, archive(t, l), source.Want{Category: station.English, Queries: []string{"x"}, Target: 10})
	if len(got) != 4 || got[3].ID != "b/0.mp3" {
		t.Errorf("got %q", titles(got))
	}
}

func TestAnArchiveInTroubleIsAnErrorThatPasses(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>We'll be back soon</html>") },
		"503":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"error":  func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"error":"bad \u202equery"}`) },
		"empty":  func(http.ResponseWriter, *http.Request) {},
		"null":   func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `null`) },
		"cut":    func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"response":{"docs":[{"iden`) },
		"scheme": func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"response":[]}`) },
	} {
		a := &source.Archive{Client: client(t), Base: serve(t, answer).URL}
		found, err := a.Search(t.Context(), source.Want{Category: station.English, Queries: []string{"a", "b", "c", "d", "e"}, Target: 5})
		if len(found) > 0 || err == nil || source.Lasting(err) || strings.Contains(err.Error(), "\u202e") || strings.Count(err.Error(), "\n") != 2 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	// An item's record that cannot be read costs the others nothing.
	l := &library{docs: docs("bad", "good", "none"), items: map[string]string{"bad": "<html>", "good": record(by, `{"name":"g.mp3","format":"VBR MP3"}`)}}
	found, err := archive(t, l).Search(t.Context(), source.Want{Category: station.English, Queries: []string{"x"}, Target: 5})
	if len(found) != 1 || err == nil {
		t.Errorf("%v, %v", found, err)
	}
	if got := search(t, archive(t, &library{}), source.Want{Category: station.English, Queries: []string{"x"}}); len(got) > 0 {
		t.Error(got)
	}
}

func TestASearchThatIsCutGivesWhatItFound(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("its time is over")
	l := &library{docs: docs("one", "two", "three"), items: map[string]string{"one": record(by, `{"name":"g.mp3","format":"VBR MP3"}`)}}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metadata/two" {
			cancel(over)
		}
		l.ServeHTTP(w, r)
	})
	found, err := (&source.Archive{Client: client(t), Base: s.URL}).Search(ctx, source.Want{Category: station.English, Queries: []string{"x"}, Target: 5})
	if len(found) != 1 || !errors.Is(err, over) {
		t.Errorf("%q, %v", titles(found), err)
	}
}

func TestTheArchiveCannotLeadIntoTheNetwork(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.2/", http.StatusFound)
	})
	a := &source.Archive{Client: client(t), Base: s.URL}
	dir := t.TempDir()
	_, err := a.Fetch(t.Context(), source.Candidate{Source: "archive.org", ID: "x/y", URL: s.URL + "/download/x/y"}, dir, nil)
	var blocked *fetch.BlockedError
	if left, _ := os.ReadDir(dir); !errors.As(err, &blocked) || len(left) > 0 {
		t.Errorf("%v, left %v", err, left)
	}
	if _, err := url.Parse(blocked.URL); err != nil {
		t.Error(err)
	}
}
