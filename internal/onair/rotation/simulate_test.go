package rotation

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// aired is one line of a simulated air log.
type aired struct {
	Entry
	at      time.Time
	daypart string
}

// broadcast plays days of air: the engine reads the rotation in order, every
// start comes back as a marker, and the rotation is rebuilt by the table.
func broadcast(x *Index, cfg Config, from time.Time, days int, seed uint64) []aired {
	var log []aired
	var st State
	now := from
	rot := Build(Request{Index: x, Config: cfg, State: st, Now: now, Seed: seed})
	pos, seq := 0, uint64(0)
	end := from.AddDate(0, 0, days)
	lastWatch := now
	for now.Before(end) {
		e := rot.Entries[pos]
		seq++
		var out Outcome
		st, out = Advance(rot, st, Marker{Engine: "e", Seq: seq, Path: e.Track.Path, Artist: e.Track.Artist, Category: e.Track.Category, At: now})
		if out.Kind != Advanced || out.Index != pos {
			panic("the cursor left the engine")
		}
		log = append(log, aired{e, now, rot.Daypart})
		pos++
		cross := e.Cross
		if pos < len(rot.Entries) {
			cross = min(cross, rot.Entries[pos].Cross)
		}
		now = now.Add(e.Track.Duration - cross)
		cause := Write
		if now.Sub(lastWatch) >= time.Minute {
			cause, lastWatch = Watchdog, now
		}
		for _, c := range []Cause{cause, Write} {
			d := Decide(Situation{
				Cause: c, Length: len(rot.Entries), Consumed: st.Consumed, RefreshFraction: cfg.Rotation.RefreshFraction,
				StampedDaypart: rot.Daypart, LiveDaypart: DaypartKey(cfg, now),
			})
			if d.Rebuild {
				seed++
				rot = Build(Request{Index: x, Config: cfg, State: st, Now: now, Seed: seed})
				st, pos = st.Fresh(), 0
				break
			}
		}
	}
	return log
}

func music(log []aired) []aired {
	return slices.DeleteFunc(slices.Clone(log), func(a aired) bool { return a.Annotation() != "" })
}

// The figures of seven days on 300 songs: what the planner is for.
func TestSevenDaysOfAirKeepEveryRuleAndPlayEveryTrackAlike(t *testing.T) {
	cfg := DefaultConfig()
	for seed := range uint64(5) {
		tracks := library(typical(300), seed)
		log := broadcast(NewIndex(tracks), cfg, noon, 7, seed*1000)
		checkRules(t, cfg, log)
		checkSpacing(t, log)
		checkShares(t, cfg, tracks, log)
		for _, c := range []station.Category{station.ArabicHits, station.English} {
			plays := map[string]int{}
			for _, tr := range tracks {
				if tr.Category == c {
					plays[tr.Path] = 0
				}
			}
			for _, a := range log {
				if a.Track.Category == c {
					plays[a.Track.Path]++
				}
			}
			lo, hi := math.MaxInt, 0
			for _, n := range plays {
				lo, hi = min(lo, n), max(hi, n)
			}
			ratio := float64(hi) / float64(lo)
			t.Logf("seed %d %s: %d tracks, plays %d to %d (%.2f), rank correlation %.3f", seed, c, len(plays), lo, hi, ratio, dayCorrelation(log, c))
			if ratio > 1.3 {
				t.Errorf("seed %d: plays of %s range from %d to %d", seed, c, lo, hi)
			}
			if r := dayCorrelation(log, c); math.Abs(r) > 0.2 {
				t.Errorf("seed %d: day-to-day rank correlation of %s is %.3f", seed, c, r)
			}
		}
	}
}

// checkRules holds the log against the rules themselves, whatever entries say.
func checkRules(t *testing.T, cfg Config, log []aired) {
	t.Helper()
	last, prev := map[string]time.Time{}, []string(nil)
	relaxed := map[Rule]int{}
	for i, a := range log {
		for _, r := range a.Relaxed {
			relaxed[r]++
		}
		was, again := last[a.Track.Path]
		last[a.Track.Path] = a.at
		if a.daypart == "overnight" && a.Track.Category == station.Shorts {
			t.Errorf("entry %d: an Arabic short in the English-only window", i)
		}
		if a.Track.Category == station.News && a.Track.Path != "music/news/0000.mp3" {
			t.Errorf("entry %d: %s is not the newest bulletin", i, a.Track.Path)
		}
		if a.Annotation() != "" {
			if again && a.at.Sub(was) < cfg.Rotation.ElementCooldown.Duration() {
				t.Errorf("entry %d: element %s again after %s", i, a.Track.Path, a.at.Sub(was))
			}
			continue
		}
		if again && a.at.Sub(was) < cfg.Rotation.MusicFresh.Duration() {
			t.Errorf("entry %d: %s again after %s", i, a.Track.Path, a.at.Sub(was))
		}
		keys := ArtistKeys(a.Track.Artist)
		if slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(prev, k) }) {
			t.Errorf("entry %d: artist %s twice in a row", i, a.Track.Artist)
		}
		prev = keys
		if a.daypart == "overnight" && a.Track.Category != station.English {
			t.Errorf("entry %d: %s in the English-only window", i, a.Track.Path)
		}
	}
	t.Logf("%d entries, relaxed: %v", len(log), relaxed)
}

// checkSpacing holds news and signature jingles to their cadence.
func checkSpacing(t *testing.T, log []aired) {
	t.Helper()
	news := -1
	for i, a := range log {
		if a.Track.Category != station.News {
			continue
		}
		if d := i - news; news >= 0 && (d < newsMin || d > newsMax) {
			t.Errorf("entry %d (%s): news after %d entries", i, a.at, d)
		}
		news = i
	}
	slots, jingle, inBreak := 0, -1, false
	for i, a := range log {
		switch {
		case a.Annotation() == "":
			inBreak = false
		case !inBreak && a.Track.Category != station.News: // news alone is no slot
			slots, inBreak = slots+1, true
		}
		if a.Track.Category == station.Jingles {
			if d := slots - jingle; jingle >= 0 && (d < 2 || d > 5) {
				t.Errorf("entry %d: signature jingle after %d slots", i, d)
			}
			jingle = slots
		}
	}
	count := map[string]int{}
	for _, a := range log {
		count[a.Type]++
	}
	t.Logf("of 120: music %.1f, jingles %.1f, sweepers %.1f, sfx %.1f, shorts %.1f, ads %.1f, news %.1f", per(count["music"], log), per(count["jingles"], log),
		per(count["sweepers"], log), per(count["sfx"], log), per(count["shorts"], log), per(count["ads"], log), per(count["news"], log))
	if m := per(count["music"], log); m < 66 || m > 72 {
		t.Errorf("%.1f music entries of 120, want about 69", m)
	}
	if j := per(count["jingles"], log); j < 6 || j > 8.5 {
		t.Errorf("%.1f signature jingles of 120, want about 7", j)
	}
}

// checkShares holds each daypart's music against its targets.
func checkShares(t *testing.T, cfg Config, tracks []station.Track, log []aired) {
	t.Helper()
	size := sizes(tracks)
	for _, part := range builtIn() {
		m := newMix(weights(cfg, part), func(c station.Category) int { return size[c] }, part.Hard != "")
		count, n := map[station.Category]int{}, 0
		for _, a := range music(log) {
			if a.daypart == part.Name {
				count[a.Track.Category]++
				n++
			}
		}
		for i, c := range m.cats {
			got := float64(count[c]) / float64(n)
			if math.Abs(got-m.share[i]) > 0.02 {
				t.Errorf("%s: %.1f %% %s, want %.1f %%", part.Name, 100*got, c, 100*m.share[i])
			}
		}
	}
}

func sizes(tracks []station.Track) map[station.Category]int {
	n := map[station.Category]int{}
	for _, t := range tracks {
		n[t.Category]++
	}
	return n
}

func per(n int, log []aired) float64 { return float64(n) * 120 / float64(len(log)) }

// dayCorrelation is the mean Spearman correlation between the orders in which
// two days in a row first play the tracks of a category.
func dayCorrelation(log []aired, c station.Category) float64 {
	var days []map[string]int
	for _, a := range log {
		if a.Track.Category != c {
			continue
		}
		day := int(a.at.Sub(log[0].at) / (24 * time.Hour))
		for len(days) <= day {
			days = append(days, map[string]int{})
		}
		if _, ok := days[day][a.Track.Path]; !ok {
			days[day][a.Track.Path] = len(days[day])
		}
	}
	sum, n := 0.0, 0
	for i := 1; i < len(days); i++ {
		var xs, ys []float64
		for p, r := range days[i-1] {
			if s, ok := days[i][p]; ok {
				xs, ys = append(xs, float64(r)), append(ys, float64(s))
			}
		}
		if len(xs) > 10 {
			sum, n = sum+pearson(xs, ys), n+1
		}
	}
	return sum / float64(max(n, 1))
}

func pearson(x, y []float64) float64 {
	var sx, sy, sxx, syy, sxy float64
	n := float64(len(x))
	for i := range x {
		sx, sy, sxx, syy, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
}

// Larger libraries, and one that holds too little of everything but Arabic:
// the rules hold there too.
func TestThreeDaysOfAirHoldEveryRuleInOtherLibraries(t *testing.T) {
	small := typical(300)
	small[station.ArabicHits], small[station.English], small[station.Mashups] = 280, 60, 2
	for name, s := range map[string]shelf{"1,000": typical(1000), "10,000": typical(10000), "few English": small} {
		t.Run(name, func(t *testing.T) {
			log := broadcast(NewIndex(library(s, 1)), DefaultConfig(), noon, 3, 5)
			checkRules(t, DefaultConfig(), log)
			checkSpacing(t, log)
		})
	}
}
