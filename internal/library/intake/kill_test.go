package intake

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
)

const (
	childEnv  = "ATHIR_INTAKE_CHILD" // a station in that folder
	afterEnv  = "ATHIR_INTAKE_DIE"   // operations of the disk before it dies; empty: it ends by itself
	uploads   = 4                    // of which those from replacing on replace what plays
	replacing = 3
	oneIn     = "200|Dido|Song %d|%d" // is the text of each
)

// dying is a disk at which the process dies, between two operations or in the midst of one.
type dying struct {
	disk
	left int
}

func (d *dying) die() {
	if d.left--; d.left < 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d *dying) Rename(from, to string) error {
	d.die()
	err := d.disk.Rename(from, to)
	d.die()
	return err
}

func (d *dying) Settle(p string) error {
	d.die()
	return d.disk.Settle(p)
}

func (d *dying) Remove(p string) error {
	d.die()
	return d.disk.Remove(p)
}

func (d *dying) SyncDir(p string) error {
	d.die()
	return d.disk.SyncDir(p)
}

// child takes uploads in and places them, until it is killed or there is nothing more to do.
func child(dir string) int {
	if err := childWork(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func childWork(ctx context.Context, dir string) error {
	db, err := store.Open(ctx, filepath.Join(dir, "athir.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // a test's
	s := newShelf(dir)
	if err := register(ctx, s); err != nil {
		return err
	}
	in, err := Open(ctx, db, Options{
		Dir: filepath.Join(dir, "arrivals"), Media: s.media, Library: s, Prints: s, Archive: s, Log: slog.New(slog.DiscardHandler),
		Space: func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil },
	})
	if err != nil {
		return err
	}
	in.examine, in.listen = quickEar, quickPrint
	if after := os.Getenv(afterEnv); after != "" {
		left, err := strconv.Atoi(after)
		if err != nil {
			return err
		}
		mortal := &dying{realDisk{}, left}
		in.disk, s.step = mortal, mortal.die
	}
	for i := range uploads {
		f := resume.Finished{ID: fmt.Sprintf("%026d", i), Path: filepath.Join(dir, "tus", fmt.Sprint(i)), Meta: map[string]string{"filename": "a.mp3", "category": "english"}}
		if i >= replacing {
			f.Meta["replace"] = fmt.Sprintf("english/own %d.mp3", i)
		}
		if _, err := (door{in}).Take(ctx, f); err != nil {
			return err
		}
	}
	for in.lookNext(ctx) || in.placeNext(ctx) {
	}
	return nil
}

// register reads what the station's folder has.
func register(ctx context.Context, s *shelf) error {
	all, err := filepath.Glob(filepath.Join(s.media, "*", "*.mp3"))
	for _, abs := range all {
		rel, _ := filepath.Rel(s.media, abs)
		err = errors.Join(err, s.Register(ctx, rel))
	}
	return err
}

// A real kill, at one operation after another: what was sent is in the library once, and what
// was replaced in the archive.
func TestAKillAtManyOperationsLosesNothing(t *testing.T) { killedAtOperations(t, rand.IntN(8), 8) }

// killedAtOperations kills at the first operation, counted from 0, and at each so many further.
func killedAtOperations(t *testing.T, first, step int) {
	t.Helper()
	deaths := 0
	for after := first; ; after += step {
		dir := t.TempDir()
		want := map[string]bool{}
		for i := range uploads {
			text := fmt.Sprintf(oneIn, i, i)
			want[text] = true
			write(t, filepath.Join(dir, "tus", fmt.Sprint(i)), text)
		}
		for i := replacing; i < uploads; i++ {
			own := fmt.Sprintf("200|Own|Song %d|own %d", i, i)
			want[own] = true
			write(t, filepath.Join(dir, "media", "english", fmt.Sprintf("own %d.mp3", i)), own)
		}
		died := runChild(t, dir, strconv.Itoa(after))
		if died {
			deaths++
		}
		// It is killed once more while it recovers, anywhere.
		if runChild(t, dir, strconv.Itoa(rand.IntN(1+after))) {
			deaths++
		}
		if runChild(t, dir, "") {
			t.Fatal("it died by itself")
		}
		settledOnce(t, dir, want, after)
		if !died || t.Failed() {
			break
		}
	}
	if deaths < 30/step {
		t.Errorf("it was killed only %d times", deaths)
	}
	t.Logf("killed %d times", deaths)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func runChild(t *testing.T, dir, after string) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+dir, afterEnv+"="+after)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if err.Error() != "signal: killed" {
		t.Fatalf("it ended by itself: %v: %s", err, out)
	}
	return true
}

func settledOnce(t *testing.T, dir string, want map[string]bool, after int) {
	t.Helper()
	found := map[string]int{}
	for _, folder := range []string{"tus", "arrivals", "media", "archive"} {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(p)
			found[string(data)]++
			place := map[bool]string{true: "media", false: "archive"}[!strings.Contains(string(data), "own")]
			if !want[string(data)] || folder != place {
				t.Errorf("after %d: %s holds %q", after, p, data)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	for text := range want {
		if found[text] != 1 {
			t.Errorf("after %d: %q is at %d places", after, text, found[text])
		}
	}
}

// A real kill of everything that runs, at any moment, a good many times.
func TestAKillAtAnyMomentLosesNothing(t *testing.T) { killedAtAnyMoment(t, 6) }

func killedAtAnyMoment(t *testing.T, times int) {
	t.Helper()
	dir := t.TempDir()
	want := map[string]bool{}
	for i := range uploads {
		text := fmt.Sprintf(oneIn, i, i) + strings.Repeat(" ", 1<<16)
		want[text] = true
		write(t, filepath.Join(dir, "tus", fmt.Sprint(i)), text)
		if i >= replacing {
			own := fmt.Sprintf("200|Own|Song %d|own %d", i, i)
			want[own] = true
			write(t, filepath.Join(dir, "media", "english", fmt.Sprintf("own %d.mp3", i)), own)
		}
	}
	for range times {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childEnv+"="+dir, afterEnv+"=")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_, _ = bufio.NewReader(out).ReadString('\n') // until it ends
		_ = cmd.Wait()
		timer.Stop()
	}
	if runChild(t, dir, "") {
		t.Fatal("it died by itself")
	}
	settledOnce(t, dir, want, -1)
}
