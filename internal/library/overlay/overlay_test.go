package overlay_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var day = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

// shelf is a registry that tests change.
type shelf struct {
	mu     sync.Mutex
	tracks []station.Track
	signal.Changes
}

func (s *shelf) Tracks() []station.Track { s.mu.Lock(); defer s.mu.Unlock(); return s.tracks }

func (s *shelf) set(tracks ...station.Track) {
	slices.SortFunc(tracks, func(a, b station.Track) int { return strings.Compare(a.Path, b.Path) })
	s.mu.Lock()
	s.tracks = tracks
	s.mu.Unlock()
	s.Tell()
}

func song(path string, n int) station.Track {
	return station.Track{
		Path: path, Category: station.English, Title: "Title " + path, Artist: "Artist", Duration: 3 * time.Minute, Size: int64(1000 + n), ModTime: day.Add(time.Duration(n) * time.Second),
	}
}

type rig struct {
	*overlay.Overlay
	t     *testing.T
	db    *store.DB
	shelf *shelf
	now   time.Time
}

func open(t *testing.T, tracks ...station.Track) *rig {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{t: t, db: db, shelf: &shelf{}, now: day}
	r.shelf.set(tracks...)
	r.again()
	return r
}

func (r *rig) again() {
	r.t.Helper()
	log, _ := testkit.Log(r.t)
	var err error
	r.Overlay, err = overlay.Open(r.t.Context(), overlay.Options{Log: log, DB: r.db, Registry: r.shelf, Whole: func() bool { return true }, Now: func() time.Time { return r.now }})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) change(set string, paths ...string) (overlay.Outcome, error) {
	return r.Change(r.t.Context(), overlay.Order{Who: "mona", Paths: paths, Set: json.RawMessage(set)})
}

func (r *rig) must(set string, paths ...string) *overlay.Deed {
	r.t.Helper()
	out, err := r.change(set, paths...)
	if err != nil || out.Deed == nil {
		r.t.Fatalf("%s: %+v, %v", set, out, err)
	}
	return out.Deed
}

func (r *rig) track(path string) station.Track {
	r.t.Helper()
	for _, t := range r.Tracks() {
		if t.Path == path {
			return t
		}
	}
	r.t.Fatalf("no track %s", path)
	return station.Track{}
}

func TestWhatIsSaidOfATrackStandsOverItsFileAndIsTakenBack(t *testing.T) {
	r := open(t, song("english/a.mp3", 1), song("english/b.mp3", 2))
	file := r.track("english/a.mp3")
	deed := r.must(`{"title":" أنت  عمري ","titleLatin":"Enta Omri","category":"arabic_hits","cueInMs":2000,"cueOutMs":170000,"crossMs":4000,
		"limits":{"from":"2026-12-01","until":"2026-12-31","hours":[[22,2]],"perDay":2,"restMinutes":90}}`, "english/a.mp3")
	r.again()
	got := r.track("english/a.mp3")
	want := file
	want.Title, want.Category = "أنت عمري", station.ArabicHits
	want.Own = &station.Own{
		Cut: station.Cut{In: 2 * time.Second, Out: 170 * time.Second, Cross: 4 * time.Second}, TitleLatin: "Enta Omri",
		Limits: station.Limits{From: 20261201, Until: 20261231, Hours: 1<<22 | 1<<23 | 1<<0 | 1<<1, PerDay: 2, Rest: 90 * time.Minute},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", got, got.Own, want, want.Own)
	}
	if b := r.track("english/b.mp3"); b.Own != nil {
		t.Errorf("another track has it too: %+v", b)
	}
	second := r.must(`{"limits":{"perDay":null,"hours":null}}`, "english/a.mp3")
	if l := r.track("english/a.mp3").Own.Limits; l.PerDay != 0 || l.Hours != 0 || l.From != 20261201 {
		t.Errorf("a part taken away leaves %+v", l)
	}
	if _, left, err := r.Undo(t.Context(), deed.ID, "mona"); err != nil || !slices.Equal(left, []string{"english/a.mp3"}) {
		t.Errorf("taken back under a later change: %v, %v", left, err)
	}
	for _, id := range []int64{second.ID, deed.ID} {
		if out, left, err := r.Undo(t.Context(), id, "mona"); err != nil || out.Changed != 1 || left != nil {
			t.Errorf("undo %d: %+v, %v, %v", id, out, left, err)
		}
	}
	if got := r.track("english/a.mp3"); !reflect.DeepEqual(got, file) {
		t.Errorf("after undo %+v", got)
	}
	if _, _, err := r.Undo(t.Context(), deed.ID, "mona"); !errors.Is(err, station.ErrConflict) {
		t.Errorf("taken back twice: %v", err)
	}
	list, err := r.Deeds(t.Context(), "english/a.mp3", 0, 10)
	if err != nil || len(list) != 4 || list[0].Undoes != deed.ID || list[3].Undone != list[0].ID || list[3].After.Title != "أنت عمري" || list[3].Before != nil || len(list[3].Fields) != 7 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestWrongFieldsAreNamed(t *testing.T) {
	r := open(t, song("a.mp3", 1))
	for set, field := range map[string]string{
		`{"isrc":"US-RC1-76-0783"}`: "isrc", `{"isrc":"=1+1"}`: "isrc", `{"label":"` + strings.Repeat("x", 301) + `"}`: "label",
		`{"title":"a\u0007"}`: "title", `{"artist":"` + strings.Repeat("x", 301) + `"}`: "artist", `{"category":"rock"}`: "category", `{"category":"social"}`: "category",
		`{"cueInMs":-1}`: "cueInMs", `{"cueOutMs":500}`: "cueOutMs", `{"cueOutMs":999999}`: "cueOutMs", `{"cueInMs":179500}`: "cueInMs", `{"crossMs":31000}`: "crossMs",
		`{"limits":{"from":"1.12.2026"}}`: "limits.from", `{"limits":{"from":"2026-12-02","until":"2026-12-01"}}`: "limits.until", `{"limits":{"hours":[[5,5]]}}`: "limits.hours",
		`{"limits":{"hours":[[-1,5]]}}`: "limits.hours", `{"limits":{"perDay":101}}`: "limits.perDay", `{"limits":{"restMinutes":-5}}`: "limits.restMinutes",
		`{"colour":"red"}`: "colour", `{"title":5}`: "title", `{}`: "set", `null`: "set", `[]`: "set", `{"cover":"../x"}`: "cover", `{"limits":{"perDay":"two"}}`: "limits.perDay",
	} {
		_, err := r.change(set, "a.mp3")
		var wrong *station.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field || !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %v, want %s", set, err, field)
			continue
		}
		if _, en, ar, _ := wrong.Spoken(); en == "" || ar == "" {
			t.Errorf("%s is not said in both languages", set)
		}
	}
	if out, err := r.change(`{"cueOutMs":100000}`, "a.mp3", "none.mp3"); err != nil || out.Changed != 1 || len(out.Refused) != 1 || out.Refused[0].Path != "none.mp3" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestANoteGoesWithAFileThatIsMoved(t *testing.T) {
	a, b := song("english/a.mp3", 1), song("english/b.mp3", 2)
	r := open(t, a, b)
	r.must(`{"title":"Mine"}`, a.Path)
	r.must(`{"title":"Yours"}`, b.Path)
	b.Size, b.ModTime = 5000, day.Add(time.Hour) // its tags were written into it
	r.shelf.set(a, b)
	follow := func() {
		t.Helper()
		if err := r.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	follow()
	to, copied := a, b
	to.Path, copied.Path = "music/english/A B.mp3", "english/b copy.mp3"
	to.AddedAt, copied.AddedAt = r.now, r.now
	moved := b
	moved.Path = "english/c.mp3"
	r.shelf.set(to, b, copied)
	follow()
	r.again()
	if got := r.track(to.Path); got.Title != "Mine" {
		t.Errorf("a moved file is called %q", got.Title)
	}
	if got := r.track(copied.Path); got.Title != copied.Title {
		t.Errorf("a copy took the note: %q", got.Title)
	}
	if list, err := r.Deeds(t.Context(), to.Path, 0, 10); err != nil || len(list) != 1 {
		t.Errorf("its deeds did not go with it: %v, %v", list, err)
	}
	r.shelf.set(to, moved, copied) // which of the two it is nobody knows
	follow()
	if _, there := r.Note(b.Path); !there {
		t.Error("a note went to a file that may be another")
	}
}

// The copy of a file that goes, to the archive it may be, does not take what is said of it: it
// was there before.
func TestANoteDoesNotGoToACopyThatWasThere(t *testing.T) {
	a, twin := song("english/a.mp3", 1), song("english/a.mp3", 1)
	twin.Path = "mashups/a.mp3"
	r := open(t, a, twin)
	r.must(`{"title":"Mine","cueOutMs":60000}`, a.Path)
	follow := func(tracks ...station.Track) {
		t.Helper()
		r.shelf.set(tracks...)
		r.now = r.now.Add(time.Hour)
		if err := r.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	follow(a, twin)
	follow(twin)
	follow(twin)
	r.now = r.now.Add(time.Hour)
	r.again() // a restart does not make it one that has just come
	follow(twin)
	if got := r.track(twin.Path); got.Title != twin.Title || got.Own != nil {
		t.Errorf("the copy is called %q", got.Title)
	}
	follow(a, twin)
	if got := r.track(a.Path); got.Title != "Mine" {
		t.Errorf("once it is back it is called %q", got.Title)
	}
	moved := a
	moved.Path, moved.AddedAt = "english/elsewhere.mp3", r.now.Add(time.Hour)
	follow(moved)
	if got := r.track(moved.Path); got.Title != "Mine" {
		t.Errorf("moved, it is called %q", got.Title)
	}
}

// Whatever is changed and taken back, the notes are what a map says, before and after a
// restart, and who compares tracks finds changed ones alone changed.
func TestNotesAreWhatWasSaid(t *testing.T) {
	var tracks []station.Track
	for i := range 12 {
		tracks = append(tracks, song(fmt.Sprintf("english/%02d.mp3", i), i))
	}
	for seed := range uint64(8) {
		r, chance := open(t, tracks...), rand.New(rand.NewPCG(seed, 1))
		model, before := map[string]string{}, map[int64]map[string]string{}
		for range 60 {
			old := r.Tracks()
			touched := map[string]bool{}
			if chance.IntN(3) > 0 || len(before) == 0 {
				title, paths := "null", []string{}
				if chance.IntN(4) > 0 {
					title = fmt.Sprintf(`"T%d"`, chance.IntN(4))
				}
				for range 1 + chance.IntN(4) {
					paths = append(paths, tracks[chance.IntN(len(tracks))].Path)
				}
				out, err := r.change(`{"title":`+title+`}`, paths...)
				if err != nil {
					t.Fatal(err)
				}
				was := map[string]string{}
				for _, p := range paths {
					if _, twice := was[p]; !twice {
						was[p] = model[p]
					}
					if next := strings.Trim(strings.Replace(title, "null", "", 1), `"`); model[p] != next {
						model[p], touched[p] = next, true
					}
				}
				if out.Changed != len(touched) {
					t.Fatalf("seed %d: %d changed, want %d", seed, out.Changed, len(touched))
				}
				if out.Deed != nil {
					for p := range was {
						if !touched[p] {
							delete(was, p)
						}
					}
					before[out.Deed.ID] = was
					for p := range was {
						was[p+"\x00after"] = model[p]
					}
				}
			} else {
				for id, was := range before {
					if _, _, err := r.Undo(t.Context(), id, "mona"); err != nil && !errors.Is(err, station.ErrConflict) {
						t.Fatal(err)
					} else if err == nil {
						for p, text := range was {
							if after, is := was[p+"\x00after"]; is && model[p] == after {
								model[p], touched[p] = text, true
							}
						}
						delete(before, id)
					}
					break
				}
			}
			if chance.IntN(10) == 0 {
				r.again()
				old = nil
			}
			for i, now := range r.Tracks() {
				want := tracks[i].Title
				if model[now.Path] != "" {
					want = model[now.Path]
				}
				if now.Title != want {
					t.Fatalf("seed %d: %s is called %q, want %q", seed, now.Path, now.Title, want)
				}
				if old != nil && !touched[now.Path] && old[i] != now {
					t.Fatalf("seed %d: %s changed by itself", seed, now.Path)
				}
			}
		}
	}
}

func TestDeedsAreForgottenAfterAYearAndPicturesAreNamedUntilThen(t *testing.T) {
	r := open(t, song("a.mp3", 1), song("b.mp3", 2))
	first, second, third := strings.Repeat("1", 32), strings.Repeat("2", 32), strings.Repeat("3", 32)
	r.must(`{"cover":"`+first+`"}`, "a.mp3")
	r.must(`{"cover":"`+second+`"}`, "a.mp3")
	r.must(`{"title":"a \"cover\": x"}`, "b.mp3")
	r.now = day.Add(370 * 24 * time.Hour)
	r.must(`{"cover":"`+third+`"}`, "b.mp3") // a clock that is ahead removes none
	named := func() []string {
		all, err := r.Covers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(maps.Keys(all))
	}
	if list, err := r.Deeds(t.Context(), "", 0, 10); err != nil || len(list) != 4 {
		t.Errorf("%v, %v", list, err)
	}
	if got := named(); !slices.Equal(got, []string{first, second, third}) {
		t.Errorf("%v", got)
	}
	if err := r.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := r.Deeds(t.Context(), "", 0, 10); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if got := named(); !slices.Equal(got, []string{second, third}) {
		t.Errorf("%v", got)
	}
}

// A change of thousands of tracks must not write a long text thousands of times.
func TestAChangeOfManyTracksIsBounded(t *testing.T) {
	var tracks []station.Track
	var paths []string
	for i := range 2_000 {
		tracks = append(tracks, song(fmt.Sprintf("english/%04d.mp3", i), i))
		paths = append(paths, tracks[i].Path)
	}
	r := open(t, tracks...)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("%q", strings.Repeat(string(rune('a'+i)), 300)))
	}
	long := `{"aliases":[` + strings.Join(names, ",") + `]}`
	refused := func(field, set string, paths ...string) {
		t.Helper()
		_, err := r.change(set, paths...)
		var wrong *station.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%v, want %s", err, field)
		}
	}
	refused("set", long+strings.Repeat(" ", 6_000), paths...)
	if out, err := r.change(long, paths[:200]...); err != nil || out.Changed != 200 {
		t.Errorf("%d, %v", out.Changed, err)
	}
	if out, err := r.change(`{"genre":"Pop"}`, paths...); err != nil || out.Changed != 2_000 {
		t.Errorf("%d, %v", out.Changed, err)
	}
	if list, err := r.Deeds(t.Context(), "", 0, 10); err != nil || len(list) != 2 {
		t.Errorf("%d deeds, %v", len(list), err)
	}
}

// A file that comes or goes has the notes of the others left alone.
func TestAChangeOfTheFolderReadsNoNoteAgain(t *testing.T) {
	var tracks []station.Track
	var paths []string
	for i := range 1_000 {
		tracks = append(tracks, song(fmt.Sprintf("english/%04d.mp3", i), i))
		paths = append(paths, tracks[i].Path)
	}
	r := open(t, tracks...)
	r.must(`{"title":"T"}`, paths...)
	r.Tracks()
	allocs := testing.AllocsPerRun(5, func() {
		r.shelf.set(slices.Clone(tracks)...)
		r.Tracks()
	})
	if allocs > 100 {
		t.Errorf("%.0f allocations", allocs)
	}
}

func FuzzWith(f *testing.F) {
	f.Add(`{"title":"x","limits":{"hours":[[1,2]]}}`, `{"limits":{"hours":null},"aliases":["a"," a"]}`)
	f.Fuzz(func(t *testing.T, first, then string) {
		n, _, err := overlay.Note{}.With(json.RawMessage(first))
		if err != nil {
			return
		}
		m, _, err := n.With(json.RawMessage(then))
		if err != nil {
			var wrong *station.FieldError
			if !errors.As(err, &wrong) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if again, _, err := m.With(json.RawMessage(then)); err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("said twice it is another: %+v, %+v, %v", m, again, err)
		}
	})
}
