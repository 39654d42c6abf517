package rotation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// newsHour is an ordinary music hour: news on the hour, a jingle after it,
// spots at the half hour, imaging between the songs.
const newsHour = `[{"name": "music hour", "hour": [
	{"category": "news", "at": "00:00"}, {"category": "jingles"},
	{"category": "arabic_hits", "count": 2}, {"category": "sweepers"}, {"category": "english"}, {"category": "music", "count": 2}, {"category": "break"},
	{"category": "music", "count": 3},
	{"category": "ads", "at": "30:00", "tolerance": 20}, {"category": "ads"},
	{"category": "music", "count": 2}, {"category": "shorts"}, {"category": "music", "count": 2}, {"category": "break"},
	{"category": "mashups"}, {"category": "music", "count": 2}, {"category": "sweepers"}]}]`

func clocksOf(t testing.TB, doc string) []HourClock {
	t.Helper()
	var clocks []HourClock
	if err := json.Unmarshal([]byte(doc), &clocks); err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.Clocks = clocks
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	return clocks
}

// lengths makes every song as long as a draw says.
func lengths(tracks []station.Track, draw func(*rand.Rand) time.Duration) []station.Track {
	rng := rand.New(rand.NewPCG(4, 4))
	out := slices.Clone(tracks)
	for i := range out {
		if out[i].Category.Music() {
			out[i].Duration = draw(rng)
		}
	}
	return out
}

// Timed events start within their tolerance, 95 of a hundred and more, whatever
// the lengths of the songs; and no other rule is broken for them.
func TestTimedEventsOfAClockStartOnTime(t *testing.T) {
	songs := library(typical(300), 3)
	for name, tracks := range map[string][]station.Track{
		"3 to 5 minutes": songs,
		"2 to 9 minutes": lengths(songs, func(r *rand.Rand) time.Duration {
			return 2*time.Minute + time.Duration(r.ExpFloat64()*100)*time.Second%(7*time.Minute)
		}),
		"all about 4 minutes": lengths(songs, func(r *rand.Rand) time.Duration {
			return 240*time.Second + time.Duration(r.IntN(8000))*time.Millisecond
		}),
		"1,000 songs": library(typical(1000), 3),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := DefaultConfig()
			cfg.Clocks = clocksOf(t, newsHour)
			log := broadcast(NewIndex(tracks), cfg, noon, 4, 9)
			hit, events, worst := 0, 0, time.Duration(0)
			relaxed := map[Rule]int{}
			for _, a := range log {
				for _, r := range a.Relaxed {
					relaxed[r]++
				}
				if a.Due.IsZero() {
					continue
				}
				events++
				off := a.at.Sub(a.Due).Abs()
				worst = max(worst, off)
				if off <= a.Tolerance {
					hit++
				}
			}
			t.Logf("%d of %d events in time, worst %s; relaxed %v of %d", hit, events, worst, relaxed, len(log))
			if events < 4*48-6 {
				t.Errorf("%d events in four days, want two an hour", events)
			}
			if hit*100 < events*95 {
				t.Errorf("%d of %d timed events within their tolerance", hit, events)
			}
			for _, r := range Rules() {
				if !r.Breakable && relaxed[r.Rule] > 0 {
					t.Errorf("%s broken %d times", r.Rule, relaxed[r.Rule])
				}
			}
		})
	}
}

// The hour goes as it is laid out: category by category between the events.
func TestAClockLaysOutTheHour(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, `[{"name": "Friday", "days": ["fri"], "hour": [{"category": "mashups"}]},
		{"name": "laid out", "start": "12:00", "end": "14:00", "hour": [
		{"category": "news", "at": "00:00"}, {"category": "arabic_hits"}, {"category": "sweepers"}, {"category": "english"}, {"category": "jingles"}]}]`)
	rot := Build(Request{Index: NewIndex(library(typical(300), 1)), Config: cfg, Now: noon, Seed: 1})
	var got []string
	at := noon
	for _, e := range rot.Entries {
		inside := at.Before(noon.Add(2 * time.Hour))
		if (e.Clock == "laid out") != inside && at.Sub(noon.Add(2*time.Hour)).Abs() > 30*time.Second {
			t.Errorf("%s: clock %q", at, e.Clock)
		}
		if at.Before(noon.Add(50 * time.Minute)) {
			got = append(got, string(e.Track.Category))
		}
		at = at.Add(e.Track.Duration - e.Cross)
	}
	want := []string{"news"}
	for len(want) < len(got) {
		want = append(want, "arabic_hits", "sweepers", "english", "jingles")
	}
	if d := cmp.Diff(want[:len(got)], got); d != "" {
		t.Errorf("the hour:\n%s", d)
	}
	if i := slices.IndexFunc(rot.Entries, func(e Entry) bool { return e.Clock == "" }); i < 0 {
		t.Error("after 14:00 the mission's spacing never comes back")
	}
	friday := noon.AddDate(0, 0, 4)
	rot = Build(Request{Index: NewIndex(library(typical(300), 1)), Config: cfg, Now: friday, Seed: 1})
	for i, e := range rot.Entries[:10] {
		if e.Track.Category != station.Mashups || e.Clock != "Friday" {
			t.Errorf("Friday, entry %d: %s of clock %q", i, e.Track.Category, e.Clock)
		}
	}
}

// A rebuild in the middle of an hour goes on where the hour stands: an event
// that aired does not air again, one that is due does.
func TestARebuildRejoinsTheHour(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Clocks = clocksOf(t, newsHour)
	x := NewIndex(library(typical(300), 1))
	heard := func(c station.Category, ago time.Duration, now time.Time) State {
		path := fmt.Sprintf("music/%s/0000.mp3", c)
		st, _ := Advance(Rotation{}, State{}, Marker{Engine: "e", Seq: 1, Path: path, Category: c, At: now.Add(-ago)})
		return st
	}
	first := func(now time.Time, st State) Entry {
		return Build(Request{Index: x, Config: cfg, State: st, Now: now, Seed: 2}).Entries[0]
	}
	if e := first(noon.Add(time.Minute), State{}); e.Type != "news" || !e.Due.Equal(noon) {
		t.Errorf("12:01, no news yet: %s due %s", e.Type, e.Due)
	}
	if e := first(noon.Add(time.Minute), heard(station.News, 50*time.Second, noon.Add(time.Minute))); e.Type == "news" {
		t.Error("12:01, after the news: news again")
	}
	if e := first(noon.Add(14*time.Minute), heard(station.News, 14*time.Minute, noon.Add(14*time.Minute))); e.Type != "music" {
		t.Errorf("12:14, in the middle of the songs: %s", e.Type)
	}
	if e := first(noon.Add(29*time.Minute+55*time.Second), State{}); e.Type != "ads" || e.Due.IsZero() {
		t.Errorf("12:29:55, five seconds to the spots: %s due %s", e.Type, e.Due)
	}
	if e := first(noon.Add(15*time.Minute), State{}); e.Type == "news" {
		t.Error("12:15, far too late for the news of 12:00: news")
	}
}

func TestAClockNeverStarvesTheRotation(t *testing.T) {
	for name, doc := range map[string]string{
		"imaging only":        `[{"name": "a", "hour": [{"category": "jingles"}, {"category": "sfx"}]}]`,
		"what is not there":   `[{"name": "a", "hour": [{"category": "social"}, {"category": "news", "at": "00:00"}]}]`,
		"events only":         `[{"name": "a", "hour": [{"category": "ads", "at": "00:00"}, {"category": "ads", "at": "00:01"}, {"category": "news", "at": "59:59"}]}]`,
		"an event of music":   `[{"name": "a", "hour": [{"category": "english", "at": "10:00"}, {"category": "break"}]}]`,
		"gated by the window": `[{"name": "a", "daypart": "overnight", "hour": [{"category": "arabic_hits"}, {"category": "shorts"}]}]`,
	} {
		cfg := DefaultConfig()
		cfg.Clocks = clocksOf(t, doc)
		for _, s := range []shelf{{station.ArabicHits: 1}, {station.English: 2}, {station.Jingles: 3}, typical(60)} {
			for _, now := range []time.Time{noon, noon.Add(15*time.Hour + 59*time.Minute)} {
				rot := Build(Request{Index: NewIndex(library(s, 1)), Config: cfg, Now: now, Seed: 1})
				if len(rot.Entries) != 120 {
					t.Errorf("%s, %v at %s: %d entries", name, s, now.Format("15:04"), len(rot.Entries))
				}
				at := now
				for i, e := range rot.Entries {
					night := at.Hour() >= 2 && at.Hour() < 5
					at = at.Add(e.Track.Duration - e.Cross)
					if night && e.Track.Category == station.ArabicHits && s[station.English] > 0 {
						t.Errorf("%s: entry %d of the English-only window is %s", name, i, e.Track.Path)
					}
				}
			}
		}
	}
}

func TestEveryWrongFieldOfAClockIsNamed(t *testing.T) {
	cfg := DefaultConfig()
	var twenty Offset = 20
	cfg.Clocks = []HourClock{
		{Name: "a", Daypart: "brunch", Days: []Weekday{9}, Start: -1, End: 3000},
		{Name: "a", Hour: []Position{
			{Category: "jazz", Count: 99, Tolerance: 900}, {Category: "news", At: &twenty, Count: 3}, {Category: "break", At: &twenty}, {Category: "ads", Tolerance: 5},
		}},
		{Hour: []Position{{Category: "music", Count: 60}}},
	}
	err := cfg.Validate()
	for _, field := range []string{
		"CLOCKS[0].days[0]", "CLOCKS[0].daypart", "CLOCKS[0].start", "CLOCKS[0].end", "CLOCKS[0].hour", "CLOCKS[1].name",
		"CLOCKS[1].hour[0].category", "CLOCKS[1].hour[0].count", "CLOCKS[1].hour[0].tolerance", "CLOCKS[1].hour[1].count",
		"CLOCKS[1].hour[2].at", "CLOCKS[1].hour[3].tolerance", "CLOCKS[2].name",
	} {
		if err == nil || !strings.Contains(err.Error(), field+":") {
			t.Errorf("%s is not named in:\n%v", field, err)
		}
	}
	for _, doc := range []string{`{"at": "60:00"}`, `{"at": "-1:00"}`, `{"at": "1:00"}`, `{"at": 5}`, `{"at": "00:00x"}`} {
		var p Position
		if err := json.Unmarshal([]byte(doc), &p); err == nil {
			t.Errorf("%s is read as %+v", doc, p)
		}
	}
	var d []Weekday
	if err := json.Unmarshal([]byte(`["fri", "Saturday", "someday"]`), &d); err == nil {
		t.Error("someday is a day")
	}
	doc, err := json.Marshal(clocksOf(t, newsHour))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(clocksOf(t, newsHour), clocksOf(t, string(doc))); d != "" {
		t.Errorf("through JSON:\n%s", d)
	}
}

// A takeover or a skip moves what follows: the rotation is built again where
// that can help, and only there.
func TestOffTimeSeesWhatARebuildCanMend(t *testing.T) {
	song := Entry{Track: station.Track{Duration: 302 * time.Second}, Cross: 2 * time.Second}
	rot := Rotation{Starts: noon, Entries: []Entry{song, song, song, {Cross: song.Cross, Due: noon.Add(15 * time.Minute), Tolerance: 30 * time.Second}, song}}
	for _, tc := range []struct {
		name     string
		consumed int
		next     time.Duration // of the entry at the cursor, after noon
		want     time.Duration
	}{
		{"as planned", 0, 0, 0}, {"within the tolerance", 0, 30 * time.Second, 0}, {"early", 0, -31 * time.Second, 31 * time.Second},
		{"late", 1, 5*time.Minute + 50*time.Second, 50 * time.Second}, {"one song before it", 2, 11 * time.Minute, 0},
		{"past it", 4, time.Hour, 0}, {"long over, which a rebuild drops", 0, time.Hour, time.Hour}, {"at the end", 5, 0, 0},
	} {
		if got := OffTime(rot, tc.consumed, noon.Add(tc.next)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	rot.Starts = noon.Add(50 * time.Second) // the plan itself had it that late
	if got := OffTime(rot, 0, noon.Add(50*time.Second)); got != 0 {
		t.Errorf("planned off: %s, which no rebuild mends", got)
	}
}

// anyHour draws an hour of a clock.
func anyHour(t *rapid.T) []Position {
	var hour []Position
	last := Offset(-1)
	for range rapid.IntRange(1, 8).Draw(t, "positions") {
		pos := Position{Category: rapid.SampledFrom([]string{
			"arabic_hits", "english", "mashups", "social", "ads", "jingles", "sweepers", "sfx", "shorts", "news", anyMusic, anyMusic, anyBreak,
		}).Draw(t, "position")}
		switch {
		case rapid.IntRange(0, 3).Draw(t, "timed") == 0 && last < 3500 && pos.Category != anyBreak:
			last = Offset(rapid.IntRange(int(last)+1, 3599).Draw(t, "at"))
			at := last
			pos.At, pos.Tolerance = &at, rapid.IntRange(0, 120).Draw(t, "tolerance")
		default:
			pos.Count = rapid.IntRange(0, 4).Draw(t, "count")
		}
		hour = append(hour, pos)
	}
	return hour
}

// Whatever the library, the history, the configuration and the clocks: the
// rotation is full, elements keep their cooldown, no rule that outranks a timed
// event is broken where a track would keep it, and an entry says what it breaks.
func TestClocksNeverCostARuleThatOutranksThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRequest(t)
		for i := range rapid.IntRange(1, 3).Draw(t, "clocks") {
			r.Config.Clocks = append(r.Config.Clocks, HourClock{
				Name: fmt.Sprint("clock ", i), Hour: anyHour(t),
				Start: TimeOfDay(rapid.IntRange(0, 23).Draw(t, "start") * 60), End: TimeOfDay(rapid.IntRange(0, 23).Draw(t, "end") * 60),
			})
		}
		if err := r.Config.Validate(); err != nil {
			t.Fatal(err)
		}
		rot := Build(r)
		if len(r.Index.byPath) == 0 {
			return
		}
		checkLength(t, r, rot)
		o := newOracle(r)
		heavier := ^(o.p.bits.timed<<1 - 1)
		for i, e := range rot.Entries {
			c := o.cand[e.Track.Path]
			o.p.wanted = e.Why.Wanted
			claimed := breach(0)
			for _, rule := range e.Relaxed {
				claimed |= bit(o.p.rules, rule)
			}
			if e.Annotation() != "" && claimed&^o.p.bits.timed == 0 {
				ownNews := e.Track.Category == station.News && e.Clock == "" // the cadence outranks the cooldown
				if onCooldown(o.p, c) && !ownNews || justPlayed(o.p, c) {
					t.Fatalf("entry %d: %s is on cooldown", i, e.Track.Path)
				}
				replay(o.p, c, e)
				continue
			}
			got := o.judge(c)
			if got&^o.p.bits.timed != claimed&^o.p.bits.timed {
				t.Fatalf("entry %d, %s: says it relaxes %v, it breaks %v", i, e.Track.Path, e.Relaxed, got.rules(o.p.rules))
			}
			for _, other := range o.cand {
				if b := o.judge(other); b&heavier < got&heavier {
					t.Fatalf("entry %d: %s breaks %v, %s would break only %v", i, e.Track.Path,
						got.rules(o.p.rules), other.path, b.rules(o.p.rules))
				}
			}
			replay(o.p, c, e)
		}
	})
}

func TestAClockHoldsInItsHours(t *testing.T) {
	monday := time.Date(2026, 5, 4, 6, 0, 0, 0, cairo)
	for name, tc := range map[string]struct {
		clock HourClock
		want  bool
	}{
		"always":  {HourClock{}, true},
		"its day": {HourClock{Days: []Weekday{1}}, true}, "another day": {HourClock{Days: []Weekday{0, 2}}, false},
		"its daypart": {HourClock{Daypart: "morning"}, true}, "another daypart": {HourClock{Daypart: "late"}, false},
		"its hours": {HourClock{Start: 6 * 60, End: 7 * 60}, true}, "before them": {HourClock{Start: 7 * 60, End: 9 * 60}, false},
		"after them":               {HourClock{Start: 5 * 60, End: 6 * 60}, false},
		"its day, another daypart": {HourClock{Days: []Weekday{1}, Daypart: "late"}, false},
	} {
		if got := tc.clock.holds(monday, "morning"); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
