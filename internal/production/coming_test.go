package production

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func TestOnlySongsOfTheNextHourComeUp(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	v := on(now, "ssbssssssssssssssssss", 0)
	for i := range v.Rotation.Entries {
		track := &v.Rotation.Entries[i].Track
		if i%4 == 0 {
			track.Category, track.Title = station.ArabicHits, "أغنية"
		}
	}
	from := now.Add(10 * time.Minute) // two songs are over, the bulletin begins
	up := comingUp(v, from)
	if up.Arabic != 4 || up.English != 11 || len(up.Next) != 15 {
		t.Errorf("%d Arabic and %d English songs, %d by name", up.Arabic, up.English, len(up.Next))
	}
	if first := up.Next[1]; first.Title != "أغنية" {
		t.Errorf("the second is %+v", first)
	}
	if up := comingUp(v, now.Add(24*time.Hour)); up.Arabic+up.English+len(up.Next) != 0 {
		t.Errorf("a day later: %+v", up)
	}
}
