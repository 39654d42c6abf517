package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/ontelemetry"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/bridge"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/stream"
	"github.com/athir-radio/athir/internal/web/streams"
)

// during runs something that ends with the test.
func during(t *testing.T, what string, run func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	})
}

func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testkit.Eventually(t, what, ok)
}

// countingOptions are those of a control plane beside its node.
func countingOptions(
	cfg *config.Config, log *slog.Logger, db *store.DB, fan *streams.Streams, view func() *scheduler.View, tell func(string, any),
	atEdges func() ([]string, uint64, census.Crowd),
) ontelemetry.Options {
	holder := onnode.NewHolder(cfg, log)
	return ontelemetry.Options{
		Config: cfg, Log: log, DB: db, Host: holder.Host, Paths: func() string { return holder.At(cfg.Ports.Paths) }, Icecast: icecastOptions(cfg),
		Listening: func(context.Context) error { return nil }, Streams: fan, AtEdges: atEdges, View: view, Tell: tell,
	}
}

// TestEveryListenerIsCountedOnce puts real listeners before a real streaming
// server, bridge and relay: HLS, /stream with and without the player between,
// and the master mount itself; and our own parts, which are none.
func TestEveryListenerIsCountedOnce(t *testing.T) {
	const hls, direct, proxied, mount = 4, 2, 3, 5
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	dir, err := os.MkdirTemp("", "athir-count") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cfg := &config.Config{DataDir: dir, Bind: "127.0.0.1", SourcePassword: "source-password"}
	cfg.Ports.Icecast, cfg.Ports.HLS, cfg.Ports.Paths = testkit.Port(t), testkit.Port(t), testkit.Port(t)
	cfg.Timezone.Location = time.UTC
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	countries := filepath.Join(dir, "countries.mmdb")
	if err := os.WriteFile(countries, testkit.Countries(map[string]string{"41.32.0.0/12": "EG", "203.0.113.0/24": "JO"}, "iso_code"), 0o600); err != nil {
		t.Fatal(err)
	}
	atlas := census.OpenAtlas(log, countries)

	// The streaming server, fed by a tone; the relay, fed by the bridge.
	spec, err := icecast.Prepare(t.Context(), icecastOptions(cfg))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if at := filepath.Dir(spec.Args[1]); at != cfg.NodeDir() {
			_ = os.RemoveAll(at)
		}
	})
	spec.Stderr = t.Output()
	testkit.Supervised(t, spec)
	soon(t, "Icecast", func() bool { return icecast.Ready(t.Context(), client, icecastOptions(cfg)) == nil })
	testkit.Program(t, proc.Spec{Name: "tone", Path: "ffmpeg", Stderr: t.Output(), Args: []string{
		"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "sine=440", "-ac", "2", "-c:a", "libvorbis", "-content_type", "application/ogg", "-f", "ogg",
		fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/main", cfg.SourcePassword, cfg.Ports.Icecast),
	}})
	soon(t, "the tone", func() bool { return icecast.OnAir(t.Context(), client, icecastOptions(cfg)) == nil })
	hub, err := relay.New(relay.Options{
		HLSAddress: config.Local(cfg.Ports.HLS), PathsAddress: config.Local(cfg.Ports.Paths), PublishAddress: "unix:" + filepath.Join(dir, "b"),
		StateDir: dir, SegmentDuration: time.Second, Log: log, Who: atlas.Who,
	})
	if err != nil {
		t.Fatal(err)
	}
	during(t, "relay", hub.Run)
	<-hub.Ready()
	master := fmt.Sprintf("http://127.0.0.1:%d/main", cfg.Ports.Icecast)
	spec, err = bridge.Spec(bridge.Options{Source: master, Target: "unix:" + filepath.Join(dir, "b")})
	if err != nil {
		t.Fatal(err)
	}
	spec.Stderr = t.Output()
	testkit.Program(t, spec)
	soon(t, "HLS", func() bool { return hlsReady(cfg)(t.Context()) == nil })

	// /stream, and a player before it.
	opt := stream.Options{URL: master, Log: log, Wait: time.Minute, Who: atlas.Who}
	fan := streams.New(opt, streams.Main(opt, func() station.Track { return station.Track{} }), nil)
	during(t, "stream", fan.Main.Run)
	control := httptest.NewServer(fan.Main)
	t.Cleanup(control.Close)
	player := httptest.NewServer(front.Handler(front.Options{
		Log: log, Pages: http.NotFoundHandler(), Events: http.NotFoundHandler(), Control: strings.TrimPrefix(control.URL, "http://"), Relay: config.Local(cfg.Ports.HLS),
	}))
	t.Cleanup(player.Close)

	for i := range hls {
		playHLS(t, []string{"http://" + config.Local(cfg.Ports.HLS) + "/main/index.m3u8", player.URL + front.HLSPrefix + "main/index.m3u8"}[i%2])
	}
	for range direct {
		play(t, control.URL+"/stream", "okhttp/4", "41.33.1.2")
	}
	for range proxied {
		play(t, player.URL+"/stream", "AppleCoreMedia/1.0 (iPhone; U)", "203.0.113.7")
	}
	for range mount {
		play(t, master, "VLC/3.0.18", "")
	}
	play(t, master, "athir-guard", "")

	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	o := countingOptions(cfg, log, db, fan, func() *scheduler.View { return &scheduler.View{} }, func(string, any) {}, func() ([]string, uint64, census.Crowd) { return nil, 0, census.Crowd{} })
	o.Reached, o.Atlas = func(telemetry.Milestone) {}, atlas
	count, err := ontelemetry.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	during(t, "telemetry", count.Run)
	want := telemetry.Parts{HLS: hls, Stream: direct + proxied, Icecast: mount, Total: hls + direct + proxied + mount}
	testkit.EventuallyNil(t, "one count that holds all of them", func() error {
		c := count.Latest()
		if c.Parts != want || c.Listeners != hls || c.Source != "athir" {
			return fmt.Errorf("counted %+v by %q: %+v, want %+v", c.Listeners, c.Source, c.Parts, want)
		}
		devices := map[string]int{"bot": hls, "android": direct, "iphone": proxied, "player": mount} // Go's client is a robot
		countries := map[string]int{"EG": direct, "JO": proxied, "ZZ": hls + mount}
		if !maps.Equal(c.Crowd.Devices, devices) || !maps.Equal(c.Crowd.Countries, countries) {
			return fmt.Errorf("of kinds %v, want %v and %v", c.Crowd, devices, countries)
		}
		// Each of them takes the same stream: the ways differ by their listeners only.
		b := c.Bandwidth
		if ratio := (b.Icecast / mount) / (b.Stream / (direct + proxied)); b.Stream == 0 || ratio < 0.5 || ratio > 2 {
			return fmt.Errorf("a listener of the mount takes %.2f times what one of /stream takes: %+v", ratio, b)
		}
		return nil
	})
}

// play takes audio until the test ends; from is whom a proxy on this machine passes it on for.
func play(t *testing.T, address, agent, from string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", agent)
	if from != "" {
		req.Header.Set("X-Forwarded-For", from)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", address, resp.Status)
	}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, resp.Body) })
	t.Cleanup(func() {
		_ = resp.Body.Close()
		reading.Wait()
	})
}

// playHLS fetches a segment as a player does, with its cookie, and the newest again and
// again until the test ends: who has paused for a while counts as a listener no more.
func playHLS(t *testing.T, address string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	master, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	playlist := master
	segment := func(ctx context.Context) error {
		for at := playlist; ; { // the master playlist, the media playlist, a segment
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
			if err != nil {
				return err
			}
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err == nil && resp.StatusCode != http.StatusOK {
				err = errors.New(resp.Status)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			if !strings.HasPrefix(string(body), "#EXTM3U") {
				return nil
			}
			playlist = resp.Request.URL
			for line := range strings.Lines(string(body)) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					if at, err = playlist.Parse(line); err != nil {
						return err
					}
				}
			}
		}
	}
	// A segment that is named may be gone before a busy machine asks for it.
	testkit.EventuallyNil(t, "a segment", func() error { return segment(t.Context()) })
	during(t, "a player", func(ctx context.Context) error {
		for next := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				next.Stop()
				return nil
			case <-next.C:
				if segment(ctx) != nil {
					playlist = master // as a player begins anew
				}
			}
		}
	})
}
