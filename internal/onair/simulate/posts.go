package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// kind is one type of post.
type kind struct {
	name     string
	category station.Category
	share    float64 // of all posts
	least    int     // milliseconds
	most     int
}

func kinds() []kind {
	return []kind{
		{"mashup", station.Mashups, 0.06, 90_000, 400_000}, {"voice", station.Sweepers, 0.08, 3_000, 14_000},
		{"ads", station.Ads, 0.06, 8_000, 45_000}, {"jingles", station.Jingles, 0.05, 3_000, 18_000},
		{"sfx", station.SFX, 0.05, 400, 4_500}, {"song", station.ArabicHits, 0.70, 120_000, 330_000},
	}
}

// PostsBy is how many listeners InventedPosts has.
const PostsBy = 60

// InventedPosts makes n posts of PostsBy listeners, a few of whom send many: mostly songs,
// some imaging, approved at any time of the days. Three in five get no vote. The same
// arguments give the same posts.
func InventedPosts(n, days int, from time.Time, seed uint64) []Post {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 0x706f7374)), sung: map[string][]string{}} //nolint:gosec // not for secrets
	cast := m.cast(station.ArabicHits, PostsBy)
	out := make([]Post, n)
	for i := range out {
		k := m.kind()
		who := min(m.rng.IntN(PostsBy), m.rng.IntN(PostsBy)) // the first send most
		length := k.least + m.rng.IntN(k.most-k.least)
		p := Post{Approved: from.Add(time.Duration(m.rng.Float64() * float64(days) * float64(24*time.Hour)).Round(time.Second))}
		if m.rng.IntN(5) > 2 {
			p.Up, p.Down = 6*m.rng.ExpFloat64(), 2*m.rng.ExpFloat64()
		}
		p.Track = station.Track{
			Path: fmt.Sprintf("social/%s/SOC_%d_post.mp3", k.name, i+1), Category: k.category, Title: m.title(k.category),
			Artist: cast[who].spellings[0], Duration: time.Duration(length) * time.Millisecond, Size: int64(length) * 24, ModTime: p.Approved,
			AddedAt: p.Approved, Submitter: fmt.Sprintf("listener %02d", who+1),
		}
		out[i] = p
	}
	return out
}

// kind draws a type.
func (m *maker) kind() kind {
	all := kinds()
	at := m.rng.Float64()
	for _, k := range all {
		if at -= k.share; at < 0 {
			return k
		}
	}
	return all[len(all)-1]
}
