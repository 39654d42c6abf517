package scheduler_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// away makes a node on which no media file is in place.
func away(n *node, shelf *shelf) {
	tracks, _ := shelf.Tracks()
	n.set(func(n *node) {
		n.gone = map[string]bool{}
		for _, t := range tracks {
			n.gone[root+t.Path] = true
		}
	})
}

// While the media folder is away the scheduler tries ever more rarely, keeps what is on
// air, and goes on once the folder is back: within a minute by itself, at once when the
// library changes.
func TestAMediaFolderThatIsAwayIsAskedForEverMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := &node{}, newShelf(songs(200))
		away(n, s)
		r := newRig(t, n, s)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if r.View().Problem == "" || n.counted() != 0 {
			t.Fatalf("problem %q after %d pushes", r.View().Problem, n.counted())
		}
		// Pauses of 3, 6, 12, 24 and 48 s, then one a minute, and the watchdog's as
		// often; each tries two pushes at least, then nothing is left, four at most.
		if tried := n.asked(); tried < 2*20 || tried > 4*(5+2*20) {
			t.Errorf("%d pushes tried in 20 minutes", tried)
		}
		n.set(func(n *node) { n.gone = nil })
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.View().Problem != "" || n.counted() != 1 {
			t.Fatalf("problem %q and %d pushes a minute after the folder is back", r.View().Problem, n.counted())
		}

		away(n, s)
		_ = r.Rebuild(t.Context())
		time.Sleep(20 * time.Minute)
		n.set(func(n *node) { n.gone = nil })
		tracks, _ := s.Tracks()
		s.set(tracks)
		synctest.Wait()
		if r.View().Problem != "" || n.counted() != 2 {
			t.Fatalf("problem %q and %d pushes when the library has changed", r.View().Problem, n.counted())
		}
		r.stop()
	})
}

// A bulletin grows old while the media folder is away and the emergency audio is on air:
// taking it out is one rebuild that fails, not one each second, and it is done once the
// folder is back.
func TestAnOutdatedBulletinIsNotWithdrawnAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(200))
		b := n.add(bulletin(n.View().NextStart()))
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		n.turn(scheduler.Emergency)
		away(n.node, n.shelf)
		before := n.node.asked()
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		failed := 0
		for _, line := range n.lines() {
			if strings.Contains(line, "rotation not committed") {
				failed++
			}
		}
		// Pauses of 3, 6, 12, 24 and 48 s, then one a minute.
		if tried := n.node.asked() - before; failed == 0 || failed > 5+30 || tried > 4*(5+30) {
			t.Errorf("%d rebuilds failed, %d pushes tried", failed, tried)
		}
		n.node.set(func(n *node) { n.gone = nil })
		time.Sleep(time.Minute)
		synctest.Wait()
		if n.View().Problem != "" || n.first() == b.Path {
			t.Errorf("a minute after the folder is back: problem %q, next %s", n.View().Problem, n.first())
		}
		n.stop()
	})
}

// What a failed attempt allocates does not grow with the library: nothing is folded,
// sorted or copied again because some files are missing.
func TestAnAttemptWithoutMediaDoesNotReadTheLibraryAnew(t *testing.T) {
	const tracks = 20_000
	n, s := &node{}, newShelf(songs(tracks))
	r := newRigWith(t, n, s, func(o *scheduler.Options) { o.Seed = func() uint64 { return 7 } })
	r.built()
	away(n, s)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := r.Rebuild(t.Context()); err == nil {
		t.Fatal("rebuilt though no file is in place")
	}
	runtime.ReadMemStats(&after)
	if made := after.Mallocs - before.Mallocs; made > 2*tracks {
		t.Errorf("%d allocations in one failed rebuild of a library of %d tracks", made, tracks)
	}
}
