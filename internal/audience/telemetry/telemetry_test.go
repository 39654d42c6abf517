package telemetry

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestListenersComeFromTheRelayElseTheStreamingServer(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-21 12:00:00")
	h.hls, h.ice, h.stream = &Reading{Listeners: 7}, &Reading{Listeners: 2, IDs: []string{"1", "2"}}, &Reading{Listeners: 3, Begun: 9}
	h.pass(Every)
	h.hls = &Reading{Listeners: 7, BytesSent: 160_000}
	h.ice = &Reading{Listeners: 2, IDs: []string{"1", "2"}, BytesEach: 10_000}
	h.stream = &Reading{Listeners: 3, Begun: 9, BytesSent: 50_000}
	h.pass(Every)
	c := h.Latest()
	if c.Listeners != 7 || c.Source != "athir" || c.Parts != (Parts{7, 3, 2, 12}) {
		t.Errorf("from the relay: %+v", c)
	}
	perSecond := 8 / Every.Seconds()
	if c.Bandwidth != (Bandwidth{160_000 * perSecond, 50_000 * perSecond, 20_000 * perSecond, 230_000 * perSecond}) {
		t.Errorf("bandwidth %+v", c.Bandwidth)
	}
	h.hls = nil
	h.pass(Every)
	// Those at the relay have not left because it does not answer.
	if c = h.Latest(); c.Listeners != 2 || c.Source != "icecast" || c.Parts != (Parts{7, 3, 2, 12}) || c.Bandwidth.HLS != 0 {
		t.Errorf("fallback: %+v", c)
	}
	h.hls = &Reading{Listeners: 5, BytesSent: 900_000}
	h.pass(Every)
	if c = h.Latest(); c.Listeners != 5 || c.Source != "athir" || c.Bandwidth.HLS != 0 {
		t.Errorf("back at the relay, with no rate across the change: %+v", c)
	}
	h.hls, h.ice = nil, nil
	h.pass(stale)
	if c = h.Latest(); c.Listeners != 5 || c.Source != "athir" {
		t.Errorf("nobody answers: %+v", c)
	}
	h.pass(2 * Every)
	if c = h.Latest(); c.Listeners != 0 || c.Source != "" || c.Parts != (Parts{0, 3, 0, 3}) {
		t.Errorf("nobody has answered for a minute: %+v", c)
	}
}

// Who comes and goes between two polls is seen by names or by the count of all
// that ever were; a server that restarts sends nobody away.
func TestComingsAndGoingsAreCountedOnceEach(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-21 12:00:00")
	ids := func(ids ...string) *Reading { return &Reading{Listeners: len(ids), IDs: ids, BytesSent: 1000} }
	for i, step := range []struct {
		hls, stream *Reading
		came, went  int
	}{
		{ids("a", "b"), &Reading{Listeners: 3, Begun: 3}, 0, 0}, // they were there before us
		{ids("a", "b"), &Reading{Listeners: 3, Begun: 3}, 0, 0},
		{ids("b", "c"), &Reading{Listeners: 3, Begun: 5}, 3, 3}, // a left, c came; two came, two left
		{ids(), &Reading{Listeners: 0, Begun: 5}, 0, 5},
		{ids("d"), &Reading{Listeners: 1, Begun: 7}, 3, 1}, // one was gone again at once
		{&Reading{IDs: []string{}}, &Reading{Listeners: 1, Begun: 7}, 0, 0},
	} {
		h.hls, h.stream = step.hls, step.stream
		h.pass(Every)
		if c := h.Latest(); c.came != step.came || c.went != step.went {
			t.Errorf("step %d: %d came, %d went; want %d, %d", i, c.came, c.went, step.came, step.went)
		}
	}
	for _, back := range []*Reading{nil, ids("d", "e"), ids("d", "e", "f")} { // they come back one by one
		h.hls = back
		h.pass(settling / 4)
		if c := h.Latest(); c.came+c.went != 0 {
			t.Errorf("%d came and %d went with a restart", c.came, c.went)
		}
	}
	h.pass(settling)
	h.hls = ids("d", "e")
	h.pass(Every)
	if c := h.Latest(); c.came != 0 || c.went != 1 {
		t.Errorf("%d came, %d went after the restart", c.came, c.went)
	}
}

func TestHistoryIsKeptByMinuteHourAndDayAndGapsAreGaps(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-20 23:30:00")
	h.hls = &Reading{Listeners: 10}
	h.pass(30 * time.Minute) // to midnight
	h.hls, h.stream = &Reading{Listeners: 20}, &Reading{Listeners: 4, Begun: 4}
	h.pass(30 * time.Minute)
	h.hls, h.ice = nil, nil
	h.pass(20 * time.Minute) // nothing to count at
	h.hls, h.ice = &Reading{Listeners: 0}, &Reading{}
	h.pass(10 * time.Minute)
	h.stop()

	days := h.points(Day)
	if len(days) != 2 {
		t.Fatalf("days %+v", days)
	}
	begin := time.Date(2026, 11, 21, 0, 0, 0, 0, h.zone).UnixMilli()
	first, second := days[0], days[1]
	if first.Listeners.Average != 10 || first.Listeners.Min != 10 || first.Listeners.Max != 10 || first.Samples != 30*12-1 || first.HLS != 10 {
		t.Errorf("before midnight: %+v", first)
	}
	if second.At != begin || second.Listeners.Min != 4 || second.Listeners.Max != 24 || second.Listeners.Average != hundredths((10+24.0*360+4*120)/481) {
		t.Errorf("after midnight: %+v", second)
	}
	minutes := h.points(Minute)
	for i, p := range minutes[1:] {
		// The minute in which the servers went away was counted in part.
		if gap := time.Duration(p.At-minutes[i].At) * time.Millisecond; gap != time.Minute && (gap != 20*time.Minute || p.Listeners.Max != 4) {
			t.Errorf("%s between minutes at %s", gap, time.UnixMilli(p.At))
		}
	}
	if len(h.points(Hour)) != 3 {
		t.Errorf("hours %+v", h.points(Hour))
	}
	// Nothing grows for ever.
	h.now = h.now.Add(25 * time.Hour)
	h.pass(2 * time.Minute)
	if got := h.points(Minute); len(got) > 3 {
		t.Errorf("%d minutes are kept", len(got))
	}
	h.now = h.now.Add(61 * 24 * time.Hour)
	h.pass(2 * time.Minute)
	if len(h.points(Hour)) > 1 || len(h.points(Day)) < 3 {
		t.Errorf("%d hours, %d days are kept", len(h.points(Hour)), len(h.points(Day)))
	}
	h.now = h.now.Add(731 * 24 * time.Hour)
	h.pass(2 * time.Minute)
	if got := h.points(Day); len(got) != 1 {
		t.Errorf("%d days are kept", len(got))
	}
}

// Whenever the control plane ends, points are those of the counts it had made:
// all of them after a stop, all but the last minute after a kill.
func TestHistoryGoesOnAfterARestart(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		h := newHouse(t, "Africa/Cairo", "2026-11-21 22:57:13")
		var polls, sum, lost int64 // lost at most
		for range rng.IntN(5) + 1 {
			h.hls = &Reading{Listeners: rng.IntN(50)}
			n := rng.Int64N(50) + 1
			h.pass(time.Duration(n) * Every)
			polls, sum = polls+n, sum+n*int64(h.hls.Listeners)
			if rng.IntN(3) > 0 {
				h.stop()
			} else {
				lost += min(n, 12)
			}
			h.open()
		}
		for _, by := range []By{Minute, Hour, Day} {
			var kept int64
			var total float64
			for _, p := range h.points(by) {
				kept += p.Samples
				total += p.Listeners.Average * float64(p.Samples)
			}
			if kept > polls || kept < polls-lost || lost == 0 && math.Abs(total-float64(sum)) > 0.01*float64(polls) {
				t.Fatalf("seed %d, %s: %d of %d polls are kept where %d may be lost, sum %f of %d", seed, by, kept, polls, lost, total, sum)
			}
		}
	}
}

func TestHoursAndDaysAreThoseOfTheWallAcrossDST(t *testing.T) {
	for _, c := range []struct {
		zone, at string // UTC
		hour     string
		day      string
	}{
		{"Africa/Cairo", "2026-04-23T21:59:59Z", "2026-04-23T21:00:00Z", "2026-04-22T22:00:00Z"}, // 23:59:59 EET
		{"Africa/Cairo", "2026-04-23T22:00:00Z", "2026-04-23T22:00:00Z", "2026-04-23T22:00:00Z"}, // 01:00 EEST: midnight is left out
		{"Africa/Cairo", "2026-04-24T20:59:59Z", "2026-04-24T20:00:00Z", "2026-04-23T22:00:00Z"}, // a day of 23 hours
		{"Africa/Cairo", "2026-04-24T21:00:00Z", "2026-04-24T21:00:00Z", "2026-04-24T21:00:00Z"},
		{"Africa/Cairo", "2026-10-29T20:30:00Z", "2026-10-29T20:00:00Z", "2026-10-28T21:00:00Z"}, // 23:30 EEST
		{"Africa/Cairo", "2026-10-29T21:30:00Z", "2026-10-29T21:00:00Z", "2026-10-28T21:00:00Z"}, // 23:30 again, EET
		{"Africa/Cairo", "2026-10-29T22:00:00Z", "2026-10-29T22:00:00Z", "2026-10-29T22:00:00Z"},
		{"Asia/Kolkata", "2026-01-01T00:00:00Z", "2025-12-31T23:30:00Z", "2025-12-31T18:30:00Z"},
		{"Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T01:00:00Z", "2026-10-24T22:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		hour, day := Hour.begin(at, zone), Day.begin(at, zone)
		if hour.UTC().Format(time.RFC3339) != c.hour || day.UTC().Format(time.RFC3339) != c.day {
			t.Errorf("%s at %s: hour %s, day %s", c.zone, c.at, hour.UTC(), day.UTC())
		}
	}
}

func TestEveryAiringIsKeptWithItsListeners(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-21 12:00:02")
	ids := func(n, from int) *Reading {
		r := &Reading{Listeners: n, IDs: []string{}}
		for i := range n {
			r.IDs = append(r.IDs, strconv.Itoa(from+i))
		}
		return r
	}
	h.plays("old")
	h.plays("one")
	h.hls = ids(10, 0)
	h.pass(20 * time.Second)
	h.hls = ids(10, 2) // two left, two came
	h.pass(20 * time.Second)
	h.hls = ids(7, 2)
	h.pass(20 * time.Second)
	for _, short := range []string{"sfx", "jingle"} { // both between two polls
		h.plays(short)
		h.now = h.now.Add(time.Second)
	}
	h.plays("two")
	h.pass(time.Minute)
	h.stop()
	all := h.aired()
	if got := fmt.Sprint(names(all)); got != "[two jingle sfx one]" {
		t.Fatalf("aired %s", got)
	}
	one := all[3]
	if one.Start != 10 || one.End != 7 || one.Came != 2 || one.Went != 5 || one.Average() != 9 || one.EndedAt.Sub(one.StartedAt) != time.Minute ||
		one.Path != "music/one\xff.mp3" || one.Title != "أغنية one" {
		t.Errorf("%+v %f", one, one.Average())
	}
	if sfx := all[2]; !sfx.Counted || sfx.Start != 7 || sfx.Average() != 7 || sfx.EndedAt.Sub(sfx.StartedAt) != time.Second {
		t.Errorf("%+v", sfx)
	}
	if two := all[0]; !two.EndedAt.IsZero() || two.Start != 7 || two.End != 7 {
		t.Errorf("%+v", two)
	}

	// A restart within an airing, then one over several.
	h.open()
	h.pass(time.Minute)
	h.stop()
	if all = h.aired(); len(all) != 4 || all[0].samples != 24 || all[0].Went != 0 {
		t.Errorf("%+v", all[0])
	}
	h.plays("unheard")
	h.now = h.now.Add(3 * time.Minute)
	h.plays("three")
	h.now = h.now.Add(time.Minute)
	h.open()
	h.pass(2 * time.Minute)
	all = h.aired()
	if got := fmt.Sprint(names(all)); got != "[three unheard two jingle sfx one]" {
		t.Fatalf("aired %s", got)
	}
	if all[1].Counted != false && all[1].samples != 0 || all[0].samples == 0 || all[2].EndedAt.IsZero() {
		t.Errorf("%+v", all[:3])
	}
}

// A machine whose clock was wrong for an hour is no reason to note nothing any
// more once it is right.
func TestAiringsAreKeptAfterAClockThatWasAhead(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2030-01-01 12:00:00")
	h.plays("ahead")
	h.pass(time.Minute)
	h.stop()
	h.now, h.air = h.now.AddDate(-4, 0, 0), nil
	h.open()
	for _, id := range []string{"one", "two"} {
		h.plays(id)
		h.pass(time.Minute)
	}
	h.stop()
	if got := fmt.Sprint(names(h.aired())); got != "[two one]" {
		t.Errorf("aired %s", got)
	}
}

func names(all []Aired) (out []string) {
	for _, a := range all {
		out = append(out, a.ID)
	}
	return out
}

func TestMilestonesAreToldOnceADayAndPeaksOverThoseOfTheDaysBefore(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-21 23:00:00")
	say := func(counts ...int) (told []string) {
		t.Helper()
		before := len(h.reached)
		for _, n := range counts {
			h.hls = &Reading{Listeners: n}
			h.pass(Every)
		}
		for _, m := range h.reached[before:] {
			told = append(told, fmt.Sprint(m.Kind, " ", m.Level, " ", m.Listeners))
		}
		return told
	}
	for _, c := range []struct {
		what   string
		counts []int
		want   string
	}{
		{"below", []int{0, 99}, "[]"},
		{"reached", []int{101}, "[level 100 101]"},
		{"about it", []int{99, 101, 92, 110}, "[]"},
		{"left and reached again on the same day", []int{80, 120}, "[]"},
		{"several at once", []int{600}, "[level 500 600]"},
		{"one passed over", []int{200, 260}, "[level 250 260]"},
	} {
		if got := fmt.Sprint(say(c.counts...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	// A kill: what was told is not told again.
	h.open()
	if got := say(400, 550, 590); len(got) != 0 {
		t.Errorf("after a restart: %s", got)
	}
	h.now = h.now.Add(time.Hour) // another day
	if got := fmt.Sprint(say(550, 590, 600, 601, 700, 40, 105)); got != "[peak 600 601 level 100 105]" {
		t.Errorf("the next day: %s", got)
	}
	h.stop()
	h.open()
	if got := fmt.Sprint(say(800, 1000)); got != "[level 500 800 level 1000 1000]" {
		t.Errorf("the same day: %s", got)
	}
	for n, want := range map[int]int{0: 0, 99: 0, 100: 100, 249: 100, 250: 250, 999: 500, 1000: 1000, 2500: 2500, 4999: 2500, 5000: 5000, 25_000: 25_000, 1 << 40: 500_000_000_000 * 2} {
		if got := levelAt(n); got != want {
			t.Errorf("level at %d: %d, want %d", n, got, want)
		}
	}
}

func TestUpdatesComeOnChangeElseEveryHalfMinuteWithAnHourOfHistory(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-21 12:00:00")
	h.hls = &Reading{Listeners: 3}
	h.pass(5 * time.Minute)
	if len(h.told) != 10 {
		t.Errorf("%d updates in five quiet minutes", len(h.told))
	}
	before := len(h.told)
	for i := range 12 {
		h.stream = &Reading{Listeners: i + 1, Begun: uint64(i + 1)}
		h.pass(Every)
	}
	if len(h.told)-before != 12 {
		t.Errorf("%d updates of 12 changes", len(h.told)-before)
	}
	h.pass(2 * time.Hour)
	last := h.told[len(h.told)-1]
	if len(last.History) != 60 || last.Listeners != 3 || last.Breakdown != (Parts{3, 12, 0, 15}) || last.Source != "athir" {
		t.Fatalf("%d points, %+v", len(last.History), last)
	}
	for i, p := range last.History {
		if p.Listeners != 3 || i > 0 && p.At-last.History[i-1].At != time.Minute.Milliseconds() {
			t.Errorf("point %d: %+v", i, p)
		}
	}
	if newest := last.History[59].At; last.At-newest >= time.Minute.Milliseconds() {
		t.Errorf("the newest point is of %s, the update of %s", time.UnixMilli(newest), time.UnixMilli(last.At))
	}
	// A restart takes no history away, and what nobody counted is not there.
	h.stop()
	h.now = h.now.Add(10 * time.Minute)
	h.open()
	h.pass(Every)
	if last = h.told[len(h.told)-1]; len(last.History) < 48 || len(last.History) > 51 {
		t.Errorf("%d points after ten minutes' absence", len(last.History))
	}
}

// Run polls at once and every five seconds; the end of ctx ends it.
func TestRunPollsEveryFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		away := func(context.Context) (Reading, error) { return Reading{}, errAway }
		tel := &Telemetry{
			opt: Options{Log: discard(), Zone: time.UTC, Now: time.Now, Air: func() []Airing { return nil }, Tell: func(string, any) {}},
			hls: part{source: Source{"athir", func(context.Context) (Reading, error) { asked++; return Reading{}, errAway }}},
			ice: part{source: Source{"icecast", away}}, stream: part{source: Source{"stream", away}},
			book: book{zone: time.UTC},
		}
		tel.latest.Store(&Count{})
		tel.book.kept = "{}"
		ctx, cancel := context.WithTimeout(t.Context(), 32*time.Second)
		defer cancel()
		if err := tel.Run(ctx); err != nil || asked != 7 {
			t.Errorf("asked %d times in 32 s: %v", asked, err)
		}
	})
}
