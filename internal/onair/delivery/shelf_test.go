package delivery_test

import (
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/onair/delivery"
)

// Whatever a file is called and whatever airs for it, its name on the node tells
// the track and the version, and ends as the engine must read it.
func TestNamesOnTheNodeTellTheTrackAndTheVersion(t *testing.T) {
	shelf := delivery.Shelf{Root: "/var/lib/athir/air"}
	long := strings.Repeat("ا", 126) + ".ogg" // 256 bytes: no room for another extension
	for _, c := range []struct{ rel, airs, want string }{
		{"music/english/a.mp3", "/media/music/english/a.mp3", "/v-1/music/english/a.mp3"},
		{"ads/b \xff.flac", "/mastered/ads/b \xff.flac.mp3", "/v-1-m/ads/b \xff.flac.mp3"},
		{"ads/c.flac", "/media/ads/c.flac", "/v-1/ads/c.flac"},
		{"ads/d.MP3", "/mastered/_/0123.mp3", "/v-1/ads/d.MP3"},
		{"x.mp3.mp3", "/media/x.mp3.mp3", "/v-1/x.mp3.mp3"},
		{long, "/mastered/_/4567.mp3", "/v-1/" + long},
	} {
		got := shelf.Path(c.rel, c.airs, "v-1")
		if got != shelf.Root+c.want {
			t.Errorf("%q: %q, want %q", c.rel, got, c.want)
		}
		if rel, version, ok := shelf.Rel(got); !ok || rel != c.rel || version != "v-1" {
			t.Errorf("%q comes back as %q %q %t", c.rel, rel, version, ok)
		}
	}
	for _, foreign := range []string{"/media/music/a.mp3", "/var/lib/athir/air", "/var/lib/athir/air/", "/var/lib/athir/air/v", "/var/lib/athir/air/.part/0a1b", "/var/lib/athir/air//x.mp3", "/var/lib/athir/airs/v/x.mp3"} {
		if rel, _, ok := shelf.Rel(foreign); ok {
			t.Errorf("%q is on the shelf, as %q", foreign, rel)
		}
	}
}
