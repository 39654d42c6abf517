package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// house is a station whose listeners and clock a test sets. A nil reading is a
// server that does not answer.
type house struct {
	t                *testing.T
	path             string
	zone             *time.Location
	now              time.Time
	hls, ice, stream *Reading
	air              []Airing
	reached          []Milestone
	known            map[string]Release // the library
	replaced         map[string]string  // title of what is in a file by now
	db               *store.DB
	mu               sync.Mutex
	told             []Stats
	*Telemetry
}

func newHouse(t *testing.T, zone string, at string) *house {
	t.Helper()
	h := &house{t: t, path: filepath.Join(t.TempDir(), "athir.db")}
	var err error
	if h.zone, err = time.LoadLocation(zone); err != nil {
		t.Fatal(err)
	}
	if h.now, err = time.ParseInLocation("2006-01-02 15:04:05", at, h.zone); err != nil {
		t.Fatal(err)
	}
	h.hls, h.ice, h.stream = &Reading{}, &Reading{}, &Reading{}
	h.open()
	t.Cleanup(func() { _ = h.db.Close() })
	return h
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

var errAway = errors.New("away")

func (h *house) source(name string, of **Reading) Source {
	return Source{name, func(context.Context) (Reading, error) {
		if *of == nil {
			return Reading{}, errAway
		}
		return **of, nil
	}}
}

// open starts the control plane: again, if it has run.
func (h *house) open() {
	h.t.Helper()
	if h.db != nil {
		_ = h.db.Close()
	}
	var err error
	if h.db, err = store.Open(h.t.Context(), h.path); err != nil {
		h.t.Fatal(err)
	}
	h.Telemetry, err = Open(h.t.Context(), Options{
		Log: slog.New(slog.DiscardHandler), DB: h.db, Zone: h.zone, Now: func() time.Time { return h.now },
		HLS: h.source("athir", &h.hls), Icecast: h.source("icecast", &h.ice), Stream: h.source("stream", &h.stream),
		Air: func() []Airing { return h.air },
		Known: func(path, title, _ string) (Release, bool) {
			r, there := h.known[path]
			other, replaced := h.replaced[path]
			return r, there && (!replaced || other == title)
		},
		Tell: func(event string, payload any) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if event != "stats_update" {
				h.t.Errorf("event %q", event)
			}
			h.told = append(h.told, payload.(Stats))
		},
		Reached: func(m Milestone) { h.reached = append(h.reached, m) },
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// stop ends the control plane as SIGTERM does; without it open is a kill -9.
func (h *house) stop() { h.flush(h.t.Context()) }

// pass polls for d, five seconds after five seconds.
func (h *house) pass(d time.Duration) {
	for end := h.now.Add(d); h.now.Before(end); {
		h.now = h.now.Add(Every)
		h.poll(h.t.Context())
	}
}

func (h *house) points(by By) []Point {
	h.t.Helper()
	points, err := h.History(h.t.Context(), by, time.UnixMilli(0), h.now.Add(time.Hour))
	if err != nil {
		h.t.Fatal(err)
	}
	return points
}

func (h *house) plays(id string) {
	h.air = append([]Airing{{
		ID: id, Path: "music/" + id + "\xff.mp3", Title: "أغنية " + id, Artist: "فنان", Category: "english", Type: "music", Kind: "rotation", StartedAt: h.now,
	}}, h.air...)
	h.air = h.air[:min(len(h.air), 30)]
}

func (h *house) aired() []Aired {
	h.t.Helper()
	all, err := h.Airings(h.t.Context(), time.UnixMilli(0), h.now.Add(time.Hour), 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}
