package station_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

func TestFilesOfPosts(t *testing.T) {
	for path, want := range map[string]int64{
		station.PostFile("voice", 7, "hello-1"):     7,
		station.PostFile("song", 1<<40, ""):         1 << 40,
		station.PostFile("film", 7, "hello"):        0,
		"social/song/SOC_07_a.mp3":                  0, // each post has one name
		"social/song/SOC_+7_a.mp3":                  0,
		"social/song/SOC_0_a.mp3":                   0,
		"social/song/SOC_7_A b.mp3":                 0,
		"social/song/SOC_7_a.ogg":                   0,
		"social/song/SOC_7.mp3":                     0,
		"social/song/SOC_x_a.mp3":                   0,
		"social/song/mine/SOC_7_a.mp3":              0,
		"social/SOC_7_a.mp3":                        0,
		"song/SOC_7_a.mp3":                          0,
		"music/social/song/SOC_7_a.mp3":             0,
		"social/song/../song/SOC_7_a.mp3":           0,
		"social/song/SOC_9999999999999999999_a.mp3": 0,
		"": 0,
	} {
		if id, ok := station.PostOf(path); id != want && ok || ok != (want > 0) {
			t.Errorf("%q: %d, %v, want %d", path, id, ok, want)
		}
	}
}
