package aircopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// childDir, set in the environment, makes this test binary a station that
// masters what is there until a test kills it.
const childDir = "ATHIR_TEST_AIRCOPY_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, child(dir))
		os.Exit(1)
	}
	testkit.Main(m)
}

func child(dir string) error {
	db, err := store.Open(context.Background(), filepath.Join(dir, "state.db"))
	if err != nil {
		return err
	}
	studio, err := newStudio(context.Background(), db)
	if err != nil {
		return err
	}
	reg := &folder{root: filepath.Join(dir, "media")}
	reg.scan()
	r, err := Open(context.Background(), db, Options{
		Root: reg.root, Dir: filepath.Join(dir, "mastered"), Registry: reg, Master: studio, Profile: usual, Reserve: 1,
	})
	if err != nil {
		return err
	}
	return r.Run(context.Background(), unused)
}

func unused(string) bool { return false }

func usual(station.Category) string { return mastering.Station }

// folder is a registry of a folder, scanned when a test says so. The first
// folder of a path is the category.
type folder struct {
	root   string
	tracks atomic.Pointer[[]station.Track]
	subs   signal.Changes
}

func (f *folder) Tracks() []station.Track              { return *f.tracks.Load() }
func (f *folder) Subscribe() (<-chan struct{}, func()) { return f.subs.Subscribe() }

func (f *folder) scan() { f.tell(f.look()) }

func (f *folder) tell(tracks []station.Track) {
	f.tracks.Store(&tracks)
	f.subs.Tell()
}

func (f *folder) look() []station.Track {
	tracks := []station.Track{}
	_ = filepath.WalkDir(f.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // gone meanwhile
		}
		if info, err := d.Info(); err == nil {
			rel := strings.TrimPrefix(path, f.root+"/")
			tracks = append(tracks, station.Track{
				Path: rel, Category: station.Category(strings.Split(rel, "/")[0]), Title: rel, Duration: 3 * time.Second,
				Size: info.Size(), ModTime: info.ModTime(), AddedAt: time.UnixMilli(1),
			})
		}
		return nil
	})
	slices.SortFunc(tracks, func(a, b station.Track) int { return strings.Compare(a.Path, b.Path) })
	return tracks
}

// studio is the real thing; a test may look on.
type studio struct {
	*mastering.Master
	calls  atomic.Int64
	during func(in string, share float64)
}

func newStudio(ctx context.Context, db *store.DB) (*studio, error) {
	ledger, err := mastering.OpenLedger(ctx, db)
	return &studio{Master: mastering.New(mastering.Options{Kbps: 128, Ledger: ledger})}, err
}

func (s *studio) Do(ctx context.Context, job mastering.Job, progress func(float64)) (mastering.Record, error) {
	s.calls.Add(1)
	return s.Master.Do(ctx, job, func(share float64) {
		if s.during != nil {
			s.during(job.In, share)
		}
		progress(share)
	})
}

// copier stands for mastering where a test is about files, not sound. A file
// says itself what is to come of it: fit, bad, or anything else.
type copier struct {
	calls   atomic.Int64
	machine atomic.Pointer[error] // fails everything
	// killed is told when a copy is in place; true ends it there, as a kill
	// between the copy and its row would.
	killed func() bool
	hold   func(in string)
	forgot sync.Map
}

func (c *copier) Do(ctx context.Context, job mastering.Job, _ func(float64)) (mastering.Record, error) {
	outcome, err := c.outcome(ctx, job)
	return mastering.Record{Outcome: outcome}, err
}

func (c *copier) outcome(ctx context.Context, job mastering.Job) (mastering.Outcome, error) {
	c.calls.Add(1)
	if c.hold != nil {
		c.hold(job.In)
	}
	text, err := os.ReadFile(job.In)
	if broken := c.machine.Load(); broken != nil {
		return mastering.Outcome{}, *broken
	}
	switch {
	case ctx.Err() != nil:
		return mastering.Outcome{}, ctx.Err()
	case err != nil:
		return mastering.Outcome{}, &mastering.RefusedError{Reason: mastering.Changed}
	case bytes.HasPrefix(text, []byte("bad")):
		return mastering.Outcome{}, &mastering.RefusedError{Text: "it is bad"}
	case bytes.HasPrefix(text, []byte("fit")):
		return mastering.Outcome{Fit: true, Duration: time.Duration(len(text)) * time.Second}, nil
	}
	if err := job.Room(); err != nil {
		return mastering.Outcome{}, err
	}
	if err := os.MkdirAll(filepath.Dir(job.Out), 0o750); err != nil {
		return mastering.Outcome{}, err
	}
	f, err := os.CreateTemp(filepath.Dir(job.Out), ".part-*")
	if err != nil {
		return mastering.Outcome{}, err
	}
	_, err = f.Write(mastered(text, job.Profile.Name))
	if err := errors.Join(err, f.Close(), os.Rename(f.Name(), job.Out)); err != nil {
		return mastering.Outcome{}, err
	}
	if c.killed != nil && c.killed() {
		return mastering.Outcome{}, context.Canceled
	}
	if bytes.HasPrefix(text, []byte("strokes")) {
		return mastering.Outcome{Duration: time.Duration(len(text)) * time.Second, Integrated: -17, Short: 3, Method: "limited"}, nil
	}
	return mastering.Outcome{Duration: time.Duration(len(text)) * time.Second, Integrated: -14, Method: "linear"}, nil
}

func mastered(text []byte, profile string) []byte {
	return append(bytes.Repeat([]byte("mastered "), len(text)%7+1), append(text, profile...)...)
}

func (c *copier) Forget(_ context.Context, out string) error {
	c.forgot.Store(out, true)
	return nil
}

// rig is a Rack on a folder of its own.
type rig struct {
	t    *testing.T
	dir  string
	reg  *folder
	db   *store.DB
	opt  Options
	rack *Rack
	used func(path string) bool
	stop func()
}

func newRig(t *testing.T, m Master, change func(*Options)) *rig {
	t.Helper()
	dir := t.TempDir()
	g := &rig{t: t, dir: dir, used: unused, reg: &folder{root: filepath.Join(dir, "media")}}
	g.reg.scan()
	var err error
	if g.db, err = store.Open(t.Context(), filepath.Join(dir, "state.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.db.Close() })
	g.opt = Options{
		Root: g.reg.root, Dir: filepath.Join(dir, "mastered"), Registry: g.reg, Master: m, Profile: usual, Reserve: 1, Linger: time.Nanosecond,
	}
	if change != nil {
		change(&g.opt)
	}
	return g
}

// open opens the Rack; run runs it, until stop or the end of the test.
func (g *rig) open() {
	g.t.Helper()
	var err error
	if g.rack, err = Open(g.t.Context(), g.db, g.opt); err != nil {
		g.t.Fatal(err)
	}
	g.rack.beat, g.rack.pause, g.rack.tend = 2*time.Millisecond, 2*time.Millisecond, 3*time.Millisecond
}

func (g *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.rack.Run(ctx, g.used) }()
	once := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			g.t.Error(err)
		}
	})
	g.stop = once
	g.t.Cleanup(once)
}

func (g *rig) path(rel string) string { return filepath.Join(g.reg.root, rel) }

func (g *rig) write(rel, text string) {
	g.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(g.path(rel)), 0o750), os.WriteFile(g.path(rel), []byte(text), 0o600)); err != nil {
		g.t.Fatal(err)
	}
}

// until waits for a condition of the snapshot.
func (g *rig) until(what string, condition func(*Snapshot) bool) *Snapshot {
	g.t.Helper()
	var s *Snapshot
	testkit.EventuallyNil(g.t, what, func() error {
		if s = g.rack.Snapshot(); !condition(s) {
			return fmt.Errorf("now %+v", s)
		}
		return nil
	})
	return s
}

func paths(s *Snapshot) string {
	var out []string
	for _, t := range s.Tracks {
		out = append(out, t.Path)
	}
	return strings.Join(out, " ")
}

// kept lists the folder of copies.
func (g *rig) kept() []string {
	var out []string
	_ = filepath.WalkDir(g.opt.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, g.opt.Dir+"/"))
		}
		return nil
	})
	return out
}

// sound makes a file with ffmpeg; args follow the input's.
func sound(t *testing.T, path, lavfi string, args ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-v", "error", "-y", "-f", "lavfi", "-i", lavfi}, args...)
	if out, err := exec.Command("ffmpeg", append(args, "file:"+path)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", path, err, out)
	}
}

// music has beats and a spectrum, of a level.
func music(seconds, level float64) string {
	return fmt.Sprintf("aevalsrc='%[2]g*(sin(2*PI*220*t)+0.8*exp(-12*mod(t,0.5))*(2*random(0)-1))|"+
		"%[2]g*(sin(2*PI*221*t)+0.8*exp(-12*mod(t,0.5))*(2*random(1)-1))':d=%[1]g:s=44100", seconds, level)
}
