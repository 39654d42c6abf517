package production

import (
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// on is a view of a song of four minutes that began a minute before now, followed by
// what a row plans: songs of four minutes (s), one after a free place for news (f), and a
// bulletin (b) that tells a time.
func on(now time.Time, plan string, tells time.Duration) *scheduler.View {
	song := station.Track{Path: "music/english/a.mp3", Category: station.English, Duration: 4*time.Minute + 2*time.Second}
	v := &scheduler.View{OnAir: scheduler.OnAir{
		Kind: scheduler.Rotation, Track: song, StartedAt: now.Add(-time.Minute), Cross: 2 * time.Second,
	}}
	for _, entry := range plan {
		e := rotation.Entry{Track: song, Cross: 2 * time.Second, AfterNews: entry == 'f'}
		if entry == 'b' {
			e.Track = station.Track{
				Path: fmt.Sprintf("news/NEWS_%d.mp3", now.Add(tells).UnixMilli()), Category: station.News, Duration: 35 * time.Second,
			}
		}
		v.Rotation.Entries = append(v.Rotation.Entries, e)
	}
	return v
}

func TestABulletinIsMadeAnewWhenItsStartMoves(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for _, c := range []struct {
		why    string
		plan   string        // on air is a song that ends in 3 minutes
		tells  time.Duration // from now
		queued time.Duration // what another, in the queue, tells; 0: none
		want   time.Duration // what a new one should tell; 0: none is made
		look   time.Duration
	}{
		{"its start is as it was", "bss", 3 * time.Minute, 0, 0, newsLook},
		{"it moved by less than two minutes", "bss", 4*time.Minute + 50*time.Second, 0, 0, newsLook},
		{"it comes three minutes late", "bss", 0, 0, 3 * time.Minute, newsLook},
		{"it comes three minutes early", "bss", 6 * time.Minute, 0, 3 * time.Minute, newsLook},
		{"a place for news is free", "fss", 0, 0, 3 * time.Minute, newsLook},
		{"that place may still move", "sfs", 0, 0, 0, 2 * time.Minute},
		{"one for it waits in the queue", "fss", 0, 3 * time.Minute, 0, newsLook},
		{"one in the queue is too late to be planned", "sss", 0, -12 * time.Minute, 3 * time.Minute, newsLook},
		{"one in the queue waits for its time", "sss", 0, 7 * time.Minute, 0, newsLook},
		{"there is none", "sss", 0, 0, 0, newsLook},
	} {
		v := on(now, c.plan, c.tells)
		if c.queued != 0 {
			v.Queued = []string{fmt.Sprintf("news/NEWS_%d.mp3", now.Add(c.queued).UnixMilli())}
		}
		at, look := renewal(v, now)
		if got := at.Sub(now); c.want == 0 != at.IsZero() || c.want != 0 && (got-c.want).Abs() > 3*time.Second || (look-c.look).Abs() > 3*time.Second {
			t.Errorf("%s: a bulletin for %s (%t), look in %s; want %s, %s", c.why, got, !at.IsZero(), look, c.want, c.look)
		}
	}
	near := on(now, "fss", 0)
	if at, _ := renewal(near, now.Add(170*time.Second)); !at.IsZero() {
		t.Error("one is made that cannot be ready")
	}
	near.OnAir.Kind = scheduler.Live
	if at, _ := renewal(near, now); !at.IsZero() {
		t.Error("one is made for a start that nobody knows")
	}
}

func TestABulletinTellsTheTimeOfItsStart(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	v := on(now, "sss", 0)
	if got := nextTime(v, now).Sub(now).Round(10 * time.Second); got != 3*time.Minute {
		t.Errorf("for the end of what is on air: %s", got)
	}
	if got := nextTime(v, now.Add(160*time.Second)).Sub(now).Round(10 * time.Second); got != 7*time.Minute {
		t.Errorf("what is on air ends too soon: %s", got)
	}
	v = on(now, "ssfs", 0)
	v.Past = []scheduler.OnAir{{Track: station.Track{Category: station.News}, StartedAt: now.Add(-10 * time.Minute)}}
	if got := nextTime(v, now).Sub(now).Round(10 * time.Second); got != 11*time.Minute {
		t.Errorf("for the planner's place, since one was heard just now: %s", got)
	}
	v.OnAir.Kind = scheduler.Live
	if got := nextTime(v, now); !got.Equal(now) {
		t.Errorf("during a takeover: %s", got)
	}
}
