//go:build soak

package rank_test

import "testing"

// Where hardly anybody votes, the bad post is lucky at times: nobody who hears it votes.
func TestSoakFormulasOfManySeeds(t *testing.T) { checkFormula(t, 300, 0.03) }

func TestSoakBurstsOfManySeeds(t *testing.T) { checkBursts(t, 100) }
