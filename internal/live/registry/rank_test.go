package registry_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/registry"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) int64 { return noon.Add(-d).UnixMilli() }

func TestRankingIsWhatItsCommentSays(t *testing.T) {
	for name, c := range map[string]struct {
		better, worse live.Stream
		live          string // id of the one that is live now
	}{
		"live now beats every score":         {live.Stream{ID: "a"}, live.Stream{ID: "b", LastLiveAt: ago(0), Listeners: 9999, Votes: 9999}, "a"},
		"fresh beats stale":                  {live.Stream{ID: "b", LastLiveAt: ago(time.Hour)}, live.Stream{ID: "a", LastLiveAt: ago(48 * time.Hour)}, ""},
		"once live beats never":              {live.Stream{ID: "b", LastLiveAt: ago(20 * 24 * time.Hour)}, live.Stream{ID: "a"}, ""},
		"listeners beat none":                {live.Stream{ID: "b", Listeners: 1}, live.Stream{ID: "a"}, ""},
		"votes beat none":                    {live.Stream{ID: "b", Votes: 1}, live.Stream{ID: "a"}, ""},
		"no votes beat votes against":        {live.Stream{ID: "b"}, live.Stream{ID: "a", Votes: -1}, ""},
		"a log: 100 more of 1000 weigh less": {live.Stream{ID: "b", Listeners: 1000, Votes: 1}, live.Stream{ID: "a", Listeners: 1100}, ""},
		"half after a day: 3 against 1.5":    {live.Stream{ID: "b", LastLiveAt: ago(24 * time.Hour), Listeners: 32}, live.Stream{ID: "a", LastLiveAt: ago(0)}, ""},
		"ties by age in the registry":        {live.Stream{ID: "b", AddedAt: 1}, live.Stream{ID: "a", AddedAt: 2}, ""},
		"then by id":                         {live.Stream{ID: "a", AddedAt: 1}, live.Stream{ID: "b", AddedAt: 1}, ""},
		"a clock ahead is now, not more":     {live.Stream{ID: "b", LastLiveAt: ago(0), Votes: 1}, live.Stream{ID: "a", LastLiveAt: ago(-time.Hour)}, ""},
	} {
		for _, in := range [][]live.Stream{{c.better, c.worse}, {c.worse, c.better}} {
			got := registry.Rank(in, map[string]registry.Fact{c.live: {Live: true}}, noon)
			if got[0].ID != c.better.ID {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	got := registry.Rank([]live.Stream{{ID: "a"}, {ID: "b"}}, map[string]registry.Fact{"a": {Live: true, Blacklisted: true}}, noon)
	if len(got) != 1 || got[0].ID != "b" {
		t.Errorf("blacklisted: %+v", got)
	}
}

func anyStreams(t *rapid.T) ([]live.Stream, map[string]registry.Fact) {
	facts := map[string]registry.Fact{}
	out := make([]live.Stream, rapid.IntRange(0, 8).Draw(t, "n"))
	for i := range out {
		id := fmt.Sprintf("LIVE%08x", i)
		out[i] = live.Stream{
			ID: id, Listeners: rapid.IntRange(0, 50).Draw(t, "listeners"), Votes: rapid.IntRange(-5, 5).Draw(t, "votes"), AddedAt: rapid.Int64Range(0, 3).Draw(t, "added"),
			LastLiveAt: rapid.SampledFrom([]int64{0, 1, ago(0), ago(time.Hour), ago(-time.Hour), ago(72 * time.Hour)}).Draw(t, "last"),
		}
		facts[id] = registry.Fact{Live: rapid.Bool().Draw(t, "live"), Blacklisted: rapid.IntRange(0, 4).Draw(t, "dead") == 0}
	}
	return out, facts
}

// Whatever the order in which streams come, the ranking is one, and has each that is not
// blacklisted once.
func TestRankingIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, facts := anyStreams(t)
		want := registry.Rank(in, facts, noon)
		if d := cmp.Diff(want, registry.Rank(rapid.Permutation(in).Draw(t, "order"), facts, noon)); d != "" {
			t.Fatal(d)
		}
		n := 0
		for _, s := range in {
			if !facts[s.ID].Blacklisted {
				n++
			}
		}
		if len(want) != n {
			t.Fatalf("%d of %d", len(want), n)
		}
		// Leaving one out changes nothing between the others.
		if len(want) > 0 {
			out := rapid.IntRange(0, len(want)-1).Draw(t, "out")
			less := slices.DeleteFunc(slices.Clone(in), func(s live.Stream) bool { return s.ID == want[out].ID })
			if d := cmp.Diff(slices.Delete(slices.Clone(want), out, out+1), registry.Rank(less, facts, noon)); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// More of what counts never ranks a stream lower.
func TestRankingIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, facts := anyStreams(t)
		if len(in) == 0 {
			return
		}
		at := rapid.IntRange(0, len(in)-1).Draw(t, "at")
		id := in[at].ID
		facts[id] = registry.Fact{Live: facts[id].Live}
		place := func(s []live.Stream, f map[string]registry.Fact) int {
			return slices.IndexFunc(registry.Rank(s, f, noon), func(s live.Stream) bool { return s.ID == id })
		}
		was := place(in, facts)
		more := slices.Clone(in)
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			more[at].Listeners += rapid.IntRange(1, 1000).Draw(t, "more")
		case 1:
			more[at].Votes += rapid.IntRange(1, 1000).Draw(t, "more")
		case 2:
			more[at].LastLiveAt = max(more[at].LastLiveAt, ago(0))
		case 3:
			facts[id] = registry.Fact{Live: true}
		}
		if now := place(more, facts); now > was {
			t.Fatalf("from %d to %d: %+v", was, now, more[at])
		}
	})
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"http://a.example/x", "pipe:/node/pipes/a", "source:/a", "rtmp://127.0.0.1:19350/x", "https://u:p@h/?q=1#f", "http://[::1%25lo]/"} {
		f.Add(s)
	}
	r := newRig(f)
	f.Fuzz(func(t *testing.T, url string) {
		s, err := r.Register(t.Context(), registry.Fields{URL: url})
		if err != nil {
			return
		}
		whole, err := r.Source(s.ID)
		if err != nil {
			t.Fatal(err)
		}
		checkAddress(t, whole.URL, s.URL)
		if err := r.Remove(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	})
}

// checkAddress: what was taken begins with one of the schemes, stays in the folder of
// pipes, and does not show its credentials.
func checkAddress(t *testing.T, whole, shown string) {
	t.Helper()
	scheme, rest, _ := strings.Cut(whole, ":")
	switch scheme {
	case "pipe":
		if filepath.Dir(rest) != "/node/pipes" || filepath.Clean(rest) != rest {
			t.Fatalf("a pipe elsewhere: %q", whole)
		}
	case "source", "http", "https", "rtmp":
	default:
		t.Fatalf("scheme of %q", whole)
	}
	u, err := url.Parse(whole)
	if err != nil {
		t.Fatalf("%q: %v", whole, err)
	}
	if v, err := url.Parse(strings.TrimSuffix(shown, "?…")); err != nil || v.User != nil || v.RawQuery != "" || v.Host != u.Host {
		t.Fatalf("%q is shown as %q", whole, shown)
	}
}

// What a vote costs with as many streams as there may be: one write of the whole file.
func BenchmarkVote(b *testing.B) {
	r := newRig(b)
	var first string
	for i := range 500 {
		s := r.register(fmt.Sprintf("http://a.example/%d", i), "A title as titles are", "")
		first = s.ID
	}
	for b.Loop() {
		if _, err := r.Vote(b.Context(), first, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRank(b *testing.B) {
	streams := make([]live.Stream, 500)
	for i := range streams {
		streams[i] = live.Stream{ID: fmt.Sprintf("LIVE%08x", i), Listeners: i * 7 % 50, Votes: i % 11, LastLiveAt: ago(time.Duration(i%40) * time.Hour)}
	}
	for b.Loop() {
		registry.Rank(streams, nil, noon)
	}
}
