package streams

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/stream"
)

// A channel is on air as soon as it is made, plays what is pushed onto it, and
// sends its listeners home when it is removed: another of its name is another.
func TestChannelsComeOnAirAndGo(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	song := filepath.Join(t.TempDir(), "song.mp3")
	_, err = proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{"-v", "error", "-f", "lavfi", "-i", "sine=duration=60", song}}, 1<<20)
	must(t, err)
	main := stream.New(stream.Options{Log: log, Wait: time.Minute, Source: func(ctx context.Context, write func([]byte)) error {
		_, err := proc.Run(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stdout: writer(write), Args: []string{
			"-v", "error", "-re", "-f", "lavfi", "-i", "anoisesrc", "-c:a", "libvorbis", "-page_duration", "200000", "-f", "ogg", "pipe:1",
		}}, nil)
		return err
	}})
	all, err := channels.Open(t.Context(), channels.Options{
		Log: log, DB: db, Now: time.Now, Airs: func(string) (string, float64) { return song, 0 },
		Find: func(path string) (station.Track, bool) { return station.Track{Path: path, Title: "أغنية"}, true },
	})
	must(t, err)
	b := &Beside{Channels: all, opt: stream.Options{Log: log, Wait: time.Minute}, main: main, fans: map[string]channelFan{}}
	testkit.Background(t, main.Run)
	testkit.Background(t, b.Run)
	testkit.Eventually(t, "the main channel", func() bool { return main.Stats().Upstream == stream.Live })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := b.Handler(r.URL.Path[1:]); ok {
			h.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	listen := func(id string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/"+id, nil)
		must(t, err)
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	if res := listen("fairuz"); res.StatusCode != http.StatusNotFound {
		t.Errorf("before it is made: %s", res.Status)
	}
	for range 3 {
		_, err = b.Create(t.Context(), "fairuz", "فيروز")
		must(t, err)
		res := listen("fairuz")
		if res.StatusCode != http.StatusOK {
			t.Fatalf("once it is made: %s", res.Status)
		}
		_, err = io.ReadFull(res.Body, make([]byte, 10_000))
		must(t, err)
		_, err = b.Queue(t.Context(), "fairuz", "song.mp3")
		must(t, err)
		must(t, retry.Until(t.Context(), func(context.Context) error {
			if b.heard("fairuz").Title != "أغنية" {
				return io.ErrNoProgress
			}
			return nil
		}))
		if n := b.ListenersOf("fairuz"); n != 1 {
			t.Errorf("%d listeners", n)
		}
		must(t, b.Remove(t.Context(), "fairuz"))
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Errorf("sent home: %v", err)
		}
	}
	if pids := proc.Find("ffmpeg", "file:"+song); len(pids) > 0 {
		must(t, retry.Until(t.Context(), func(context.Context) error {
			if len(proc.Find("ffmpeg", "file:"+song)) > 0 {
				return io.ErrNoProgress
			}
			return nil
		}))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
