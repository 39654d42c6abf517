package content

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func TestArchivingNeverTakesWhatIsOnAirOrPlanned(t *testing.T) {
	r := newRig(t)
	paths := r.fill(station.English, 100)
	for range 5 {
		r.air.turn()
	}
	protected, _ := r.air.Protected(t.Context())
	m, err := r.Archive(t.Context(), paths, "retired")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(protected)
	if protected = slices.Compact(protected); !slices.Equal(m.Kept, protected) {
		t.Errorf("kept %d, want the %d protected:\n%q\n%q", len(m.Kept), len(protected), m.Kept, protected)
	}
	for _, p := range protected {
		if !exists(filepath.Join(r.opt.Media, p)) {
			t.Errorf("protected %s is gone", p)
		}
		if !r.Hidden()[p] {
			t.Errorf("%s would be planned again", p)
		}
	}
	for _, p := range m.Archived {
		if exists(filepath.Join(r.opt.Media, p)) || !exists(filepath.Join(r.opt.Archive, p)) {
			t.Errorf("%s is not archived", p)
		}
	}
	if len(m.Archived)+len(m.Kept) != 100 || len(r.air.look()) > 0 {
		t.Errorf("archived %d, kept %d, dangling %q", len(m.Archived), len(m.Kept), r.air.dangling)
	}
	// Once they have aired they go.
	r.put("music/english/new.mp3", "new")
	_ = r.air.Scan(t.Context())
	_ = r.air.Rebuild(t.Context())
	r.air.turn()
	r.air.turn()
	if m, err = r.Archive(t.Context(), protected, "retired"); err != nil || len(m.Kept) != 0 || len(m.Archived) != len(protected) {
		t.Errorf("the second time archived %d, kept %q: %v", len(m.Archived), m.Kept, err)
	}
	r.put("music/english/other.mp3", "other")
	if _, err = r.Archive(t.Context(), []string{"music/english/other.mp3"}, "retired"); err != nil {
		t.Error(err)
	}
	if hidden := r.Hidden(); hidden[m.Archived[0]] || !hidden["music/english/other.mp3"] {
		t.Errorf("hidden is what has just left, not %d paths", len(hidden))
	}
	if got := r.states(); got[archived] != 101 || len(got) != 1 {
		t.Errorf("the journal says %v", got)
	}
}

// While a batch is archived the station goes on: turns, rebuilds, scans.
// stopped is a registry nobody follows any more.
type stopped struct {
	*onAir
	asked chan struct{}
}

func (s stopped) Scan(ctx context.Context, _ ...string) error {
	close(s.asked)
	<-ctx.Done()
	return ctx.Err()
}

// A station that is stopped between a move and the registry's look at it ends,
// and what was moved is planned by nobody.
func TestAStationThatStopsWaitsForNoRegistry(t *testing.T) {
	reg := stopped{asked: make(chan struct{})}
	r := newRig(t, func(o *Options) {
		reg.onAir = o.Registry.(*onAir)
		o.Registry = reg
	})
	r.put("sfx/SFX_ZAP_old.mp3", "old")
	_ = r.air.Scan(t.Context())
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-reg.asked
		stop()
	}()
	m, err := r.Archive(ctx, []string{"sfx/SFX_ZAP_old.mp3"}, ReasonReplaced)
	if !errors.Is(err, context.Canceled) || len(m.Archived) != 1 || !r.Hidden()["sfx/SFX_ZAP_old.mp3"] {
		t.Errorf("%+v, %v, hidden %v", m, err, r.Hidden())
	}
}

func TestArchivingBesideARotationThatKeepsChanging(t *testing.T) {
	r := newRig(t)
	paths := r.fill(station.English, 160)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			r.air.turn()
			if n%3 == 0 {
				_ = r.air.Rebuild(ctx)
			}
		}
	})
	wg.Go(func() {
		for ctx.Err() == nil {
			_ = r.air.Scan(ctx)
		}
	})
	total := 0
	for batch := range slices.Chunk(paths[:100], 10) {
		wg.Go(func() { _, _ = r.Status(ctx) })
		m, err := r.Archive(t.Context(), batch, "retired")
		if err != nil {
			t.Error(err)
		}
		total += len(m.Archived)
	}
	back, err := r.Restore(t.Context(), RestoreRequest{All: true}, nil)
	cancel()
	wg.Wait()
	if err != nil {
		t.Error(err)
	}
	if dangling := r.air.look(); len(dangling) > 0 {
		t.Errorf("the rotation held paths without a file: %q", dangling[:min(5, len(dangling))])
	}
	if total < 25 || len(back.Missing)+len(back.InTheWay) > 0 {
		t.Errorf("archived %d, restored %+v", total, back)
	}
	if got := len(walk(r.opt.Media)); got != 160 {
		t.Errorf("%d of 160 files are back", got)
	}
}

func TestWhatCannotBeKnownIsNotMoved(t *testing.T) {
	for _, c := range []struct {
		name string
		air  OnAir
	}{
		{"what is on air", blind{protected: errors.New("no answer")}},
		{"what the rotation holds", blind{holding: errors.New("no answer")}},
		{"whether it was rebuilt", blind{rebuild: errors.New("no node")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			paths := r.fill(station.English, 3)
			b := c.air.(blind)
			b.onAir = r.air
			r.Content.opt.OnAir = b
			r.air.rotation, r.air.at = []string{"music/english/other.mp3", paths[0]}, 0
			if _, err := r.Archive(t.Context(), paths[:1], "retired"); err == nil {
				t.Error("no error")
			}
			if got := len(walk(r.opt.Media)); got != 3 {
				t.Errorf("%d files are left", got)
			}
			if got := r.states(); got[retiring] > 0 || got[archived] > 0 {
				t.Errorf("the journal says %v", got)
			}
		})
	}
}

// What the engine prepares between the question and the answer stays.
func TestWhatGetsOnAirMeanwhileStays(t *testing.T) {
	r := newRig(t)
	paths := r.fill(station.English, 3)
	calls := 0
	r.Content.opt.OnAir = answering{r.air, func() []string {
		if calls++; calls == 1 {
			return nil
		}
		return paths[1:2]
	}}
	r.air.rotation, r.air.at = []string{"music/english/x.mp3"}, 0
	m, err := r.Archive(t.Context(), paths, "retired")
	if err != nil || !slices.Equal(m.Kept, paths[1:2]) || len(m.Archived) != 2 || !exists(filepath.Join(r.opt.Media, paths[1])) {
		t.Errorf("%+v, %v", m, err)
	}
}

type answering struct {
	*onAir
	protected func() []string
}

func (a answering) Protected(context.Context) ([]string, error) { return a.protected(), nil }

type blind struct {
	*onAir
	protected, holding, rebuild error
}

func (b blind) Protected(ctx context.Context) ([]string, error) {
	return nil, b.protected
}

func (b blind) Holding(ctx context.Context, paths []string) ([]string, error) {
	if b.holding != nil {
		return nil, b.holding
	}
	return b.onAir.Holding(ctx, paths)
}

func (b blind) Rebuild(ctx context.Context) error {
	if b.rebuild != nil {
		return b.rebuild
	}
	return b.onAir.Rebuild(ctx)
}

// A build that the scheduler holds on to is not moved from under.
func TestARotationThatDoesNotLetGoKeepsItsFiles(t *testing.T) {
	r := newRig(t)
	paths := r.fill(station.English, 3)
	r.air.rotation, r.air.at = []string{paths[0], paths[1]}, 0
	r.air.hidden = func() map[string]bool { return nil } // it plans whatever is hidden
	r.Content.opt.OnAir = blind{onAir: r.air}            // and protects nothing
	m, err := r.Archive(t.Context(), paths, "retired")
	if err != nil || len(m.Archived) > 0 || len(m.Kept) != 3 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestLinksAreLeftAndTheirTargetsProtected(t *testing.T) {
	r := newRig(t)
	r.put("music/english/a.mp3", "a")
	r.put("music/english/b.mp3", "b")
	outside := filepath.Join(r.dir, "elsewhere")
	if err := errors.Join(os.Mkdir(outside, 0o750), os.WriteFile(filepath.Join(outside, "x.mp3"), []byte("x"), 0o600),
		os.Symlink(outside, filepath.Join(r.opt.Media, "music/out")), os.Symlink("english", filepath.Join(r.opt.Media, "music/twin")),
		os.Symlink("b.mp3", filepath.Join(r.opt.Media, "music/english/link.mp3"))); err != nil {
		t.Fatal(err)
	}
	r.air.tracks = []station.Track{{Path: "music/english/a.mp3", Category: station.English}, {Path: "music/twin/a.mp3", Category: station.English}}
	r.air.rotation, r.air.at = []string{"music/x.mp3", "music/twin/a.mp3"}, 0 // under its other name
	m, err := r.Archive(t.Context(), []string{"music/english/a.mp3", "music/english/link.mp3", "music/out/x.mp3", "../elsewhere/x.mp3", "/etc/passwd", "music", "music/none.mp3"}, "retired")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Kept, []string{"music/english/a.mp3"}) || len(m.Left) != 6 || len(m.Archived) > 0 {
		t.Errorf("%+v", m)
	}
	// Not in the protected set but in the rotation under its other name: hidden
	// under both, rebuilt, then archived.
	r.air.rotation = []string{"music/english/b.mp3", "music/twin/a.mp3"}
	r.Content.opt.OnAir = blind{onAir: r.air}
	m, err = r.Archive(t.Context(), []string{"music/english/a.mp3"}, "retired")
	if err != nil || !slices.Equal(m.Archived, []string{"music/english/a.mp3"}) || slices.Contains(r.air.rotation, "music/twin/a.mp3") {
		t.Errorf("%+v, %v, rotation %q", m, err, r.air.rotation)
	}
}

func TestRestoreFillsWhatIsShortNewestFirst(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := newRig(t, func(o *Options) {
		o.Keep = map[station.Category]int{station.Ads: 15}
		o.Now = func() time.Time { return now }
	})
	paths := r.fill(station.Ads, 30)
	r.air.rotation = nil
	r.air.at = 0
	for i, p := range paths {
		now = now.Add(time.Minute)
		reason := reasonRetired
		if i == 29 {
			reason = reasonJunk // the newest, and it stays
		}
		if m, err := r.Archive(t.Context(), []string{p}, reason); err != nil || len(m.Archived) != 1 {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	r.put(paths[28], "another file by now")
	if err := os.Remove(filepath.Join(r.opt.Archive, paths[27])); err != nil {
		t.Fatal(err)
	}
	_ = r.air.Scan(t.Context())
	got, err := r.Restore(t.Context(), RestoreRequest{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != 14 || got.Restored[station.Ads] != 14 || !slices.Equal(got.InTheWay, paths[28:29]) || !slices.Equal(got.Missing, paths[27:28]) {
		t.Errorf("restored %+v", got)
	}
	want := append(slices.Clone(paths[13:27]), paths[28])
	if there := walk(r.opt.Media); !slices.Equal(there, want) {
		t.Errorf("the deck holds %q", there)
	}
	if data, _ := os.ReadFile(filepath.Join(r.opt.Media, paths[28])); string(data) != "another file by now" {
		t.Errorf("the operator's file reads %q", data)
	}
	if got, err = r.Restore(t.Context(), RestoreRequest{All: true}, nil); err != nil || got.Total != 14 {
		t.Errorf("all: %+v, %v", got, err)
	}
	if len(r.Hidden()) > 0 {
		t.Errorf("hidden: %v", r.Hidden())
	}
}

// An emergency brings back no bulletins that tell the time of another day, and of
// imaging the least there should be.
func TestRestoreBringsBackNothingOutdated(t *testing.T) {
	r := newRig(t)
	news, sweepers := r.fill(station.News, 20), r.fill(station.Sweepers, 20)
	r.air.rotation, r.air.at = nil, 0
	for paths, reason := range map[*[]string]string{&news: ReasonOutdated, &sweepers: ReasonReplaced} {
		if m, err := r.Archive(t.Context(), *paths, reason); err != nil || len(m.Archived) != 20 {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	for i, c := range []struct {
		order          RestoreRequest
		news, sweepers int
	}{
		{RestoreRequest{}, 0, 15},
		{RestoreRequest{All: true}, 0, 5},
		{RestoreRequest{Category: station.News}, 0, 0},
		{RestoreRequest{All: true, Category: station.News}, 20, 0},
	} {
		if got, err := r.Restore(t.Context(), c.order, nil); err != nil || got.Restored[station.News] != c.news || got.Restored[station.Sweepers] != c.sweepers {
			t.Errorf("%d: %+v, %v", i, got, err)
		}
	}
}

func TestTheSameNameTwiceInTheArchive(t *testing.T) {
	r := newRig(t)
	long := "music/ads/" + strings.Repeat("ن", 125) + ".mp3" // 254 bytes
	for _, p := range []string{"music/ads/a.mp3", long} {
		for _, text := range []string{"first", "second", "third"} {
			r.put(p, text)
			if m, err := r.Archive(t.Context(), []string{p, p}, "retired"); err != nil || len(m.Archived) != 1 {
				t.Fatalf("%+v, %v", m, err)
			}
		}
	}
	if got := len(walk(r.opt.Archive)); got != 6 {
		t.Errorf("the archive holds %d of 6 files", got)
	}
	back, err := r.Restore(t.Context(), RestoreRequest{All: true}, nil)
	if err != nil || back.Total != 2 || len(back.InTheWay) != 4 {
		t.Errorf("%+v, %v", back, err)
	}
	if data, _ := os.ReadFile(filepath.Join(r.opt.Media, "music/ads/a.mp3")); string(data) != "third" {
		t.Errorf("the newest is %q", data)
	}
}

func TestTheArchiveIsClearedOldestFirst(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := newRig(t, func(o *Options) {
		o.Now = func() time.Time { return now }
		o.ArchiveKeep, o.ArchiveMaxBytes = 90*24*time.Hour, 35
	})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		r.put("music/ads/"+name+".mp3", "ten bytes!")
		if _, err := r.Archive(t.Context(), []string{"music/ads/" + name + ".mp3"}, "retired"); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	stranger := filepath.Join(r.opt.Archive, "notes.txt")
	if err := os.WriteFile(stranger, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := r.expire(t.Context()); err != nil || n != 2 {
		t.Errorf("%d deleted for room, %v", n, err)
	}
	if got, want := walk(r.opt.Archive), []string{"music/ads/c.mp3", "music/ads/d.mp3", "music/ads/e.mp3", "notes.txt"}; !slices.Equal(got, want) {
		t.Errorf("left %q", got)
	}
	now = now.Add(90*24*time.Hour - 150*time.Minute)
	if n, err := r.expire(t.Context()); err != nil || n != 1 || !exists(stranger) {
		t.Errorf("%d deleted for age, %v", n, err)
	}
	// What became of them is forgotten in its turn.
	for _, c := range []struct {
		after time.Duration
		left  int
	}{{time.Hour, 5}, {entriesKept, 2}, {entriesKept + time.Hour, 0}} {
		now = now.Add(c.after)
		r.tidy(t.Context())
		all, err := r.entries(t.Context(), "true")
		if err != nil || len(all) != c.left || !exists(stranger) {
			t.Errorf("%d entries, want %d, %v", len(all), c.left, err)
		}
	}
}
