//go:build soak

package app

import "testing"

func TestSoakSiege(t *testing.T) { laySiege(t, 50_000) }
