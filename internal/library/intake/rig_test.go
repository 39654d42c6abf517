package intake

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
)

// TestMain doubles as the process that a test kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(child(dir))
	}
	testkit.Main(m)
}

// A sound of these tests is a text: "200|أم كلثوم|أنت عمري|what is heard". The first is its
// length in seconds; "broken" is none.
func soundOf(abs string) (audiofile.Info, string, error) {
	text, err := os.ReadFile(abs)
	if err != nil {
		return audiofile.Info{}, "", err
	}
	parts := strings.SplitN(string(text), "|", 4)
	var seconds float64
	if _, err := fmt.Sscan(parts[0], &seconds); err != nil || len(parts) != 4 {
		return audiofile.Info{}, "", &media.Unfit{Kind: media.Damaged, Reason: "not a sound of these tests"}
	}
	return audiofile.Info{Duration: time.Duration(seconds * float64(time.Second)), SampleRate: 44100, Artist: parts[1], Title: parts[2]}, parts[3], nil
}

func quickEar(_ context.Context, abs string) (audiofile.Info, error) {
	info, _, err := soundOf(abs)
	return info, err
}

func quickPrint(_ context.Context, abs string) (fingerprint.Print, error) {
	_, heard, err := soundOf(abs)
	if err != nil {
		return nil, err
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(heard))
	return fingerprint.Print{h.Sum32()}, nil
}

// shelf is a library, its prints and its archive.
type shelf struct {
	media, archive string
	step           func() // where a kill may come; nil: none does

	mu       sync.Mutex
	tracks   map[string]station.Track
	prints   map[string]uint32
	airs     bool
	onAir    map[string]bool
	leaving  map[string]string // for a reason, once they are off the air
	fail     error             // of the archive
	noWay    error             // back from it
	archived []string
	moved    []string // "from > to"
	named    []string
	noted    string // a path of which something is said
}

func newShelf(dir string) *shelf {
	return &shelf{
		media: filepath.Join(dir, "media"), archive: filepath.Join(dir, "archive"),
		tracks: map[string]station.Track{}, prints: map[string]uint32{}, onAir: map[string]bool{}, leaving: map[string]string{},
	}
}

func (s *shelf) at() {
	if s.step != nil {
		s.step()
	}
}

func (s *shelf) Find(p string) (station.Track, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tracks[p]
	return t, ok
}

func (s *shelf) Tracks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tracks)
}

func (s *shelf) Airs(p string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.tracks[p]
	return ok && s.airs
}

func (s *shelf) Register(_ context.Context, paths ...string) error {
	s.at()
	defer s.at()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range paths {
		info, _, err := soundOf(filepath.Join(s.media, p))
		if err != nil {
			delete(s.tracks, p)
			continue
		}
		s.tracks[p] = station.Track{Path: p, Category: station.Category(strings.Split(p, "/")[0]), Title: info.Title, Artist: info.Artist, Duration: info.Duration}
	}
	return nil
}

func (s *shelf) Alike(_ context.Context, versions []fingerprint.Print, artist, title string) (out []Match, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, print := range s.prints {
		t, there := s.tracks[p]
		switch {
		case !there:
		case len(versions) > 0 && versions[0][0] == print:
			out = append(out, Match{Path: p})
		case duplicates.Name(t.Artist, t.Title) == duplicates.Name(artist, title):
			out = append(out, Match{Path: p, Difference: 1})
		}
	}
	slices.SortFunc(out, func(a, b Match) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func (s *shelf) Add(ctx context.Context, p, abs, _, _ string) error {
	print, err := quickPrint(ctx, abs)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prints[p] = print[0]
	return nil
}

func (s *shelf) Archive(_ context.Context, p, reason string) error {
	s.at()
	defer s.at()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	if s.onAir[p] {
		s.leaving[p] = reason
		return fmt.Errorf("%s is on the air: %w", p, station.ErrConflict)
	}
	return s.take(p, reason)
}

// take is the archive's own move.
func (s *shelf) take(p, reason string) error {
	delete(s.leaving, p)
	to := filepath.Join(s.archive, fmt.Sprintf("%d ", len(s.archived))+strings.ReplaceAll(p, "/", " "))
	switch reason {
	case ReasonReplaced:
	case ReasonUndone:
		to += " undone"
	default:
		return fmt.Errorf("reason %q", reason)
	}
	if err := errors.Join(os.MkdirAll(s.archive, 0o750), os.Rename(filepath.Join(s.media, p), to)); err != nil {
		return err
	}
	s.archived = append(s.archived, p)
	return nil
}

func (s *shelf) Restore(_ context.Context, p, reason string) error {
	s.at()
	defer s.at()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noWay != nil {
		return s.noWay
	}
	if s.leaving[p] == reason {
		delete(s.leaving, p)
		return nil
	}
	all, err := filepath.Glob(filepath.Join(s.archive, "* "+strings.ReplaceAll(p, "/", " ")))
	if _, there := os.Lstat(filepath.Join(s.media, p)); err != nil || len(all) == 0 || there == nil {
		return fmt.Errorf("%s is not in the archive, or another file is in its place: %w", p, station.ErrConflict)
	}
	return os.Rename(all[len(all)-1], filepath.Join(s.media, p))
}

func (s *shelf) put(t testing.TB, p, text string) {
	t.Helper()
	abs := filepath.Join(s.media, p)
	if err := errors.Join(os.MkdirAll(filepath.Dir(abs), 0o750), os.WriteFile(abs, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Register(t.Context(), p), s.Add(t.Context(), p, abs, "", "")); err != nil {
		t.Fatal(err)
	}
}

// clockHand is moved by hand.
type clockHand struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clockHand) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clockHand) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rig is an intake without workers: what they would do is done by run.
type rig struct {
	*Intake
	t     testing.TB
	dir   string
	shelf *shelf
	clock *clockHand
	lines *testkit.Lines
	free  uint64
	sent  int
}

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, dir: dir, shelf: newShelf(dir), clock: &clockHand{now: time.Unix(1_800_000_000, 0)}, free: 1 << 40}
	if err := os.Mkdir(r.shelf.media, 0o750); err != nil {
		t.Fatal(err)
	}
	r.open(change...)
	return r
}

// open opens the intake, anew where it is open: what was in memory is lost.
func (r *rig) open(change ...func(*Options)) {
	r.t.Helper()
	if r.Intake == nil {
		db, err := store.Open(r.t.Context(), filepath.Join(r.dir, "athir.db"))
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { _ = db.Close() })
		r.Intake = &Intake{db: db}
	}
	log, lines := testkit.Log(r.t)
	r.lines = lines
	opt := r.options(log)
	for _, c := range change {
		c(&opt)
	}
	in, err := Open(r.t.Context(), r.db, opt)
	if err != nil {
		r.t.Fatal(err)
	}
	in.examine, in.listen = quickEar, quickPrint
	r.Intake = in
}

func (r *rig) options(log *slog.Logger) Options {
	return Options{
		Dir: filepath.Join(r.dir, "arrivals"), Media: r.shelf.media, Library: r.shelf, Prints: r.shelf, Archive: r.shelf, Log: log, Now: r.clock.Now,
		Space: func(string) (uint64, uint64, error) { return r.free, 1 << 41, nil },
		Moved: func(_ context.Context, from, to string) error {
			r.shelf.moved = append(r.shelf.moved, from+" > "+to)
			return nil
		},
		Named: func(_ context.Context, p, by, title, artist string) (int64, error) {
			r.shelf.named = append(r.shelf.named, strings.Join([]string{p, by, title, artist}, "|"))
			return int64(len(r.shelf.named)), nil
		},
		Unnamed: func(_ context.Context, deed int64, by string) error {
			r.shelf.named = append(r.shelf.named, fmt.Sprintf("%d|%s back", deed, by))
			return nil
		},
		Noted: func(p string) bool { return r.shelf.noted == p },
	}
}

// upload is a finished upload of a text, in a folder as uploads have.
func (r *rig) upload(text string, meta map[string]string) resume.Finished {
	r.t.Helper()
	r.sent++
	r.clock.pass(time.Second)
	f := resume.Finished{
		ID: fmt.Sprintf("%026d", r.sent), Path: filepath.Join(r.dir, "tus", fmt.Sprintf("%026d.part", r.sent)), Size: int64(len(text)), Meta: meta,
		From: resume.From{Address: "203.0.113.7", Name: "نادية"},
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(f.Path), 0o700), os.WriteFile(f.Path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
	return f
}

// send uploads a text under a name, with more metadata in pairs, and returns the arrival's id.
func (r *rig) send(text, name string, pairs ...string) string {
	r.t.Helper()
	meta := map[string]string{"filename": name}
	for i := 0; i < len(pairs); i += 2 {
		meta[pairs[i]] = pairs[i+1]
	}
	f := r.upload(text, meta)
	if err := (door{r.Intake}).Admit(r.t.Context(), meta, f.Size, f.From); err != nil {
		r.t.Fatalf("%s is not admitted: %v", name, err)
	}
	receipt, err := door{r.Intake}.Take(r.t.Context(), f)
	if err != nil || receipt[Header] == "" {
		r.t.Fatalf("%s is not taken: %v, %v", name, receipt, err)
	}
	return receipt[Header]
}

// run does all there is to do now.
func (r *rig) run() {
	r.t.Helper()
	for n := 0; r.lookNext(r.t.Context()) || r.placeNext(r.t.Context()); n++ {
		if n > 10_000 {
			r.t.Fatal("it never ends")
		}
	}
}

func (r *rig) arrival(id string) Arrival {
	r.t.Helper()
	a, err := r.Find(id)
	if err != nil {
		r.t.Fatalf("arrival %s: %v", id, err)
	}
	return a
}

// expect checks what has become of an arrival.
func (r *rig) expect(id string, state State, path string) Arrival {
	r.t.Helper()
	a := r.arrival(id)
	if a.State != state || a.Path != path {
		r.t.Errorf("%s (%s) is %s at %q, want %s at %q; %v", a.Name, id, a.State, a.Path, state, path, a.Reason)
	}
	return a
}

// content is what lies in the media folder, by path.
func content(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		out[path.Clean(filepath.ToSlash(rel))] = string(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

func ptr[T any](v T) *T { return &v }
