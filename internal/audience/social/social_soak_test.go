//go:build soak

package social_test

import "testing"

func TestSoakBrigades(t *testing.T) { brigades(t, 10_000) }

func TestSoakBrigadesOnACandidate(t *testing.T) { brigadesOnCandidate(t, 10_000) }
