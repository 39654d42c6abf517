//go:build soak

package upload

import "testing"

func TestSoakAHundredMebibytesCutTwentyTimesAndKilledFiveTimes(t *testing.T) { survives(t, 100<<20) }
