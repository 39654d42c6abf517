package production

import (
	"time"

	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// comingUp returns the songs that the rotation has for the hour from a time on.
func comingUp(v *scheduler.View, from time.Time) bulletin.ComingUp {
	var out bulletin.ComingUp
	for _, it := range v.Upcoming() {
		at := it.ExpectedAt
		if at.IsZero() || at.Before(from) || !at.Before(from.Add(time.Hour)) || !it.Track.Category.Music() {
			continue
		}
		switch it.Track.Category {
		case station.ArabicHits:
			out.Arabic++
		case station.English:
			out.English++
		}
		out.Next = append(out.Next, arabic.Coming{Title: it.Track.Title, Artist: it.Track.Artist})
	}
	return out
}
