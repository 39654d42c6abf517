package feed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const tagged = 1<<14 + 10 // bytes before the sound, as the rig writes them

func span(from, bytes int) string { return fmt.Sprintf("bytes=%d-%d", from, from+bytes-1) }

// Each case is a day of one episode: a download is a listener who got a minute of it.
func TestADownloadIsAMinuteOfAnEpisodeByAListenerADay(t *testing.T) {
	type ask []string // headers
	for _, c := range []struct {
		what string
		asks []ask
		want int
	}{
		{"the whole", []ask{{}}, 1},
		{"the whole, twice", []ask{{}, {}}, 1},
		{"two addresses", []ask{{}, {"From-Address", "198.51.100.8:1"}}, 2},
		{"two programs of one address", []ask{{}, {"User-Agent", "Overcast/3.0"}}, 2},
		{"one address of IPv6 within its network", []ask{{"From-Address", "[2001:db8::1]:1"}, {"From-Address", "[2001:db8::2]:1"}}, 1},
		{"a look at the beginning", []ask{{"Range", "bytes=0-1"}}, 0},
		{"less than a minute, the picture before it beside", []ask{{"Range", span(0, tagged+minute-1)}}, 0},
		{"a minute", []ask{{"Range", span(0, tagged+minute)}}, 1},
		{"a minute in parts", []ask{{"Range", span(tagged, minute/2)}, {"Range", span(tagged+minute, minute/2)}}, 1},
		{"a minute in parts of one answer", []ask{{"Range", span(tagged, minute/2) + "," + fmt.Sprintf("%d-%d", 2*minute, 2*minute+minute/2-1)}}, 1},
		{"half a minute of two listeners", []ask{{"Range", span(tagged, minute/2)}, {"Range", span(tagged, minute/2), "From-Address", "198.51.100.8:1"}}, 0},
		{"a minute in the middle", []ask{{"Range", span(tagged+minute, minute)}}, 1},
		{"programs that search", []ask{{"User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1)"}, {"User-Agent", "AhrefsBot/7"}, {"User-Agent", "facebookexternalhit/1.1"}}, 0},
		{"who says no name", []ask{{"User-Agent", ""}, {"User-Agent", "  "}}, 0},
		{"programmers' tools", []ask{{"User-Agent", "curl/8.5.0"}, {"User-Agent", "Go-http-client/1.1"}, {"User-Agent", "python-requests/2"}}, 0},
		{"what a browser loads ahead", []ask{{"Sec-Purpose", "prefetch;prerender"}, {"Purpose", "prefetch"}}, 0},
		{"a listener behind a proxy of ours", []ask{{"From-Address", "127.0.0.1:1", "X-Forwarded-For", "203.0.113.1"}, {"From-Address", "127.0.0.1:2", "X-Forwarded-For", "203.0.113.2"}}, 2},
		{"an address that is made up", []ask{{"X-Forwarded-For", "203.0.113.1"}, {"X-Forwarded-For", "203.0.113.2"}}, 1},
	} {
		r := newRig(t)
		for _, headers := range c.asks {
			if got := r.ask("GET", sound(one), headers...); got.Code >= 300 {
				t.Fatalf("%s: %d", c.what, got.Code)
			}
		}
		if got := r.counted(one); got != c.want || r.counted(two) != 0 {
			t.Errorf("%s: %d downloads, want %d", c.what, got, c.want)
		}
	}
}

func TestWhatIsNoDownload(t *testing.T) {
	r := newRig(t)
	tag := r.ask("HEAD", sound(one)).Header().Get("ETag")
	r.ask("GET", sound(one), "If-None-Match", tag)
	r.ask("GET", sound(one), "Range", "bytes=99999999-")
	r.ask("GET", "/podcasts/nile/feed.xml")
	if got := r.counted(one); got != 0 {
		t.Errorf("%d downloads", got)
	}
	r.ask("GET", sound(one))
	r.now = start.Add(11 * time.Hour)
	r.ask("GET", sound(one))
	if got := r.counted(one); got != 1 {
		t.Errorf("the same day: %d", got)
	}
	r.now = start.Add(12 * time.Hour)
	r.ask("GET", sound(one))
	r.ask("GET", sound(two))
	if r.counted(one) != 2 || r.counted(two) != 1 {
		t.Errorf("the next day: %d, and of the other episode %d", r.counted(one), r.counted(two))
	}
}

// Half of a short one is no download; an episode that has no minute is one as a whole.
func TestAShortEpisodeIsDownloadedAsAWhole(t *testing.T) {
	r := newRig(t)
	r.heard["nile"][1].DurationMS = 30_000
	r.ask("GET", sound(one), "Range", span(tagged, minute))
	if r.counted(one) != 0 {
		t.Error("a third of it counts")
	}
	r.ask("GET", sound(one))
	if r.counted(one) != 1 {
		t.Error("the whole of it does not count")
	}
}

// Whoever makes up names of programs is a household at most.
func TestOneAddressIsNoCrowd(t *testing.T) {
	r := newRig(t)
	for i := range 100 {
		r.ask("GET", sound(one), "User-Agent", fmt.Sprintf("App/%d", i), "Range", span(tagged, minute))
	}
	if got := r.counted(one); got != 32 {
		t.Errorf("%d downloads by one address", got)
	}
	r.ask("GET", sound(one), "User-Agent", strings.Repeat("a", 100_000))
	if got := r.counted(one); got != 32 {
		t.Errorf("%d downloads by one address", got)
	}
}
