//go:build !soak

package intake

// faultRuns is how many runs a test makes in which the disk fails or the station dies at any
// operation.
const faultRuns = "50"
