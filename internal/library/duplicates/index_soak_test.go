//go:build soak

package duplicates_test

import "testing"

func TestSoakIndexFindsInTenThousandWhatAFullComparisonWould(t *testing.T) {
	findsWhatIsThere(t, 10_000, 100)
}
