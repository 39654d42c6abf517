//go:build soak

package e2e

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// The library is refreshed while the control plane is killed at any instant, six
// times. ATHIR_E2E_TRACKS=1000 is the whole proof.
func TestSoakTheLibraryIsRefreshedUnderTheAirAndKilled(t *testing.T) {
	t.Parallel() // most of it is listening
	files, err := strconv.Atoi(os.Getenv("ATHIR_E2E_TRACKS"))
	if err != nil {
		files = 40
	}
	t.Logf("%d files come in", files)
	refreshed(t, library(), files, 6, func(*station, int) {
		time.Sleep(time.Duration(200+rand.IntN(12000)) * time.Millisecond) // any instant
	})
}
