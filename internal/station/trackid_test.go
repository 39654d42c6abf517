package station

import "testing"

// Addresses that were shared must be found by every later version.
func TestTrackIDStaysAsItIs(t *testing.T) {
	const path, want = "arabic_hits/عمرو دياب - تملي معاك.mp3", "po5r7ptk2ipueb36"
	if got := TrackID(path); got != want || !IsTrackID(got) {
		t.Errorf("TrackID = %q", got)
	}
	for _, text := range []string{"", "../../../../etc/", want + "a", want[1:], "AAAAAAAAAAAAAAAA", "aaaaaaaaaaaaaaa1"} {
		if IsTrackID(text) {
			t.Errorf("%q is an id", text)
		}
	}
}
