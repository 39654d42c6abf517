package playout

import "testing"

// The generation of the demo library's imaging waits for music on the air, and the
// emergency audio, or a jingle before the first song, is none.
func TestMusicIsASongOrALiveShow(t *testing.T) {
	for _, c := range []struct {
		last  *Marker
		music bool
	}{
		{nil, false},
		{&Marker{Kind: KindEmergency}, false},
		{&Marker{Kind: KindRotation, Type: "jingles"}, false},
		{&Marker{Kind: KindRotation, Type: "shorts"}, false},
		{&Marker{Kind: KindRotation}, true},
		{&Marker{Kind: KindLive}, true},
	} {
		if got := (Status{Last: c.last}).music(); got != c.music {
			t.Errorf("after %+v: %v", c.last, got)
		}
	}
}
