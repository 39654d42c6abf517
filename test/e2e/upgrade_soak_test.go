//go:build soak

package e2e

import "testing"

// Ten upgrades in a row under fifty listeners each of Icecast, HLS, /stream and events.
func TestSoakNobodyNoticesTenUpgrades(t *testing.T) { upgradeUnder(t, 10, 50) }
