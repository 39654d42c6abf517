package station_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

func TestISRCIsReadInEveryWriting(t *testing.T) {
	for text, want := range map[string]string{
		"US-RC1-76-07839": "USRC17607839", "usrc17607839": "USRC17607839", " EG A0 1 26 00001 ": "EGA012600001", "ISRC: GB-AYE-69-00531": "GBAYE6900531",
		"FR\u2010Z03\u201098\u201000212": "FRZ039800212", "ISRC16900531": "ISRC16900531", "ISRC ISRC16900531": "ISRC16900531",
		"": "", "1SRC17607839": "", "USRC1760783": "", "USRC176078390": "", "USRC17607A39": "", "US-RC1-7X-07839": "", "USRC1\x00607839": "", "ÜSRC1760783": "", "none": "",
		"=CMD|'/C'!A1": "",
	} {
		if got, ok := station.ISRC(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
}
