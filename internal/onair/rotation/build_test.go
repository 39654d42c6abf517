package rotation

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// anyRequest draws a library down to one track, a history, a configuration and
// a time of day.
func anyRequest(t *rapid.T) Request {
	var tracks []station.Track
	most := rapid.SampledFrom([]int{2, 3, 8, 40}).Draw(t, "most")
	for _, c := range station.Categories() {
		artists := rapid.IntRange(1, 6).Draw(t, "artists")
		for i := range rapid.IntRange(0, most).Draw(t, string(c)) {
			tracks = append(tracks, station.Track{
				Path: fmt.Sprintf("%s/%d.mp3", c, i), Category: c,
				Artist:   rapid.SampledFrom([]string{"", "A", "A feat. B", "B", "C", "D"}[:artists]).Draw(t, "artist"),
				Title:    rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, "title"),
				Duration: time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second,
			})
		}
	}
	cfg := DefaultConfig()
	cfg.Rotation.BufferMax = rapid.IntRange(1, 130).Draw(t, "entries")
	cfg.MashupChance = rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "mashups")
	cfg.AdEvery = rapid.IntRange(0, 20).Draw(t, "ads")
	cfg.Rotation.SameHour = rapid.Bool().Draw(t, "same hour")
	cfg.Rotation.MaxPlaysDay = rapid.IntRange(0, 3).Draw(t, "plays a day")
	cfg.Rotation.MinRest = Millis(rapid.IntRange(0, 3600).Draw(t, "rest")) * second
	if rapid.Bool().Draw(t, "arabic only") {
		cfg.GenreSplit = map[station.Category]float64{station.ArabicHits: 1}
	}
	now := noon.Add(time.Duration(rapid.IntRange(0, 24*60).Draw(t, "minute")) * time.Minute)
	var st State
	var inFlight []station.Track
	for i := range tracks {
		if rapid.IntRange(0, 2).Draw(t, "aired") == 0 {
			at := now.Add(-time.Duration(rapid.IntRange(0, 80*60).Draw(t, "ago")) * time.Minute)
			st, _ = Advance(Rotation{}, st, Marker{"e", uint64(i + 1), tracks[i].Path, tracks[i].Artist, tracks[i].Category, at, ""})
		}
	}
	if len(tracks) > 0 && rapid.Bool().Draw(t, "in flight") {
		inFlight = []station.Track{rapid.SampledFrom(tracks).Draw(t, "flying")}
	}
	var prepared []station.Track
	if len(tracks) > 0 && rapid.Bool().Draw(t, "prepared") {
		prepared = []station.Track{rapid.SampledFrom(tracks).Draw(t, "opened")}
	}
	return Request{
		Index: NewIndex(tracks), Config: cfg, State: st, Now: now, InFlight: inFlight, Prepared: prepared,
		Seed: rapid.Uint64().Draw(t, "seed"),
	}
}

// oracle replays a rotation and judges every track of the library at every
// entry, with none of the planner's short cuts.
type oracle struct {
	r    Request
	p    *plan
	cand map[string]*candidate
}

func newOracle(r Request) *oracle {
	o := &oracle{r: r, p: newPlan(r), cand: map[string]*candidate{}}
	for _, c := range station.Categories() {
		for _, poor := range []bool{false, true} {
			h := &hand{category: c, music: c.Music(), poor: poor}
			for id, t := range r.Index.tracks {
				if t.Category == c && o.p.isPoor(int32(id)) == poor {
					card := o.p.card(h, int32(id))
					h.cards = append(h.cards, &card)
					o.cand[t.Path] = &card
				}
			}
			h.settle()
		}
	}
	return o
}

func (o *oracle) judge(c *candidate) breach {
	return o.p.judge(c, breach(1)<<len(o.p.rules)-1, &choice{})
}

func TestEveryEntryBreaksTheLeastThatAnyTrackCould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRequest(t)
		rot := Build(r)
		if len(r.Index.byPath) == 0 {
			if len(rot.Entries) != 0 {
				t.Fatal("entries out of an empty library")
			}
			return
		}
		checkLength(t, r, rot)
		o := newOracle(r)
		for i, e := range rot.Entries {
			c := o.cand[e.Track.Path]
			o.p.wanted = e.Why.Wanted
			if element := e.Annotation() != "" && len(e.Relaxed) == 0; element {
				ownNews := e.Track.Category == station.News && e.Clock == "" // the cadence outranks the cooldown
				if onCooldown(o.p, c) && !ownNews || justPlayed(o.p, c) {
					t.Fatalf("entry %d: %s is on cooldown", i, e.Track.Path)
				}
			} else {
				got := o.judge(c)
				if want := got.rules(o.p.rules); !slices.Equal(e.Relaxed, want) {
					t.Fatalf("entry %d, %s: says it relaxes %v, it breaks %v", i, e.Track.Path, e.Relaxed, want)
				}
				for _, other := range o.cand {
					if b := o.judge(other); b < got {
						t.Fatalf("entry %d: %s breaks %v, %s would break only %v", i, e.Track.Path,
							got.rules(o.p.rules), other.path, b.rules(o.p.rules))
					}
				}
			}
			replay(o.p, c, e)
		}
	})
}

// checkLength holds that a rotation is full, unless a hard window whose deck is short has
// nothing left that is off its cooldown.
func checkLength(t *rapid.T, r Request, rot Rotation) {
	most := r.Config.Rotation.BufferMax
	if len(rot.Entries) == most {
		return
	}
	if len(rot.Entries) > most || len(rot.Entries) < shortest {
		t.Fatalf("%d entries, want %d", len(rot.Entries), most)
	}
	o := newOracle(r)
	for _, e := range rot.Entries {
		replay(o.p, o.cand[e.Track.Path], e)
	}
	if o.p.scarcity != short {
		t.Fatalf("%d entries, want %d: no short deck airs alone at %s", len(rot.Entries), most, o.p.time())
	}
	for path, c := range o.cand {
		if c.hand.category == o.p.hard && !onCooldown(o.p, c) && o.judge(c)&^(o.p.bits.cooldown-1) == 0 {
			t.Fatalf("%d entries, want %d: %s may air", len(rot.Entries), most, path)
		}
	}
}

// replay moves the oracle's clock past an entry.
func replay(p *plan, c *candidate, e Entry) {
	p.at += int64(p.later(e.Cross))
	p.cross = e.Cross
	c.air(p.at)
	p.heard(c.id, p.at)
	if c.music {
		p.lastArtists = p.index.names[c.id].artists
	}
	p.last = []string{c.path}
	p.reach(p.at + int64(airtime(e.Track, e.Cross)))
}

func TestTinyLibrariesFillTheRotation(t *testing.T) {
	tone := func(c station.Category, i int, artist string, d time.Duration) station.Track {
		return station.Track{Path: fmt.Sprintf("%s/%d.mp3", c, i), Category: c, Artist: artist, Duration: d}
	}
	var tones, jingles, oneArtist []station.Track
	for i := range 20 {
		tones = append(tones, tone(station.ArabicHits, i, fmt.Sprint("artist ", i%5), 5*time.Second))
		oneArtist = append(oneArtist, tone(station.ArabicHits, i, "Om Kalthoum", 4*time.Minute))
	}
	for i := range 3 {
		jingles = append(jingles, tone(station.Jingles, i, "", 8*time.Second))
	}
	one := []station.Track{tone(station.English, 0, "A", 3*time.Minute)}
	for name, tc := range map[string]struct {
		tracks []station.Track
		gap    int // entries from a track to its next airing, at the least
	}{
		"one track":                  {one, 1},
		"two tracks":                 {[]station.Track{one[0], tone(station.English, 1, "B", 3*time.Minute)}, 2},
		"20 tones of 5 s":            {tones, 8},
		"one artist":                 {oneArtist, 8},
		"only jingles":               {jingles, 2},
		"one track and some jingles": {append(slices.Clone(jingles), one...), 2},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				for _, hours := range []int{0, 15} { // noon, and the English-only night
					rot := Build(Request{Index: NewIndex(tc.tracks), Config: DefaultConfig(), Now: noon.Add(time.Duration(hours) * time.Hour), Seed: seed})
					few := hours == 15 && NewIndex(tc.tracks).scarce(station.English, 90*time.Minute) == short
					if len(rot.Entries) != 120 && !(few && len(rot.Entries) == shortest) {
						t.Fatalf("%d entries", len(rot.Entries))
					}
					last := map[string]int{}
					for i, e := range rot.Entries {
						if was, again := last[e.Track.Path]; again && i-was < tc.gap {
							t.Fatalf("seed %d: %s at %d and %d", seed, e.Track.Path, was, i)
						}
						last[e.Track.Path] = i
					}
				}
			}
		})
	}
}

// With artists enough, a small library repeats its songs but never an artist.
func TestSmallLibrariesAlternateArtistsAndSpaceRepeats(t *testing.T) {
	for n := 5; n <= 40; n++ {
		var tracks []station.Track
		for i := range n {
			tracks = append(tracks, station.Track{
				Path: fmt.Sprint(i), Category: station.ArabicHits, Artist: fmt.Sprint("artist ", i%5), Duration: 210 * time.Second,
			})
		}
		rot := Build(Request{Index: NewIndex(tracks), Config: DefaultConfig(), Now: noon, Seed: uint64(n)})
		plays, last := map[string]int{}, map[string]int{}
		for i, e := range rot.Entries {
			if i > 0 && e.Track.Artist == rot.Entries[i-1].Track.Artist {
				t.Errorf("%d tracks, entry %d: %s twice in a row", n, i, e.Track.Artist)
			}
			if was, again := last[e.Track.Path]; again && i-was < n/3 {
				t.Errorf("%d tracks: one at %d and %d", n, was, i)
			}
			last[e.Track.Path] = i
			plays[e.Track.Path]++
		}
		for p, k := range plays {
			if k > 120/n+2 || k < 120/n-1 {
				t.Errorf("%d tracks: %s plays %d times of 120", n, p, k)
			}
		}
	}
}

func TestRebuildExcludesTheLastAiredAndWhatIsInFlight(t *testing.T) {
	tracks := library(typical(300), 1)
	for seed := range uint64(50) {
		last, next := tracks[int(seed)], tracks[int(seed)+100]
		st, _ := Advance(Rotation{}, State{}, Marker{"e", 1, last.Path, last.Artist, last.Category, noon, ""})
		rot := Build(Request{Index: NewIndex(tracks), Config: DefaultConfig(), State: st, Now: noon, Seed: seed, InFlight: []station.Track{next}})
		at := noon
		for i, e := range rot.Entries {
			if (e.Track.Path == last.Path || e.Track.Path == next.Path) && at.Sub(noon) < 3*time.Hour {
				t.Fatalf("entry %d repeats %s", i, e.Track.Path)
			}
			at = at.Add(e.Track.Duration - e.Cross)
		}
		if first := rot.Entries[0].Track.Artist; first == last.Artist || first == next.Artist {
			t.Fatalf("the first entry repeats artist %s", first)
		}
	}
}

func TestSameRequestSameRotation(t *testing.T) {
	tracks := library(typical(3000), 1)
	shuffled := slices.Clone(tracks)
	slices.Reverse(shuffled)
	request := func(tracks []station.Track, seed uint64) Request {
		st := State{}
		for i, tr := range library(typical(3000), 1)[:700] {
			st = st.Remember(tr.Path, noon.Add(-time.Duration(i)*time.Minute))
		}
		return Request{Index: NewIndex(tracks), Config: DefaultConfig(), State: st, Now: noon, Seed: seed}
	}
	a := Build(request(tracks, 7))
	if b := Build(request(shuffled, 7)); !cmp.Equal(a, b) {
		t.Error("the order in which tracks were found changes the rotation")
	}
	if c := Build(request(tracks, 8)); cmp.Equal(a.Entries, c.Entries) {
		t.Error("the seed changes nothing")
	}
	var buf bytes.Buffer
	var viaGob, viaJSON Rotation
	if err := gob.NewEncoder(&buf).Encode(a); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&buf).Decode(&viaGob); err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(doc, &viaJSON); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, viaGob); d != "" {
		t.Errorf("through gob:\n%s", d)
	}
	if d := cmp.Diff(a, viaJSON); d != "" {
		t.Errorf("through JSON:\n%s", d)
	}
}

// An operator's order comes first, whatever the rules say, and what follows
// keeps them.
func TestTheOperatorsChoiceOpensTheRotation(t *testing.T) {
	tracks := library(typical(300), 1)
	x := NewIndex(tracks)
	st := State{}
	for _, c := range station.Categories() {
		if c == station.Social {
			continue
		}
		rot := Build(Request{Index: x, Config: DefaultConfig(), Now: noon.Add(15 * time.Hour), Seed: 1, HeadOf: c})
		if e := rot.Entries[0]; e.Track.Category != c || len(rot.Entries) != 120 {
			t.Errorf("the best of %s is %s, of %d entries", c, e.Track.Path, len(rot.Entries))
		}
		if c == station.News && rot.Entries[0].Track.Path != "music/news/0000.mp3" {
			t.Errorf("%s is not the newest bulletin", rot.Entries[0].Track.Path)
		}
	}
	for i := range 8 { // all jingles are on cooldown: one of the three that rested longest
		st = st.Remember(fmt.Sprintf("music/jingles/%04d.mp3", i), noon.Add(-time.Duration(1+(i+5)%8)*time.Minute))
	}
	if rot := Build(Request{Index: x, Config: DefaultConfig(), State: st, Now: noon, HeadOf: station.Jingles}); rot.Entries[0].Track.Path > "music/jingles/0002.mp3" {
		t.Errorf("the best jingle is %s", rot.Entries[0].Track.Path)
	}
	if rot := Build(Request{Index: x, Config: DefaultConfig(), Now: noon, HeadOf: station.Social}); len(rot.Entries) != 120 || rot.Entries[0].Track.Category == station.Social {
		t.Error("the best of an empty category changes the rotation")
	}
	st.LastTrackPlayed, st.LastMusicArtist = tracks[0].Path, tracks[0].Artist
	st = st.Remember(tracks[0].Path, noon.Add(-4*time.Minute))
	rot := Build(Request{Index: x, Config: DefaultConfig(), State: st, Now: noon, Seed: 1, Head: []string{"gone.mp3", tracks[0].Path}})
	want := []Rule{JustPlayed, MinimumRest, ArtistRepeat, Cooldown, FreshWindow, ArtistGap, TitleGap}
	if e := rot.Entries[0]; e.Track.Path != tracks[0].Path || !slices.Equal(e.Relaxed, want) {
		t.Errorf("the head is %s, and says it relaxes %v", e.Track.Path, e.Relaxed)
	}
	for i, e := range rot.Entries[1:] {
		if e.Track.Path == tracks[0].Path && i < 40 {
			t.Errorf("the operator's choice airs again at %d", i+1)
		}
	}
}

// Neighbours overlap by the shorter of their crosses, what is on air included.
func TestStartsFollowTheShorterCross(t *testing.T) {
	x := NewIndex(library(typical(300), 1))
	on := noon.Add(90 * time.Second)
	for head, later := range map[string]time.Duration{"music/arabic_hits/0001.mp3": 0, "music/jingles/0001.mp3": 1500 * time.Millisecond} {
		rot := Build(Request{Index: x, Config: DefaultConfig(), Now: noon, Starts: on, Cross: 2 * time.Second, Head: []string{head}})
		if want := on.Add(later); !rot.Starts.Equal(want) {
			t.Errorf("%s starts at %s, want %s", head, rot.Starts, want)
		}
	}
	song := func(cross time.Duration) Entry {
		return Entry{Track: station.Track{Duration: time.Minute}, Cross: cross}
	}
	got := Expected([]Entry{song(2 * time.Second), song(500 * time.Millisecond), song(2 * time.Second), song(2 * time.Second)}, noon)
	for i, want := range []time.Duration{0, 59500 * time.Millisecond, 119 * time.Second, 177 * time.Second} {
		if d := got[i].Sub(noon); d != want {
			t.Errorf("entry %d starts after %s, want %s", i, d, want)
		}
	}
}
