package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/port/porttest"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// chain is the real chain from the scheduler to the listener: a scheduler, the
// playlist file, Liquidsoap, Icecast, and a recorder on the stream.
type chain struct {
	*scheduler.Scheduler
	t      *testing.T
	dir    string
	tracks []station.Track // their numbers are their tones
	engine engine
	rec    *aircheck.Recorder
	kill   func() // ends the engine
}

// fixed is a library that never changes.
type fixed []station.Track

func (f fixed) Tracks() ([]station.Track, bool) { return f, false }

func (f fixed) Find(path string) (station.Track, bool) {
	i := slices.IndexFunc(f, func(t station.Track) bool { return t.Path == path })
	if i < 0 {
		return station.Track{}, false
	}
	return f[i], true
}

func (f fixed) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }

type localNode struct{ *delivery.Delivery }

func (n localNode) Push(ctx context.Context, items []playlist.Item) (int, error) {
	r, err := n.Delivery.Push(ctx, items)
	return r.Kept, err
}

func newChain(t *testing.T) *chain {
	dir, err := os.MkdirTemp("", "athir-chain-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755)) //nolint:gosec // Icecast's user walks through it
	c := &chain{t: t, dir: dir}
	for id := range 10 {
		tr := station.Track{
			Path: fmt.Sprintf("%d.wav", id), Category: station.ArabicHits, Duration: time.Minute,
			Title: fmt.Sprint(id), Artist: fmt.Sprint("artist ", id),
		}
		switch id {
		case 8:
			tr.Category = station.Mashups
		case 9: // opens as no audio at all
			tr.Category = station.English
			must(t, os.WriteFile(filepath.Join(dir, tr.Path), []byte("no audio"), 0o644)) //nolint:gosec // no secret
		}
		if id != 9 {
			must(t, aircheck.WriteWAV(filepath.Join(dir, tr.Path), aircheck.Track{ID: id, Duration: tr.Duration}))
		}
		c.tracks = append(c.tracks, tr)
	}
	markers := httptest.NewServer(http.HandlerFunc(c.marker))
	t.Cleanup(markers.Close)
	ice := icecast.Options{Dir: dir, Bind: "127.0.0.1", Port: porttest.Free(t), Password: "secret", Station: "أثير"}
	o := playout.Options{
		Dir: dir, Playlist: filepath.Join(dir, "main.m3u"), Password: ice.Password, IcecastPort: ice.Port, HarborPort: porttest.Free(t),
		MetadataURL: markers.URL, Station: "أثير",
	}
	c.engine = engine{playout.Client{Socket: o.Socket()}}
	c.schedule(o.Playlist)
	spec, err := icecast.Prepare(t.Context(), ice)
	must(t, err)
	c.runs(spec)
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	c.eventually(func() error { return icecast.Ready(t.Context(), web, ice) })
	spec, err = playout.Prepare(t.Context(), o)
	must(t, err)
	c.kill = c.runs(spec)
	c.eventually(func() error { return icecast.OnAir(t.Context(), web, ice) })
	c.rec = aircheck.NewRecorder(fmt.Sprintf("http://127.0.0.1:%d/main", ice.Port))
	c.background(c.rec.Run)
	return c
}

func (c *chain) schedule(file string) {
	log := slog.New(slog.NewTextHandler(c.t.Output(), nil))
	local := delivery.NewLocal(file, log)
	must(c.t, local.Prepare(c.t.Context()))
	db, err := store.Open(c.t.Context(), filepath.Join(c.dir, "athir.db"))
	must(c.t, err)
	c.t.Cleanup(func() { _ = db.Close() })
	cfg := rotation.DefaultConfig()
	cfg.Rotation.MinRest, cfg.MashupChance = 0, 0
	cfg.GenreSplit = map[station.Category]float64{station.ArabicHits: 1} // the rest airs when it is asked for
	seed := uint64(0)
	c.Scheduler, err = scheduler.Open(c.t.Context(), scheduler.Options{
		Log: log, DB: db, Library: fixed(c.tracks), Engine: &c.engine, Config: cfg, Zone: time.UTC, Now: time.Now,
		Delivery: localNode{delivery.New(local, func(string) int64 { return -1 }, log)},
		Seed:     func() uint64 { seed++; return seed },
		NodePath: func(rel string) string { return filepath.Join(c.dir, rel) },
	})
	must(c.t, err)
	c.background(c.Run)
}

func (c *chain) marker(w http.ResponseWriter, r *http.Request) {
	var m playout.Marker
	err := json.NewDecoder(r.Body).Decode(&m)
	if err == nil {
		_, err = c.Completed(r.Context(), scheduler.Marker{
			Engine: m.Engine, Seq: uint64(m.Seq), File: m.File, Title: m.Title, Type: m.Type, //nolint:gosec // counts from 1
			Kind: scheduler.Kind(m.Kind), At: time.UnixMilli(m.StartedAt),
		})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (c *chain) runs(spec proc.Spec) (kill func()) {
	spec.Stop = syscall.SIGKILL
	return c.background(func(ctx context.Context) error { _, err := proc.Run(ctx, spec, nil); return err })
}

func (c *chain) background(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.t.Error(err)
		}
	})
	c.t.Cleanup(stop)
	return stop
}

func (c *chain) eventually(try func() error) {
	c.t.Helper()
	err := try()
	for deadline := time.Now().Add(60 * time.Second); err != nil; err = try() {
		if time.Now().After(deadline) {
			c.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// pressed does something and waits until it is heard; it returns what is heard.
func (c *chain) pressed(what string, press func() error) station.Track {
	c.t.Helper()
	before := c.rec.Position(time.Now())
	began := time.Now()
	must(c.t, press())
	answered := time.Since(began)
	want := c.View().Rotation.Entries[0].Track
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	s, err := c.rec.WaitFor(ctx, slices.IndexFunc(c.tracks, func(t station.Track) bool { return t.Path == want.Path }), before)
	if err != nil {
		c.t.Fatalf("%s: %s is not heard: %v", what, want.Path, err)
	}
	c.t.Logf("%s: answered after %s, heard %s after it was pressed", what, answered.Round(time.Millisecond), (s.Start - before).Round(time.Millisecond))
	c.eventually(func() error {
		if v := c.View(); v.OnAir.Track.Path != want.Path || v.Consumed != 1 {
			return fmt.Errorf("%s: on air is %s, %d consumed, want %s", what, v.OnAir.Track.Path, v.Consumed, want.Path)
		}
		return nil
	})
	return want
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSkipAndPlayAreHeardThroughTheRealChain(t *testing.T) {
	c := newChain(t)
	ctx := t.Context()
	c.eventually(func() error {
		if c.View().OnAir.Track.Path == "" || c.rec.Position(time.Now()) == 0 {
			return errors.New("nothing heard yet")
		}
		return nil
	})
	last := c.View().OnAir.Track.Path
	for range 2 {
		now := c.pressed("skip", func() error { return c.Skip(ctx) })
		if now.Path == last {
			t.Errorf("a skip went on with what had just played: %s", last)
		}
		last = now.Path
	}
	if now := c.pressed("play a path", func() error { _, err := c.Play(ctx, scheduler.Wish{Path: "5.wav"}); return err }); now.Path != "5.wav" {
		t.Errorf("heard %s", now.Path)
	}
	if now := c.pressed("play a category", func() error { _, err := c.Play(ctx, scheduler.Wish{Category: station.Mashups}); return err }); now.Path != "8.wav" {
		t.Errorf("heard %s", now.Path)
	}
	if now := c.pressed("play it again", func() error { _, err := c.Play(ctx, scheduler.Wish{Path: "8.wav"}); return err }); now.Path != "8.wav" {
		t.Errorf("heard %s", now.Path)
	}
	// A list that did not change: no write tells the engine to read it.
	sight, err := c.engine.Look(ctx)
	must(t, err)
	head := filepath.Join(c.dir, c.View().Rotation.Entries[0].Track.Path)
	must(t, c.engine.Next(ctx, scheduler.Cue{Since: sight, Head: head, Same: true, Must: true}))
	c.eventually(func() error {
		st, err := c.engine.client.Status(ctx)
		if err == nil && (seqOf(st) != sight.Seq+1 || st.Last.File != head) {
			err = fmt.Errorf("the same list: marker %d of %s, want %d of %s", seqOf(st), st.Last.File, sight.Seq+1, head)
		}
		return err
	})
	// What cannot be played is said, and nothing stops.
	if _, err := c.Play(ctx, scheduler.Wish{Path: "9.wav"}); !errors.Is(err, station.ErrConflict) {
		t.Errorf("a file that is no audio: %v", err)
	}
	if v := c.View(); v.Problem != "" || v.Rotation.Entries[0].Track.Path != "9.wav" {
		t.Errorf("problem %q, head %s", v.Problem, v.Rotation.Entries[0].Track.Path)
	}
	must(t, c.Skip(ctx))
	// No engine: nothing is changed.
	c.kill()
	before := c.View().Rotation.Seed
	if err := c.Skip(ctx); !errors.Is(err, station.ErrUnavailable) || c.View().Rotation.Seed != before {
		t.Errorf("without an engine: %v, seed %d before and %d after", err, before, c.View().Rotation.Seed)
	}
}
