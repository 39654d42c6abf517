package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/onair/scheduler/schedulertest"
	"github.com/athir-radio/athir/internal/station"
)

// The rotation of a station is printed while it runs, and the same after.
func TestRotationCommandPrintsWhatIsCommitted(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if err := Main(t.Context(), Process{Version: "test", Args: append([]string{"rotation", "--data", dir}, args...), Out: &out}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if err := Main(t.Context(), Process{Version: "test", Args: []string{"rotation", "--data", dir}, Out: &bytes.Buffer{}}); err == nil || !strings.Contains(err.Error(), "no station in "+dir) {
		t.Errorf("an empty folder: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("made %v", files)
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	must(t, err)
	if got := run(); !strings.Contains(got, "No rotation was committed yet.") {
		t.Errorf("before the first: %s", got)
	}
	lib := schedulertest.Library{
		{Path: "music/arabic_hits/a.mp3", Category: station.ArabicHits, Duration: 3 * time.Minute, Title: "أهواك", Artist: "عبد الحليم"},
		{Path: "music/arabic_hits/\xff.mp3", Category: station.ArabicHits, Duration: 4 * time.Minute, Title: "\x1b[31mred\u202e", Artist: "b"},
	}
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) // no daypart ends here: with one the rotation is built anew
	onair, err := scheduler.Open(t.Context(), scheduler.Options{
		Log: slog.New(slog.DiscardHandler), DB: db, Library: lib, Delivery: schedulertest.Node{}, Config: rotation.DefaultConfig(),
		Zone: time.UTC, Now: func() time.Time { return noon }, Seed: func() uint64 { return 1 }, Airs: func(rel string) (string, float64) { return "/m/" + rel, 0 },
		Rel: func(abs string) (string, bool) { return strings.CutPrefix(abs, "/m/") },
	})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- onair.Run(ctx) }()
	testkit.EventuallyNil(t, "a rotation", func() error { return onair.Rebuild(t.Context()) })
	plan := onair.View().Rotation
	_, err = onair.Completed(t.Context(), scheduler.Marker{Engine: "e", Seq: 1, Kind: scheduler.Rotation, File: "/m/" + plan.Entries[0].Track.Path, At: noon})
	must(t, err)

	running := run("--json")
	var got struct {
		Cursor  int    `json:"cursor"`
		Daypart string `json:"daypart"`
		OnAir   struct {
			Path     string `json:"path"`
			Position int    `json:"position"`
		} `json:"on_air"`
		Entries []struct {
			Path       string        `json:"path"`
			PathBase64 []byte        `json:"path_b64"`
			Title      string        `json:"title"`
			Category   string        `json:"category"`
			Type       string        `json:"type"`
			Daypart    string        `json:"daypart"`
			Slot       *int          `json:"slot"`
			OnAir      bool          `json:"on_air"`
			ExpectedAt int64         `json:"expected_at"`
			Relaxed    []string      `json:"relaxed"`
			Why        *rotation.Why `json:"why"`
		} `json:"entries"`
	}
	must(t, json.Unmarshal([]byte(running), &got))
	if got.Cursor != 1 || got.Daypart != plan.Daypart || got.OnAir.Position != 0 || len(got.Entries) != len(plan.Entries) || !got.Entries[0].OnAir {
		t.Errorf("%+v", got)
	}
	for i, e := range got.Entries {
		want := plan.Entries[i]
		path := e.Path
		if e.PathBase64 != nil {
			path = string(e.PathBase64)
		}
		if path != want.Track.Path || e.Category != string(want.Track.Category) || e.Type != want.Type || e.Daypart != plan.Daypart ||
			e.Slot == nil || e.Why == nil || e.Why.Reason != want.Why.Reason || len(e.Relaxed) != len(want.Relaxed) || (e.ExpectedAt == 0) != (i == 0) {
			t.Fatalf("entry %d: %+v, want %+v", i, e, want)
		}
	}
	table := run()
	if strings.ContainsAny(table, "\x1b\u202e") || !strings.Contains(table, "أهواك") || strings.Count(table, "▶") != 1 {
		t.Errorf("the table:\n%s", table)
	}
	cancel()
	must(t, <-done)
	must(t, db.Close())
	if run("--json") != running {
		t.Error("another rotation once the station has stopped")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
