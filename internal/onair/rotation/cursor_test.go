package rotation

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// Last returns the last airing of path.
func (h History) Last(path string) (at time.Time, aired bool) {
	for _, at = range h.Starts(path) {
		aired = true
	}
	return at, aired
}

func rotationOf(paths ...string) Rotation {
	rot := Rotation{}
	for i, p := range paths {
		rot.Entries = append(rot.Entries, Entry{Track: station.Track{Path: p, Category: station.English, Artist: "by " + p}, Round: i + 1})
	}
	return rot
}

func TestCursorFollowsWhatIsHeard(t *testing.T) {
	type step struct {
		engine, path string
		seq          uint64
		want         Kind
		index        int
		consumed     int
	}
	rot := rotationOf("a", "b", "a", "c", "d", "a", "e")
	rot.InFlight = []string{"d"}
	for name, steps := range map[string][]step{
		"in order":                          {{"e", "a", 1, Advanced, 0, 1}, {"e", "b", 2, Advanced, 1, 2}, {"e", "a", 3, Advanced, 2, 3}},
		"posted twice":                      {{"e", "a", 1, Advanced, 0, 1}, {"e", "a", 1, Repeated, -1, 1}},
		"an old one again":                  {{"e", "a", 1, Advanced, 0, 1}, {"e", "b", 2, Advanced, 1, 2}, {"e", "a", 1, Repeated, -1, 2}},
		"markers lost":                      {{"e", "a", 1, Advanced, 0, 1}, {"e", "c", 9, Advanced, 3, 4}},
		"out of order":                      {{"e", "a", 1, Advanced, 0, 1}, {"e", "c", 3, Advanced, 3, 4}, {"e", "b", 2, Late, -1, 4}, {"e", "b", 2, Repeated, -1, 4}},
		"not of the rotation":               {{"e", "a", 1, Advanced, 0, 1}, {"e", "x", 2, Unknown, -1, 1}, {"e", "b", 3, Advanced, 1, 2}},
		"engine restarted":                  {{"e", "a", 1, Advanced, 0, 1}, {"e", "e", 2, Advanced, 6, 7}, {"f", "a", 1, Advanced, 0, 1}, {"f", "b", 2, Advanced, 1, 2}},
		"late from the engine before":       {{"e", "a", 1, Advanced, 0, 1}, {"f", "a", 1, Advanced, 0, 1}, {"e", "b", 2, Late, -1, 1}},
		"went round":                        {{"e", "e", 1, Advanced, 6, 7}, {"e", "b", 2, Wrapped, 1, 7}},
		"in flight across the commit":       {{"e", "d", 1, Unknown, -1, 0}, {"e", "a", 2, Advanced, 0, 1}, {"e", "d", 3, Advanced, 4, 5}},
		"in flight, then again in its turn": {{"e", "a", 1, Advanced, 0, 1}, {"e", "d", 2, Advanced, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			st := State{Engine: "e"}
			for i, s := range steps {
				at := noon.Add(time.Duration(s.seq) * time.Minute)
				if s.engine == "f" { // it came after the other
					at = at.Add(time.Hour)
				}
				before := st
				var out Outcome
				st, out = Advance(rot, st, Marker{s.engine, s.seq, s.path, "by " + s.path, station.English, at, ""})
				if out != (Outcome{s.want, s.index}) || st.Consumed != s.consumed {
					t.Fatalf("step %d: %v at %d, consumed %d; want %v at %d, %d", i, out.Kind, out.Index, st.Consumed, s.want, s.index, s.consumed)
				}
				switch out.Kind {
				case Repeated, Late:
					if st.LastTrackPlayed != before.LastTrackPlayed || st.LastMusicArtist != before.LastMusicArtist {
						t.Fatalf("step %d changes what is on air", i)
					}
				default:
					if st.LastTrackPlayed != s.path || st.LastMusicArtist != "by "+s.path || st.Recent[0].Path != s.path {
						t.Fatalf("step %d: on air is %q by %q", i, st.LastTrackPlayed, st.LastMusicArtist)
					}
				}
				if _, aired := st.History.Last(s.path); !aired {
					t.Fatalf("step %d: %s is not on cooldown", i, s.path)
				}
			}
			if _, aired := st.History.Last("c"); aired != slices.ContainsFunc(steps, func(s step) bool { return s.path == "c" }) {
				t.Error("an entry passed over is on cooldown")
			}
		})
	}
}

// A play takes the turn that its entry was planned with.
func TestAPlayTakesTheTurnOfItsEntry(t *testing.T) {
	rot := rotationOf("a", "b")
	rot.Entries[0].Round, rot.Entries[1].Round = 7, 9
	st := State{}
	for i, path := range []string{"a", "b", "x", "x"} {
		st, _ = Advance(rot, st, Marker{"e", uint64(i + 1), path, "", station.English, noon, ""})
	}
	for path, want := range map[string]int{"a": 7, "b": 9, "x": 2} {
		if got := st.Turns.Of(path).Round; got != want {
			t.Errorf("%s has had %d turns, want %d", path, got, want)
		}
	}
}

// A marker of who knows what engine is one marker: the cursor goes on with the
// next of the engine that plays, and what that one had sent before stays late.
func TestAStrayMarkerDoesNotStopTheCursor(t *testing.T) {
	rot, st := rotationOf("a", "b", "c", "d", "e"), State{}
	for i, c := range []struct {
		m    Marker
		want Kind
		at   int
	}{
		{Marker{Engine: "engine", Seq: 1, Path: "a"}, Advanced, 1},
		{Marker{Engine: "engine", Seq: 2, Path: "b"}, Advanced, 2},
		{Marker{Engine: "stray", Seq: 900, Path: "e"}, Advanced, 5},
		{Marker{Engine: "engine", Seq: 2, Path: "b"}, Repeated, 5},
		{Marker{Engine: "engine", Seq: 3, Path: "c"}, Advanced, 3},
		{Marker{Engine: "engine", Seq: 4, Path: "d"}, Advanced, 4},
		{Marker{Engine: "stray", Seq: 900, Path: "e"}, Repeated, 4},
	} {
		c.m.At, c.m.Category = noon.Add(time.Duration(min(i, 4))*time.Minute), station.English
		if c.want == Repeated {
			c.m.At = noon // a repetition says when it was first
		}
		var out Outcome
		if st, out = Advance(rot, st, c.m); out.Kind != c.want || st.Consumed != c.at {
			t.Errorf("%d, %s%d: %v, consumed %d, want %v, %d", i, c.m.Engine, c.m.Seq, out.Kind, st.Consumed, c.want, c.at)
		}
	}
}

func TestImagingDoesNotChangeTheLastMusicArtist(t *testing.T) {
	st, _ := Advance(Rotation{}, State{}, Marker{"e", 1, "song", "Angham", station.ArabicHits, noon, ""})
	st, _ = Advance(Rotation{}, st, Marker{"e", 2, "swp", "Break", station.Sweepers, noon, ""})
	if st.LastMusicArtist != "Angham" || st.LastTrackPlayed != "swp" {
		t.Errorf("last artist %q, last track %q", st.LastMusicArtist, st.LastTrackPlayed)
	}
}

// Whatever markers arrive: the newest order is kept, the fields stay within
// the mission's bounds, earlier copies of the state never change, and the
// state survives its JSON.
func TestStateHoldsItsBoundsAndCopiesNeverChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}), 0, 12).Draw(t, "rotation")
		rot := rotationOf(paths...)
		st := State{}
		type kept struct {
			st  State
			doc string
		}
		var copies []kept
		heard := map[string]time.Time{} // the model of the history
		taken := map[string]bool{}
		for range rapid.IntRange(1, 150).Draw(t, "markers") {
			m := Marker{
				Engine: rapid.SampledFrom([]string{"e", "f"}).Draw(t, "engine"), Seq: rapid.Uint64Range(1, 200).Draw(t, "seq"),
				Path: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "x", "y"}).Draw(t, "path"), Category: station.English,
				At: noon.Add(time.Duration(rapid.IntRange(0, 60*60).Draw(t, "at")) * time.Minute),
			}
			id := fmt.Sprint(m.Engine, m.Seq)
			before := st
			var out Outcome
			st, out = Advance(rot, st, m)
			if again := taken[id]; again && out.Kind != Repeated && out.Kind != Late {
				t.Fatalf("marker %s taken twice: %v", id, out.Kind)
			} else if !again && out.Kind == Repeated {
				t.Fatalf("marker %s never came before", id)
			}
			taken[id] = true
			if out.Kind != Repeated && m.At.After(heard[m.Path]) {
				heard[m.Path] = m.At
			}
			if st.Consumed < 0 || st.Consumed > len(rot.Entries) || len(st.Recent) > recentKept {
				t.Fatalf("consumed %d of %d, %d recent", st.Consumed, len(rot.Entries), len(st.Recent))
			}
			if out.Kind == Advanced && (rot.Entries[out.Index].Track.Path != m.Path || st.Consumed != out.Index+1) {
				t.Fatalf("advanced to entry %d for %s", out.Index, m.Path)
			}
			if out.Kind != Advanced && out.Kind != Wrapped && st.Consumed != before.Consumed {
				t.Fatalf("%v moved the cursor", out.Kind)
			}
			for p, at := range heard {
				if a, ok := st.History.Last(p); !ok || !a.Equal(at) {
					t.Fatalf("%s last aired %v, want %v", p, a, at)
				}
			}
			doc, err := json.Marshal(st)
			if err != nil {
				t.Fatal(err)
			}
			copies = append(copies, kept{st, string(doc)})
			Advance(rot, before, Marker{Engine: "fork", Seq: 1, Path: "z", Category: station.English, At: noon})
		}
		for _, c := range copies {
			if doc, _ := json.Marshal(c.st); string(doc) != c.doc {
				t.Fatalf("a copy of the state changed:\n%s\n%s", c.doc, doc)
			}
		}
		var back State
		last := copies[len(copies)-1].doc
		if err := json.Unmarshal([]byte(last), &back); err != nil {
			t.Fatal(err)
		}
		if doc, _ := json.Marshal(back); string(doc) != last {
			t.Fatalf("JSON:\n%s\n%s", last, doc)
		}
	})
}

func TestHistoryForgetsAfter72Hours(t *testing.T) {
	st := State{}.RememberAll([]Play{{Path: "old", At: noon}, {Path: "new", At: noon.Add(time.Hour)}})
	for i := range 40 * shards { // adding forgets what lies beside it
		st = st.Remember(fmt.Sprint(i), noon.Add(72*time.Hour+time.Minute))
	}
	if _, ok := st.History.Last("old"); ok {
		t.Error("kept for more than 72 hours")
	}
	if _, ok := st.History.Last("new"); !ok {
		t.Error("forgotten within 72 hours")
	}
	if got := st.Turns.Of("old"); got.Round != 1 {
		t.Errorf("a turn is forgotten with the history: %+v", got)
	}
	again := st.Remember("old", noon.Add(100*time.Hour))
	if got := again.History.Starts("old"); len(got) != 1 {
		t.Errorf("a track keeps airings of more than 72 hours: %v", got)
	}
}

func TestStateKeepsTheMissionsNames(t *testing.T) {
	doc, err := json.Marshal(State{})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(doc, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trackHistory", "lastTrackPlayed", "_recentOnAir", "_lastMusicArtist", "rotationConsumed"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %s in %s", name, doc)
		}
	}
}
