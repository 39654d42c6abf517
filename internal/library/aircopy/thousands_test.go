package aircopy

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// The price of ten thousand tracks: what a start costs until all are shown, what
// each publication costs, and the memory that is held.
//
//	go test -run '^$' -bench TenThousand -benchtime 10x ./internal/library/aircopy
func BenchmarkTenThousand(b *testing.B) {
	const n = 10_000
	dir := b.TempDir()
	db, err := store.Open(b.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	opt := Options{Root: filepath.Join(dir, "media"), Dir: filepath.Join(dir, "mastered"), Registry: &folder{}, Master: &copier{}, Profile: usual, Reserve: 1}
	opt.Registry.(*folder).tracks.Store(&[]station.Track{})
	if _, err := Open(b.Context(), db, opt); err != nil { // makes the table
		b.Fatal(err)
	}
	tracks := fill(b, db, opt.Dir, n)
	opt.Registry.(*folder).tracks.Store(&tracks)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	rack, err := Open(b.Context(), db, opt)
	if err != nil || len(rack.Snapshot().Tracks) != n {
		b.Fatalf("%d tracks, %v", len(rack.Snapshot().Tracks), err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			if _, err := Open(b.Context(), db, opt); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB-held")
	})
	b.Run("publish", func(b *testing.B) {
		for b.Loop() {
			rack.show(tracks, Work{}, "")
		}
	})
	b.Run("plan", func(b *testing.B) { // all of them are to be made again
		rack.opt.Profile = func(station.Category) string { return "-16" }
		w := &runner{Rack: rack, tracks: tracks}
		for b.Loop() {
			w.plan()
		}
		if len(w.queue) != n {
			b.Fatal(len(w.queue))
		}
	})
	runtime.KeepAlive(rack)
}

// fill makes a registry of n tracks, their copies, and the rows of both.
func fill(b *testing.B, db *store.DB, dir string, n int) []station.Track {
	b.Helper()
	categories := station.Categories()
	tracks := make([]station.Track, n)
	rows := make([]row, n)
	for i := range tracks {
		rel := fmt.Sprintf("music/%02d/a track with a name of usual length %05d.mp3", i/100, i)
		t := station.Track{
			Path: rel, Category: categories[i%len(categories)], Title: rel, Duration: time.Duration(i%300) * time.Second,
			Size: 1, ModTime: time.Unix(int64(i), 0), AddedAt: time.Unix(0, 0),
		}
		tracks[i] = t
		rows[i] = row{
			size: t.Size, mtime: t.ModTime.UnixNano(), category: t.Category, profile: "-14", state: copied, copy: rel, copySize: 4,
			Outcome: mastering.Outcome{Duration: t.Duration, CueOut: t.Duration, Integrated: -14.01, TruePeak: -2.3, Gain: 1.7, Method: "limited"}, at: time.UnixMilli(1),
		}
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, rel)), 0o750); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, rel), []byte("copy"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		for i, w := range rows {
			if err := insert(context.Background(), tx, tracks[i].Path, w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return tracks
}
