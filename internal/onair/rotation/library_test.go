package rotation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

var cairo, _ = time.LoadLocation("Africa/Cairo")

// noon is a time in the midday window, where all multipliers are one.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, cairo)

// shelf is how much of each category a library holds.
type shelf map[station.Category]int

// typical is a library of n songs and an ordinary shelf of imaging.
func typical(n int) shelf {
	return shelf{
		station.ArabicHits: n * 65 / 100, station.English: n * 30 / 100, station.Mashups: n * 5 / 100,
		station.Ads: 16, station.Jingles: 8, station.Sweepers: 30, station.SFX: 16, station.Shorts: 20, station.News: 3,
	}
}

// library makes tracks: songs of three to five minutes, an artist for every
// four of a category.
func library(s shelf, seed uint64) []station.Track {
	rng := rand.New(rand.NewPCG(seed, 1))
	var out []station.Track
	for _, c := range station.Categories() {
		for i := range s[c] {
			d := 3*time.Minute + time.Duration(rng.IntN(120_000))*time.Millisecond
			switch c {
			case station.SFX:
				d = time.Second
			case station.Shorts, station.News:
				d = 36 * time.Second
			case station.Ads:
				d = 20 * time.Second
			case station.Jingles, station.Sweepers:
				d = 8 * time.Second
			}
			out = append(out, station.Track{
				Path: fmt.Sprintf("music/%s/%04d.mp3", c, i), Category: c, Duration: d,
				Title: fmt.Sprintf("%s song %d", c, i), Artist: fmt.Sprintf("%s artist %d", c, rng.IntN(s[c]/4+1)),
				ModTime: noon.Add(-time.Duration(i) * time.Hour),
			})
		}
	}
	return out
}
