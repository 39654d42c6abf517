package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// disk is the real delivery to this machine, over files of a few bytes each.
type disk struct{ *delivery.Delivery }

func (d disk) Push(ctx context.Context, items []playlist.Item) (int, error) {
	r, err := d.Delivery.Push(ctx, items)
	return r.Kept, err
}

// Mission: Rotation rebuild, row by row, through the real scheduler, database
// and delivery, with what it logs.
func TestRotationRebuildTable(t *testing.T) {
	const (
		stable   = "Rotation stable (%d/120 consumed)"
		rebuilt  = "rotation rebuilt"
		verified = "Rotation verified on remote"
	)
	for _, row := range []struct {
		trigger string
		do      func(t *testing.T, r *rig, p *player)
		rebuilt bool
		reason  string
		logs    []string
	}{
		{"any ordinary rotation write call", func(_ *testing.T, r *rig, _ *player) { r.marks(3) }, false, "", []string{fmt.Sprintf(stable, 2), fmt.Sprintf(stable, 3)}},
		{"write call, buffer is empty", func(t *testing.T, r *rig, _ *player) {
			// A station that has lost what was on air, and its music with it.
			r.stop()
			for _, name := range []string{r.file, r.file + "-wal", r.file + "-shm"} {
				_ = os.Remove(name)
			}
			tracks := r.shelf.tracks
			r.shelf.tracks = nil
			r.open()
			r.turn(scheduler.Emergency)
			if len(r.View().Rotation.Entries) > 0 {
				t.Error("built from nothing")
			}
			r.shelf.set(tracks)
		}, true, "buffer is empty", []string{rebuilt, verified}},
		{"write call, consumed / length >= 0.85", func(_ *testing.T, r *rig, _ *player) { r.marks(102) }, true, "102 of 120 consumed",
			[]string{fmt.Sprintf(stable, 101), rebuilt, verified}},
		{"daypart watchdog, the stamped key differs", func(_ *testing.T, _ *rig, _ *player) {
			time.Sleep(time.Until(time.Date(2000, 1, 1, 2, 1, 0, 0, time.UTC)))
		}, true, "daypart overnight", []string{rebuilt, verified}},
		{"server restart", func(_ *testing.T, r *rig, _ *player) { r.stop(); r.open() }, true, "restart", []string{rebuilt, verified}},
		{"content refresh purges files", func(t *testing.T, r *rig, _ *player) {
			gone := r.View().Rotation.Entries[60].Track.Path
			if err := os.Remove(filepath.Join(filepath.Dir(r.file), gone)); err != nil {
				t.Fatal(err)
			}
			tracks, _ := r.shelf.Tracks()
			r.shelf.set(slices.DeleteFunc(slices.Clone(tracks), func(t station.Track) bool { return t.Path == gone }))
		}, true, "content purged", []string{rebuilt, verified}},
		{"POST /api/station/rotation/rebuild", func(t *testing.T, r *rig, _ *player) {
			if err := r.Rebuild(t.Context()); err != nil {
				t.Error(err)
			}
		}, true, "forced", []string{rebuilt, verified}},
		{"POST /api/station/skip", func(t *testing.T, r *rig, _ *player) {
			if err := r.Skip(t.Context()); err != nil {
				t.Error(err)
			}
		}, true, "forced", []string{rebuilt, verified}},
		{"heartbeat or pool-health check", func(_ *testing.T, r *rig, _ *player) {
			for range 100 {
				_ = r.View().Items()
			}
		}, false, "", nil},
	} {
		t.Run(row.trigger, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seed := uint64(0)
				r, p := onDisk(t, func() uint64 { seed++; return seed })
				settle := func() { time.Sleep(5 * time.Second); synctest.Wait() }
				settle()
				r.marks(1)
				synctest.Wait()
				before, past := r.View(), r.lines()
				row.do(t, r, p)
				settle()
				v, logs := r.View(), r.lines()[len(past):]
				if row.rebuilt != (v.Rotation.Seed != before.Rotation.Seed) || row.rebuilt && v.Reason != row.reason || v.Problem != "" {
					t.Errorf("seed %d, then %d: %q, want %q; problem %q", before.Rotation.Seed, v.Rotation.Seed, v.Reason, row.reason, v.Problem)
				}
				n := 0
				for _, line := range logs {
					if strings.Contains(line, `msg="`+rebuilt+`"`) {
						n++
					}
				}
				if row.rebuilt && n != 1 || !row.rebuilt && n != 0 {
					t.Errorf("%d rebuilds", n)
				}
				for _, want := range row.logs {
					if !slices.ContainsFunc(logs, func(l string) bool { return strings.Contains(l, `msg="`+want+`"`) }) {
						t.Errorf("%q is not logged in\n%s", want, strings.Join(logs, "\n"))
					}
				}
				// Never again what just played.
				if v.Rotation.Entries[0].Track.Path == before.OnAir.Track.Path && row.rebuilt {
					t.Errorf("the head is what just played: %s", before.OnAir.Track.Path)
				}
				// What the engine reads is what is committed.
				list, err := r.disk.InPlace(t.Context())
				if err != nil || len(list) != len(v.Rotation.Entries) || list[0].Path != filepath.Join(filepath.Dir(r.file), v.Rotation.Entries[0].Track.Path) {
					t.Errorf("%d entries in place, %v", len(list), err)
				}
				r.stop()
			})
		})
	}
}

// Mission: an unchanged batch is not pushed again, and an empty buffer never.
func TestUnchangedRotationIsNotPushedAndAnEmptyOneNeverWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no time passes
		r, _ := onDisk(t, func() uint64 { return 7 })
		time.Sleep(time.Second)
		synctest.Wait()
		if err := r.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		before, past := r.View().Rotation, r.lines()
		if err := r.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if log := strings.Join(r.lines()[len(past):], "\n"); strings.Count(log, `msg="m3u unchanged - skipping remote push"`) != 1 || strings.Contains(log, "verified") {
			t.Errorf("logged\n%s", log)
		}
		r.shelf.set(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := r.Rebuild(t.Context()); !errors.Is(err, station.ErrConflict) {
			t.Errorf("from an empty library: %v", err)
		}
		list, err := r.disk.InPlace(t.Context())
		if err != nil || len(list) != len(before.Entries) || len(r.View().Rotation.Entries) != len(before.Entries) {
			t.Errorf("%d entries in place, %v", len(list), err)
		}
		r.stop()
	})
}

// onDisk is a rig on the real delivery, the player beside it.
func onDisk(t *testing.T, seed func() uint64) (*rig, *player) {
	p := &player{}
	dir := t.TempDir()
	all := songs(300)
	for i := range all {
		all[i].Path = fmt.Sprintf("%03d.mp3", i)
		if err := os.WriteFile(filepath.Join(dir, all[i].Path), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, shelf: newShelf(all), file: filepath.Join(dir, "athir.db"), log: &strings.Builder{}, mu: &sync.Mutex{}}
	log := slog.New(slog.NewTextHandler(r, nil))
	local := delivery.NewLocal(filepath.Join(dir, "main.m3u"), slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err := local.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.disk = delivery.New(local, func(string) int64 { return 1 }, log)
	r.with = func(o *scheduler.Options) {
		o.Delivery, o.Engine, o.Seed, o.Zone = disk{r.disk}, p, seed, time.UTC
		o.Airs = func(rel string) (string, float64) { return filepath.Join(dir, rel), 0 }
		o.Rel = func(abs string) (string, bool) { return strings.CutPrefix(abs, dir+"/") }
	}
	r.open()
	p.rig = r
	return r, p
}

// marks has the first n entries heard, as far as they were not.
func (r *rig) marks(n int) {
	r.t.Helper()
	v := r.View()
	for i := v.Consumed; i < n; i++ {
		_, err := r.Completed(r.t.Context(), scheduler.Marker{
			Engine: "player", Seq: uint64(i + 1), Kind: scheduler.Rotation, At: time.Now(),
			File: filepath.Join(filepath.Dir(r.file), v.Rotation.Entries[i].Track.Path),
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// lines are those of the log.
func (r *rig) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Split(strings.TrimSpace(r.log.String()), "\n")
}
