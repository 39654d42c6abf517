package content

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("ATHIR_CONTENT_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	_ = flag.Set("rapid.checks", "40") // the command line may ask for more
	testkit.Main(m)
}

// onAir is a station of its own: a registry that walks the folder, a rotation of
// 60 entries built from it, a cursor, and an eye on the promise that every entry
// has its file at all times. Rebuilds, questions and turns share one lock, as
// they share one goroutine in the scheduler.
type onAir struct {
	root  string
	state string // file that keeps the rotation over kills; empty: memory only

	ahead int // entries protected; 40
	scan  sync.Mutex

	mu       sync.Mutex
	hidden   func() map[string]bool
	tracks   []station.Track
	rand     *rand.Rand
	rotation []string
	at       int
	last     string
	rebuilt  int
	dangling []string
	looked   []string // what the last Scan was asked for; nil: everything
}

const rotationLength = 60

func (s *onAir) Tracks() []station.Track {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracks
}

func (s *onAir) Broken() map[string]string {
	out := map[string]string{}
	for _, p := range walk(s.root) {
		if info, err := os.Stat(filepath.Join(s.root, p)); err == nil && info.Size() == 0 {
			out[p] = "the file is empty"
		}
	}
	return out
}

// Refused are those that stampMaster would not have.
func (s *onAir) Refused() map[string]string {
	out := map[string]string{}
	for _, p := range walk(s.root) {
		if data, err := os.ReadFile(filepath.Join(s.root, p)); err == nil && bytes.Contains(data, []byte("unfit")) {
			out[p] = "it cannot be mastered"
		}
	}
	return out
}

func (s *onAir) Scan(_ context.Context, paths ...string) error {
	s.scan.Lock() // an older look at the folder never comes after a newer one
	defer s.scan.Unlock()
	var tracks []station.Track
	for _, p := range walk(s.root) {
		info, err := os.Stat(filepath.Join(s.root, p))
		if err != nil || info.Size() == 0 {
			continue
		}
		tracks = append(tracks, station.Track{Path: p, Category: folderCategory(p), Title: p, Duration: 100 * time.Second, Size: info.Size()})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracks, s.looked = tracks, paths
	return nil
}

// walk lists the files of a folder that a scan would see.
func walk(root string) (out []string) {
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			rel, _ := filepath.Rel(root, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	return out
}

func (s *onAir) Protected(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.protected(), nil
}

func (s *onAir) protected() []string {
	out := slices.Clone(s.rotation[s.at:min(len(s.rotation), s.at+1+cmp.Or(s.ahead, 40))])
	if s.last != "" {
		out = append(out, s.last)
	}
	return out
}

func (s *onAir) Holding(_ context.Context, paths []string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range paths {
		if slices.Contains(s.rotation[min(s.at, len(s.rotation)):], p) {
			out = append(out, p)
		}
	}
	return out, nil
}

// Rebuild keeps what plays and plans the rest anew.
func (s *onAir) Rebuild(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rebuild()
	return nil
}

func (s *onAir) rebuild() {
	var deck []string
	hidden := s.hidden()
	for _, t := range s.tracks {
		if !hidden[t.Path] {
			deck = append(deck, t.Path)
		}
	}
	var next []string
	if s.at < len(s.rotation) {
		next = append(next, s.rotation[s.at])
	}
	s.rand.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	for len(deck) > 0 && len(next) < rotationLength {
		next = append(next, deck[:min(len(deck), rotationLength-len(next))]...)
	}
	s.rotation, s.at = next, 0
	s.rebuilt++
	s.save()
	s.check()
}

// turn plays the next entry.
func (s *onAir) turn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at+1 >= len(s.rotation) {
		s.rebuild()
		return
	}
	s.last = s.rotation[s.at]
	s.at++
	s.save()
	s.check()
}

func (s *onAir) save() {
	if s.state == "" {
		return
	}
	text, _ := json.Marshal(map[string]any{"rotation": s.rotation, "at": s.at, "last": s.last})
	_ = os.WriteFile(s.state+".new", text, 0o600)
	_ = os.Rename(s.state+".new", s.state)
}

// check notes what the rotation still has to play and is not there.
func (s *onAir) check() {
	for _, p := range append(slices.Clone(s.rotation[min(s.at, len(s.rotation)):]), s.protected()...) {
		if _, err := os.Stat(filepath.Join(s.root, p)); err != nil {
			s.dangling = append(s.dangling, p)
		}
	}
}

func (s *onAir) look() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check()
	return s.dangling
}

func (s *onAir) Plays(context.Context) (map[string]int, error) { return nil, nil }

// stampMaster "masters" by setting the source's own sum in front: quick, and it
// shows later which input a file was made of, and that it is whole.
type stampMaster struct{}

const stampEnd = "\nwhole\n"

func (stampMaster) Do(_ context.Context, job mastering.Job, _ func(float64)) (mastering.Record, error) {
	data, err := os.ReadFile(job.In)
	if err != nil {
		return mastering.Record{}, err
	}
	if bytes.Contains(data, []byte("unfit")) {
		return mastering.Record{}, &mastering.RefusedError{Reason: mastering.Damaged, Text: "it cannot be mastered"}
	}
	text := "mastered " + sumOf(data) + "\n" + strings.Repeat("x", 3000) + stampEnd
	return mastering.Record{Outcome: mastering.Outcome{Integrated: -14, TruePeak: -1.5, Method: mastering.Linear}}, os.WriteFile(job.Out, []byte(text), 0o600)
}

func sumOf(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// madeOf reads what stampMaster wrote; "" for a half file.
func madeOf(path string) string {
	data, _ := os.ReadFile(path)
	head, rest, _ := strings.Cut(string(data), "\n")
	if !strings.HasSuffix(rest, stampEnd) {
		return ""
	}
	return strings.TrimPrefix(head, "mastered ")
}

// bytePrints takes files of equal bytes for one recording, in the media folder
// and by what the files there were made of.
type bytePrints struct{ root string }

func (b bytePrints) Find(_ context.Context, file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range walk(b.root) {
		full := filepath.Join(b.root, p)
		there, _ := os.ReadFile(full)
		if madeOf(full) == sumOf(data) || bytes.Equal(there, data) {
			out = append(out, p)
		}
	}
	return out, nil
}
func (bytePrints) SameName(string, string) []string                          { return nil }
func (bytePrints) Add(context.Context, string, string, string, string) error { return nil }

// lister is a source of made-up files.
type lister struct {
	name    string
	files   map[string]string // by ID
	meta    func(c *source.Candidate)
	fetched map[string]int
	fail    func(id string) error
	mu      sync.Mutex
}

func (l *lister) Name() string { return l.name }

func (l *lister) Search(_ context.Context, w source.Want) (out []source.Candidate, _ error) {
	for _, id := range slices.Sorted(maps.Keys(l.files)) {
		category := station.Category(strings.Split(id, "/")[0])
		if len(out) < w.Target && category == w.Category && !w.Known(l.name, id) {
			c := source.Candidate{Source: l.name, ID: id, URL: "https://example.org/" + id, Category: category}
			if l.meta != nil {
				l.meta(&c)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func (l *lister) Fetch(ctx context.Context, c source.Candidate, dir string, _ func(done, total int64)) (source.Fetched, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fetched == nil {
		l.fetched = map[string]int{}
	}
	l.fetched[c.ID]++
	if l.fail != nil {
		if err := l.fail(c.ID); err != nil {
			return source.Fetched{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return source.Fetched{}, err
	}
	file := filepath.Join(dir, "sound.mp3")
	return source.Fetched{File: file, Candidate: c}, os.WriteFile(file, []byte(l.files[c.ID]), 0o600)
}

func (l *lister) Settle(context.Context, source.Candidate, source.Outcome) error { return nil }

// rig is a pipeline over a temporary station.
type rig struct {
	*Content
	t   *testing.T
	dir string
	air *onAir
	db  *store.DB
	opt Options
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	media := filepath.Join(r.dir, "media")
	if err := os.MkdirAll(media, 0o750); err != nil {
		t.Fatal(err)
	}
	r.air = &onAir{root: media, rand: rand.New(rand.NewPCG(1, 2))}
	r.opt = Options{
		Media: media, Archive: filepath.Join(r.dir, "archive"), Work: filepath.Join(r.dir, "work"),
		Registry: r.air, OnAir: r.air, Master: stampMaster{}, Prints: bytePrints{media}, Log: slog.New(slog.DiscardHandler),
		Free: func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil },
	}
	for _, f := range change {
		f(&r.opt)
	}
	var err error
	if r.db, err = store.Open(t.Context(), filepath.Join(r.dir, "athir.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.db.Close() })
	r.reopen()
	return r
}

// reopen is what a restart is.
func (r *rig) reopen() {
	r.t.Helper()
	c, err := Open(context.Background(), r.db, r.opt)
	if err != nil {
		r.t.Fatal(err)
	}
	c.hear = quickEar
	r.Content = c
	r.air.hidden = c.Hidden
}

// quickEar hears nothing: made-up files have no sound.
func quickEar(_ context.Context, path string, _ time.Duration, _ wait) (heard, error) {
	data, err := os.ReadFile(path)
	h := heard{length: 100 * time.Second}
	for word, change := range map[string]func(){
		"length 10": func() { h.length = 10 * time.Second },
		"length 3":  func() { h.length = 3 * time.Second },
		"silent":    func() { h.silent = 0.9 },
		"spoken":    func() { h.traits = traits{0.4, 0.5, 0.9} },
	} {
		if bytes.Contains(data, []byte(word)) {
			change()
		}
	}
	if bytes.Contains(data, []byte("broken")) || len(data) == 0 {
		err = &Refusal{"unreadable", "not audio", "ليس صوتًا"}
	}
	return h, err
}

func (r *rig) put(rel, content string) {
	r.t.Helper()
	full := filepath.Join(r.opt.Media, rel)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o750), os.WriteFile(full, []byte(content), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// fill puts n tracks into a category and starts the rotation.
func (r *rig) fill(category station.Category, n int) (paths []string) {
	r.t.Helper()
	for i := range n {
		p := fmt.Sprintf("music/%s/track %03d.mp3", category, i)
		r.put(p, p)
		paths = append(paths, p)
	}
	_ = r.air.Scan(context.Background())
	_ = r.air.Rebuild(context.Background())
	return paths
}

func (r *rig) states() map[string]int {
	r.t.Helper()
	all, err := r.entries(context.Background(), "1")
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]int{}
	for _, e := range all {
		out[e.state]++
	}
	return out
}
