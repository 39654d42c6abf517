package social_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rig is a platform whose air and clock a test sets.
type rig struct {
	*social.Social
	aired signal.Changes
	opt   social.Options
	dir   string

	mu    sync.Mutex
	now   time.Time
	plays map[string]social.Airing
	inUse map[string]bool
	told  []social.Happened
	sent  []string // events

	counting func() // once, as airings are counted: posts are about to be read; may be nil
}

func options(dir string, db *store.DB, log *slog.Logger) social.Options {
	return social.Options{
		Log: log, DB: db, Now: time.Now, Dir: filepath.Join(dir, "social"), Media: filepath.Join(dir, "media"),
		Master:  mastering.New(mastering.Options{Nice: 1}),
		Profile: func(station.Category) (mastering.Profile, error) { return mastering.Named(mastering.Station) },
		Fetch:   fetch.New(fetch.Options{Version: "test"}),
		Tell:    func(string, any) {}, Rights: "All of it is mine.", Reports: 3, Keep: 30 * 24 * time.Hour,
		Limits: social.Limits{Bytes: 200 << 20},
	}
}

// open makes a platform in a folder of its own; change alters its options.
func open(t testing.TB, change func(*social.Options)) *rig {
	t.Helper()
	r := &rig{dir: t.TempDir(), now: time.UnixMilli(1_764_000_000_000), plays: map[string]social.Airing{}, inUse: map[string]bool{}}
	db, err := store.Open(t.Context(), filepath.Join(r.dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	log, _ := testkit.Log(t)
	r.opt = options(r.dir, db, log)
	r.opt.Now, r.opt.Air = r.clock, air{r}
	r.opt.Tell = func(event string, payload any) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent = append(r.sent, event)
	}
	r.opt.Told = func(h social.Happened) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, h)
	}
	if change != nil {
		change(&r.opt)
	}
	r.again(t)
	return r
}

// again is the platform after a restart.
func (r *rig) again(t testing.TB) {
	t.Helper()
	s, err := social.Open(t.Context(), r.opt)
	if err != nil {
		t.Fatal(err)
	}
	r.Social = s
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// later moves the clock on.
func (r *rig) later(by time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(by)
}

// air is the station's air as the platform sees it.
type air struct{ r *rig }

func (a air) Subscribe() (<-chan struct{}, func()) { return a.r.aired.Subscribe() }

func (a air) Plays(context.Context) (map[string]social.Airing, error) {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	if f := a.r.counting; f != nil {
		a.r.counting = nil
		f()
	}
	return maps.Clone(a.r.plays), nil
}

func (a air) InUse(path string) bool {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	return a.r.inUse[path]
}

// airs has a post begin to air.
func (r *rig) airs(path string) {
	r.mu.Lock()
	a := r.plays[path]
	r.plays[path] = social.Airing{Plays: a.Plays + 1, Last: r.now}
	r.mu.Unlock()
	r.aired.Tell()
}

func (r *rig) get(t *testing.T, id int64) social.Post {
	t.Helper()
	p, err := r.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// work runs the platform until it has nothing to process, or check answers.
func (r *rig) work(t *testing.T) {
	t.Helper()
	stop := testkit.Background(t, r.Run)
	defer stop()
	testkit.Eventually(t, "everything is processed", func() bool {
		s, err := r.Waiting(t.Context())
		return err == nil && s.Processing == 0
	})
}

// listener is one of many, each at an address of its own.
func listener(n int) social.Client {
	return social.Client{Address: fmt.Sprintf("197.%d.%d.10", n/256, n%256), Device: fmt.Sprintf("device-%06d", n)}
}

// music makes a piece of music that is unlike every other; seed decides which.
func music(t testing.TB, dir string, seed int, seconds float64, args ...string) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("music-%d-%g.mp3", seed, seconds))
	// A melody of pseudo-random notes, with a second voice and a beat.
	note := func(voice int) string {
		return fmt.Sprintf("220*pow(2,floor(24*abs(sin(floor(t*%d)*%d.37+%d)))/12)", 2+voice, 12+seed, 7*voice+seed)
	}
	lavfi := fmt.Sprintf("aevalsrc='0.2*sin(2*PI*%s*t)+0.15*sin(2*PI*%s*t)+0.2*exp(-10*mod(t,0.5))*(2*random(0)-1)':d=%g:s=44100", note(0), note(1), seconds)
	args = append(append([]string{"-v", "error", "-y", "-f", "lavfi", "-i", lavfi, "-ac", "2"}, args...), "file:"+path)
	if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// send submits a file.
func (r *rig) send(t *testing.T, n int, d social.Draft, path string) social.Receipt {
	t.Helper()
	f, err := os.Open(path) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	d.Rights = true
	got, err := r.Submit(t.Context(), listener(n), d, "upload", -1, f)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// approved submits, processes and approves a file.
func (r *rig) approved(t *testing.T, n int, d social.Draft, path string) social.Post {
	t.Helper()
	got := r.send(t, n, d, path)
	r.work(t)
	if p := r.get(t, got.ID); p.Status != social.Pending {
		t.Fatalf("after processing it is %s: %v", p.Status, p.Reason)
	}
	if err := r.Decide(t.Context(), got.ID, social.Verdict{Op: social.OpApprove, By: "10.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	return r.get(t, got.ID)
}
