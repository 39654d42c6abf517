package rotation

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/station"
)

// The station says where the library cannot give what the configuration asks for.
func TestNotesNameWhatTheLibraryCannotGive(t *testing.T) {
	songs := func(c station.Category, n int, artist func(i int) string) (out []station.Track) {
		for i := range n {
			out = append(out, station.Track{Path: fmt.Sprint(c, i), Category: c, Artist: artist(i), Duration: 242 * time.Second})
		}
		return out
	}
	each := func(i int) string { return fmt.Sprint("artist ", i) }
	half := func(i int) string {
		if i%2 == 0 {
			return "عمرو دياب"
		}
		return each(i)
	}
	for name, tc := range map[string]struct {
		english, arabic []station.Track
		dayparts        []Daypart
		want            []Note
	}{
		"enough of all": {songs(station.English, 40, each), songs(station.ArabicHits, 40, each), nil, nil},
		"ten English songs": {
			songs(station.English, 10, each), songs(station.ArabicHits, 40, each), nil,
			[]Note{{Kind: ShortWindow, Start: "02:00", End: "05:00", Category: station.English, Songs: 10, Length: 40 * minute}},
		},
		"no English song": {
			nil, songs(station.ArabicHits, 40, each), nil,
			[]Note{{Kind: EmptyWindow, Start: "02:00", End: "05:00", Category: station.English}},
		},
		"no window asks for English": {nil, songs(station.ArabicHits, 40, each), []Daypart{}, nil},
		"one artist sings half": { // 4 minutes × 0.75 / 0.5
			songs(station.English, 40, each), songs(station.ArabicHits, 40, half), []Daypart{{Name: "all day", Start: 0, End: 24 * 60, Hard: station.ArabicHits}},
			[]Note{{Kind: ArtistShare, Artist: "عمرو دياب", Share: 0.5, Gap: 6 * minute, Songs: 20}},
		},
	} {
		cfg := DefaultConfig()
		cfg.Dayparts = tc.dayparts
		got := Notes(NewIndex(append(tc.english, tc.arabic...)), cfg)
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}
