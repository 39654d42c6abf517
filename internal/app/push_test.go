package app

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
)

// tape is an air that a test plays.
type tape struct {
	signal.Changes
	view atomic.Pointer[scheduler.View]
}

func (a *tape) View() *scheduler.View { return a.view.Load() }

// play airs tracks; many are one signal.
func (a *tape) play(tracks ...station.Track) {
	for _, t := range tracks {
		was := a.View()
		next := &scheduler.View{OnAir: scheduler.OnAir{
			Kind: scheduler.Rotation, Track: t, StartedAt: time.Now(), Engine: "e", Seq: was.OnAir.Seq + 1,
		}}
		if !was.OnAir.StartedAt.IsZero() {
			next.Past = append([]scheduler.OnAir{was.OnAir}, was.Past...)
		}
		a.view.Store(next)
	}
	a.Tell()
}

// goLive airs a live source.
func (a *tape) goLive(title string) {
	was := a.View()
	a.view.Store(&scheduler.View{
		OnAir: scheduler.OnAir{Kind: scheduler.Live, Track: station.Track{Title: title}, StartedAt: time.Now(), Engine: "e", Seq: was.OnAir.Seq + 1},
		Past:  append([]scheduler.OnAir{was.OnAir}, was.Past...),
	})
	a.Tell()
}

// inbox is a webhook's receiver and a push service in one: it notes what came.
type inbox struct {
	*httptest.Server
	mu   sync.Mutex
	what []string
}

func newInbox(t *testing.T) *inbox {
	in := &inbox{}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := "push " + r.Header.Get("Topic")
		if r.URL.Path == "/hook" {
			body, _ := io.ReadAll(r.Body)
			var m struct {
				Type string
				Data struct{ Title, File, Kind, Name string }
			}
			_ = json.Unmarshal(body, &m)
			what = strings.Join(strings.Fields(strings.Join([]string{m.Type, m.Data.Title, m.Data.File, m.Data.Kind, m.Data.Name}, " ")), " ")
		}
		in.mu.Lock()
		in.what = append(in.what, what)
		in.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(in.Close)
	return in
}

// expect waits until so many have come, and returns those that begin with prefix.
func (in *inbox) expect(t *testing.T, prefix string, n int) string {
	t.Helper()
	var out []string
	testkit.EventuallyNil(t, fmt.Sprintf("%d of %q come", n, prefix), func() error {
		out = nil
		in.mu.Lock()
		defer in.mu.Unlock()
		for _, what := range in.what {
			if strings.HasPrefix(what, prefix) {
				out = append(out, what)
			}
		}
		if len(out) < n {
			return fmt.Errorf("%q", out)
		}
		return nil
	})
	return strings.Join(out, "; ")
}

func runOutward(t *testing.T, o *world) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func TestWhatIsHeardIsToldOnceByWebhookAndPush(t *testing.T) {
	cfg, err := config.Parse(nil, map[string]any{
		"push.allow_private": true, "webhooks.allow_private": true, "sync_token": "x", "source_password": "hackmehackme",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	air, in := &tape{}, newInbox(t)
	air.view.Store(&scheduler.View{})
	open := func() *world {
		o, err := openOutward(t.Context(), cfg, slog.New(slog.DiscardHandler), db, air, nil, nil, "test")
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := open()
	if _, err := o.hooks.Add(t.Context(), webhooks.Order{URL: in.URL + "/hook", Events: []string{"*"}}); err != nil {
		t.Fatal(err)
	}
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	enc := base64.RawURLEncoding.EncodeToString
	_, err = o.push.Subscribe(t.Context(), webpush.Client{Staff: true}, webpush.Order{
		Endpoint: in.URL + "/push", P256dh: enc(key.PublicKey().Bytes()), Auth: enc(make([]byte, 16)),
		Wishes: webpush.Wishes{Topics: webpush.Topics(), Artists: []string{"الشّيخ إمام"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := runOutward(t, o)
	song := func(title, artist string) station.Track {
		return station.Track{Path: title + ".mp3", Category: station.ArabicHits, Title: title, Artist: artist}
	}
	news := station.Track{Path: "n1.mp3", Category: station.News, Title: "N"}
	air.play(song("A", "Other"))
	in.expect(t, "track.change", 1)
	air.play(song("B", "Fathia & شيخ إمام"), news, song("C", "Other"), news)
	const tracks = "track.change A A.mp3; track.change B B.mp3; track.change N n1.mp3; track.change C C.mp3; track.change N n1.mp3"
	if got := in.expect(t, "track.change", 5); got != tracks {
		t.Errorf("told of %s", got)
	}
	at := time.Now()
	air.goLive("سهرة")
	in.expect(t, "live.start", 1)
	air.play(song("E", "Other"))
	in.expect(t, "live.stop", 1)
	var told []string
	guarded := o.Alerts(func(event string, _ any) { told = append(told, event) })
	raised, cleared := guard.Alert{Kind: guard.Silence, State: "raised", At: at.UnixMilli()}, guard.Alert{Kind: guard.Silence, State: "cleared", At: at.UnixMilli() + 9}
	guarded(guard.Event, raised)
	guarded(guard.Event, cleared)
	guarded("another", 1)
	if strings.Join(told, " ") != "alert alert another" {
		t.Error(told)
	}
	o.Bulletin(production.BulletinMade{File: "n2.mp3", At: at.UnixMilli()})
	o.Milestone(telemetry.Milestone{Kind: "level", Level: 100, Listeners: 101, At: at.UnixMilli()})
	if got := in.expect(t, "push", 5); strings.Count(got, "artist") != 1 || strings.Count(got, "bulletin") != 1 || strings.Count(got, "live") != 1 || strings.Count(got, "alert") != 2 {
		t.Errorf("pushed %s", got)
	}
	for prefix, want := range map[string]string{
		"live": "live.start سهرة; live.stop سهرة", "dead_air": "dead_air.raised silence; dead_air.cleared silence",
		"bulletin": "bulletin.made n2.mp3", "listeners": "listeners.milestone level",
	} {
		if got := in.expect(t, prefix, strings.Count(want, ";")+1); got != want {
			t.Errorf("told of %s, want %s", got, want)
		}
	}
	stop()

	// After a restart the same things are not told again; the next one is.
	o = open()
	stop = runOutward(t, o)
	o.Alerts(func(string, any) {})(guard.Event, cleared)
	air.play(song("D", "Other"))
	o.Milestone(telemetry.Milestone{Kind: "peak", Level: 101, Listeners: 102, At: at.UnixMilli()})
	if got := in.expect(t, "listeners.milestone peak", 1); got == "" {
		t.Error("nothing is told after a restart")
	}
	if got := in.expect(t, "track.change", 8); got != tracks+"; track.change سهرة; track.change E E.mp3; track.change D D.mp3" {
		t.Errorf("told of %s", got)
	}
	stop()
	if got := in.expect(t, "live", 2) + in.expect(t, "dead_air.cleared", 1) + in.expect(t, "push", 5); strings.Count(got, ";") != 5 {
		t.Errorf("told again after a restart: %s", got)
	}
}
