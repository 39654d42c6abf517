package media

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func TestCategoryComesFromTheFolderElseFromTheContent(t *testing.T) {
	const long, short = 3 * time.Minute, 59 * time.Second
	for _, c := range []struct {
		path, artist string
		length       time.Duration
		want         station.Category
	}{
		{"english/a.mp3", "فيروز", short, station.English},
		{"arabic_hits/deep/er/a.mp3", "", long, station.ArabicHits},
		{"music/mashups/a.mp3", "", long, station.Mashups},
		{"Arabic Hits/a.mp3", "", long, station.ArabicHits},
		{"MUSIC/Arabic-Hits/a.mp3", "", long, station.ArabicHits},
		{"music/sfx/a.mp3", "", short, station.SFX},
		{"social/song/SOC_x.mp3", "", long, station.ArabicHits},
		{"social/mashup/SOC_1_x.mp3", "", long, station.Mashups},
		{"social/ads/x.mp3", "", long, station.Ads},
		{"social/jingles/x.mp3", "", short, station.Jingles},
		{"social/sweepers/x.mp3", "", short, station.Sweepers},
		{"social/voice/x.mp3", "", short, station.Sweepers},
		{"music/social/sfx/x.mp3", "", short, station.SFX},
		{"social/x.mp3", "", long, station.Social},
		{"social/other/x.mp3", "", long, station.Social},
		{"أم كلثوم/01.mp3", "", long, station.ArabicHits},
		{"Albums/x.mp3", "عمرو دياب", long, station.ArabicHits},
		{"Albums/news/x.mp3", "Beatles", long, station.English},
		{"x.mp3", "", long, station.English},
		{"music/x.mp3", "", long, station.English},
		{"music/فيروز.mp3", "", short, station.Shorts},
	} {
		got, ok := folderCategory(c.path)
		if !ok {
			got = contentCategory(&station.Track{Path: c.path, Artist: c.artist, Duration: c.length})
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

func TestFileNamesGiveArtistAndTitle(t *testing.T) {
	for _, c := range [][3]string{
		{"Fairuz - Nassam.mp3", "Fairuz", "Nassam"},
		{"07. فيروز - نسم علينا.mp3", "فيروز", "نسم علينا"},
		{"01 - Artist - Title - Live.mp3", "Artist", "Title - Live"},
		{"1-07 - A - B.flac", "A", "B"},
		{"03 Intro.ogg", "", "Intro"},
		{"1999.mp3", "", "1999"},
		{"99 Luftballons.mp3", "", "99 Luftballons"},
		{"1975 - Song.mp3", "1975", "Song"},
		{"SWP_DROP_01.mp3", "", "SWP_DROP_01"},
		{" - .mp3", "", "-"},
		{"U.S.A.wav", "", "U.S.A"},
	} {
		if artist, title := nameParts(c[0]); artist != c[1] || title != c[2] {
			t.Errorf("%q: %q, %q", c[0], artist, title)
		}
	}
}
