package lists_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/onair/rotation"
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
		Path: path, Category: station.English, Title: "Title " + path, Artist: fmt.Sprint("Artist ", n%3), Duration: time.Duration(60+n) * time.Second, Size: int64(1000 + n), ModTime: day.Add(time.Duration(n) * time.Second),
	}
}

func songs(n int) (out []station.Track) {
	for i := range n {
		out = append(out, song(fmt.Sprintf("music/%02d.mp3", i), i))
	}
	return out
}

func pathsOf(tracks []station.Track) (out []string) {
	for _, t := range tracks {
		out = append(out, t.Path)
	}
	return out
}

type rig struct {
	*lists.Lists
	t       *testing.T
	db      *store.DB
	log     *slog.Logger
	shelf   *shelf
	mu      sync.Mutex
	now     time.Time
	waiting string // a track that cannot air yet
	config  rotation.Config
}

func (r *rig) clock() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return r.now }

func (r *rig) pass(d time.Duration) { r.mu.Lock(); defer r.mu.Unlock(); r.now = r.now.Add(d) }

func open(t *testing.T, tracks ...station.Track) *rig {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{t: t, db: db, shelf: &shelf{}, now: day, config: rotation.DefaultConfig()}
	r.log, _ = testkit.Log(t)
	r.shelf.set(tracks...)
	r.again()
	return r
}

// again opens the playlists as another process does.
func (r *rig) again() {
	r.t.Helper()
	var err error
	r.Lists, err = lists.Open(r.t.Context(), lists.Options{
		Log: r.log, DB: r.db, Registry: r.shelf, Whole: func() bool { return true },
		Standing: func(tracks []station.Track) func(int) (catalog.State, string) {
			return func(i int) (catalog.State, string) {
				if tracks[i].Path == r.waiting {
					return catalog.Waiting, ""
				}
				return catalog.Airs, ""
			}
		},
		Find: func(q catalog.Query, with func(string) bool) error {
			for _, t := range r.shelf.Tracks() {
				if strings.Contains(t.Path, q.Text) && !with(t.Path) {
					break
				}
			}
			return nil
		},
		Config: func() rotation.Config { return r.config }, Zone: time.UTC, Aired: func(int64) time.Time { return day.Add(-time.Hour) },
		Fetch: fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Attempts: 1}), Now: r.clock,
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func byHand(name string) lists.Settings {
	return lists.Settings{Name: name, Kind: lists.Hand, Order: rotation.OrderSequence, Plays: rotation.PlaysClock, On: true}
}

func (r *rig) make(s lists.Settings, paths ...string) lists.Playlist {
	r.t.Helper()
	out, err := r.Make(r.t.Context(), "salma", s, paths)
	if err != nil {
		r.t.Fatal(err)
	}
	return *out.Playlist
}

func (r *rig) items(id int64) []string {
	r.t.Helper()
	_, total, paths, err := r.Items(id, 0, lists.MostItems)
	if err != nil || total != len(paths) {
		r.t.Fatal(total, paths, err)
	}
	return paths
}

func TestWhatIsToldToThePlanner(t *testing.T) {
	r := open(t, songs(6)...)
	r.waiting = "music/01.mp3"
	s := byHand("  Friday   jazz ")
	s.Plays, s.Share, s.EverySongs = rotation.PlaysShare, 30, 7
	s.When = []rotation.Window{{Days: []rotation.Weekday{5}, Start: 22 * 60, End: 2 * 60}}
	p := r.make(s, "music/01.mp3", "music/nowhere.mp3", "music/00.mp3", "music/01.mp3")
	if p.Name != "Friday jazz" || p.Tracks != 3 || p.Ready != 1 || p.Missing != 0 || p.DurationMS != 182_000 || p.Open || p.EverySongs != 0 || p.AiredAt != day.Add(-time.Hour).UnixMilli() {
		t.Errorf("%+v", p)
	}
	if want := time.Date(2026, 12, 4, 22, 0, 0, 0, time.UTC).UnixMilli(); p.NextAt != want {
		t.Errorf("it opens at %v", time.UnixMilli(p.NextAt).UTC())
	}
	off := byHand("off")
	off.On = false
	r.make(off, "music/02.mp3")
	r.make(byHand("empty"))
	want := []rotation.List{{
		ID: p.ID, Name: "Friday jazz", Paths: []string{"music/01.mp3", "music/00.mp3", "music/01.mp3"}, Order: rotation.OrderSequence, Plays: rotation.PlaysShare, Share: 0.3, When: s.When, Edition: p.Version,
	}}
	if got := r.Current(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	r.shelf.set(songs(1)...)
	r.again()
	if p, err := r.Get(p.ID); err != nil || p.Missing != 2 || !reflect.DeepEqual(r.Current(), want) {
		t.Errorf("files that are away: %+v, %v", p, err)
	}
}

func TestWrongSettingsAreNamedInBothLanguages(t *testing.T) {
	r := open(t, songs(3)...)
	p := r.make(byHand("فيروز"))
	for field, wrong := range map[string]func(*lists.Settings){
		"name":            func(s *lists.Settings) { s.Name = " \t " },
		"name ":           func(s *lists.Settings) { s.Name = "فيرُوز" },
		"name  ":          func(s *lists.Settings) { s.Name = strings.Repeat("x", 81) },
		"name   ":         func(s *lists.Settings) { s.Name = strings.Repeat("🎵", 60) },
		"note":            func(s *lists.Settings) { s.Note = "a\x00b" },
		"kind":            func(s *lists.Settings) { s.Kind = "cloud" },
		"query":           func(s *lists.Settings) { s.Kind = lists.Smart },
		"query ":          func(s *lists.Settings) { s.Kind, s.Query = lists.Smart, &catalog.Query{Sort: "colour"} },
		"address":         func(s *lists.Settings) { s.Kind, s.Address = lists.Remote, "file:///etc/passwd" },
		"everyMinutes":    func(s *lists.Settings) { s.Kind, s.Address, s.EveryMinutes = lists.Remote, "http://a.example/", 1 },
		"order":           func(s *lists.Settings) { s.Order = "best" },
		"order ":          func(s *lists.Settings) { s.Plays, s.Order = rotation.PlaysOnce, rotation.OrderTurns },
		"when":            func(s *lists.Settings) { s.Plays = rotation.PlaysOnce },
		"plays":           func(s *lists.Settings) { s.Plays = "often" },
		"share":           func(s *lists.Settings) { s.Plays = rotation.PlaysShare },
		"everySongs":      func(s *lists.Settings) { s.Plays, s.EverySongs = rotation.PlaysSongs, 501 },
		"minute":          func(s *lists.Settings) { s.Plays, s.Minute = rotation.PlaysHourly, 60 },
		"when[0].daypart": func(s *lists.Settings) { s.When = []rotation.Window{{Daypart: "noon"}} },
		"when[1].start":   func(s *lists.Settings) { s.When = []rotation.Window{{}, {Start: 24 * 60}} },
		"when[0].until":   func(s *lists.Settings) { s.When = []rotation.Window{{From: 20261201, Until: 20261130}} },
	} {
		s := byHand("another")
		wrong(&s)
		_, err := r.Make(t.Context(), "salma", s, nil)
		var of *station.FieldError
		if !errors.As(err, &of) || of.Field != strings.TrimSpace(field) || of.Arabic == "" || !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := r.Set(t.Context(), "salma", p.ID, p.Version, byHand("فيروز ")); err != nil {
		t.Errorf("its own name: %v", err)
	}
	if _, err := r.Set(t.Context(), "salma", p.ID, p.Version+7, byHand("x")); !errors.Is(err, station.ErrConflict) {
		t.Errorf("another version: %v", err)
	}
	if _, err := r.Edit(t.Context(), "salma", 99, 1, lists.Edit{Sort: "title"}); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("another playlist: %v", err)
	}
	if got := r.Free("فيروز"); got != "فيروز (2)" {
		t.Errorf("a free name: %q", got)
	}
	if got := r.Free("\x07\xff "); got != "Playlist" {
		t.Errorf("a name of nothing: %q", got)
	}
}

// Whatever is done to playlists, each holds what the same changes of a slice leave, in this
// process and in the next, and taking everything back, the latest first, leaves nothing.
func TestEditsAndWhatTakesThemBack(t *testing.T) {
	tracks := songs(12)
	for seed := range uint64(4) {
		r := open(t, slices.Clone(tracks)...)
		rng := rand.New(rand.NewPCG(seed, 1))
		model := map[int64][]string{}
		var deeds []int64
		for step := range 60 {
			var ids []int64
			for _, p := range r.All() {
				ids = append(ids, p.ID)
				if got := r.items(p.ID); !slices.Equal(got, model[p.ID]) {
					t.Fatalf("seed %d, step %d: %v, want %v", seed, step, got, model[p.ID])
				}
			}
			if len(ids) != len(model) {
				t.Fatalf("%d playlists, want %d", len(ids), len(model))
			}
			if len(ids) == 0 || rng.IntN(10) == 0 {
				out, err := r.Make(t.Context(), "a", byHand(fmt.Sprint("p", step)), pathsOf(tracks[:rng.IntN(5)]))
				if err != nil {
					t.Fatal(err)
				}
				model[out.Playlist.ID] = r.items(out.Playlist.ID)
				deeds = append(deeds, out.Deed.ID)
				continue
			}
			id := ids[rng.IntN(len(ids))]
			items := slices.Clone(model[id])
			p, err := r.Get(id)
			if err != nil {
				t.Fatal(err)
			}
			pick := func() (places []int) {
				for i := range items {
					if rng.IntN(2) == 0 {
						places = append(places, i)
					}
				}
				return places
			}
			var e lists.Edit
			switch rng.IntN(5) {
			case 0:
				to := rng.IntN(len(items) + 1)
				some := pathsOf(tracks[rng.IntN(6):][:3])
				e.Add = &lists.Add{Paths: some, At: &to}
				items = slices.Insert(items, to, some...)
			case 1:
				places := pick()
				e.Remove = &lists.Some{Places: places}
				for _, at := range slices.Backward(places) {
					items = slices.Delete(items, at, at+1)
				}
			case 2:
				places, to := pick(), rng.IntN(len(items)+1)
				e.Move = &lists.Move{Places: places, To: to}
				const mark = "\x00" // where they go
				items = slices.Insert(items, to, mark)
				var some []string
				for _, at := range places {
					if at >= to {
						at++
					}
					some = append(some, items[at])
					items[at] = ""
				}
				at := slices.Index(items, mark)
				items = slices.DeleteFunc(slices.Replace(items, at, at+1, some...), func(s string) bool { return s == "" })
			case 3:
				e.Sort = "path"
				slices.Sort(items)
			default:
				out, err := r.Delete(t.Context(), "a", id)
				if err != nil || out.Playlist != nil {
					t.Fatal(out, err)
				}
				delete(model, id)
				deeds = append(deeds, out.Deed.ID)
				continue
			}
			out, err := r.Edit(t.Context(), "a", id, p.Version, e)
			if err != nil {
				t.Fatal(err)
			}
			if model[id] = items; out.Deed != nil {
				deeds = append(deeds, out.Deed.ID)
			}
			if rng.IntN(4) == 0 {
				r.again()
			}
		}
		for _, id := range slices.Backward(deeds) {
			if _, err := r.Undo(t.Context(), "b", id); err != nil {
				t.Fatalf("seed %d: deed %d: %v", seed, id, err)
			}
		}
		if left := r.All(); len(left) != 0 {
			t.Errorf("seed %d: %+v is left", seed, left)
		}
	}
}

func TestAnUndoIsUndoneAndWhatWasChangedSinceStays(t *testing.T) {
	r := open(t, songs(4)...)
	p := r.make(byHand("a"), "music/00.mp3", "music/01.mp3")
	renamed, err := r.Set(t.Context(), "omar", p.ID, p.Version, byHand("b"))
	if err != nil {
		t.Fatal(err)
	}
	sorted, err := r.Edit(t.Context(), "omar", p.ID, renamed.Playlist.Version, lists.Edit{Remove: &lists.Some{Places: []int{0}}})
	if err != nil {
		t.Fatal(err)
	}
	back, err := r.Undo(t.Context(), "salma", renamed.Deed.ID) // the name alone: the tracks were changed since
	if err != nil || back.Playlist.Name != "a" || !slices.Equal(r.items(p.ID), []string{"music/01.mp3"}) {
		t.Fatalf("%+v, %v", back.Playlist, err)
	}
	if _, err := r.Undo(t.Context(), "salma", renamed.Deed.ID); !errors.Is(err, station.ErrConflict) {
		t.Errorf("twice: %v", err)
	}
	again, err := r.Undo(t.Context(), "salma", back.Deed.ID)
	if err != nil || again.Playlist.Name != "b" {
		t.Errorf("%+v, %v", again.Playlist, err)
	}
	if _, err := r.Edit(t.Context(), "omar", p.ID, again.Playlist.Version, lists.Edit{Add: &lists.Add{Paths: []string{"music/03.mp3"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), "salma", sorted.Deed.ID); !errors.Is(err, station.ErrConflict) {
		t.Errorf("changed since: %v", err)
	}
	gone, err := r.Delete(t.Context(), "omar", p.ID)
	if err != nil {
		t.Fatal(err)
	}
	r.make(byHand("b"))
	if _, err := r.Undo(t.Context(), "salma", gone.Deed.ID); !errors.Is(err, station.ErrConflict) {
		t.Errorf("its name is another's: %v", err)
	}
	log, err := r.Deeds(t.Context(), p.ID, 0, 3)
	if err != nil || len(log) != 3 || log[0].Kind != lists.Deleted || log[0].Who != "omar" || log[1].Kind != lists.Ordered || log[1].Tracks != 2 || log[2].Undoes != back.Deed.ID {
		t.Errorf("%+v, %v", log, err)
	}
}

func TestAMovedFileKeepsItsPlaces(t *testing.T) {
	tracks := songs(4)
	r := open(t, tracks...)
	p := r.make(byHand("a"), "music/00.mp3", "music/01.mp3", "music/00.mp3")
	cut, err := r.Edit(t.Context(), "salma", p.ID, p.Version, lists.Edit{Remove: &lists.Some{Places: []int{1}}})
	if err != nil {
		t.Fatal(err)
	}
	told, cancel := r.Subscribe()
	defer cancel()
	moved := slices.Clone(tracks)
	moved[0].Path, moved[0].AddedAt = "elsewhere/new.mp3", r.now
	moved[1].Path, moved[1].AddedAt = "elsewhere/other.mp3", r.now
	r.shelf.set(slices.Clone(moved)...)
	if err := r.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-told
	r.again()
	if got := r.items(p.ID); !slices.Equal(got, []string{"elsewhere/new.mp3", "elsewhere/new.mp3"}) {
		t.Errorf("%v", got)
	}
	back, err := r.Undo(t.Context(), "salma", cut.Deed.ID)
	if err != nil || back.Playlist.Missing != 0 || !slices.Equal(r.items(p.ID), []string{"elsewhere/new.mp3", "elsewhere/other.mp3", "elsewhere/new.mp3"}) {
		t.Fatalf("what was taken out as its file went: %+v, %v", r.items(p.ID), err)
	}
	if err := r.Move(t.Context(), "elsewhere/new.mp3", "music/again.mp3"); err != nil {
		t.Fatal(err)
	}
	if got := r.items(p.ID); !slices.Equal(got, []string{"music/again.mp3", "elsewhere/other.mp3", "music/again.mp3"}) {
		t.Errorf("%v", got)
	}
	gone, err := r.Delete(t.Context(), "salma", p.ID)
	if err != nil {
		t.Fatal(err)
	}
	moved[0].Path = "music/third.mp3"
	r.pass(time.Hour)
	moved[0].AddedAt = r.clock()
	r.shelf.set(slices.Clone(moved)...)
	if err := r.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.again()
	if _, err := r.Undo(t.Context(), "salma", gone.Deed.ID); err != nil {
		t.Fatal(err)
	}
	if got := r.items(p.ID); !slices.Equal(got, []string{"music/third.mp3", "elsewhere/other.mp3", "music/third.mp3"}) {
		t.Errorf("of a playlist that was deleted meanwhile: %v", got)
	}
}

// An empty list is none, whether it was sent so or read from the database.
func TestWhatIsEmptyIsTakenBackAsWell(t *testing.T) {
	r := open(t, songs(2)...)
	s := byHand("a")
	s.Kind, s.Query = lists.Smart, &catalog.Query{Text: "music", Genre: []string{}, State: []catalog.State{}}
	s.When = []rotation.Window{{Days: []rotation.Weekday{}}, {Days: []rotation.Weekday{5, 5, 1}}}
	made, err := r.Make(t.Context(), "salma", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if days := made.Playlist.When[1].Days; !slices.Equal(days, []rotation.Weekday{1, 5}) {
		t.Errorf("%v", days)
	}
	off := made.Playlist.Settings
	off.On = false
	changed, err := r.Set(t.Context(), "salma", made.Playlist.ID, made.Playlist.Version, off)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{changed.Deed.ID, made.Deed.ID} {
		if _, err := r.Undo(t.Context(), "salma", id); err != nil {
			t.Errorf("deed %d: %v", id, err)
		}
	}
}

// One who edited a playlist that was deleted and brought back is told.
func TestAPlaylistThatIsBroughtBackHasAnotherVersion(t *testing.T) {
	r := open(t, songs(3)...)
	p := r.make(byHand("a"), "music/00.mp3", "music/01.mp3")
	gone, err := r.Delete(t.Context(), "omar", p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), "omar", gone.Deed.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Edit(t.Context(), "salma", p.ID, p.Version, lists.Edit{Remove: &lists.Some{Places: []int{0}}}); !errors.Is(err, station.ErrConflict) {
		t.Errorf("%v", err)
	}
}

func TestAPlaylistThatAClockNamesKeepsItsName(t *testing.T) {
	r := open(t, songs(1)...)
	p := r.make(byHand("Fairuz"))
	r.config.Clocks = []rotation.HourClock{{Name: "morning", Hour: []rotation.Position{{Category: "playlist", List: "fairuz"}}}}
	if _, err := r.Set(t.Context(), "salma", p.ID, p.Version, byHand("Feiruz")); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "morning") {
		t.Errorf("%v", err)
	}
	if _, err := r.Set(t.Context(), "salma", p.ID, p.Version, byHand("FAIRUZ")); err != nil {
		t.Errorf("the same name: %v", err)
	}
}

// A clock would ask for it in vain: it is neither deleted nor renamed by taking something back.
func TestAPlaylistThatAClockNamesStays(t *testing.T) {
	r := open(t, songs(1)...)
	made, err := r.Make(t.Context(), "salma", byHand("Feiruz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	renamed, err := r.Set(t.Context(), "salma", made.Playlist.ID, made.Playlist.Version, byHand("Fairuz"))
	if err != nil {
		t.Fatal(err)
	}
	r.config.Clocks = []rotation.HourClock{{Name: "morning", Hour: []rotation.Position{{Category: "playlist", List: "fairuz"}}}}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "morning") || station.Status(err) != 409 {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = r.Delete(t.Context(), "salma", made.Playlist.ID)
	refused("deleted", err)
	_, err = r.Undo(t.Context(), "salma", renamed.Deed.ID)
	refused("its name taken back", err)
	if got := r.All(); len(got) != 1 || got[0].Name != "Fairuz" {
		t.Fatalf("%+v", got)
	}
	r.config.Clocks = nil
	if _, err := r.Undo(t.Context(), "salma", renamed.Deed.ID); err != nil {
		t.Fatal(err)
	}
	r.config.Clocks = []rotation.HourClock{{Name: "morning", Hour: []rotation.Position{{Category: "playlist", List: "feiruz"}}}}
	_, err = r.Undo(t.Context(), "salma", made.Deed.ID)
	refused("taken back", err)
	r.config.Clocks = nil
	if _, err := r.Delete(t.Context(), "salma", made.Playlist.ID); err != nil {
		t.Errorf("no clock names it any more: %v", err)
	}
}

func TestASearchIsFollowedAndMayBecomeAPlaylistByHand(t *testing.T) {
	r := open(t, songs(3)...)
	s := byHand("smart")
	s.Kind, s.Query = lists.Smart, &catalog.Query{Text: "music/"}
	p := r.make(s)
	if got := r.items(p.ID); len(got) != 3 {
		t.Fatalf("%v", got)
	}
	told, cancel := r.Subscribe()
	defer cancel()
	r.run()
	r.shelf.set(songs(5)...)
	testkit.Eventually(t, "what was added", func() bool { return len(r.items(p.ID)) == 5 && len(r.Current()[0].Paths) == 5 })
	select {
	case <-told:
		t.Error("a search that finds another track has the rotation built anew")
	default:
	}
	if _, err := r.Edit(t.Context(), "salma", p.ID, p.Version, lists.Edit{Sort: "title"}); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("edited by hand: %v", err)
	}
	hand := byHand("smart")
	out, err := r.Set(t.Context(), "salma", p.ID, p.Version, hand)
	if err != nil || out.Playlist.Tracks != 5 {
		t.Fatalf("%+v, %v", out.Playlist, err)
	}
	back, err := r.Undo(t.Context(), "salma", out.Deed.ID)
	if err != nil || back.Playlist.Kind != lists.Smart {
		t.Errorf("%+v, %v", back.Playlist, err)
	}
}

// run has what goes on by itself go on until the test ends.
func (r *rig) run() {
	done := make(chan struct{})
	ctx := r.t.Context()
	go func() { defer close(done); _ = r.Lists.Run(ctx) }()
	r.t.Cleanup(func() { <-done })
}

func TestWhatASettingIsWrittenAs(t *testing.T) {
	s := byHand("x")
	s.When = []rotation.Window{{Days: []rotation.Weekday{5}, Start: 60, End: 120, From: 20261201}}
	text, err := json.Marshal(s)
	const want = `{"name":"x","kind":"hand","order":"sequence","plays":"clock","when":[{"days":["fri"],"start":"01:00","end":"02:00","from":"2026-12-01"}],"on":true}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	var back lists.Settings
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%+v, %v", back, err)
	}
}
