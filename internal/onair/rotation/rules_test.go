package rotation

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// One truth for each rule: the document has the sentences of the code.
func TestTheDocumentHasTheLadder(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "planner.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		kind := "unbreakable"
		if r.Breakable {
			kind = "breakable"
		}
		if row := fmt.Sprintf("\n| %d | `%s` | %s | %s |", r.Rank, r.Rule, kind, r.Why); !strings.Contains(string(text), row) {
			t.Errorf("docs/planner.md has not the row %s", row[1:])
		}
	}
}

func TestEachRuleIsBrokenExactlyWhereItShouldBe(t *testing.T) {
	song := func(path, artist, title, album string, d time.Duration) station.Track {
		return station.Track{Path: path, Category: station.ArabicHits, Artist: artist, Title: title, Album: album, Duration: d}
	}
	tracks := []station.Track{
		song("song", "أنغام feat. Wegz", "سيدي وصالك", "Album", 45*time.Second),
		song("short", "", "", "", 45*time.Second-1),
		song("same artist", "WEGZ", "", "", time.Minute), song("same title", "", "سيدى وصالك", "", time.Minute),
		song("same album", "", "", "album", time.Minute),
		{Path: "english", Category: station.English, Duration: time.Minute},
		{Path: "jingle", Category: station.Jingles, Duration: 5 * time.Second},
	}
	for i := range 60 { // so much music that the minimum rest is half an hour
		tracks = append(tracks, song(fmt.Sprint("more", i), "", "", "", 4*time.Minute))
	}
	arabicOnly := DefaultConfig()
	arabicOnly.GenreSplit, arabicOnly.MashupChance = map[station.Category]float64{station.ArabicHits: 1}, 0
	night := noon.Add(15 * time.Hour)
	for _, tc := range []struct {
		name, path string
		cfg        Config
		now        time.Time
		aired      string
		ago        time.Duration
		last       State
		want       []Rule
	}{
		{"all is well", "song", DefaultConfig(), noon, "more1", time.Hour, State{}, nil},
		{"fresh window over", "song", DefaultConfig(), noon, "song", 3 * time.Hour, State{}, nil},
		{"fresh window", "song", DefaultConfig(), noon, "song", 3*time.Hour - 1, State{}, []Rule{FreshWindow}},
		{"cooldown over", "song", DefaultConfig(), noon, "song", 90 * time.Minute, State{}, []Rule{FreshWindow}},
		{"cooldown", "song", DefaultConfig(), noon, "song", 90*time.Minute - 1, State{}, []Rule{Cooldown, FreshWindow}},
		{"rested", "more1", DefaultConfig(), noon, "more1", 30 * time.Minute, State{}, []Rule{Cooldown, FreshWindow}},
		{"not rested", "more1", DefaultConfig(), noon, "more1", 30*time.Minute - 1, State{}, []Rule{MinimumRest, Cooldown, FreshWindow}},
		{"element cooldown over", "jingle", DefaultConfig(), noon, "jingle", 10 * time.Minute, State{}, []Rule{MusicOnly, GenreSplit}},
		{"element cooldown", "jingle", DefaultConfig(), noon, "jingle", 10*time.Minute - 1, State{}, []Rule{MusicOnly, Cooldown, GenreSplit}},
		{"artist gap, a collaboration", "same artist", DefaultConfig(), noon, "song", 29 * time.Minute, State{}, []Rule{ArtistGap}},
		{"artist gap over", "same artist", DefaultConfig(), noon, "song", 30 * time.Minute, State{}, nil},
		{"title gap, another spelling", "same title", DefaultConfig(), noon, "song", 59 * time.Minute, State{}, []Rule{TitleGap}},
		{"title gap over", "same title", DefaultConfig(), noon, "song", time.Hour, State{}, nil},
		{"album gap", "same album", DefaultConfig(), noon, "song", 19 * time.Minute, State{}, []Rule{AlbumGap}},
		{"album gap over", "same album", DefaultConfig(), noon, "song", 20 * time.Minute, State{}, nil},
		{"artist back to back", "song", DefaultConfig(), noon, "", 0, State{LastMusicArtist: "انغام"}, []Rule{ArtistRepeat}},
		{"just played", "song", DefaultConfig(), noon, "", 0, State{LastTrackPlayed: "song"}, []Rule{JustPlayed}},
		{"below the quality floor", "short", DefaultConfig(), noon, "", 0, State{}, []Rule{QualityFloor}},
		{"other category", "english", DefaultConfig(), noon, "", 0, State{}, []Rule{GenreSplit}},
		{"Arabic in the English-only window", "song", DefaultConfig(), night, "", 0, State{}, []Rule{HardGate}},
		{"a category of weight 0", "english", arabicOnly, noon, "", 0, State{}, []Rule{HardGate, GenreSplit}},
	} {
		x := NewIndex(tracks)
		st := tc.last
		if tc.aired != "" {
			st = st.Remember(tc.aired, tc.now.Add(-tc.ago))
		}
		o := newOracle(Request{Index: x, Config: tc.cfg, State: st, Now: tc.now})
		o.p.wanted = station.ArabicHits
		if tc.now.Equal(night) {
			o.p.rest = 0 // of English there is one track
		}
		if got := o.judge(o.cand[tc.path]).rules(o.p.rules); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestRulesAreRankedNamedAndGiveAReason(t *testing.T) {
	seen := map[Rule]bool{}
	unbreakable := false
	for i, r := range Rules() {
		if r.Rank != i+1 || r.Why == "" || seen[r.Rule] {
			t.Errorf("rule %d: %+v", i, r)
		}
		if seen[r.Rule] = true; unbreakable && r.Breakable {
			t.Errorf("%s outranks an unbreakable rule", r.Rule)
		}
		unbreakable = !r.Breakable
	}
}

func TestCategoriesUnderTheMinimumAreSupplementedFromArabicHits(t *testing.T) {
	for _, tc := range []struct {
		name            string
		english, arabic int
		hard            bool
		want            float64 // share of arabic_hits
	}{
		{"enough", 15, 100, false, 0.6}, {"a third", 5, 100, false, 0.6 + 0.4*2/3}, {"none", 0, 100, false, 1},
		{"no Arabic either", 5, 0, false, 0}, {"a hard window", 5, 100, true, 0},
	} {
		w := map[station.Category]float64{station.ArabicHits: 0.6, station.English: 0.4}
		if tc.hard {
			w = map[station.Category]float64{station.English: 1}
		}
		m := newMix(w, func(c station.Category) int {
			return map[station.Category]int{station.ArabicHits: tc.arabic, station.English: tc.english}[c]
		}, tc.hard)
		got := 0.0
		if i := slices.Index(m.cats, station.ArabicHits); i >= 0 {
			got = m.share[i]
		}
		if math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%s: arabic_hits has %.3f of the music, want %.3f", tc.name, got, tc.want)
		}
	}
}

// A track that is new, or could not play for long, gets its turn soon, and
// then waits like the others: it does not catch up on all it missed.
func TestNewAndLaggingTracksDoNotBurst(t *testing.T) {
	var tracks []station.Track
	var plays []Play
	for i := range 30 {
		path := fmt.Sprint(i)
		tracks = append(tracks, station.Track{Path: path, Category: station.ArabicHits, Duration: 3 * time.Minute})
		round := 20
		if i == 1 {
			round = 3
		}
		if i > 0 {
			plays = append(plays, Play{path, noon.Add(-10 * time.Hour), round})
		}
	}
	rot := Build(Request{Index: NewIndex(tracks), Config: DefaultConfig(), State: State{}.RememberAll(plays), Now: noon, Seed: 1})
	count := map[string]int{}
	for i, e := range rot.Entries {
		if count[e.Track.Path]++; count[e.Track.Path] == 1 && (e.Track.Path == "0" || e.Track.Path == "1") && i > 15 {
			t.Errorf("track %s has its first turn at %d", e.Track.Path, i)
		}
	}
	if count["0"] > 6 || count["1"] > 6 {
		t.Errorf("of 120 entries over 30 tracks the new one has %d, the lagging one %d", count["0"], count["1"])
	}
}
