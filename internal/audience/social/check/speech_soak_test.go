//go:build soak

package check_test

import "testing"

func TestSoakSpeechAndMusicAreToldApart(t *testing.T) {
	toldApart(t, 1, []int{120, 150, 180, 200}, []int{30, 45, 60, 75})
}
