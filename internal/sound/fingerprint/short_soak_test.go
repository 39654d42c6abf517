//go:build soak

package fingerprint_test

import "testing"

func TestSoakShortSoundsOfTwentySeeds(t *testing.T) { shortCopies(t, 20, "64k", "128k") }
