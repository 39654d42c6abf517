//go:build soak

package e2e

import (
	"context"
	"testing"
)

// Seconds from `athir run` to the first second of music, on a first start and
// on a later one. Printed, not asserted: machines differ.
func TestSoakSecondsToTheFirstMusic(t *testing.T) {
	s := newStation(t, rules(shortRules))
	fill(t, s.media, decks)
	before := 0
	for _, start := range []string{"first start", "second start"} {
		before = s.logged("emergency")
		s.launch()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		icecast, err := firstAudio(ctx, s.url("icecast", "/main"), s.began)
		if err != nil {
			t.Fatalf("%s: %v\n%s", start, err, s.tail(80))
		}
		s.eventually("music, not the emergency audio", func() bool { st, err := s.status(); return err == nil && st.State == "music" })
		hls, err := firstAudio(ctx, s.url("player", "/hls/main/index.m3u8"), s.began)
		cancel()
		if err != nil {
			t.Fatalf("%s: HLS: %v\n%s", start, err, s.tail(80))
		}
		t.Logf("STARTUP %s: first second of music on Icecast after %.2f s, on HLS after %.2f s", start, icecast.Seconds(), hls.Seconds())
		s.stop()
	}
	// A first start may need it while a slow machine still looks at the library.
	if s.logged("emergency") > before {
		t.Errorf("the emergency audio was heard at a start with a rotation in place:\n%s", s.tail(100))
	}
}
