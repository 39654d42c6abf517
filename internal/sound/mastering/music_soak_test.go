//go:build soak

package mastering_test

import "testing"

func TestSoakRealMusicComesOutAtTheTarget(t *testing.T) { masterRealMusic(t, 3) }
