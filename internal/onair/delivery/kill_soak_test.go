//go:build soak

package delivery_test

import "testing"

func TestSoakThousandPushesWithRandomKills(t *testing.T) { pushAndKill(t, 500) }
