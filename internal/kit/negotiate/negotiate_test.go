package negotiate_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/kit/negotiate"
)

func TestAnEncodingIsTakenByWhoNamesIt(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "GZip": true, "br, gzip": true, "gzip;q=0": false, "gzip; q=0.000": false, "gzip; q=0.5": true,
		"gzip;q=x": false, "gzipped": false, "x-gzip": false, "deflate;q=1,  gzip ;q=1": true, "br": false, "gzip;level=1": true,
	} {
		if negotiate.Accepts(accept, "gzip") != want {
			t.Errorf("%q: %v", accept, !want)
		}
	}
}

func TestTagsAreComparedWeakly(t *testing.T) {
	for noneMatch, want := range map[string]bool{
		"": false, `"a"`: true, `W/"a"`: true, `"b", W/"a"`: true, `"b" ,"c"`: false, "*": true, `"ab"`: false, "a": false, `"A"`: false,
	} {
		for _, tag := range []string{`"a"`, `W/"a"`} {
			if negotiate.Has(noneMatch, tag) != want {
				t.Errorf("%q of %q: %v", noneMatch, tag, !want)
			}
		}
	}
}
