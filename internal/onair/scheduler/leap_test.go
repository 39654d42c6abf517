package scheduler_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// settable is a station on air with a wall clock that can be set.
type settable struct {
	*rig
	off atomic.Int64
	seq uint64
}

// newSettable begins at ten to two, as afternoon has it: no daypart begins within the hour
// before or after it.
func newSettable(t *testing.T) *settable {
	s := &settable{}
	s.rig = newRigWith(t, &node{}, newShelf(songs(300)), func(o *scheduler.Options) { o.Now = s.now })
	time.Sleep(50 * time.Minute)
	synctest.Wait()
	return s
}

// now is the wall clock, and it alone.
func (s *settable) now() time.Time { return time.Now().Round(0).Add(time.Duration(s.off.Load())) }

func (s *settable) set(by time.Duration) { s.off.Add(int64(by)) }

// plays has the engine begin the next entry, and returns what the marker did.
func (s *settable) plays() string {
	s.t.Helper()
	s.seq++
	next := s.View().Left()[0]
	out, err := s.Completed(s.t.Context(), scheduler.Marker{
		Engine: "player", Seq: s.seq, File: root + next.Track.Path, Kind: scheduler.Rotation, At: s.now(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.decided()
	synctest.Wait()
	return out
}

// A clock that is set, back or forward, in the middle of a song: the cursor follows every
// marker, the one at that moment too, and no entry is said to have been passed over. What
// is on air began as long ago as before.
func TestAClockThatIsSetMovesNoCursor(t *testing.T) {
	for _, by := range []time.Duration{-45 * time.Minute, -30 * time.Second, 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := newSettable(t)
			s.plays()
			if err := s.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			// Between two looks at the clock: the marker is the first to come after it was set,
			// and of the rotation that was there.
			time.Sleep(time.Minute + 500*time.Millisecond)
			s.set(by)
			for i := range 20 {
				if out := s.plays(); out != "advanced" {
					t.Errorf("set by %s, song %d: %s", by, i, out)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				v := s.View()
				if ago := s.now().Sub(v.OnAir.StartedAt); ago != time.Minute {
					t.Errorf("set by %s, song %d began %s ago", by, i, ago)
				}
				if i > 0 && v.OnAir.StartedAt.Before(v.Past[0].StartedAt) {
					t.Errorf("set by %s, song %d began before the one before it", by, i)
				}
				if left := v.NextStart().Sub(s.now()); left <= 0 || left > 2*time.Minute {
					t.Errorf("set by %s, song %d ends in %s", by, i, left)
				}
				time.Sleep(v.NextStart().Sub(s.now()))
			}
			if s.logged("track not aired") {
				t.Errorf("set by %s: heard entries count as passed over", by)
			}
			s.stop()
		})
	}
}

// The same without a marker: within a second what is on air began as long ago as before,
// and a clock that went back has the rotation planned for the times that come, once.
func TestAClockThatGoesBackHasTheRotationPlannedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSettable(t)
		s.plays()
		if err := s.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		pushes := s.node.counted()
		s.set(-45 * time.Minute)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		v := s.View()
		if ago := s.now().Sub(v.OnAir.StartedAt); ago != time.Minute+2*time.Second {
			t.Errorf("what is on air began %s ago", ago)
		}
		if ahead := v.Rotation.Starts.Sub(s.now()); ahead <= 0 || ahead > 2*time.Minute {
			t.Errorf("planned for %s ahead", ahead)
		}
		time.Sleep(time.Minute)
		if pushes = s.node.counted() - pushes; pushes != 1 {
			t.Errorf("%d pushes", pushes)
		}

		// An engine that starts at that moment, with a list of which nothing was heard.
		s.set(-10 * time.Minute)
		if _, err := s.Completed(t.Context(), scheduler.Marker{Kind: scheduler.Boot, Engine: "boot"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if ahead := s.View().NextStart().Sub(s.now()); ahead > time.Minute {
			t.Errorf("an engine that starts is expected to begin in %s", ahead)
		}
		s.stop()
	})
}

// What was taken out by hand does not come right back once the clock has been set back.
func TestARemovalOutlivesAClockThatGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSettable(t)
		s.plays()
		time.Sleep(30 * time.Second)
		v := s.View()
		gone := v.Coming()[3].Track.Path
		if _, _, err := s.Edit(t.Context(), scheduler.Edit{Version: v.Version(), Op: scheduler.Remove, Position: v.Consumed + 3}); err != nil {
			t.Fatal(err)
		}
		s.set(-time.Hour)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		removed := s.View().Rotation.Removed
		if ago := s.now().Sub(removed[0].At); removed[0].Path != gone || ago < 0 || ago > time.Minute {
			t.Errorf("%s was removed %s ago", removed[0].Path, ago)
		}
		if _, there := s.View().LastDeed(); there {
			t.Error("a change of before can be taken back, with what was heard since")
		}
		s.stop()
	})
}
