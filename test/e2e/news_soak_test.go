//go:build soak

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/library/bulletin"
)

// A bulletin was heard 45 minutes after the time that it told. On a station that makes
// them by itself each one heard tells the time at which it is heard, those of the
// planner's own places as well, and each is made with one rebuild.
func TestSoakEachBulletinTellsTheTimeAtWhichItIsHeard(t *testing.T) {
	t.Parallel() // most of it is waiting
	s := newStation(t, withKeys)
	s.env = append(s.env, "BULLETIN_HOURS=1")
	fill(t, s.media, []deck{{"music/english", 0, 40, 14 * time.Second}})
	s.start().onAir()
	heard := map[string]time.Time{}
	s.within("three bulletins", 25*time.Minute, func() bool {
		for _, p := range s.plays() {
			if strings.HasPrefix(p.file, "news/") {
				heard[p.file] = p.at
			}
		}
		return len(heard) >= 3
	})
	for file, at := range heard {
		if off := at.Sub(bulletin.Tells(file)); off.Abs() > 2*time.Minute {
			t.Errorf("%s is heard %s after the time that it tells", file, off)
		} else {
			t.Logf("%s: %s off", file, off.Round(time.Second))
		}
	}
	made, rebuilt := s.logged("bulletin made"), s.logged("rotation rebuilt", "forced")+s.logged("rotation rebuilt", "queued")
	if rebuilt > made {
		t.Errorf("%d bulletins made, %d rebuilds for them", made, rebuilt)
	}
	if n := s.logged("rotation rebuilt", "purged") + s.logged("outdated bulletin withdrawn") + s.logged("library has grown"); n > 0 {
		t.Errorf("%d rebuilds besides", n)
	}
}
