package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// Mission: Rotation rebuild. The watchdog looks every 60 s: each boundary of
// Cairo's day is followed by one rebuild within 60 s, and nothing else is. On
// two days of 2026 the clocks change: Friday, 24 April, midnight becomes 01:00;
// Thursday, 29 October, midnight becomes 23:00 again.
func TestDaypartWatchdogRebuildsOnceWithinAMinuteOfEachBoundary(t *testing.T) {
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	day := func(month time.Month, day int) []string {
		date := fmt.Sprintf("2026-%02d-%02d ", month, day)
		return []string{date + "02:00 overnight", date + "05:00 morning", date + "11:00 midday", date + "16:00 evening", date + "23:00 late"}
	}
	for _, c := range []struct {
		name        string
		from, until time.Time
		want        []string
		hours       float64
	}{
		{"an ordinary day", time.Date(2026, 11, 21, 1, 30, 0, 0, cairo), time.Date(2026, 11, 22, 1, 30, 0, 0, cairo), day(11, 21), 24},
		{
			"clocks go forward", time.Date(2026, 4, 23, 1, 30, 0, 0, cairo), time.Date(2026, 4, 25, 1, 30, 0, 0, cairo),
			append(day(4, 23), day(4, 24)...), 47,
		},
		{
			"clocks go back", time.Date(2026, 10, 29, 1, 30, 0, 0, cairo), time.Date(2026, 10, 31, 1, 30, 0, 0, cairo),
			append(day(10, 29), day(10, 30)...), 49,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if h := c.until.Sub(c.from).Hours(); h != c.hours {
				t.Fatalf("%v hours, want %v: is the zone's data of another year?", h, c.hours)
			}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				now := func() time.Time { return c.from.Add(time.Since(began)) }
				r := newRigWith(t, &node{}, newShelf(songs(60)), func(o *scheduler.Options) { o.Zone, o.Now = cairo, now })
				time.Sleep(time.Second)
				synctest.Wait()
				first := r.View().Rotation
				if first.Daypart != "late" {
					t.Fatalf("01:30 is %q", first.Daypart)
				}
				var got []string
				for pushes := r.node.counted(); now().Before(c.until); {
					time.Sleep(time.Minute)
					synctest.Wait()
					v := r.View()
					switch r.node.counted() - pushes {
					case 0:
					case 1:
						built := v.Rotation.BuiltAt.In(cairo)
						boundary := built.Truncate(time.Hour)
						if built.Sub(boundary) > time.Minute || v.Reason != "daypart "+v.Rotation.Daypart {
							t.Errorf("rebuilt at %s: %s", built, v.Reason)
						}
						got = append(got, boundary.Format("2006-01-02 15:04 ")+v.Rotation.Daypart)
					default:
						t.Errorf("%d rebuilds within a minute of %s", r.node.counted()-pushes, now())
					}
					pushes = r.node.counted()
				}
				if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
					t.Errorf("rebuilt at\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
				r.stop()
			})
		})
	}
}

// The English-only window holds from its first entry to its last.
func TestRotationOfTheHardWindowIsEnglishUntilFive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight UTC
		r := newRigWith(t, &node{}, newShelf(songs(300)), func(o *scheduler.Options) { o.Zone = time.UTC })
		time.Sleep(time.Until(time.Date(2000, 1, 1, 2, 1, 0, 0, time.UTC)))
		synctest.Wait()
		night := r.View().Rotation
		if night.Daypart != "overnight" {
			t.Fatalf("at 02:01 the rotation is of %q", night.Daypart)
		}
		five, arabic := time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC), 0
		for i, it := range r.View().Items() {
			switch {
			case it.Track.Category == station.English:
			case it.ExpectedAt.Before(five):
				t.Errorf("entry %d, at %s, is %s", i, it.ExpectedAt.Format(time.TimeOnly), it.Track.Path)
			default:
				arabic++
			}
		}
		if arabic == 0 {
			t.Error("no Arabic song after 05:00")
		}
		r.stop()
	})
}
