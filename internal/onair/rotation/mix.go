package rotation

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/athir-radio/athir/internal/station"
)

// categoryMinimum is the mission's limit: a category with fewer tracks is supplemented
// from arabic_hits.
const categoryMinimum = 15

// mix draws the category of each music entry. What a category is owed grows by its share
// with every entry and falls by one when it is served. Chance decides between those that
// are owed something, so the shares are exact in the long run.
type mix struct {
	cats  []station.Category
	share []float64 // sums to one
	owed  []float64
}

// weights returns what the configuration wants: GENRE_SPLIT beside
// MASHUP_CHANCE, by the daypart's multipliers. A hard window leaves one.
func weights(cfg Config, d Daypart) map[station.Category]float64 {
	out := map[station.Category]float64{}
	if d.Hard != "" {
		out[d.Hard] = 1
		return out
	}
	split := cfg.GenreSplit
	if len(split) == 0 {
		split = DefaultConfig().GenreSplit
	}
	sum := 0.0
	for c, w := range split {
		if splits(c) {
			sum += max(w, 0)
		}
	}
	for c, w := range split {
		if splits(c) && sum > 0 {
			out[c] = max(w, 0) / sum * (1 - cfg.MashupChance)
		}
	}
	out[station.Mashups] = cfg.MashupChance
	for c, w := range d.Weights {
		out[c] *= max(w, 0)
	}
	return out
}

// newMix turns weights into shares. A category below the minimum keeps one fifteenth of
// its share for each track; arabic_hits gets the rest (mission: *Rotation rebuild*).
func newMix(weights map[station.Category]float64, size func(station.Category) int, hard bool) *mix {
	m := &mix{}
	arabic := size(station.ArabicHits)
	spare, sum := 0.0, 0.0
	for _, c := range station.Categories() {
		w, n := weights[c], size(c)
		if w <= 0 || n == 0 && (arabic == 0 || hard) {
			continue
		}
		if c != station.ArabicHits && n < categoryMinimum && arabic > 0 && !hard {
			spare += w * float64(categoryMinimum-n) / categoryMinimum
			w = w * float64(n) / categoryMinimum
		}
		m.cats, m.share = append(m.cats, c), append(m.share, w)
		sum += w
	}
	if spare > 0 {
		m.supplement(spare)
		sum += spare
	}
	for i := range m.share {
		m.share[i] /= sum
	}
	m.owed = make([]float64, len(m.cats))
	return m
}

func (m *mix) supplement(spare float64) {
	for i, c := range m.cats {
		if c == station.ArabicHits {
			m.share[i] += spare
			return
		}
	}
	m.cats, m.share = append(m.cats, station.ArabicHits), append(m.share, spare)
}

// settleDraws is how many draws bring the accounts to typical values.
const settleDraws = 64

// settle starts the mix at a random point of its course: a category that is owed one song
// in forty may be owed it now or after forty. Rotations are built at the same times every
// day; if each began with equal accounts, a rare category would air at the same hours
// every day.
func (m *mix) settle(rng *rand.Rand) {
	heaviest, sum := 0, 0.0
	for i := range m.cats {
		m.owed[i] = rng.Float64() - 1
		sum += m.owed[i]
		if m.share[i] > m.share[heaviest] {
			heaviest = i
		}
	}
	if len(m.cats) > 0 {
		m.owed[heaviest] -= sum // keeps the sum at zero
	}
	for range settleDraws {
		m.served(m.next(rng))
	}
}

// heaviest returns the category with the greatest share.
func (m *mix) heaviest() station.Category {
	best := station.ArabicHits
	most := 0.0
	for i, c := range m.cats {
		if m.share[i] > most {
			best, most = c, m.share[i]
		}
	}
	return best
}

// next draws the category of the next entry. Call served with the category that aired.
func (m *mix) next(rng *rand.Rand) station.Category {
	if len(m.cats) == 0 {
		return station.ArabicHits
	}
	sum := 0.0
	for i := range m.owed {
		m.owed[i] += m.share[i]
		sum += max(m.owed[i], 0)
	}
	at := rng.Float64() * sum
	for i, o := range m.owed {
		if at -= max(o, 0); at < 0 {
			return m.cats[i]
		}
	}
	return m.cats[0]
}

// mostOwed bounds what a category may be owed while others are served ahead of it, in
// songs: a rotation is rebuilt every 45 songs or so, and forgets what is owed.
const mostOwed = 1.5

// others returns the categories that may be served before one, the most owed first.
func (m *mix) others(before station.Category) []station.Category {
	owed := map[station.Category]float64{}
	for i, c := range m.cats {
		owed[c] = m.owed[i]
	}
	if owed[before] >= mostOwed {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(m.cats), func(c station.Category) bool { return c == before || owed[c] <= 0 })
	slices.SortStableFunc(out, func(a, b station.Category) int { return cmp.Compare(owed[b], owed[a]) })
	return out
}

// served counts an entry of a category.
func (m *mix) served(c station.Category) {
	for i := range m.cats {
		if m.cats[i] == c {
			m.owed[i]--
			return
		}
	}
}
