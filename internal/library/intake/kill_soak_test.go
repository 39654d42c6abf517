//go:build soak

package intake

import "testing"

const faultRuns = "600"

func TestSoakEveryFaultLeavesEveryFileAtOnePlace(t *testing.T) {
	TestEveryFaultLeavesEveryFileAtOnePlace(t)
}

func TestSoakAKillAtEveryOperationLosesNothing(t *testing.T) { killedAtOperations(t, 0, 1) }

func TestSoakAKillAtAnyMomentLosesNothing(t *testing.T) { killedAtAnyMoment(t, 400) }
