package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/athir-radio/athir/internal/station"
)

// oneVoice sings what OneVoice gives to one artist.
const oneVoice = "عمرو دياب"

// OneVoice returns a library of which one artist sings a part, 0 to 1, of each of the
// categories; of all music if none is named.
func OneVoice(library []station.Track, names Names, part float64, of ...station.Category) ([]station.Track, Names) {
	rng := rand.New(rand.NewPCG(uint64(len(library)), 0x766f696365)) //nolint:gosec // not for secrets
	out, sung := slices.Clone(library), map[string]bool{}
	for i := range out {
		if t := &out[i]; t.Category.Music() && (len(of) == 0 || slices.Contains(of, t.Category)) && rng.Float64() < part {
			t.Artist, sung[t.Path] = oneVoice, true
		}
	}
	return out, func(t station.Track) []string {
		if sung[t.Path] {
			return []string{oneVoice}
		}
		return names(t)
	}
}

// AtMost returns a library without the tracks of a category after the first n.
func AtMost(library []station.Track, c station.Category, n int) []station.Track {
	return slices.DeleteFunc(slices.Clone(library), func(t station.Track) bool {
		if t.Category == c {
			n--
		}
		return t.Category == c && n < 0
	})
}

// OneDeck returns a library with all its music in one category.
func OneDeck(library []station.Track, c station.Category) []station.Track {
	out := slices.Clone(library)
	for i := range out {
		if out[i].Category.Music() {
			out[i].Category = c
		}
	}
	return out
}
