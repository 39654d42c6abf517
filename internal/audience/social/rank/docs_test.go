package rank_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/rank"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const (
	document     = "../../../../docs/ranking.md"
	afterPatient = "often the bad post of the simulation airs, with 0.6 and with 3 votes a play:"
)

// rows are a table of the manual by the first cell of each row.
type rows map[string][]string

func manual(t *testing.T, after string) rows {
	t.Helper()
	out := rows{}
	for _, row := range testkit.DocTable(t, document, after) {
		out[row[0]] = row
	}
	return out
}

// check compares figures of a row, from a column on. Processors that fuse multiplication
// and addition round otherwise, and a tie may then fall the other way: near is enough.
func (r rows) check(t *testing.T, name string, column int, cells []string) {
	t.Helper()
	row := r[name]
	if len(row) < column+len(cells) {
		t.Errorf("docs/ranking.md has no row %q with %d figures from column %d", name, len(cells), column)
		return
	}
	for i, want := range cells {
		got := row[column+i]
		if g, w := number(t, got), number(t, want); math.Abs(g-w) > 0.02+0.03*math.Abs(w) {
			t.Errorf("docs/ranking.md, %s: column %d has %q, measured is %q", name, column+i, got, want)
		}
	}
}

func number(t *testing.T, cell string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.TrimSuffix(cell, " %"), 64)
	if err != nil {
		t.Errorf("docs/ranking.md has %q where a figure should be", cell)
	}
	return n
}

func TestTheManualHasTheConstants(t *testing.T) {
	length := func(d time.Duration) string {
		if d > 48*time.Hour {
			return fmt.Sprintf("%g days", d.Hours()/24)
		}
		return fmt.Sprintf("%g hours", d.Hours())
	}
	constants := map[string]string{
		"`PriorUp`": fmt.Sprint(rank.PriorUp), "`PriorDown`": fmt.Sprint(rank.PriorDown),
		"`FullVotes`": fmt.Sprint(rank.FullVotes), "`ExplorationWeight`": fmt.Sprint(rank.ExplorationWeight),
		"`FreshnessWeight`": fmt.Sprint(rank.FreshnessWeight), "`FreshnessHalfLife`": length(rank.FreshnessHalfLife),
		"`ReactionsWeight`": fmt.Sprint(rank.ReactionsWeight), "`MaxTotal`": fmt.Sprint(rank.MaxTotal),
		"`NewcomersWeight`": fmt.Sprint(rank.NewcomersWeight), "`Overdue`": length(rank.Overdue),
		"`HeardWithin`": length(rank.HeardWithin), "`RisingWindow`": length(rank.RisingWindow),
	}
	weights := map[string]string{}
	for k := range rank.Kinds {
		weights[k.String()] = fmt.Sprint(k.Weight())
	}
	same(t, constants, manual(t, "The constants, as the code has them:"))
	same(t, weights, manual(t, "Reactions, and what one of each counts:"))
}

func same(t *testing.T, code map[string]string, told rows) {
	t.Helper()
	for name, value := range code {
		if row := told[name]; len(row) < 2 || row[1] != value {
			t.Errorf("docs/ranking.md: %s is %q, in the code %s", name, row, value)
		}
	}
	for name := range told {
		if code[name] == "" {
			t.Errorf("docs/ranking.md has %s, which the code has not", name)
		}
	}
}
