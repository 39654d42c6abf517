//go:build soak

package content

import "testing"

// faultRuns is how many runs a test makes in which the disk fails or the station
// dies at any operation.
const faultRuns = "400"

func TestSoakKilledRefreshLosesNothing(t *testing.T) { killedRefresh(t, 200, 14) }

func TestSoakEveryFaultLeavesEveryFileAtOnePlace(t *testing.T) {
	TestEveryFaultLeavesEveryFileAtOnePlace(t)
}
