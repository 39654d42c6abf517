//go:build race

package stinger

// The race detector makes arithmetic six times slower, and there is nothing to
// race in a package without goroutines.
const seeds = 6
