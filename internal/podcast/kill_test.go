package podcast

import (
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

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

const (
	childEnv    = "ATHIR_PODCAST_CHILD" // a station in that folder
	afterEnv    = "ATHIR_PODCAST_DIE"   // steps before it dies; empty: it ends by itself
	fullDiskEnv = "ATHIR_PODCAST_FULL_DISK"
)

// child keeps two shows until it is killed or there is nothing more to do.
func child(dir string) int {
	if err := childWork(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// stored is an origin of files in a folder; one named gone-KEY is withdrawn.
type stored struct {
	dir  string
	kind Kind
}

func (s stored) raw(key string) Raw {
	n, _ := strconv.Atoi(strings.Trim(key, "abcdefghijklmnopqrstuvwxyz"))
	return Raw{Source: Source{s.kind, key}, Type: "song", Title: key, Began: start.Add(time.Duration(n) * time.Hour), Duration: time.Minute, Listeners: -1}
}

func (s stored) Offers(context.Context) (out []Raw, err error) {
	all, err := os.ReadDir(filepath.Join(s.dir, string(s.kind)))
	for _, f := range all {
		if is, _ := s.Standing(context.Background(), f.Name()); is == Free {
			out = append(out, s.raw(f.Name()))
		}
	}
	return out, err
}

func (s stored) Find(_ context.Context, key string) (Raw, error) { return s.raw(key), nil }

func (s stored) Fetch(_ context.Context, key, to string) error {
	text, err := os.ReadFile(filepath.Join(s.dir, string(s.kind), key))
	if err != nil {
		return errors.Join(err, station.ErrNotFound)
	}
	return os.WriteFile(to, text, 0o600)
}

func (s stored) Standing(_ context.Context, key string) (Standing, error) {
	if _, err := os.Stat(filepath.Join(s.dir, "gone-"+key)); err == nil {
		return Withdrawn, nil
	}
	return Free, nil
}

// quick is a clock that runs a thousand times as fast, and goes on in the next process.
func quick(dir string) func() time.Time {
	return func() time.Time {
		began := time.Now()
		if info, err := os.Stat(filepath.Join(dir, "live", "a1")); err == nil {
			began = info.ModTime()
		}
		return start.Add(100*time.Hour + 1000*time.Since(began))
	}
}

func childOpen(ctx context.Context, dir string, change func(*Options)) (*Podcasts, *store.DB, error) {
	db, err := store.Open(ctx, filepath.Join(dir, "athir.db"))
	if err != nil {
		return nil, nil, err
	}
	o := Options{
		Log: slog.New(slog.DiscardHandler), DB: db, Dir: filepath.Join(dir, "podcasts"), Finish: &finisher{}, Station: func() string { return "أثير" },
		Origins: map[Kind]Origin{Live: stored{dir, Live}, Posts: stored{dir, Posts}}, Now: quick(dir),
	}
	if change != nil {
		change(&o)
	}
	p, err := Open(ctx, o)
	if err == nil {
		p.face = noFace
	}
	return p, db, err
}

func childRound(ctx context.Context, p *Podcasts) (err error) {
	err = p.sweep()
	for kind, o := range p.opt.Origins {
		err = errors.Join(err, p.withdraw(ctx, kind, o), p.look(ctx, kind, o))
	}
	for p.makeNext(ctx) {
		err = errors.Join(err, p.keep(ctx))
	}
	return errors.Join(err, p.compare(ctx), p.keep(ctx), p.flush(ctx))
}

func childWork(ctx context.Context, dir string) error {
	p, db, err := childOpen(ctx, dir, nil)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // a test's
	if after := os.Getenv(afterEnv); after != "" {
		left, err := strconv.Atoi(after)
		if err != nil {
			return err
		}
		p.step = func(string) {
			if left--; left < 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	if err := childRound(ctx, p); err != nil {
		return err
	}
	// One is removed and brought back, one withdrawn, and the oldest of the live ones go.
	all, err := p.Episodes(ctx, "posts")
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Source.Key != "a1" {
			continue
		}
		if e.State == Published {
			err = errors.Join(err, p.RemoveEpisode(ctx, "posts", e.ID))
		}
		err = errors.Join(err, p.RestoreEpisode(ctx, "posts", e.ID))
	}
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "gone-a2"), nil, 0o600)); err != nil {
		return err
	}
	return childRound(ctx, p)
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

// A real kill at one step after another, and once more while it recovers: each source is an episode
// once, each episode that listeners see has its whole file, and no file is left of none.
func TestAKillAtAnyStepLosesNothing(t *testing.T) {
	const stride = 5 // the test is short; from where it begins is left to chance
	deaths := 0
	for after := rand.IntN(stride); ; after += stride {
		dir := t.TempDir()
		p, db, err := childOpen(t.Context(), dir, func(o *Options) { o.Now = func() time.Time { return start } })
		must(t, err)
		live := own("live", Live)
		live.Keep.Episodes = 2
		for _, o := range []Own{live, own("posts", Posts)} {
			_, err := p.Create(t.Context(), o, o.Slug)
			must(t, err)
		}
		must(t, db.Close())
		for _, name := range []string{"live/a1", "live/a2", "live/a3", "posts/a1", "posts/a2"} {
			must(t, errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(sound(60_000, 1000)), 0o600)))
		}
		died := runChild(t, dir, strconv.Itoa(after))
		if died {
			deaths++
		}
		if runChild(t, dir, strconv.Itoa(after%7)) {
			deaths++
		}
		if runChild(t, dir, "") {
			t.Fatal("it died by itself")
		}
		settledOnce(t, dir, after)
		if !died || t.Failed() {
			break
		}
	}
	if deaths < 6 {
		t.Errorf("it was killed only %d times", deaths)
	}
	t.Logf("killed %d times", deaths)
}

func settledOnce(t *testing.T, dir string, after int) {
	t.Helper()
	p, db, err := childOpen(t.Context(), dir, func(o *Options) { o.Now = func() time.Time { return start.Add(100_000 * time.Hour) } })
	must(t, err)
	defer db.Close() //nolint:errcheck // a test's
	for slug, want := range map[string][]string{"live": {"a3", "a2"}, "posts": {"a1"}} {
		heard, err := p.Heard(slug)
		must(t, err)
		var keys []string
		numbers := map[int]bool{}
		files := map[string]bool{}
		for _, e := range heard {
			keys = append(keys, e.Source.Key)
			numbers[e.Number] = true
			path, _, err := p.Sound(slug, e.ID)
			must(t, err)
			info, err := os.Stat(path)
			if err != nil || info.Size() != e.Bytes || e.Bytes != 1000 || info.Mode().Perm() != 0o600 {
				t.Errorf("after %d: %s: %v, %v", after, path, info, err)
			}
			files[path] = true
		}
		if strings.Join(keys, " ") != strings.Join(want, " ") || len(numbers) != len(want) {
			t.Errorf("after %d: %s has %v, numbers %v", after, slug, keys, numbers)
		}
		_ = filepath.WalkDir(filepath.Join(dir, "podcasts", slug), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !files[path] {
				t.Errorf("after %d: %s is of no episode", after, path)
			}
			return err
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "podcasts", workDir)); err == nil {
		t.Errorf("after %d: something is left in the making", after)
	}
}

// A disk that is really full: episodes fail with that reason, what listeners have stays, and with
// room again they are made.
func TestAFullDisk(t *testing.T) { testkit.InOwnMounts(t, fullDiskEnv) }

func fullDiskStory(ctx context.Context, dir string) error {
	disk := filepath.Join(dir, "podcasts")
	if err := os.Mkdir(disk, 0o700); err != nil {
		return err
	}
	if err := testkit.SmallDisk(disk, 8<<10); err != nil {
		return err
	}
	at := start
	p, db, err := childOpen(ctx, dir, func(o *Options) { o.Now = func() time.Time { return at } })
	if err != nil {
		return err
	}
	defer db.Close()                                                                //nolint:errcheck // a test's
	p.space = func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil } // it looks well, then is not
	if _, err := p.Create(ctx, own("live", Live), "live"); err != nil {
		return err
	}
	put := func(key string, bytes int) error {
		return errors.Join(os.MkdirAll(filepath.Join(dir, "live"), 0o700), os.WriteFile(filepath.Join(dir, "live", key), []byte(sound(60_000, bytes)), 0o600))
	}
	if err := errors.Join(put("a1", 1<<20), os.MkdirAll(filepath.Join(dir, "posts"), 0o700), childRound(ctx, p)); err != nil {
		return err
	}
	unfill, err := testkit.Fill(disk)
	if err != nil {
		return err
	}
	at = at.Add(time.Hour)
	if err := errors.Join(put("a2", 1<<20), childRound(ctx, p)); err != nil {
		return err
	}
	state := func(want State, problem string, heard int) error {
		all, err := p.Episodes(ctx, "live")
		if err != nil {
			return err
		}
		now, err := p.Heard("live")
		if err != nil || len(all) != 2 || len(now) != heard {
			return fmt.Errorf("%d episodes, %d heard: %w", len(all), len(now), err)
		}
		for _, e := range all {
			if e.Source.Key == "a2" && (e.State != want || !strings.Contains(e.Problem, problem)) {
				return fmt.Errorf("it is %s: %s", e.State, e.Problem)
			}
		}
		return nil
	}
	if err := state(Failed, "free some space (fetch what it is made of", 1); err != nil {
		return err
	}
	unfill()
	if err := childRound(ctx, p); err != nil {
		return err
	}
	if err := state(Failed, "free some space (fetch what it is made of", 1); err != nil { // not at once
		return err
	}
	at = at.Add(time.Minute)
	if err := childRound(ctx, p); err != nil {
		return err
	}
	at = at.Add(time.Minute)
	return state(Published, "", 2)
}
