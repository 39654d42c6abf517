package onrequest

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// Requests see the rotation's songs as they were heard and are planned, the rules in
// force, and times in the station's zone.
func TestRequestsSeeTheAirAsItIs(t *testing.T) {
	at := time.Date(2026, 5, 4, 23, 30, 0, 0, time.UTC)
	song := func(n string) station.Track {
		return station.Track{Path: n, Artist: "of " + n, Category: station.English, Duration: 3 * time.Minute}
	}
	v := &scheduler.View{
		Config: rotation.DefaultConfig(), Consumed: 1,
		OnAir: scheduler.OnAir{Kind: scheduler.Rotation, Track: song("now"), StartedAt: at, Engine: "e", Seq: 3},
		Past: []scheduler.OnAir{
			{Kind: scheduler.Live, Track: song("live"), StartedAt: at.Add(-time.Minute)},
			{Kind: scheduler.Rotation, Track: song("before"), StartedAt: at.Add(-time.Hour)},
		},
		Rotation: rotation.Rotation{BuiltAt: at, Entries: []rotation.Entry{{Track: song("now")}, {Track: song("next")}, {Track: song("later")}}},
	}
	a := airOf(v, time.FixedZone("east", 3*3600))
	if len(a.Heard) != 2 || a.Heard[0].ID != "e/3" || a.Heard[1].Path != "before" || a.Heard[1].Artist != "of before" {
		t.Errorf("heard %+v", a.Heard)
	}
	if len(a.Next) != 2 || a.Next[0].Path != "next" || !a.Next[0].At.Equal(at.Add(3*time.Minute)) {
		t.Errorf("next %+v", a.Next)
	}
	if a.Rest != 3*time.Hour || a.ArtistGap != 30*time.Minute || a.Shortest != 45*time.Second || !a.Built.Equal(at) {
		t.Errorf("rules %+v", a)
	}
	// It is 02:30 there: the hours of the night are English alone.
	if !a.Plays(station.English, at) || a.Plays(station.ArabicHits, at) {
		t.Error("the part of the day is not that of the zone")
	}
}
