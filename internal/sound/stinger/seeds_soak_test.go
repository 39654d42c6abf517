//go:build soak

package stinger

import "testing"

const seeds = 20

func TestSoakDesignsOfTwentySeeds(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"apart":    TestEveryDesignIsToldFromTheOthersAndItsSeedsResembleEachOther,
		"clean":    TestStingersAreOfTheLengthTheTableAllowsCleanAndAudibleFromTheStart,
		"loudness": TestStingersReachTheirLoudnessUnderTheirPeak,
		"seeds":    TestOneSeedMakesOneSoundAndOthersMakeOthers,
	} {
		t.Run(name, test)
	}
}
