package rank_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

// The bounds that the formula was chosen by.
const (
	neverAllowed  = 0.0
	boughtAllowed = 12
)

// thirty are the bought votes: devices that waited a day, at three addresses of two networks.
func thirty() []rank.Vote { return crowd(30, 3, 2, 1, true) }

// rates are how many listeners vote while a post airs, in the mean.
var rates = []float64{0.6, 3}

// row is a formula's line of the table: the mean of all seeds, and of the bought post the most.
type row struct {
	outcome

	boughtMean float64
	over       float64 // the share of seeds in which it aired more often than allowed
}

func simulateAll(f formula, seeds int, st story) (r row) {
	n := float64(seeds)
	for seed := range uint64(seeds) {
		o := simulate(f, seed, st)
		r.never += o.never / n
		r.quality += o.quality / n
		r.boughtMean += float64(o.bought) / n
		if o.bought > boughtAllowed {
			r.over += 1 / n
		}
		r.bought = max(r.bought, o.bought)
		r.latest = max(r.latest, o.latest)
	}
	return r
}

// cells are a line of the table as docs/ranking.md has it.
func (r row) cells() []string {
	return []string{fmt.Sprintf("%.0f %%", 100*r.never), fmt.Sprintf("%.2f", r.quality), fmt.Sprintf("%.0f", r.boughtMean)}
}

const (
	seedsOfTest  = 8
	seedsOfCrowd = 3 // its tallies are long
)

// table is what TestFormulas prints and docs/ranking.md shows.
func table(seeds int) (rows map[string][]string, text string) {
	var b strings.Builder
	rows = map[string][]string{}
	for _, f := range formulas {
		for _, rate := range rates {
			rows[f.name] = append(rows[f.name], simulateAll(f, seeds, story{votesPerPlay: rate, bought: thirty()}).cells()...)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", f.name, strings.Join(rows[f.name], " | "))
	}
	return rows, b.String()
}

// checkFormula holds ours to its bounds; of the seeds a share may be over that of the bought post.
func checkFormula(t *testing.T, seeds int, over float64) {
	t.Helper()
	for _, rate := range rates {
		r := simulateAll(formulas[len(formulas)-1], seeds, story{votesPerPlay: rate, bought: thirty()})
		t.Logf("ours, %g votes a play, %d seeds: never aired %.1f %%, first airing after %v at most, quality %.3f, bought %.1f in the mean, %d at most, over %d in %.1f %% of the seeds",
			rate, seeds, 100*r.never, r.latest, r.quality, r.boughtMean, r.bought, boughtAllowed, 100*r.over)
		if r.never > neverAllowed || r.latest > rank.HeardWithin {
			t.Errorf("%g votes a play: %.1f %% never aired, the latest after %v; want 0 and at most %v", rate, 100*r.never, r.latest, rank.HeardWithin)
		}
		if r.over > over {
			t.Errorf("%g votes a play: the bad post with 30 bought votes aired more than %d times in %.1f %% of the seeds, up to %d times; want %.1f %%",
				rate, boughtAllowed, 100*r.over, r.bought, 100*over)
		}
	}
}

// The formulas that others use leave most posts unheard. Ours airs all, and a bad post with
// bought votes within its bound. The manual shows the same table.
func TestFormulas(t *testing.T) {
	rows, text := table(seedsOfTest)
	t.Logf("\n| order | never aired | quality | bought | never aired | quality | bought |\n%s", text)
	checkFormula(t, seedsOfTest, 0)
	told := manual(t, "Means of 8 seeds, with 0.6 votes in the mean while a post airs (left) and with 3 (right):")
	for _, f := range formulas {
		told.check(t, f.name, 1, rows[f.name])
	}
}

// A burst of 40 posts in one hour is heard within 48 hours, even where people voted
// against all of them before they could be heard.
func TestFormulasHearABurst(t *testing.T) { checkBursts(t, seedsOfTest) }

func checkBursts(t *testing.T, seeds int) {
	t.Helper()
	for _, spoilt := range []int{0, 10, 200} {
		r := simulateAll(formulas[len(formulas)-1], seeds, story{votesPerPlay: rates[0], bought: thirty(), burst: 40, spoilt: spoilt})
		t.Logf("burst of 40, %d votes against each: first airing after %v at most", spoilt, r.latest)
		if r.never > neverAllowed || r.latest > rank.HeardWithin {
			t.Errorf("burst of 40 posts with %d votes against each: %.1f %% never aired, the latest after %v", spoilt, 100*r.never, r.latest)
		}
	}
}

// patient are the harder attackers of docs/ranking.md: 10,000 devices that waited a day.
var patient = []struct {
	name string
	networks,
	addresses int
}{
	{"one address", 1, 1},
	{"200 addresses of one network", 1, 200},
	{"200 addresses of 10 networks", 10, 200},
	{"200 addresses of 200 networks", 200, 200},
}

// Nobody with one network does more for a bad post than 30 bought votes may.
func TestFormulasHoldAPatientCrowdOfOneNetwork(t *testing.T) {
	for _, p := range patient {
		var cells []string
		for _, rate := range rates {
			r := simulateAll(formulas[len(formulas)-1], seedsOfCrowd, story{votesPerPlay: rate, bought: crowd(10_000, p.addresses, p.networks, 1, true)})
			cells = append(cells, fmt.Sprintf("%.0f", r.boughtMean))
			if p.networks == 1 && r.bought > boughtAllowed {
				t.Errorf("%s, %g votes a play: the bad post aired %d times, want at most %d", p.name, rate, r.bought, boughtAllowed)
			}
		}
		t.Logf("| %s | %s |", p.name, strings.Join(cells, " | "))
		manual(t, afterPatient).check(t, p.name, 4, cells)
	}
}
