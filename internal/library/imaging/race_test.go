//go:build race

package imaging

// The race detector makes synthesis six times slower. What runs beside each
// other is the same for every seed: a few show it.
const few = true
