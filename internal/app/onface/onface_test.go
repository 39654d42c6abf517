package onface

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

func TestMain(m *testing.M) { testkit.Main(m) }

type rig struct {
	*Face
	t    *testing.T
	view scheduler.View
	away atomic.Bool
	// shows are what is on demand, and api what the routes of the control plane say, by path.
	shows Shows
	api   map[string]string
}

func newRig(t *testing.T) *rig {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{t: t}
	if r.Face, err = Open(t.Context(), &config.Config{Name: "أثير", Language: "ar"}, db); err != nil {
		t.Fatal(err)
	}
	return r
}

// control serves the pages of the control plane, or refuses while it is away.
func (r *rig) control() http.Handler {
	served := r.Pages(Sources{
		OnAir: func() *scheduler.View { return &r.view },
		Library: func() *media.Snapshot {
			return &media.Snapshot{Tracks: []station.Track{{Path: "music/a.mp3", Title: "Enta Omri"}}}
		},
		Cover: func(station.Track) string { return "" },
		Named: func(_ context.Context, id string) (title, artist string, err error) {
			switch id {
			case station.TrackID("music/a.mp3"), station.TrackID("music/gone.mp3"):
				return "Enta Omri", "Om <Kalthoum>", nil
			case station.TrackID("music/asleep.mp3"):
				return "", "", context.DeadlineExceeded
			}
			return "", "", fmt.Errorf("track: %w", station.ErrNotFound)
		},
		Shows: r.shows,
	}, pages.Player, pages.Chat, pages.History, pages.Podcasts, pages.Studio)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.away.Load() {
			panic(http.ErrAbortHandler) // as a connection that breaks
		}
		if answer, has := r.api[req.URL.Path]; has {
			_, _ = io.WriteString(w, answer)
			return
		}
		served.ServeHTTP(w, req)
	})
}

func (r *rig) set(name string) {
	r.t.Helper()
	if err := r.Set(r.t.Context(), r.Now().Version, face.Own{Name: face.Both{AR: name}, Languages: []string{"ar", "en"}, Accent: "#1f7a5c"}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) get(h http.Handler, path string) (int, http.Header, string) {
	r.t.Helper()
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, path, nil)
	req.Header.Set("Accept", "text/html")
	h.ServeHTTP(w, req)
	body, _ := io.ReadAll(w.Result().Body)
	return w.Code, w.Result().Header, string(body)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A front has the face of the control plane without being restarted, and its cards; both also
// while the control plane is away.
func TestAFrontWearsTheFaceAlsoWhileTheControlPlaneIsAway(t *testing.T) {
	r := newRig(t)
	r.set("إذاعة النيل")
	r.view.OnAir.Track = station.Track{Path: "music/a.mp3", Title: "انت عمري", Artist: "أم كلثوم"}
	srv := httptest.NewServer(r.control())
	defer srv.Close()
	at := strings.TrimPrefix(srv.URL, "http://")
	worn := newFront(slog.New(slog.DiscardHandler), at, roundTrip(func(req *http.Request) (*http.Response, error) {
		if r.away.Load() {
			return nil, errors.New("away")
		}
		return http.DefaultTransport.RoundTrip(req)
	}), face.Defaults{Name: "Athir", Language: "en"})
	h := front.Handler(front.Options{Log: slog.New(slog.DiscardHandler), Made: worn.Pages("/home", pages.Player), Control: at})
	if _, _, missing := r.get(h, "/nothing"); !strings.Contains(missing, "Athir") || !strings.Contains(missing, `href="/home"`) {
		t.Errorf("before it was ever told: %s", missing)
	}
	if err := worn.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, away := range []bool{false, true} {
		r.away.Store(away)
		if err := worn.Pull(t.Context()); away != (err != nil) {
			t.Errorf("away %v: %v", away, err)
		}
		for path, want := range map[string]string{"/nothing": "إذاعة النيل", "/api/face": "إذاعة النيل", "/manifest.webmanifest": "إذاعة النيل", "/face/theme.css?v=1": "#1f7a5c", "/card/now.png?v=1": "\x89PNG"} {
			code, _, body := r.get(h, path)
			if code != 200 && path != "/nothing" || !strings.Contains(body, want) {
				t.Errorf("away %v: %s: %d %.80q", away, path, code, body)
			}
		}
	}
	if code, head, _ := r.get(h, "/card/"+station.TrackID("music/a.mp3")+".png"); code != 307 || !strings.HasPrefix(head.Get("Location"), "/face/icon-512.png") {
		t.Errorf("a card that it never had: %d %v", code, head)
	}
	r.away.Store(false)
	r.set("محطة أخرى")
	if err := worn.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, missing := r.get(h, "/nothing"); !strings.Contains(missing, "محطة أخرى") {
		t.Errorf("after a change: %s", missing)
	}
}

// A card is a picture of 1200 × 630 pixels; another one for another track, name or logo, and none
// for a track that is not there.
func TestCardsShowWhatPlaysInTheStationsFace(t *testing.T) {
	r := newRig(t)
	h := r.control()
	card := func(name string) string {
		t.Helper()
		code, head, body := r.get(h, "/card/"+name+".png")
		p, err := png.DecodeConfig(strings.NewReader(body))
		if code != 200 || err != nil || p.Width != 1200 || p.Height != 630 || head.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
			t.Fatalf("%s: %d %v %+v", name, code, err, p)
		}
		return body
	}
	seen := map[string]string{}
	another := func(what, body string) {
		t.Helper()
		if before, had := seen[body]; had {
			t.Errorf("%s has the card of: %s", what, before)
		}
		seen[body] = what
	}
	another("nothing on the air", card("now"))
	r.view.OnAir.Track = station.Track{Path: "music/a.mp3", Title: "Enta Omri"}
	now := card("now")
	another("a track on the air", now)
	if card("now") != now {
		t.Error("the same card is another one")
	}
	another("the track alone", card(station.TrackID("music/a.mp3")))
	r.set("إذاعة النيل")
	another("with a name", card("now"))
	logo := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 {
		logo.Set(i, i, color.RGBA{200, 0, 0, 255})
	}
	var data bytes.Buffer
	if err := png.Encode(&data, logo); err != nil {
		t.Fatal(err)
	}
	if err := r.SetPicture(t.Context(), face.Logo, data.Bytes()); err != nil {
		t.Fatal(err)
	}
	another("with a logo", card("now"))
	another("a track whose file has gone", card(station.TrackID("music/gone.mp3")))
	if code, _, _ := r.get(h, "/card/"+station.TrackID("music/never.mp3")+".png"); code != 404 {
		t.Errorf("of a track that is not there: %d", code)
	}
}
