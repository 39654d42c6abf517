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

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// TestMain doubles as the process that fills a disk of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(context.Background(), dir) })
	}
	testkit.Main(m)
}

// node is a broadcast node in memory, with faults.
type node struct {
	mu     sync.Mutex
	list   []playlist.Item
	pushes int
	asks   int             // pushes tried
	fail   error           // returned instead of pushing
	after  error           // returned after the list is in place: a crash before the commit
	gone   map[string]bool // media that is not there
	most   int             // entries whose media are there so far; 0: all
	wanted []playlist.Item // of the last push
}

func (n *node) Push(_ context.Context, items []playlist.Item) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asks++
	if n.fail != nil {
		return 0, n.fail
	}
	missing := &scheduler.MissingError{}
	for _, it := range items {
		if n.gone[it.Path] {
			missing.Paths = append(missing.Paths, it.Path)
		}
	}
	if len(missing.Paths) > 0 {
		return 0, missing
	}
	n.wanted = items
	if n.most > 0 {
		items = items[:min(n.most, len(items))]
	}
	n.list, n.pushes = items, n.pushes+1
	return len(items), n.after
}

func (n *node) InPlace(context.Context) ([]playlist.Item, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list, nil
}

func (n *node) set(change func(*node)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

func (n *node) counted() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pushes
}

func (n *node) asked() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asks
}

// shelf is a library in memory.
type shelf struct {
	mu      sync.Mutex
	tracks  []station.Track
	scans   bool // a scan is under way
	changed chan struct{}
}

func newShelf(tracks []station.Track) *shelf {
	return &shelf{tracks: tracks, changed: make(chan struct{}, 1)}
}

func (s *shelf) Tracks() ([]station.Track, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracks, s.scans
}

func (s *shelf) Find(path string) (station.Track, bool) {
	tracks, _ := s.Tracks()
	i := slices.IndexFunc(tracks, func(t station.Track) bool { return t.Path == path })
	if i < 0 {
		return station.Track{}, false
	}
	return tracks[i], true
}

func (s *shelf) Subscribe() (<-chan struct{}, func()) { return s.changed, func() {} }

func (s *shelf) set(tracks []station.Track) {
	s.mu.Lock()
	s.tracks = tracks
	s.mu.Unlock()
	s.changed <- struct{}{}
}

// songs makes n songs of n artists. One has a name that is no UTF-8.
func songs(n int) []station.Track {
	out := make([]station.Track, n)
	for i := range out {
		cat := station.ArabicHits
		if i%3 == 0 {
			cat = station.English
		}
		out[i] = station.Track{
			Path: fmt.Sprintf("music/%s/%03d.mp3", cat, i), Category: cat, Duration: 3 * time.Minute,
			Title: fmt.Sprintf("title %d", i), Artist: fmt.Sprintf("artist %d", i), Size: 1,
		}
	}
	out[1].Path = "music/arabic_hits/\xff\xfe.mp3"
	return out
}

// rig is a scheduler on a real database, with a clock of its own.
type rig struct {
	*scheduler.Scheduler
	t     *testing.T
	node  *node
	shelf *shelf
	file  string
	log   *strings.Builder
	mu    *sync.Mutex
	with  func(*scheduler.Options)
	disk  *delivery.Delivery // where it is the real one
	stop  func()
}

const root = "/srv/media/"

func newRig(t *testing.T, n *node, s *shelf) *rig {
	return newRigWith(t, n, s, func(*scheduler.Options) {})
}

// newRigWith makes a rig with other options, each time it opens.
func newRigWith(t *testing.T, n *node, s *shelf, with func(*scheduler.Options)) *rig {
	r := &rig{t: t, node: n, shelf: s, file: filepath.Join(t.TempDir(), "athir.db"), log: &strings.Builder{}, mu: &sync.Mutex{}, with: with}
	r.open()
	return r
}

// Write makes the rig the destination of the log.
func (r *rig) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

func (r *rig) logged(line string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.log.String(), line)
}

func (r *rig) open() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	db, err := store.Open(ctx, r.file)
	if err != nil {
		r.t.Fatal(err)
	}
	opt := options(r, db, r.shelf, r.node)
	r.with(&opt)
	if r.Scheduler, err = scheduler.Open(ctx, opt); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan struct{})
	s := r.Scheduler
	go func() { defer close(done); _ = s.Run(ctx) }()
	var once sync.Once
	r.stop = func() { once.Do(func() { cancel(); <-done; _ = db.Close() }) }
	r.t.Cleanup(r.stop)
}

// options are those of a scheduler that logs to a writer.
func options(log io.Writer, db *store.DB, s *shelf, n *node) scheduler.Options {
	seed := uint64(0)
	return scheduler.Options{
		Log: slog.New(slog.NewTextHandler(log, nil)), DB: db, Library: s, Delivery: n,
		Config: rotation.DefaultConfig(), Zone: afternoon(), Now: time.Now,
		Seed: func() uint64 { seed++; return seed },
		Airs: func(rel string) (string, float64) { return root + rel, 0 },
		Rel:  func(abs string) (string, bool) { return strings.CutPrefix(abs, root) },
	}
}

// afternoon is a zone where it is between 13:00 and 14:00, whenever a test runs: no
// daypart begins there for hours.
func afternoon() *time.Location {
	return time.FixedZone("afternoon", (13-time.Now().UTC().Hour())*3600)
}

// decided waits until the scheduler, which answers an order before it decides whether
// to rebuild, has done so for every order that was answered.
func (r *rig) decided() {
	r.t.Helper()
	if _, err := r.Holding(r.t.Context(), nil); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) eventually(what string, ok func(*scheduler.View) bool) {
	r.t.Helper()
	testkit.EventuallyNil(r.t, what, func() error {
		if v := r.View(); !ok(v) {
			return fmt.Errorf("entries %d, consumed %d, problem %q, reason %q", len(v.Rotation.Entries), v.Consumed, v.Problem, v.Reason)
		}
		return nil
	})
}

func (r *rig) built() *scheduler.View {
	r.t.Helper()
	r.eventually("a rotation", func(v *scheduler.View) bool { return len(v.Rotation.Entries) > 0 && v.Problem == "" })
	return r.View()
}

// hear sends the marker of a file and returns what it did.
func (r *rig) hear(engine string, seq uint64, rel string) string {
	r.t.Helper()
	out, err := r.Completed(r.t.Context(), scheduler.Marker{
		Engine: engine, Seq: seq, File: root + rel, Kind: scheduler.Rotation, At: time.Now(),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func TestMarkersMoveTheCursorAndAreOnDisk(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	plan := r.built().Rotation.Entries
	if got := r.hear("boot", 1, plan[0].Track.Path); got != "advanced" {
		t.Errorf("first entry: %s", got)
	}
	if got := r.hear("boot", 1, plan[0].Track.Path); got != "repeated" {
		t.Errorf("the same marker again: %s", got)
	}
	if got := r.hear("boot", 4, plan[3].Track.Path); got != "advanced" || r.View().Consumed != 4 {
		t.Errorf("two entries passed over: %s, consumed %d", got, r.View().Consumed)
	}
	if got := r.hear("boot", 3, plan[2].Track.Path); got != "late" || r.View().Consumed != 4 {
		t.Errorf("a late marker: %s, consumed %d", got, r.View().Consumed)
	}
	if got := r.hear("boot", 5, "not/in/any/list.mp3"); got != "unknown" || r.View().Consumed != 4 {
		t.Errorf("an unknown file: %s, consumed %d", got, r.View().Consumed)
	}
	if got := r.View().Past; len(got) != 2 || got[0].Track.Path != plan[3].Track.Path {
		t.Errorf("past: %+v", got)
	}
	if !r.logged("Rotation stable (4/120 consumed)") {
		t.Errorf("log line of the stable row is missing in:\n%s", r.log)
	}
	// As after kill -9: nothing but the database is left.
	r.stop()
	pushes := r.node.counted()
	r.node.set(func(n *node) { n.fail = errors.New("node is away") })
	r.open()
	v := r.View()
	if v.Consumed != 4 || v.OnAir.Track.Path != "not/in/any/list.mp3" || len(v.Rotation.Entries) != len(plan) {
		t.Errorf("after a restart: consumed %d, on air %q", v.Consumed, v.OnAir.Track.Path)
	}
	for i, e := range v.Rotation.Entries {
		if e.Track.Path != plan[i].Track.Path {
			t.Fatalf("entry %d came back as %q, was %q", i, e.Track.Path, plan[i].Track.Path)
		}
	}
	r.eventually("the failed commit is told", func(v *scheduler.View) bool { return strings.Contains(v.Problem, "node is away") })
	// Mission: a server restart rebuilds.
	r.node.set(func(n *node) { n.fail = nil })
	r.eventually("the rebuild of the restart", func(v *scheduler.View) bool { return v.Reason == "restart" && v.Problem == "" && v.Consumed == 0 })
	if r.node.counted() != pushes+1 {
		t.Errorf("%d pushes for one rebuild", r.node.counted()-pushes)
	}
	for _, e := range r.View().Rotation.Entries[:20] {
		for _, heard := range []int{0, 2, 3} {
			if e.Track.Path == plan[heard].Track.Path {
				t.Errorf("%s aired before the restart and is planned again within the fresh window", e.Track.Path)
			}
		}
	}
}

// A track's marker that comes after the takeover which ended it moves the
// cursor, and leaves the takeover on air; the other way round it changes nothing.
func TestAMarkerThatComesLateDoesNotEndATakeover(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	first := r.built().Rotation.Entries
	live := func(seq uint64) {
		if _, err := r.Completed(t.Context(), scheduler.Marker{Engine: "a", Seq: seq, Kind: scheduler.Live, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	live(2)
	if got := r.hear("a", 1, first[0].Track.Path); got != "advanced" || r.View().OnAir.Kind != scheduler.Live || r.View().Consumed != 1 {
		t.Errorf("late track: %s, %s on air, %d consumed", got, r.View().OnAir.Kind, r.View().Consumed)
	}
	r.hear("a", 4, first[1].Track.Path)
	if live(3); r.View().OnAir.Kind != scheduler.Rotation {
		t.Errorf("a takeover that is over came on air again")
	}
}

func TestCrashBetweenPushAndCommit(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	first := r.built().Rotation
	// The list gets in place, then the process "dies": no commit follows.
	r.node.set(func(n *node) { n.after = errors.New("died here") })
	_ = r.Rebuild(t.Context())
	if got := r.View().Rotation.Seed; got != first.Seed {
		t.Errorf("an uncommitted rotation is shown: seed %d", got)
	}
	r.stop()
	inPlace, _ := r.node.InPlace(t.Context())
	r.node.set(func(n *node) { n.after, n.fail = nil, errors.New("node is away") })
	r.open()
	for i, e := range r.View().Rotation.Entries {
		if root+e.Track.Path != inPlace[i].Path {
			t.Fatalf("entry %d is taken for %q, but %q is on air", i, e.Track.Path, inPlace[i].Path)
		}
	}
}

// The file holds fewer entries than the rotation that was announced has.
func TestCrashAfterAPushThatWasCutToFit(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	r.built()
	r.node.set(func(n *node) { n.after = errors.New("died here") })
	_ = r.Rebuild(t.Context())
	r.stop()
	r.node.set(func(n *node) { n.after, n.fail, n.list = nil, errors.New("node is away"), n.list[:70] })
	r.open()
	if v := r.View(); len(v.Rotation.Entries) != 70 || root+v.Rotation.Entries[69].Track.Path != r.node.list[69].Path {
		t.Errorf("%d entries are shown, the engine has 70", len(v.Rotation.Entries))
	}
}

func TestADamagedRotationIsNotShownInPart(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	r.built()
	r.stop()
	r.exec(`UPDATE onair_rotation SET doc = CAST(substr(doc, 1, length(doc) - 400) || unhex(replace(hex(zeroblob(400)), '00', 'ff')) AS BLOB)`)
	r.node.set(func(n *node) { n.fail = errors.New("node is away") })
	r.open()
	if n := len(r.View().Rotation.Entries); n != 0 {
		t.Errorf("%d entries of a rotation that cannot be read", n)
	}
	if !r.logged("cannot be read by this version") {
		t.Error("the log does not say so")
	}
}

func TestPushThatNeverArrivedLeavesTheOldRotation(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	first := r.built().Rotation
	r.node.set(func(n *node) { n.fail = errors.New("disk full") })
	if err := r.Rebuild(t.Context()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
	r.stop()
	r.open()
	if got := r.View().Rotation; got.Seed != first.Seed || len(got.Entries) != len(first.Entries) {
		t.Error("after the restart another rotation than the one on air is shown")
	}
}

func TestConsumedFractionRebuilds(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(400)))
	plan := r.built().Rotation.Entries
	r.hear("boot", 1, plan[100].Track.Path)
	if r.decided(); r.node.counted() != 1 {
		t.Fatal("rebuilt at 101 of 120")
	}
	r.hear("boot", 2, plan[101].Track.Path)
	r.eventually("a rebuild at 102 of 120", func(v *scheduler.View) bool { return v.Consumed == 0 && v.OnAir.Index == -1 })
	for i, e := range r.View().Rotation.Entries {
		if e.Track.Path == plan[101].Track.Path {
			t.Errorf("what just played is planned again at %d", i)
		}
	}
	if r.decided(); r.node.counted() != 2 {
		t.Errorf("%d pushes for one rebuild", r.node.counted()-1)
	}
}

func TestMissingMediaIsLeftOutAndPlayedAround(t *testing.T) {
	all := songs(60)
	gone := map[string]bool{}
	for _, s := range all[:30] {
		gone[root+s.Path] = true
	}
	r := newRig(t, &node{gone: gone}, newShelf(all))
	for _, e := range r.built().Rotation.Entries {
		if gone[root+e.Track.Path] {
			t.Errorf("%s is not in place and planned", e.Track.Path)
		}
	}
}

func TestLibraryChangesThatAskForANewRotation(t *testing.T) {
	s := newShelf(nil)
	r := newRig(t, &node{}, s)
	r.eventually("waiting for music", func(v *scheduler.View) bool { return v.Waiting })
	if r.node.counted() != 0 {
		t.Error("an empty rotation was pushed")
	}
	all := songs(200)
	s.set(all)
	plan := r.built().Rotation.Entries
	// A file that is still to come is deleted.
	var left []station.Track
	for _, tr := range all {
		if tr.Path != plan[50].Track.Path {
			left = append(left, tr)
		}
	}
	s.set(left)
	r.eventually("a rotation without the deleted file", func(v *scheduler.View) bool {
		for _, e := range v.Rotation.Entries {
			if e.Track.Path == plan[50].Track.Path {
				return false
			}
		}
		return v.Rotation.Seed != 0 && r.node.counted() == 2
	})
	// The whole library goes: what is on air stays.
	s.set(nil)
	r.eventually("waiting again", func(v *scheduler.View) bool { return v.Waiting })
	if r.node.counted() != 2 {
		t.Error("an empty rotation was pushed")
	}
}

// A scan that needs longer than the first start's patience for its second file: the list
// of one song was kept until ten seconds after it was made, and while the scan went on.
func TestAListOfAHandfulGrowsWithTheScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := songs(200)
		s := newShelf(all[:1])
		s.scans = true
		r := newRig(t, &node{}, s)
		for _, step := range []struct{ found, pushes int }{{1, 1}, {2, 2}, {3, 2}, {5, 3}, {40, 4}, {90, 4}} {
			s.set(all[:step.found])
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if n := r.node.counted(); n != step.pushes {
				t.Errorf("%d files found: %d lists, not %d", step.found, n, step.pushes)
			}
		}
		r.stop()
	})
}

func TestEngineThatBootsGetsWhatWasNotHeard(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(200)))
	plan := r.built().Rotation.Entries
	r.hear("one", 1, plan[0].Track.Path)
	r.hear("one", 2, plan[1].Track.Path)
	if _, err := r.Completed(t.Context(), scheduler.Marker{Kind: scheduler.Boot, Engine: "boot"}); err != nil {
		t.Fatal(err)
	}
	v := r.View()
	if v.Consumed != 0 || r.node.counted() != 2 {
		t.Errorf("consumed %d after %d pushes", v.Consumed, r.node.counted())
	}
	if got := r.hear("two", 1, v.Rotation.Entries[0].Track.Path); got != "advanced" {
		t.Errorf("first marker of the new engine: %s", got)
	}
	if v.Rotation.Entries[0].Track.Path == plan[0].Track.Path || v.Rotation.Entries[0].Track.Path == plan[1].Track.Path {
		t.Error("the new engine begins with what was heard")
	}
}

// The engine waits only so long for its new list, then goes on with the next entry of the
// old one. Its marker came after the rebuild, whose list had that entry among the first.
func TestABootingEngineMayBeginWithItsOldList(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(12)))
	next := r.built().Rotation.Entries
	for i := range 10 {
		engine := fmt.Sprint("engine ", i)
		r.hear(engine, 1, next[0].Track.Path)
		if _, err := r.Completed(t.Context(), scheduler.Marker{Kind: scheduler.Boot, Engine: "boot"}); err != nil {
			t.Fatal(err)
		}
		begun := next[1].Track.Path
		next = r.View().Rotation.Entries
		if at := slices.IndexFunc(next, func(e rotation.Entry) bool { return e.Track.Path == begun }); at >= 0 && at < 6 {
			t.Errorf("boot %d: what the engine begins with is entry %d of the new list, too", i, at)
		}
	}
}

// The engine plays on while the control plane is away. What it played must not
// open the rotation of the restart, though the markers come only after it.
func TestWhatAiredWhileTheControlPlaneWasAwayDoesNotComeAgain(t *testing.T) {
	const away, lasts = 10 * time.Minute, 3*time.Minute - 2*time.Second
	var later time.Duration
	r := newRigWith(t, &node{}, newShelf(songs(12)), func(o *scheduler.Options) {
		o.Now = func() time.Time { return time.Now().Add(later) }
	})
	plan := r.built().Rotation.Entries
	r.hear("engine", 1, plan[0].Track.Path)
	began := r.View().OnAir.StartedAt
	r.stop()
	later = away
	r.open()
	r.eventually("the rebuild of the restart", func(v *scheduler.View) bool { return v.Reason == "restart" && v.Consumed == 0 })
	built := r.View().Rotation
	for i := 1; time.Duration(i)*lasts < away; i++ {
		if built.Entries[0].Track.Path == plan[i].Track.Path {
			t.Errorf("the new rotation begins with entry %d of the old one, which began %s ago", i, away-time.Duration(i)*lasts)
		}
		out, err := r.Completed(t.Context(), scheduler.Marker{
			Engine: "engine", Seq: uint64(i + 1), File: root + plan[i].Track.Path, Kind: scheduler.Rotation, At: began.Add(time.Duration(i) * lasts),
		})
		if err != nil || out != rotation.Unknown.String() {
			t.Errorf("the marker of entry %d that waited: %s, %v", i, out, err)
		}
	}
	if v := r.View(); v.Consumed != 0 {
		t.Errorf("markers from before the restart moved the cursor of the new rotation to %d", v.Consumed)
	}
	if got, want := built.Starts.Sub(began), 4*lasts; (got - want).Abs() > time.Millisecond {
		t.Errorf("planned for %s after the first song began, want %s", got, want)
	}
}

// Markers, rebuilds and readers at once: for the race detector, and for the
// rule that each order is one whole change.
func TestOrdersFromManySides(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(300)))
	r.built()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20 {
				v := r.View()
				if len(v.Items()) != len(v.Rotation.Entries) || v.Consumed > len(v.Rotation.Entries) {
					t.Error("a view that does not agree with itself")
				}
				if g == 0 {
					_ = r.Rebuild(t.Context())
					continue
				}
				_, _ = r.Completed(t.Context(), scheduler.Marker{
					Engine: fmt.Sprint(g), Seq: uint64(i + 1), Kind: scheduler.Rotation, At: time.Now(),
					File: root + v.Rotation.Entries[i].Track.Path,
				})
			}
		})
	}
	wg.Wait()
	r.stop()
	if _, err := r.Completed(context.Background(), scheduler.Marker{Kind: scheduler.Rotation}); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("an order after the end: %v", err)
	}
}
