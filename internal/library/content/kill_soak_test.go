//go:build soak

package content

import "testing"

func TestSoakKilledRefreshLosesNothing(t *testing.T) { killedRefresh(t, 200, 14) }
