//go:build soak

package demo

import "testing"

const soak = true

func TestSoakLibraryOfEveryKind(t *testing.T) {
	t.Run("killed", TestKilledBuildLeavesNoHalfFileAndResumes)
	t.Run("level and length", TestGeneratedAudioIsLevelAndOfTheRightLength)
	t.Run("credits", TestCreditsSurviveInTagsAndAttribution)
}
