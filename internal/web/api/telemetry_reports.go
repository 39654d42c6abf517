package api

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/station"
)

// reportOfUse has the columns of SoundExchange's flat file for reports of use (37 CFR
// 370.4(d)(2)), which wants of listeners either the performances of each recording, or the
// tuning hours of the channel with how often each was played.
func (s *Server) reportOfUse(used telemetry.Uses, transmission string, hours bool) []byte {
	head := []string{"NAME_OF_SERVICE", "TRANSMISSION_CATEGORY", "FEATURED_ARTIST", "SOUND_RECORDING_TITLE", "ISRC", "ALBUM_TITLE", "MARKETING_LABEL"}
	if hours {
		head = append(head, "AGGREGATE_TUNING_HOURS", "CHANNEL_OR_PROGRAM_NAME", "PLAY_FREQUENCY")
	} else {
		head = append(head, "ACTUAL_TOTAL_PERFORMANCES")
	}
	out, _ := sheet(head, func(row func(...string)) error {
		for _, u := range used.Uses {
			cells := []string{cell(s.opt.Name), transmission, cell(u.Artist), cell(u.Title), cell(u.ISRC), cell(u.Album), cell(u.Label)}
			if hours {
				cells = append(cells, strconv.FormatFloat(used.TuningHours, 'f', 2, 64), station.MainChannel, strconv.Itoa(u.Plays))
			} else {
				cells = append(cells, strconv.Itoa(u.Performances))
			}
			row(cells...)
		}
		return nil
	})
	return out
}

// cueSheet has a line for each time that music aired, in the station's own time, as societies
// of authors ask for it.
func (s *Server) cueSheet(ctx context.Context, month telemetry.Month) ([]byte, error) {
	head := []string{"date", "time", "title", "artist", "composer", "album", "isrc", "label", "duration", "plays", "listener_hours"}
	now := time.Now()
	return sheet(head, func(row func(...string)) error {
		return s.opt.Telemetry.Music(ctx, month, func(a *telemetry.Aired) error {
			at, hours := a.StartedAt.In(s.opt.Zone), ""
			if a.Counted {
				hours = number(round(a.ListenerHours(now), 10_000))
			}
			row(at.Format(time.DateOnly), at.Format(time.TimeOnly), cell(a.Title), cell(a.Artist), cell(a.Composer), cell(a.Album), cell(a.ISRC), cell(a.Label),
				clockTime(a.Length(now)), "1", hours)
			return nil
		})
	})
}

// clockTime is a duration as h:mm:ss.
func clockTime(d time.Duration) string {
	d = d.Round(time.Second)
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}
