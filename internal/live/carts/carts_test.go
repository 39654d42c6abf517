package carts_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/carts"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// desk is a live desk that keeps what it is told.
type desk struct {
	sync.Mutex
	walls   []live.Wall
	presses []live.CartPress
	open    bool
	away    error
}

func (d *desk) Carts(_ context.Context, w live.Wall) (live.Report, error) {
	d.Lock()
	defer d.Unlock()
	if d.away != nil {
		return live.Report{}, d.away
	}
	d.walls = append(d.walls, w)
	return live.Report{}, nil
}

func (d *desk) Fire(_ context.Context, p live.CartPress) (live.CartPlaying, error) {
	d.Lock()
	defer d.Unlock()
	if !d.open {
		return live.CartPlaying{}, fmt.Errorf("the bus is closed (409): %w", station.ErrConflict)
	}
	d.presses = append(d.presses, p)
	return live.CartPlaying{ID: fmt.Sprint(len(d.presses)), Page: p.Page, Slot: p.Slot}, nil
}

func (d *desk) StopCarts(context.Context, string) (int, error) { return 1, nil }

// report is what the control plane was told of the desk last.
func (d *desk) report() (r live.Report, known bool) {
	d.Lock()
	defer d.Unlock()
	if n := len(d.walls); n > 0 {
		r.Carts.Mark = d.walls[n-1].Mark
	}
	return r, d.away == nil
}

type rig struct {
	*carts.Carts
	t     *testing.T
	path  string
	db    *store.DB
	desk  *desk
	mu    sync.Mutex
	files map[string]carts.File
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "athir.db"), desk: &desk{}}
	r.files = map[string]carts.File{
		"jingles/open.mp3": {Path: "/media/jingles/open.mp3", Stamp: "1", Title: "Open", DurationMS: 4000},
		"sfx/boo.mp3":      {Path: "/media/sfx/boo.mp3", Stamp: "1", Title: "Boo", DurationMS: 900},
		"music/long.mp3":   {Path: "/media/music/long.mp3", Stamp: "1", DurationMS: 61_000},
	}
	r.open()
	return r
}

func (r *rig) open() {
	r.t.Helper()
	db, err := store.Open(r.t.Context(), r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	r.db = db
	log, _ := testkit.Log(r.t)
	r.Carts, err = carts.Open(r.t.Context(), carts.Options{Log: log, DB: db, Desk: r.desk, Report: r.desk.report, Find: func(file string) (carts.File, bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		f, there := r.files[file]
		return f, there
	}})
	if err != nil {
		r.t.Fatal(err)
	}
}

func wall() []carts.Page {
	return []carts.Page{
		{Name: "الافتتاح", Carts: []carts.Cart{{Slot: 3, File: "sfx/boo.mp3", Label: "  صفير\u202e ", Key: "b", Loop: true}, {Slot: 0, File: "jingles/open.mp3", Colour: "teal", GainDB: -3, Key: "1"}}},
		{Name: "Effects", Carts: []carts.Cart{}},
	}
}

// The wall is on disk when it is set, in the order of its places and with its texts on one line;
// of two who edit it the second is told.
func TestTheWallIsKeptAndTheSecondEditorIsTold(t *testing.T) {
	r := newRig(t)
	if version, pages := r.Shown(live.CartReport{}); version != 0 || len(pages) != 0 {
		t.Errorf("before it was set: %d, %+v", version, pages)
	}
	if err := r.Set(t.Context(), 0, wall()); err != nil {
		t.Fatal(err)
	}
	if err := r.Set(t.Context(), 0, nil); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("the second editor: %v", err)
	}
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	r.open()
	delete(r.files, "sfx/boo.mp3")
	version, pages := r.Shown(live.CartReport{Broken: []live.BrokenCart{{Page: 0, Slot: 0, Why: "no sound"}}})
	want := []carts.ShownPage{
		{Name: "الافتتاح", Carts: []carts.ShownCart{
			{Cart: carts.Cart{Slot: 0, File: "jingles/open.mp3", Colour: "teal", GainDB: -3, Key: "1"}, Title: "Open", DurationMS: 4000, Problem: "no sound"},
			{Cart: carts.Cart{Slot: 3, File: "sfx/boo.mp3", Label: "صفير", Key: "b", Loop: true}, Missing: true},
		}},
		{Name: "Effects", Carts: []carts.ShownCart{}},
	}
	if d := cmp.Diff(want, pages); d != "" || version != 1 {
		t.Errorf("version %d\n%s", version, d)
	}
}

// Every field is refused by its name, and nothing of such a wall is kept.
func TestAWrongWallIsRefusedByItsField(t *testing.T) {
	r := newRig(t)
	one := func(change func(c *carts.Cart)) []carts.Page {
		p := wall()
		change(&p[0].Carts[0])
		return p
	}
	for field, pages := range map[string][]carts.Page{
		"pages must be at most 8":  make([]carts.Page, 9),
		"pages[0].name must have":  {{Name: " \u200b "}},
		"carts[0].slot must be":    one(func(c *carts.Cart) { c.Slot = -1 }),
		"carts[1].slot must be":    one(func(c *carts.Cart) { c.Slot = 20 }),
		"slot 0 is there twice":    one(func(c *carts.Cart) { c.Slot = 0 }),
		"key 1 is there twice":     one(func(c *carts.Cart) { c.Key = "1" }),
		"carts[1].key must be":     one(func(c *carts.Cart) { c.Key = "ض" }),
		"carts[1].file must be":    one(func(c *carts.Cart) { c.File = strings.Repeat("a", 1025) }),
		"carts[1].label must have": one(func(c *carts.Cart) { c.Label = strings.Repeat("ص", 41) }),
		"carts[1].colour must be":  one(func(c *carts.Cart) { c.Colour = "url(x)" }),
		"carts[1].gainDb must be":  one(func(c *carts.Cart) { c.GainDB = 12.5 }),
		"carts[1].file is 61 s":    one(func(c *carts.Cart) { c.File = "music/long.mp3" }),
	} {
		err := r.Set(t.Context(), 0, pages)
		var wrong *station.FieldError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", field, err)
			continue
		}
		if _, en, ar, _ := wrong.Spoken(); !strings.Contains(en, field) || ar == "" {
			t.Errorf("%q, want %q", en, field)
		}
	}
	long := make([]carts.Page, 8)
	for i := range long {
		long[i].Name = "x"
		for slot := range 20 {
			long[i].Carts = append(long[i].Carts, carts.Cart{Slot: slot, File: strings.Repeat("a", 1000)})
		}
	}
	if err := r.Set(t.Context(), 0, long); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("160 paths of 1,000 bytes: %v", err)
	}
	if r.Wall().Version != 0 {
		t.Error("something was kept")
	}
}

func TestAPressReachesTheDeskWithWhatAirsNow(t *testing.T) {
	r := newRig(t)
	if err := r.Set(t.Context(), 0, wall()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fire(t.Context(), 0, 3, ""); !errors.Is(err, station.ErrConflict) || station.Reason(err) != "nothing live is on the air: put a source on the air first" {
		t.Errorf("while nothing is live: %v", err)
	}
	r.desk.open = true
	if _, err := r.Fire(t.Context(), 0, 3, "k7"); err != nil {
		t.Fatal(err)
	}
	want := live.CartPress{Request: "k7", Cart: live.Cart{Slot: 3, File: "/media/sfx/boo.mp3", Stamp: "1", Loop: true, DurationMS: 900}}
	if d := cmp.Diff([]live.CartPress{want}, r.desk.presses); d != "" {
		t.Error(d)
	}
	for _, place := range [][2]int{{0, 1}, {1, 0}, {2, 0}, {-1, 0}} {
		if _, err := r.Fire(t.Context(), place[0], place[1], ""); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("place %v: %v", place, err)
		}
	}
	delete(r.files, "sfx/boo.mp3")
	if _, err := r.Fire(t.Context(), 0, 3, ""); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "not in the library") {
		t.Errorf("a file that is gone: %v", err)
	}
}

// The desk is told of the wall once, and again when it is another desk, when the wall is
// changed, and when a file is.
func TestTheDeskIsToldOfTheWallWhereItHasAnother(t *testing.T) {
	r := newRig(t)
	stop := testkit.Background(t, r.Run)
	defer stop()
	last := func() (w live.Wall) {
		r.desk.Lock()
		defer r.desk.Unlock()
		if n := len(r.desk.walls); n > 0 {
			w = r.desk.walls[n-1]
		}
		return w
	}
	if err := r.Set(t.Context(), 0, wall()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the wall at the desk", func() bool { return len(last().Carts) == 2 })
	first := last()
	if first.Carts[0].Slot != 0 || first.Carts[0].GainDB != -3 || first.Mark == "" {
		t.Errorf("%+v", first)
	}
	r.mu.Lock()
	r.files["sfx/boo.mp3"] = carts.File{Path: "/mastered/boo.mp3", Stamp: "2", DurationMS: 900}
	r.mu.Unlock()
	testkit.Eventually(t, "the copy that airs now", func() bool { w := last(); return w.Mark != first.Mark && w.Carts[1].File == "/mastered/boo.mp3" })
	r.desk.Lock()
	told := len(r.desk.walls)
	r.desk.walls = nil // another desk, which has none
	r.desk.Unlock()
	if told != 2 {
		t.Errorf("told %d times, want 2", told)
	}
	testkit.Eventually(t, "the wall at the other desk", func() bool { return len(last().Carts) == 2 })
	if err := r.Set(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "an empty wall", func() bool { w := last(); return w.Mark != "" && len(w.Carts) == 0 })
}
