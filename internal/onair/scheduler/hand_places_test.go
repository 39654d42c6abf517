package scheduler_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

func (n *newsroom) hears(path string, at time.Time) {
	n.t.Helper()
	n.seq++
	if _, err := n.Completed(n.t.Context(), scheduler.Marker{Engine: "player", Seq: n.seq, File: root + path, Kind: scheduler.Rotation, At: at}); err != nil {
		n.t.Fatal(err)
	}
	n.decided()
	synctest.Wait()
}

// The commonest edits: the next entry moved down, and a song put before it. Neither makes it
// heard twice.
func TestTheNextEntryMovedDownBreaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		first := n.View().Consumed
		n.edited(scheduler.Lock, first+4, none, "")
		next := n.heldPaths()[0]
		rules := func(what string, all []scheduler.Broken) {
			for _, b := range all {
				if b.Track.Path == next && slices.Contains([]rotation.Rule{rotation.Cooldown, rotation.MinimumRest, rotation.FreshWindow, rotation.ArtistGap, rotation.TitleGap}, b.Rule) {
					t.Errorf("%s: %s %s", what, b.Rule, b.Detail)
				}
			}
		}
		_, w, err := n.Edit(t.Context(), scheduler.Edit{Version: n.View().Version(), Op: scheduler.Move, Position: n.View().Consumed, To: n.View().Consumed + 3})
		if err != nil {
			t.Fatal(err)
		}
		rules("moved", w.Breaks)
		for _, e := range n.View().Coming()[:5] {
			if e.Track.Path == next && slices.Contains(e.Relaxed, rotation.Cooldown) {
				t.Errorf("moved: relaxed %v", e.Relaxed)
			}
		}
		next = n.heldPaths()[0]
		if _, w, err = n.Edit(t.Context(), scheduler.Edit{Version: n.View().Version(), Op: scheduler.Insert, To: none, Path: n.fresh()}); err != nil {
			t.Fatal(err)
		}
		rules("put before", w.Breaks)
	})
}

// An engine that begins its list again goes on with what is held behind it.
func TestAListThatBeginsAgainKeepsWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		n.edited(scheduler.Lock, n.View().Consumed+5, none, "")
		held := n.heldPaths()
		for range 2 {
			n.ends()
			n.next()
		}
		time.Sleep(time.Minute)
		n.hears(held[0], time.Now())
		if got := n.heldPaths(); !slices.Equal(got, held[2:]) {
			t.Errorf("held are %v, want %v", got, held[2:])
		}
		if got := n.View().Reason; got != "the engine began the list again" {
			t.Errorf("rebuilt: %s", got)
		}
	})
}

// A restart while the engine goes over to a track that is held twice: its late marker costs the
// second place nothing.
func TestATrackHeldTwiceKeepsItsSecondPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		twice := n.fresh()
		n.edited(scheduler.Insert, none, none, twice)
		n.edited(scheduler.Insert, none, n.View().Consumed+2, twice)
		want := n.heldPaths()[1:]
		begins := n.View().NextStart()
		time.Sleep(time.Until(begins) - time.Minute)
		n.stop()
		time.Sleep(time.Minute + 3*time.Second)
		n.open()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Fatalf("after the restart: held are %v, want %v", got, want)
		}
		n.hears(twice, begins.Add(100*time.Millisecond))
		if got := n.heldPaths(); !slices.Equal(got, want) {
			t.Errorf("its marker came late: held are %v, want %v", got, want)
		}
	})
}

// What is put before a queued song, or is that song, is in the place that was asked for.
func TestEditsBesideTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(300))
		time.Sleep(time.Minute)
		queued := n.fresh()
		if err := n.Queue(t.Context(), queued); err != nil {
			t.Fatal(err)
		}
		was := n.coming(5)
		d := n.edited(scheduler.Insert, none, n.View().Consumed+3, queued)
		if got, want := n.heldPaths()[1:], []string{was[1], was[2], queued}; !slices.Equal(got[len(got)-3:], want) {
			t.Errorf("the queued song moved: held are %v, want %v at the end", n.heldPaths(), want)
		}
		if err := n.Undo(t.Context(), d.ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := n.coming(1); got[0] != queued || !slices.Contains(n.View().Queued, queued) {
			t.Fatalf("taken back: to come is %v", got)
		}
		before := n.fresh()
		n.edited(scheduler.Insert, none, none, before)
		if got := n.coming(2); !slices.Equal(got, []string{before, queued}) || len(n.View().Queued) > 0 {
			t.Errorf("put next: to come are %v, want %v; queued %v", got, []string{before, queued}, n.View().Queued)
		}
		n.edited(scheduler.Move, n.View().Consumed+4, n.View().Consumed, "")
		if got := n.heldPaths(); !slices.Equal(got[1:3], []string{before, queued}) {
			t.Errorf("moved before both: held are %v", got)
		}
	})
}

// A skip in the moment in which a song ends by itself does not end the next one, too.
func TestASkipAtTheEndOfASong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &player{}
		n := &newsroom{all: songs(300)}
		n.rig = newRigWith(t, &node{}, newShelf(n.all), func(o *scheduler.Options) { o.Engine, o.Zone = p, time.UTC })
		p.rig = n.rig
		time.Sleep(time.Second)
		n.next()
		time.Sleep(time.Minute)
		n.edited(scheduler.Lock, n.View().Consumed+3, none, "")
		held := n.heldPaths()
		time.Sleep(time.Until(n.View().NextStart()) - 200*time.Millisecond)
		done := make(chan error)
		go func() { done <- n.Skip(t.Context()) }()
		time.Sleep(300 * time.Millisecond)
		n.next()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if _, cues := p.last(); cues > 0 || n.View().OnAir.Track.Path != held[0] || !slices.Equal(n.heldPaths(), held[1:]) {
			t.Errorf("%d skips; on air is %s, held are %v, want %v", cues, n.View().OnAir.Track.Path, n.heldPaths(), held)
		}
	})
}
