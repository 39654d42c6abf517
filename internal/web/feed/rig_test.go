package feed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/feed"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	one, two = "aaaaaaaaaaaaaaa2", "bbbbbbbbbbbbbbb3"
	minute   = 480_000 // bytes of a minute at 64 kbit/s
)

// shelf has shows in memory and their sounds on the disk.
type shelf struct {
	mu     sync.Mutex
	dir    string
	shows  map[string]*podcast.Show
	heard  map[string][]podcast.Episode
	counts map[string]int
	fails  error
}

func (s *shelf) Shows() []*podcast.Show { return slices.Collect(maps.Values(s.shows)) }

func (s *shelf) Show(slug string) (*podcast.Show, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return nil, s.fails
	}
	show := s.shows[slug]
	if show == nil {
		return nil, fmt.Errorf("show: %w", station.ErrNotFound)
	}
	return show, nil
}

func (s *shelf) Heard(slug string) ([]podcast.Episode, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard[slug], nil
}

func (s *shelf) Cover(context.Context, string) ([]byte, string, error) {
	return []byte("\xff\xd8\xff\xe0 a picture"), "c1", nil
}

func (s *shelf) Sound(slug, id string) (string, podcast.Episode, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.heard[slug] {
		if e.ID == id {
			return filepath.Join(s.dir, e.File), e, nil
		}
	}
	return "", podcast.Episode{}, fmt.Errorf("episode: %w", station.ErrNotFound)
}

func (s *shelf) Count(slug, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[slug+"/"+id]++
}

func (s *shelf) counted(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts["nile/"+id]
}

// change replaces a show or its episodes, as their owner does: what was given out stays as it is.
func (s *shelf) change(do func(show *podcast.Show, episodes []podcast.Episode) []podcast.Episode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	show := *s.shows["nile"]
	s.heard["nile"] = do(&show, slices.Clone(s.heard["nile"]))
	s.shows["nile"] = &show
}

type rig struct {
	*shelf
	t       *testing.T
	mux     *http.ServeMux
	now     time.Time
	live    feed.Live
	hasLive bool
}

var start = time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // constant

func newRig(t *testing.T) *rig { return rigOf(t, 3*minute) }

// rigOf has sounds of so many bytes.
func rigOf(t *testing.T, bytesOfSound int) *rig {
	r := &rig{t: t, now: start, mux: http.NewServeMux(), shelf: &shelf{dir: t.TempDir(), counts: map[string]int{}}}
	at := func(hours int) int64 { return start.Add(time.Duration(hours) * time.Hour).UnixMilli() }
	r.shows = map[string]*podcast.Show{
		"nile": {
			Own: podcast.Own{
				Slug: "nile", On: true, Title: "مساء النيل", Description: "حوار كل مساء.\n\nمع ضيف & موسيقى <حية>.", Language: "ar", Author: "إذاعة النيل", Email: "owner@nile.example",
				Copyright: "© إذاعة النيل", Categories: []string{"News > Daily News", "Society & Culture", "TV & Film > Film History"}, Locked: true, From: podcast.From{Kind: podcast.Live},
			},
			GUID: "1f0c2bbc-9d05-5d6c-8a0b-3b7d2f1d5f11", Cover: "c1", Created: at(-48), Changed: at(-3),
		},
		"off":  {Own: podcast.Own{Slug: "off", Title: "Off"}},
		"gone": {Own: podcast.Own{Slug: "gone", On: true, Title: "Gone"}, Removed: at(-1)},
	}
	tag := append([]byte("ID3\x04\x00\x00\x00\x01\x00\x00"), make([]byte, 1<<14)...) // 2^14 bytes of a picture
	sound := slices.Concat(tag, bytes.Repeat([]byte("0123456789abcdef"), bytesOfSound/16))
	for _, id := range []string{one, two} {
		if err := os.WriteFile(filepath.Join(r.dir, id+".mp3"), sound, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.heard = map[string][]podcast.Episode{"nile": {
		{
			ID: two, Show: "nile", Number: 2, GUID: "g-two", State: podcast.Published, Title: "الحلقة الثانية", Summary: "عن الماء", Creator: "سلمى", Began: at(-6), Published: at(-4), Changed: at(-4),
			DurationMS: 180_000, Bytes: int64(len(sound)), File: two + ".mp3", Text: "نشرة الأخبار", Chapters: []podcast.Chapter{{Title: "مقدمة"}, {StartMS: 61_500, Title: "انت عمري", Artist: "أم كلثوم"}},
			Source: podcast.Source{Kind: podcast.Live, Key: "k2"},
		},
		{ID: one, Show: "nile", Number: 1, GUID: "g-one", State: podcast.Published, Title: "الأولى", Began: at(-30), Published: at(-28), Changed: at(-28), DurationMS: 180_000, Bytes: int64(len(sound)), File: one + ".mp3", Explicit: true},
	}}
	feed.New(feed.Options{
		Shows: r.shelf, Station: func() string { return "Nile Radio" }, Now: func() time.Time { return r.now },
		Live: func(string) (feed.Live, bool) { return r.live, r.hasLive },
	}).Mount(r.mux)
	return r
}

// ask sends a request as a listener's program; headers are names and values by turns.
func (r *rig) ask(method, path string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	q := httptest.NewRequestWithContext(r.t.Context(), method, path, nil)
	q.Host, q.RemoteAddr = "radio.example", "198.51.100.7:4000"
	q.Header.Set("User-Agent", "AntennaPod/3.5.0")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			q.Host = headers[i+1]
			continue
		}
		if headers[i] == "From-Address" {
			q.RemoteAddr = headers[i+1]
			continue
		}
		q.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.mux.ServeHTTP(w, q)
	return w
}

func (r *rig) feed() string {
	r.t.Helper()
	w := r.ask("GET", "/podcasts/nile/feed.xml")
	if w.Code != 200 {
		r.t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func sound(id string) string { return "/podcasts/nile/" + id + "/audio.mp3" }

// file is a sound as it lies on the disk.
func (r *rig) file(id string) []byte {
	r.t.Helper()
	out, err := os.ReadFile(filepath.Join(r.dir, id+".mp3"))
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func all(t *testing.T, in io.Reader) string {
	t.Helper()
	out, err := io.ReadAll(in)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
