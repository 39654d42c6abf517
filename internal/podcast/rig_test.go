package podcast

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// TestMain doubles as the processes that tests kill or give a disk of their own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(child(dir))
	}
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(context.Background(), dir) })
	}
	testkit.Main(m)
}

// A sound of these tests is a text: its length in milliseconds, then whatever.
func sound(ms int, bytes int) string {
	text := strconv.Itoa(ms) + "|"
	return text + strings.Repeat("x", max(0, bytes-len(text)))
}

// source is an origin of these tests.
type source struct {
	mu        sync.Mutex
	offers    []Raw
	sounds    map[string]string
	withdrawn map[string]bool
	withheld  map[string]bool
	err       error                                       // of all that is asked
	during    func(ctx context.Context, key string) error // of a fetch, before it writes
	fetched   int
}

func (s *source) Offers(context.Context) ([]Raw, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.offers), s.err
}

func (s *source) Find(_ context.Context, key string) (Raw, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.offers {
		if r.Source.Key == key {
			return r, s.err
		}
	}
	return Raw{}, errors.Join(s.err, fmt.Errorf("%s: %w", key, station.ErrNotFound))
}

func (s *source) Fetch(ctx context.Context, key, to string) error {
	s.mu.Lock()
	text, ok, err, during := s.sounds[key], s.sounds[key] != "", s.err, s.during
	s.fetched++
	s.mu.Unlock()
	if during != nil {
		err = errors.Join(err, during(ctx, key))
	}
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s has gone: %w", key, station.ErrNotFound)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (s *source) Standing(_ context.Context, key string) (Standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == "damaged" {
		return "", errors.New("it is damaged")
	}
	switch {
	case s.withdrawn[key]:
		return Withdrawn, s.err
	case s.withheld[key]:
		return Withheld, s.err
	}
	return Free, s.err
}

// offer puts something there.
func (s *source) offer(r Raw, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers, s.sounds[r.Source.Key] = append(s.offers, r), text
}

func (s *source) set(by func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by()
}

// finisher makes "mastered " of a sound.
type finisher struct {
	mu     sync.Mutex
	tags   []Tags
	during func(ctx context.Context) error
}

func (f *finisher) Finish(ctx context.Context, from, to string, tags Tags) (Finished, error) {
	f.mu.Lock()
	f.tags = append(f.tags, tags)
	during := f.during
	f.mu.Unlock()
	if during != nil {
		if err := during(ctx); err != nil {
			return Finished{}, err
		}
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return Finished{}, err
	}
	length, _, _ := strings.Cut(string(text), "|")
	ms, err := strconv.Atoi(length)
	if err != nil {
		return Finished{}, station.Wrong("sound", "is no sound", "ليس صوتًا")
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		return Finished{}, err
	}
	return Finished{Bytes: int64(len(text)), Duration: time.Duration(ms) * time.Millisecond}, nil
}

// rig is a station of these tests.
type rig struct {
	*Podcasts
	dir     string
	db      *store.DB
	origins map[Kind]*source
	finish  *finisher
	clock   *clock
	options Options
	lines   *testkit.Lines
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{dir: t.TempDir(), origins: map[Kind]*source{}, finish: &finisher{}, clock: &clock{now: start}}
	var log *slog.Logger
	log, r.lines = testkit.Log(t)
	r.options = Options{Log: log, Dir: filepath.Join(r.dir, "podcasts"), Origins: map[Kind]Origin{}, Finish: r.finish, Station: func() string { return "أثير" }, Now: r.clock.Now}
	for _, k := range Kinds() {
		r.origins[k] = &source{sounds: map[string]string{}, withdrawn: map[string]bool{}, withheld: map[string]bool{}}
		r.options.Origins[k] = r.origins[k]
	}
	for _, by := range change {
		by(&r.options)
	}
	r.open(t)
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

// open opens it, anew where it was open, as after a kill.
func (r *rig) open(t testing.TB) {
	t.Helper()
	if r.db != nil {
		must(t, r.db.Close())
	}
	var err error
	r.db, err = store.Open(t.Context(), filepath.Join(r.dir, "athir.db"))
	must(t, err)
	r.options.DB = r.db
	r.Podcasts, err = Open(t.Context(), r.options)
	must(t, err)
	r.space = func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil }
	r.face = noFace
}

// noFace saves the time of drawing.
func noFace(context.Context) ([]byte, error) { return []byte("a cover"), nil }

// round does once all that Run does.
func (r *rig) round(t testing.TB) {
	t.Helper()
	for kind, o := range r.opt.Origins {
		must(t, errors.Join(r.withdraw(t.Context(), kind, o), r.look(t.Context(), kind, o)))
	}
	for r.makeNext(t.Context()) {
		r.clock.pass(time.Second)
		must(t, r.Podcasts.keep(t.Context()))
	}
	must(t, errors.Join(r.compare(t.Context()), r.Podcasts.keep(t.Context()), r.flush(t.Context())))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(t testing.TB, err error, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("the error is %v, want of kind %v", err, kind)
	}
}

func own(slug string, kind Kind) Own {
	return Own{Slug: slug, On: true, Title: "برنامج " + slug, Language: "ar", Categories: []string{"Music"}, From: From{Kind: kind}}
}

func (r *rig) show(t testing.TB, o Own) *Show {
	t.Helper()
	s, err := r.Create(t.Context(), o, "https://radio.example/podcasts/"+o.Slug+"/feed.xml")
	must(t, err)
	return s
}

// happens offers something that was on the air just now.
func (r *rig) happens(kind Kind, key string, bytes int, change ...func(*Raw)) {
	r.clock.pass(time.Minute)
	raw := Raw{Source: Source{kind, key}, Stream: "studio", Type: "song", Title: "حلقة " + key, Began: r.clock.Now(), Duration: time.Hour, Listeners: -1}
	for _, by := range change {
		by(&raw)
	}
	r.origins[kind].offer(raw, sound(int(max(raw.Duration.Milliseconds(), 1)), bytes))
}

func (r *rig) heard(t testing.TB, slug string) (keys []string) {
	t.Helper()
	all, err := r.Heard(slug)
	must(t, err)
	for _, e := range all {
		keys = append(keys, e.Source.Key)
	}
	return keys
}

// files are those of a show's folder.
func (r *rig) files(t testing.TB, slug string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(r.options.Dir, slug))
	if !errors.Is(err, fs.ErrNotExist) {
		must(t, err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

func (r *rig) episodeOf(t testing.TB, slug, key string) Episode {
	t.Helper()
	all, err := r.Episodes(t.Context(), slug)
	must(t, err)
	for _, e := range all {
		if e.Source.Key == key {
			return e
		}
	}
	t.Fatalf("%s has no episode of %s", slug, key)
	return Episode{}
}

func ptr[T any](v T) *T { return &v }

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
