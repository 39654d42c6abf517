package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/art"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// shownArt is what is known of files, which tests change.
type shownArt struct {
	signal.Changes
	mu      sync.Mutex
	version uint64
	found   map[string]art.Found
	words   map[string]art.Lyrics
}

func (a *shownArt) Of(path string) art.Found { a.mu.Lock(); defer a.mu.Unlock(); return a.found[path] }
func (a *shownArt) Version() uint64          { a.mu.Lock(); defer a.mu.Unlock(); return a.version }

func (a *shownArt) Lyrics(_ context.Context, path string) (art.Lyrics, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.words[path]
	if !ok {
		return art.Lyrics{}, fmt.Errorf("none: %w", station.ErrNotFound)
	}
	return l, nil
}

func (a *shownArt) set(path, cover string, l art.Lyrics) {
	a.mu.Lock()
	a.version++
	a.found = map[string]art.Found{path: {Cover: cover, Lyrics: l.Text != ""}}
	a.words = map[string]art.Lyrics{path: l}
	a.mu.Unlock()
	a.Tell()
}

func TestPicturesAndWordsOfFilesAreShown(t *testing.T) {
	r := newRig(t)
	on := r.view.OnAir.Track
	cover, own := strings.Repeat("a", 32), strings.Repeat("b", 32)
	status := func() (s struct{ Track api.Track }) {
		t.Helper()
		_, _, body := r.call(t, "GET", "/api/status", "")
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := "/api/tracks/" + station.TrackID(on.Path) + "/lyrics"
	if s := status(); s.Track.Cover != "" || s.Track.Lyrics {
		t.Errorf("%+v", s.Track)
	}
	if code, _, _ := r.call(t, "GET", at, ""); code != 404 {
		t.Error(code)
	}
	r.art.set(on.Path, cover, art.Lyrics{Text: "a\nb", Synced: []art.Line{{AtMS: 1000, Text: "a"}}})
	if s := status(); s.Track.Cover != cover || !s.Track.Lyrics {
		t.Errorf("%+v", s.Track)
	}
	if code, _, body := r.call(t, "GET", at, ""); code != 200 || !strings.Contains(string(body), `"lyrics":"a\nb"`) || !strings.Contains(string(body), `"synced":[{"atMs":1000,"text":"a"}]`) {
		t.Error(code, string(body))
	}
	r.art.set(on.Path, cover, art.Lyrics{Text: "a"})
	if _, _, body := r.call(t, "GET", at, ""); !strings.Contains(string(body), `"synced":[]`) {
		t.Error(string(body))
	}
	// The operator's own picture comes before the file's.
	r.view.OnAir.Track.Own = &station.Own{Cover: own}
	if s := status(); s.Track.Cover != own || !s.Track.Lyrics {
		t.Errorf("%+v", s.Track)
	}
	for _, id := range []string{"x", strings.Repeat("a", 16), "..%2f..%2fetc", strings.ToUpper(station.TrackID(on.Path))} {
		if code, _, _ := r.call(t, "GET", "/api/tracks/"+id+"/lyrics", ""); code != 404 && code != 422 {
			t.Errorf("%s: %d", id, code)
		}
	}
}

// A picture that is found while its track is on the air is told at once.
func TestAPictureThatIsFoundIsTold(t *testing.T) {
	r := newRig(t)
	hub := events.NewHub(slog.New(slog.DiscardHandler), "one")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.api.Tell(ctx, hub, &signal.Changes{}, &signal.Changes{}, func() []channels.Channel { return nil })
	}()
	defer func() { cancel(); <-done }()
	cover := strings.Repeat("c", 32)
	r.art.set(r.view.OnAir.Track.Path, cover, art.Lyrics{})
	testkit.Eventually(t, "the event", func() bool {
		told, _ := hub.After(0)
		return slices.ContainsFunc(told, func(e events.Event) bool {
			return e.Name == "status" && strings.Contains(string(e.Payload), cover)
		})
	})
}
