//go:build soak

package resume

import "testing"

func TestSoakAHundredMebibytesCutTwentyTimesAndKilledFiveTimes(t *testing.T) { survives(t, 100<<20) }
