//go:build race

package bus

const raceDetector = true
