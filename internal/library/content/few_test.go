//go:build !soak

package content

// faultRuns is how many runs a test makes in which the disk fails or the station
// dies at any operation: each has a dozen of them.
const faultRuns = "12"
