package media_test

import (
	"encoding/binary"
	"strings"
	"testing"
)

// A header can claim any rate: what no recording has, or lasts, is not a song.
func TestRateAndLengthAreHeldToWhatACategoryCanHave(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const minute = 60
	cases := map[string]struct {
		rate, seconds int
		want          string // empty: it is registered
	}{
		"english/one-hertz.wav":   {1, 100_000, "its sample rate is 1 Hz: 4000 to 768000 can be played"},
		"english/telephone.wav":   {8000, 60, ""},
		"english/fine.wav":        {192_000, 2, ""},
		"english/too-fine.wav":    {900_000, 2, "its sample rate is 900000 Hz"},
		"jingles/jingle.wav":      {8000, 20, ""},
		"jingles/symphony.wav":    {4000, 6 * minute, "it lasts 6m0s: a file of jingles lasts 5 min at most"},
		"ads/infomercial.wav":     {4000, 11 * minute, "a file of ads lasts 10 min at most"},
		"english/six-minutes.wav": {4000, 6 * minute, ""},
	}
	for rel, c := range cases {
		n := uint32(c.rate * c.seconds) //nolint:gosec // small
		b := []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00....\x00\x00\x00\x00\x01\x00\x08\x00data....")
		binary.LittleEndian.PutUint32(b[4:], 36+n)
		binary.LittleEndian.PutUint32(b[24:], uint32(c.rate)) //nolint:gosec // small
		binary.LittleEndian.PutUint32(b[28:], uint32(c.rate)) //nolint:gosec // small
		binary.LittleEndian.PutUint32(b[40:], n)
		put(t, root, rel, append(b, make([]byte, n)...))
	}
	f := open(t, root)
	scan(t, f.Library)
	why := reasons(f.Snapshot())
	for rel, c := range cases {
		_, there := f.Snapshot().Find(rel)
		if there != (c.want == "") || !strings.Contains(why[rel], c.want) || c.want == "" && why[rel] != "" {
			t.Errorf("%s: registered %v, quarantined for %q, want %q", rel, there, why[rel], c.want)
		}
	}
}
