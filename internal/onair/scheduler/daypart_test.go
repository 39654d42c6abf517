package scheduler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Mission: Rotation rebuild. The watchdog looks every 60 s; a boundary is
// followed by a rebuild within 60 s, and by no other.
func TestDaypartWatchdogRebuildsWithinAMinuteOfTheBoundary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight UTC
		r := newRig(t, &node{}, newShelf(songs(300)))
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		late := r.View().Rotation
		if len(late.Entries) == 0 || r.node.counted() != 1 {
			t.Fatalf("%d entries after %d pushes", len(late.Entries), r.node.counted())
		}
		time.Sleep(time.Until(time.Date(2000, 1, 1, 1, 59, 59, 0, time.UTC)))
		synctest.Wait()
		if r.node.counted() != 1 {
			t.Errorf("%d pushes before the boundary", r.node.counted())
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		night := r.View().Rotation
		if night.Daypart == late.Daypart || r.node.counted() != 2 {
			t.Errorf("a minute after 02:00: daypart %s, %d pushes", night.Daypart, r.node.counted())
		}
		five := time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)
		for i, at := 0, night.Starts; at.Before(five); i++ {
			e := night.Entries[i]
			if e.Track.Category == station.ArabicHits {
				t.Errorf("entry %d of the English-only window is %s", i, e.Track.Path)
			}
			at = at.Add(e.Track.Duration - e.Cross)
		}
		r.stop()
	})
}
