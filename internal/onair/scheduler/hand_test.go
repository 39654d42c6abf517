package scheduler_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// edit makes a change of the queue as it is now.
func (r *rig) edit(op scheduler.Op, at, to int, path string) (scheduler.Deed, error) {
	r.t.Helper()
	d, _, err := r.Edit(r.t.Context(), scheduler.Edit{Version: r.View().Version(), Op: op, Position: at, To: to, Path: path, By: "sara"})
	return d, err
}

func (r *rig) edited(op scheduler.Op, at, to int, path string) scheduler.Deed {
	r.t.Helper()
	d, err := r.edit(op, at, to, path)
	if err != nil {
		r.t.Fatalf("%s %d %d %s: %v", op, at, to, path, err)
	}
	return d
}

func entryPaths(entries []rotation.Entry) []string {
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Track.Path)
	}
	return out
}

// heldPaths are what is held, next first.
func (r *rig) heldPaths() []string {
	n, _ := r.View().Held()
	return entryPaths(r.View().Coming()[:n])
}

// coming are the next of what is to come.
func (r *rig) coming(n int) []string { return entryPaths(r.View().Coming()[:n]) }

const none = scheduler.None

func TestAnEditHoldsWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		was := n.coming(8)
		first := n.View().Consumed
		n.edited(scheduler.Move, first+5, first+2, "")
		want := []string{was[0], was[1], was[5], was[2], was[3], was[4]}
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Fatalf("moved: held are %v, want %v", got, want)
		}
		e := n.View().Coming()
		if !e[2].Hand || !strings.HasPrefix(e[2].Why.Reason, "placed by hand; ") || e[1].Hand || !e[1].Held {
			t.Errorf("moved: %+v, %+v", e[2].Why, e[1])
		}
		if _, by := n.View().Held(); by != "sara" {
			t.Errorf("held by %q", by)
		}
		fresh := n.fresh()
		n.edited(scheduler.Insert, none, none, fresh)
		want = slices.Insert(want, 0, fresh)
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Fatalf("next: held are %v, want %v", got, want)
		}
		n.edited(scheduler.Remove, 3, none, "")
		gone := want[3]
		want = slices.Delete(want, 3, 4)
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Fatalf("removed: held are %v, want %v", got, want)
		}
		if slices.Contains(entryPaths(n.View().Coming()[:40]), gone) {
			t.Error("what was removed comes right back")
		}
		second := n.coming(12)[11]
		n.edited(scheduler.Remove, 11, none, "")
		n.edited(scheduler.Release, len(want), none, "")
		for _, path := range []string{gone, second} {
			known := slices.ContainsFunc(n.View().Rotation.Removed, func(r rotation.Removed) bool { return r.Path == path })
			if !known || slices.Contains(n.coming(25), path) {
				t.Errorf("%s was removed and comes right back, or may", path)
			}
		}
		n.edited(scheduler.Lock, 9, none, "")
		if got, _ := n.View().Held(); got != 10 {
			t.Errorf("locked: %d are held", got)
		}
		n.edited(scheduler.Release, 2, none, "")
		if got := n.heldPaths(); !slices.Equal(got, want[:2]) {
			t.Errorf("released: held are %v", got)
		}
		n.edited(scheduler.Release, none, none, "")
		if got, by := n.View().Held(); got != 0 || by != "" {
			t.Errorf("all released: %d are held, by %q", got, by)
		}
	})
}

// fresh is a song that does not come and was not heard.
func (n *newsroom) fresh() string {
	n.t.Helper()
	for _, s := range n.all {
		v := n.View()
		if s.Category.Music() && v.LastAired(s.Path).IsZero() && !slices.Contains(entryPaths(v.Coming()), s.Path) && v.OnAir.Track.Path != s.Path {
			return s.Path
		}
	}
	n.t.Fatal("every song comes")
	return ""
}

// What cannot be changed is refused, and changes nothing.
func TestEditsThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		for range 3 {
			n.ends()
			n.next()
		}
		first, pushes := n.View().Consumed, n.node.counted()
		_, _, err := n.Edit(t.Context(), scheduler.Edit{Version: "of before", Op: scheduler.Lock, Position: first})
		if !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "look again") {
			t.Errorf("another version: %v", err)
		}
		for what, c := range map[string]struct {
			op     scheduler.Op
			at, to int
			path   string
			kind   error
		}{
			"heard":                {scheduler.Remove, first - 1, none, "", station.ErrNotFound},
			"before what is heard": {scheduler.Move, first + 3, first - 1, "", station.ErrNotFound},
			"behind the end":       {scheduler.Lock, 500, none, "", station.ErrNotFound},
			"to behind the end":    {scheduler.Insert, none, 500, n.all[0].Path, station.ErrNotFound},
			"no such file":         {scheduler.Insert, none, none, "../etc/passwd", station.ErrNotFound},
			"too many":             {scheduler.Lock, first + rotation.MostHeld, none, "", station.ErrConflict},
			"far move":             {scheduler.Move, first + rotation.MostHeld, first, "", station.ErrConflict},
			"nothing held":         {scheduler.Release, none, none, "", station.ErrConflict},
			"no op":                {"shuffle", first, none, "", station.ErrInvalid},
		} {
			_, err := n.edit(c.op, c.at, c.to, c.path)
			if !errors.Is(err, c.kind) {
				t.Errorf("%s: %v", what, err)
			}
			var words interface {
				error
				Spoken() (code, en, ar string, at time.Time)
			}
			if c.op == "shuffle" { // which the API lets nobody send
				continue
			}
			if !errors.As(err, &words) {
				t.Errorf("%s: %v has no words of both languages", what, err)
			} else if code, en, ar, _ := words.Spoken(); code == "" || ar == "" || en != words.Error() {
				t.Errorf("%s: %s %q %q", what, code, en, ar)
			}
		}
		n.edited(scheduler.Lock, first+rotation.MostHeld-1, none, "")
		if _, err := n.edit(scheduler.Insert, none, none, n.fresh()); !errors.Is(err, station.ErrConflict) {
			t.Errorf("one more than may be held: %v", err)
		}
		// The engine takes the next entry half a second before its time.
		time.Sleep(time.Until(n.View().NextStart()) - 300*time.Millisecond)
		if n.View().Opened(time.Now()) != 1 {
			t.Errorf("%d are opened", n.View().Opened(time.Now()))
		}
		if _, err := n.edit(scheduler.Remove, n.View().Consumed, none, ""); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "opened") {
			t.Errorf("opened: %v", err)
		}
		if n.node.counted() != pushes+1 {
			t.Errorf("%d pushes for one change", n.node.counted()-pushes)
		}
		// Two in a row: what the first left in flight is heard before the second's.
		n.edited(scheduler.Insert, none, none, n.fresh())
	})
}

// Each rebuild keeps what is held, whatever it is for.
func TestEachRebuildKeepsWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := songs(300)
		for i := range all {
			all[i].Duration = 40 * time.Minute // none ends meanwhile
		}
		n := newNewsroom(t, all)
		time.Sleep(time.Minute)
		n.edited(scheduler.Insert, none, none, n.fresh())
		n.edited(scheduler.Insert, none, 3, n.fresh())
		n.edited(scheduler.Lock, 6, none, "")
		want := n.heldPaths()
		cfg := rotation.DefaultConfig()
		cfg.Dayparts = []rotation.Daypart{{Name: "one", Start: 9 * 60, End: 9*60 + 20, Weights: map[station.Category]float64{station.English: 0}}, {Name: "two", Start: 9*60 + 20, End: 9 * 60, Hard: station.English}}
		b := bulletin(n.View().NextStart())
		for _, rebuild := range []struct {
			by string
			do func() error
		}{
			{"operator", func() error { return n.Rebuild(t.Context()) }},
			{"settings with a category alone, and a daypart that does not play it", func() error { _, err := n.Configure(t.Context(), cfg); return err }},
			{"daypart", func() error { time.Sleep(10 * time.Minute); return nil }},
			{"restart", func() error { n.stop(); n.open(); time.Sleep(time.Second); return nil }},
			{"grown library", func() error {
				n.add(station.Track{Path: "sweepers/a.mp3", Category: station.Sweepers, Duration: 8 * time.Second, Size: 1})
				time.Sleep(11 * time.Second)
				return nil
			}},
			{"entry that is gone behind it", func() error {
				gone := n.View().Coming()[20].Track.Path
				n.all = slices.DeleteFunc(slices.Clone(n.all), func(t station.Track) bool { return t.Path == gone })
				n.shelf.set(n.all)
				time.Sleep(2 * time.Second)
				return nil
			}},
			{"bulletin", func() error { n.add(b); return n.Queue(t.Context(), b.Path) }},
		} {
			if err := rebuild.do(); err != nil {
				t.Fatalf("%s: %v", rebuild.by, err)
			}
			synctest.Wait()
			if rebuild.by == "daypart" && !strings.HasPrefix(n.View().Reason, "daypart") {
				t.Errorf("the watchdog did not rebuild: %s", n.View().Reason)
			}
			got := n.heldPaths()
			if rebuild.by == "bulletin" {
				if len(got) == 0 || got[0] != b.Path {
					t.Fatalf("the bulletin does not come first: %v", got)
				}
				got = got[1:]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: held are %v, want %v", rebuild.by, got, want)
			}
		}
		pushes := n.node.counted()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if got := n.node.counted(); got != pushes {
			t.Errorf("the watchdog rebuilds again and again: %d pushes", got-pushes)
		}
	})
}

// A file that is gone drops out of what is held, and no other.
func TestAHeldFileThatIsGoneDropsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		n.edited(scheduler.Lock, n.View().Consumed+4, none, "")
		want := n.heldPaths()
		gone := want[2]
		n.all = slices.DeleteFunc(slices.Clone(n.all), func(t station.Track) bool { return t.Path == gone })
		n.shelf.set(n.all)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want = slices.Delete(want, 2, 3)
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Errorf("held are %v, want %v", got, want)
		}
	})
}

// An operator who says something else of a held track has the rotation built anew once, not
// for ever.
func TestAHeldTrackThatIsEditedIsRebuiltOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		n.edited(scheduler.Lock, n.View().Consumed+4, none, "")
		want := n.heldPaths()
		n.all = slices.Clone(n.all)
		i := slices.IndexFunc(n.all, func(t station.Track) bool { return t.Path == want[1] })
		n.all[i].Own = &station.Own{Limits: station.Limits{PerDay: 1}}
		pushes := n.node.counted()
		n.shelf.set(n.all)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if got := n.heldPaths(); !slices.Equal(got, want) || n.node.counted() != pushes+1 {
			t.Errorf("held are %v, want %v; %d pushes", got, want, n.node.counted()-pushes)
		}
	})
}

func TestUndoBringsBackWhatWasHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		n.edited(scheduler.Lock, n.View().Consumed+5, none, "")
		held := n.heldPaths()
		order := n.coming(9)
		remove := n.edited(scheduler.Remove, 7, none, "")
		n.edited(scheduler.Insert, none, 2, n.fresh())
		if d, there := n.View().LastDeed(); !there || d.Op != scheduler.Insert || d.By != "sara" {
			t.Errorf("last deed %+v", d)
		}
		n.ends()
		heard := n.next()
		if heard.Path != held[0] {
			t.Fatalf("heard %s, held was %s", heard.Path, held[0])
		}
		if err := n.Undo(t.Context(), remove.ID, "nour"); err != nil {
			t.Fatal(err)
		}
		if got := n.heldPaths(); !slices.Equal(got, held[1:]) {
			t.Errorf("held are %v, want %v", got, held[1:])
		}
		if got := n.coming(7); !slices.Equal(got, order[1:8]) {
			t.Errorf("to come are %v, want %v", got, order[1:8])
		}
		if err := n.Undo(t.Context(), remove.ID, "nour"); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("again: %v", err)
		}
		for i := range 25 {
			n.edited(scheduler.Lock, i, none, "")
		}
		n.stop()
		n.open()
		time.Sleep(time.Second)
		if _, there := n.View().LastDeed(); there {
			t.Error("a deed of the run before can be taken back")
		}
	})
}

// A skip goes to the first of what is held; what is played now leaves its place there, and so
// does what an operator queues.
func TestSkipAndPlayAmongWhatIsHeld(t *testing.T) {
	r, _ := newDesk(t, newShelf(songs(300)), nil)
	if err := r.Skip(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.edited(scheduler.Lock, 6, none, "")
	want := r.heldPaths()
	if err := r.Skip(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.View().OnAir.Track.Path; got != want[0] {
		t.Errorf("skipped to %s, held is %s", got, want[0])
	}
	want = want[1:]
	if _, err := r.Play(t.Context(), scheduler.Wish{Path: want[2]}); err != nil {
		t.Fatal(err)
	}
	want = slices.Delete(want, 2, 3)
	if got := r.heldPaths(); !slices.Equal(got, want) {
		t.Errorf("played: held are %v, want %v", got, want)
	}
	played, err := r.Play(t.Context(), scheduler.Wish{Category: station.English})
	if err != nil || slices.Contains(want, played.Path) {
		t.Errorf("the best of a category is one that comes anyway: %s %v", played.Path, err)
	}
	if got := r.heldPaths(); !slices.Equal(got, want) {
		t.Errorf("played the best: held are %v, want %v", got, want)
	}
	if err := r.Queue(t.Context(), want[1]); err != nil {
		t.Fatal(err)
	}
	want = slices.Delete(want, 1, 2)
	if got := r.coming(len(want) + 1)[1:]; !slices.Equal(got, want) {
		t.Errorf("queued: to come are %v, want %v", got, want)
	}
}

// Edits beside markers and rebuilds: nothing is lost and nothing races.
func TestEditsBesideMarkers(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(300)))
	r.built()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 15 {
				v := r.View()
				first := v.Consumed
				e := scheduler.Edit{Version: v.Version(), Op: scheduler.Move, Position: first + 4, To: first + 1, By: "x"}
				_, _, err := r.Edit(t.Context(), e)
				if err != nil && !errors.Is(err, station.ErrConflict) && !errors.Is(err, station.ErrNotFound) {
					t.Error(err)
				}
				_, _ = r.Weigh(t.Context(), e)
			}
		})
	}
	all.Go(func() {
		for i := range 15 {
			r.hear("e", uint64(i+1), r.View().Left()[0].Track.Path)
			_ = r.View().Queue()
		}
	})
	all.Go(func() {
		for range 5 {
			if err := r.Rebuild(t.Context()); err != nil {
				t.Error(err)
			}
			if d, there := r.View().LastDeed(); there {
				_ = r.Undo(t.Context(), d.ID, "y")
			}
		}
	})
	all.Wait()
	held := r.heldPaths()
	for i, path := range held {
		if slices.Contains(held[:i], path) {
			t.Errorf("%s is held twice", path)
		}
	}
}
