package scheduler_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// A clock asks for news on the hour. A live takeover of six minutes moves
// all that follows: the rotation is planned anew and the news is in time.
func TestTimedEventsAreInTimeAgainAfterATakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight UTC
		var zero rotation.Offset
		cfg := rotation.DefaultConfig()
		cfg.Clocks = []rotation.HourClock{{Name: "news", Hour: []rotation.Position{{Category: "news", At: &zero}, {Category: "music"}}}}
		all := everything(300)
		for i := range all[:300] { // real songs differ
			all[i].Duration = time.Duration(150+i*53%170) * time.Second
		}
		r := newRigWith(t, &node{}, newShelf(all), func(o *scheduler.Options) { o.Config, o.Zone = cfg, time.UTC })
		time.Sleep(time.Until(time.Date(2000, 1, 1, 6, 2, 0, 0, time.UTC)))
		synctest.Wait()
		if err := r.Rebuild(t.Context()); err != nil { // the engine starts only now
			t.Fatal(err)
		}
		var seq uint64
		news := map[int]time.Duration{} // by hour: how far off it began
		live := time.Date(2000, 1, 1, 7, 15, 0, 0, time.UTC)
		for time.Now().Before(time.Date(2000, 1, 1, 10, 30, 0, 0, time.UTC)) {
			if time.Now().After(live) && seq < 1000 {
				seq = 1000 // another source
				r.turn(scheduler.Live)
				time.Sleep(20 * time.Minute)
			}
			v := r.View()
			next := v.Upcoming()[0]
			seq++
			if _, err := r.Completed(t.Context(), scheduler.Marker{Engine: "player", Seq: seq, File: root + next.Track.Path, Type: next.Annotation(), Kind: scheduler.Rotation}); err != nil {
				t.Fatal(err)
			}
			if next.Type == "news" {
				hour := time.Now().Round(time.Hour)
				news[hour.Hour()] = time.Since(hour)
			}
			synctest.Wait()
			// It ends as the engine would end it: before the entry that is next now.
			v = r.View()
			time.Sleep(time.Until(v.Upcoming()[0].ExpectedAt))
		}
		for _, hour := range []int{7, 8, 9, 10} {
			if off, aired := news[hour]; !aired || off.Abs() > 30*time.Second {
				t.Errorf("news of %02d:00: aired %t, %s off", hour, aired, off)
			}
		}
		if !r.logged("timed event off by") {
			t.Errorf("no rebuild for the takeover in\n%s", strings.Join(r.lines(), "\n"))
		}
		r.stop()
	})
}

// While another source is on air nobody knows when the rotation goes on.
func TestNothingIsExpectedDuringATakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &node{}, newShelf(songs(300)))
		time.Sleep(time.Second)
		synctest.Wait()
		r.marks(1)
		synctest.Wait()
		if at := r.View().Upcoming()[0].ExpectedAt; at.IsZero() {
			t.Error("nothing is expected while the rotation is on air")
		}
		r.turn(scheduler.Live)
		time.Sleep(time.Hour)
		for _, it := range r.View().Items() {
			if !it.ExpectedAt.IsZero() {
				t.Fatalf("entry %d is expected at %s, and it is %s", it.Index, it.ExpectedAt, time.Now())
			}
		}
	})
}
