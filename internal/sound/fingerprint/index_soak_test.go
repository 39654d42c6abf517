//go:build soak

package fingerprint_test

import "testing"

func TestSoakIndexFindsInTenThousandWhatAFullComparisonWould(t *testing.T) {
	findsWhatIsThere(t, 10_000, 100)
}
