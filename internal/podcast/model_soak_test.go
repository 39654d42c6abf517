//go:build soak

package podcast

import (
	"math/rand/v2"
	"testing"
)

// Five hundred orders that nobody has tried. The name of what fails is its seed: give it to orders.
func TestSoakAnyOrderOfDeedsKeepsTheShelves(t *testing.T) {
	seeds := make([]uint64, 500)
	for i := range seeds {
		seeds[i] = rand.Uint64()
	}
	orders(t, seeds...)
}
