//go:build soak

package bus

import (
	"fmt"
	"testing"
	"time"
)

// Eight hours of live by a clock that is wrong.
func TestSoakAWrongClockIsFollowedForHours(t *testing.T) {
	for _, ppm := range []float64{100, -100} {
		t.Run(fmt.Sprint(ppm), func(t *testing.T) { follow(t, ppm, 8*time.Hour) })
	}
}
