//go:build soak

package imaging

import "testing"

const few = false

func TestSoakAssetsKeepTheTableWhateverTheSeed(t *testing.T) {
	TestAssetsKeepTheTableWhateverTheSeed(t)
}

func TestSoakEveryPhraseFitsItsTimeInTheOfflineVoice(t *testing.T) {
	TestEveryPhraseFitsItsTimeInTheOfflineVoice(t)
}

func TestSoakVoiceLandsOnTheBeat(t *testing.T) {
	t.Run("of a drum machine", TestVoiceLandsOnTheBeatOfADrumMachine)
	t.Run("of a real song", TestVoiceLandsOnTheBeatOfARealSong)
}
