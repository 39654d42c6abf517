package scheduler_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// The engine may air what it had opened before it read a list in which that comes later.
func TestWhatIsHeldIsNotHeardTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		first := n.View().Consumed
		opened := n.coming(1)[0]
		n.edited(scheduler.Move, first, first+4, "")
		n.edited(scheduler.Lock, 6, none, "") // a second change, and no marker since
		want := slices.DeleteFunc(n.heldPaths(), func(p string) bool { return p == opened })
		if len(want) != 6 {
			t.Fatalf("%d are held besides", len(want))
		}
		n.ends()
		n.seq++
		if got := n.hear("player", n.seq, opened); got != "unknown" {
			t.Errorf("it is %s", got)
		}
		n.decided()
		synctest.Wait()
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Errorf("held are %v, want %v", got, want)
		}
	})
}

// Killed between a push and its commit, the station comes back with what the engine has: held
// and removed as it was ordered.
func TestAKilledEditIsAsTheEngineHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		b := n.add(bulletin(n.View().NextStart()))
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		n.edited(scheduler.Move, 3, 2, "")
		held, removed := n.heldPaths(), n.coming(1)[0]
		n.node.set(func(n *node) { n.after = errors.New("killed here") })
		if _, err := n.edit(scheduler.Remove, 0, none, ""); err == nil || removed != b.Path {
			t.Fatal("nothing failed", removed)
		}
		if got := n.heldPaths(); !slices.Equal(got, held) || !slices.Equal(n.View().Queued, []string{b.Path}) {
			t.Errorf("after a change that failed: held are %v, queued %v", got, n.View().Queued)
		}
		if d, _ := n.View().LastDeed(); d.Op != scheduler.Move {
			t.Errorf("a change that failed can be taken back: %+v", d)
		}
		n.stop() // before the failed rebuild is tried again
		n.node.set(func(n *node) { n.after = nil })
		n.open()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := n.heldPaths(); n.View().Reason != "restart" || !slices.Equal(got, held[1:]) {
			t.Errorf("%s: held are %v, want %v", n.View().Reason, got, held[1:])
		}
		if slices.Contains(n.coming(20), b.Path) || len(n.View().Queued) != 0 {
			t.Errorf("what was removed is back: queued are %v", n.View().Queued)
		}
	})
}

// A node that has the media of three entries, then a restart: what is held behind those stays.
func TestANodeThatLacksMediaKeepsTheOrder(t *testing.T) {
	n := &node{}
	r := newRig(t, n, newShelf(songs(300)))
	r.built()
	r.edited(scheduler.Move, 9, 1, "")
	want := r.heldPaths()
	n.set(func(n *node) { n.most = 3 })
	if err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.heldPaths(); len(r.View().Rotation.Entries) != 3 || !slices.Equal(got, want) {
		t.Errorf("held are %v, want %v", got, want)
	}
	r.stop()
	r.open()
	r.eventually("the rebuild of the restart", func(v *scheduler.View) bool { return v.Reason == "restart" && v.Problem == "" })
	if got := r.heldPaths(); !slices.Equal(got, want) {
		t.Errorf("after a restart: held are %v, want %v", got, want)
	}
	r.edited(scheduler.Move, 8, 0, "") // what the node lacks can be moved, too
	want = slices.Insert(slices.Delete(slices.Clone(want), 8, 9), 0, want[8])
	if got := r.heldPaths(); !slices.Equal(got, want) {
		t.Errorf("moved: held are %v, want %v", got, want)
	}
	n.set(func(n *node) { n.most = 0 })
	for i, path := range want {
		r.hear("boot", uint64(i+1), path)
	}
	if got, _ := r.View().Held(); got != 0 {
		t.Errorf("%d are held, and all were heard", got)
	}
}

// What is changed during a takeover comes after it.
func TestEditsDuringATakeover(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(300)))
	r.hear("boot", 1, r.built().Rotation.Entries[0].Track.Path)
	if _, err := r.Completed(t.Context(), scheduler.Marker{Engine: "boot", Seq: 2, Kind: scheduler.Live, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	r.edited(scheduler.Move, 5, 1, "")
	want := r.heldPaths()
	if it := r.View().Queue()[0]; !it.ExpectedAt.IsZero() {
		t.Errorf("it is expected at %s", it.ExpectedAt)
	}
	if got := r.hear("boot", 3, want[0]); got != "advanced" {
		t.Error(got)
	}
	if got := r.heldPaths(); !slices.Equal(got, want[1:]) {
		t.Errorf("held are %v, want %v", got, want[1:])
	}
}

// A queued bulletin that is moved or taken out by hand is the queue's no more.
func TestAQueuedBulletinByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		b := n.add(bulletin(n.View().NextStart()))
		if err := n.Queue(t.Context(), b.Path); err != nil || n.first() != b.Path {
			t.Fatal(err, n.first())
		}
		n.edited(scheduler.Move, 0, 2, "")
		if got := n.coming(3); got[1] != b.Path || len(n.View().Queued) != 0 {
			t.Errorf("moved: %v", got)
		}
		if _, err := n.edit(scheduler.Move, 1, 30, ""); !errors.Is(err, station.ErrConflict) {
			t.Errorf("moved to where it tells a wrong time: %v", err)
		}
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		n.edited(scheduler.Remove, 0, none, "")
		if slices.Contains(n.coming(20), b.Path) || len(n.View().Queued) != 0 {
			t.Errorf("removed: %v", n.coming(20))
		}
	})
}

// An engine that dies is silent while entries' times come: it starts with those, not behind them.
func TestAnEngineThatDiedHasNotHadWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		n.edited(scheduler.Lock, n.View().Consumed+7, none, "")
		want := n.heldPaths()
		for range 3 { // their times come, and nothing is heard
			time.Sleep(4 * time.Minute)
			if err := n.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := n.heldPaths(); len(got) >= len(want)-2 {
			t.Errorf("%d of %d are still to come", len(got), len(want))
		}
		if _, err := n.Completed(t.Context(), scheduler.Marker{Engine: "another", Seq: 1, Kind: scheduler.Boot, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		n.decided()
		synctest.Wait()
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Errorf("held are %v, want %v", got, want)
		}
	})
}

// Around the end of what is on the air nobody knows whether the engine has taken the next entry:
// one that is held would be lost, or heard twice, by a list that is pushed just then.
func TestNoListIsPushedWhileAHeldEntryIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		n.edited(scheduler.Lock, n.View().Consumed+4, none, "")
		want := n.heldPaths()
		time.Sleep(time.Until(n.View().NextStart()) - 100*time.Millisecond)
		pushes := n.node.counted()
		gone := n.View().Coming()[20].Track.Path
		n.all = slices.DeleteFunc(slices.Clone(n.all), func(t station.Track) bool { return t.Path == gone })
		n.shelf.set(n.all)
		done := make(chan error, 1)
		go func() { done <- n.Rebuild(t.Context()) }()
		n.stop() // as it is killed there
		n.open()
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if err := <-done; !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("an order of before: %v", err)
		}
		go func() { done <- n.Rebuild(t.Context()) }()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if n.node.counted() != pushes {
			t.Error("a list was pushed while the engine takes an entry")
		}
		n.next()
		if err := <-done; err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := n.heldPaths(); !slices.Equal(got, want[1:]) || n.node.counted() == pushes {
			t.Errorf("held are %v, want %v", got, want[1:])
		}
		// An engine that sends no marker holds nothing up for long.
		time.Sleep(time.Until(n.View().NextStart()))
		if err := n.Rebuild(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
