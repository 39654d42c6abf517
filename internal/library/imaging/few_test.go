//go:build !soak

package imaging

// What is synthesised, spoken and mastered keeps the same rules for every seed: a
// few show it, and the soak makes more.
const few = true
