package onface

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/feed"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

var _ Shows = (*podcast.Podcasts)(nil)

// onDemand is one show that listeners find, with one episode, and one that they do not.
type onDemand struct{ dir string }

func (onDemand) Shows() []*podcast.Show {
	return []*podcast.Show{
		{Own: podcast.Own{Slug: "nile", On: true, Title: "مساء النيل", Description: "حوار", Language: "ar"}, Cover: "c1"},
		{Own: podcast.Own{Slug: "off", Title: "Off"}},
		{Own: podcast.Own{Slug: "gone", On: true, Title: "Gone"}, Removed: 1},
	}
}

func (o onDemand) Show(slug string) (*podcast.Show, error) {
	for _, s := range o.Shows() {
		if s.Slug == slug {
			return s, nil
		}
	}
	return nil, fmt.Errorf("show: %w", station.ErrNotFound)
}

func (onDemand) Heard(slug string) ([]podcast.Episode, error) {
	if slug != "nile" {
		return nil, fmt.Errorf("show: %w", station.ErrNotFound)
	}
	return []podcast.Episode{{ID: "e2", Show: "nile", Title: "الأولى", Summary: "عن", Number: 3, Published: 86_400_000, State: podcast.Published, File: "e2.mp3", DurationMS: 61_000, Bytes: 5}}, nil
}

func (onDemand) Cover(context.Context, string) (data []byte, stamp string, err error) {
	return []byte("\xff\xd8\xff"), "c1", nil
}

func (o onDemand) Sound(slug, id string) (path string, e podcast.Episode, err error) {
	heard, err := o.Heard(slug)
	if err != nil || heard[0].ID != id {
		return "", e, fmt.Errorf("episode: %w", station.ErrNotFound)
	}
	return filepath.Join(o.dir, heard[0].File), heard[0], nil
}

func (onDemand) Count(string, string) {}

// inhabited is a station with shows, behind its own port and behind a front. The front is told
// what the control plane's routes say.
func inhabited(t *testing.T) (r *rig, doors map[string]http.Handler) {
	r = newRig(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "e2.mp3"), []byte("sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.shows = onDemand{dir}
	// As the routes write them: a name that a front does not read would be missing in its pages.
	show := api.PodcastShow{Slug: "nile", Title: "مساء النيل", Description: "حوار", Language: "ar", Page: "/podcasts/nile", Cover: "/podcasts/nile/cover.jpg?v=c1", Feed: "/podcasts/nile/feed.xml"}
	episode := api.PodcastEpisode{ID: "e2", Title: "الأولى", Summary: "عن", Page: "/podcasts/nile/e2", Audio: "/podcasts/nile/e2/audio.mp3", Number: 3, PublishedAt: 86_400_000, DurationMS: 61_000, Bytes: 5}
	r.api = map[string]string{
		"/api/podcasts": written(t, map[string]any{"shows": []api.PodcastShow{show}}), "/api/podcasts/nile": written(t, show),
		"/api/podcasts/nile/episodes/e2":                written(t, map[string]any{"show": show, "episode": episode}),
		"/api/tracks/" + station.TrackID("music/a.mp3"): `{"track":{"title":"Enta Omri","artist":"Om <Kalthoum>"}}`,
	}
	control := r.control()
	srv := httptest.NewServer(control)
	t.Cleanup(srv.Close)
	at := strings.TrimPrefix(srv.URL, "http://")
	worn := newFront(slog.New(slog.DiscardHandler), at, http.DefaultTransport, face.Defaults{Name: "أثير", Language: "ar"})
	if err := worn.Follower.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := worn.feeds.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	made := front.Handler(front.Options{Log: slog.New(slog.DiscardHandler), Made: worn.Pages("/", pages.Player, pages.History, pages.Podcasts), Control: at})
	return r, map[string]http.Handler{"control": control, "front": made}
}

// An episode that has as much as one may have is described by a front, too.
func TestAFrontDescribesTheLongestEpisode(t *testing.T) {
	r, doors := inhabited(t)
	name := strings.Repeat("أ", 200)
	long := api.PodcastEpisode{ID: "e2", Title: "الأولى", Summary: strings.Repeat("ن", 4000), Page: "/podcasts/nile/e2", Audio: "/podcasts/nile/e2/audio.mp3", Text: strings.Repeat("ص", 20_000)}
	for range podcast.MostChapters {
		long.Chapters = append(long.Chapters, api.PodcastChapter{StartMS: 1 << 30, Title: name, Artist: name})
	}
	r.api["/api/podcasts/nile/episodes/e2"] = written(t, map[string]any{"show": api.PodcastShow{Slug: "nile", Title: "مساء النيل"}, "episode": long})
	if code, _, body := r.get(doors["front"], "/podcasts/nile/e2"); code != http.StatusOK || !strings.Contains(body, `content="الأولى"`) {
		t.Errorf("%d: %.1000s", code, body)
	}
}

func written(t *testing.T, of any) string {
	t.Helper()
	out, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// What there is not has a status that says so, at every door; what nobody can tell now has not.
func TestWhatIsNotThereIsMissingAtEveryDoor(t *testing.T) {
	r, doors := inhabited(t)
	for door, h := range doors {
		for path, want := range map[string]int{
			"/podcasts": 200, "/podcasts/nile": 200, "/podcasts/nile/e2": 200, "/podcasts/none": 404, "/podcasts/off": 404, "/podcasts/gone": 404, "/podcasts/nile/none": 404, "/podcasts/off/e2": 404,
			"/podcasts/nile/feed.xml": 200, "/podcasts/nile/cover.jpg": 200, "/podcasts/nile/e2/audio.mp3": 200, "/podcasts/nile/e2/chapters.json": 404, "/podcasts/none/feed.xml": 404, "/podcasts/gone/feed.xml": 404,
			"/podcasts/nile%3Fkey=1": 404, "/podcasts/nile/e2%2F..%2Fx": 404,
			"/history": 200, "/track/" + station.TrackID("music/a.mp3"): 200, "/track/" + station.TrackID("music/never.mp3"): 404,
		} {
			if code, _, body := r.get(h, path); code != want || want == 404 && strings.HasPrefix(path, "/track/") && !strings.Contains(body, "الصفحة غير موجودة") {
				t.Errorf("%s: %s: %d, want %d", door, path, code, want)
			}
		}
	}
	if code, _, _ := r.get(doors["control"], "/track/"+station.TrackID("music/asleep.mp3")); code != 200 {
		t.Errorf("a track that cannot be named now: %d", code)
	}
	r.away.Store(true)
	for _, path := range []string{"/podcasts/nile", "/podcasts/none", "/track/" + station.TrackID("music/never.mp3")} {
		if code, _, _ := r.get(doors["front"], path); code != 200 {
			t.Errorf("while the control plane is away: %s: %d", path, code)
		}
	}
	if _, _, body := r.get(doors["front"], "/"); !strings.Contains(body, "/podcasts/nile/feed.xml") {
		t.Error("while the control plane is away, the player forgets the shows")
	}
}

// Every door says the same of a show, and names its feed.
func TestShowsAreDescribedAtEveryDoor(t *testing.T) {
	r, doors := inhabited(t)
	const alternate = `<link rel="alternate" href="http://example.com/podcasts/nile/feed.xml" type="application/rss+xml" title="مساء النيل"`
	for door, h := range doors {
		for path, want := range map[string][]string{
			"/": {alternate}, "/history": {alternate}, "/podcasts": {alternate},
			"/podcasts/nile":                           {alternate, `content="مساء النيل"`, `content="http://example.com/podcasts/nile/cover.jpg?v=c1"`},
			"/podcasts/nile/e2":                        {alternate, `content="الأولى"`, `content="http://example.com/podcasts/nile/e2/audio.mp3"`, `content="article"`},
			"/track/" + station.TrackID("music/a.mp3"): {"Om &lt;Kalthoum&gt;"},
		} {
			_, _, body := r.get(h, path)
			for _, text := range want {
				if !strings.Contains(body, text) && !strings.Contains(html.UnescapeString(body), text) {
					t.Errorf("%s: %s does not say %s:\n%.3000s", door, path, text, body)
				}
			}
			if strings.Contains(body, "/podcasts/off") || strings.Contains(body, "/podcasts/gone") {
				t.Errorf("%s: %s tells of a show that listeners do not find", door, path)
			}
		}
		for _, route := range feed.Preflights() { // other sites' players ask for the files at every door
			path := strings.NewReplacer("OPTIONS ", "", "{show}", "nile", "{episode}", "e2").Replace(route)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodOptions, path, nil))
			if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: preflight of %s: %d %v", door, path, w.Code, w.Header())
			}
		}
		if _, head, body := r.get(h, "/podcasts/nile/e2/audio.mp3"); body != "sound" || head.Get("Content-Type") != "audio/mpeg" || head.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %q %v", door, body, head)
		}
	}
	for _, path := range []string{"/podcasts/nile", "/podcasts/nile/e2", "/"} {
		_, _, a := r.get(doors["control"], path)
		_, _, b := r.get(doors["front"], path)
		a, _, cut := strings.Cut(a, `<link rel="icon"`) // a front has pictures of its own
		b, _, also := strings.Cut(b, `<link rel="icon"`)
		if a != b || !cut || !also {
			t.Errorf("%s: the control plane says\n%s\nand a front\n%s", path, a, b)
		}
	}
}
