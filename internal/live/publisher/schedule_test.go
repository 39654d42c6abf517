package publisher

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func cairo(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func read24(t testing.TB, slots ...string) (out []times) {
	t.Helper()
	for _, s := range slots {
		one, err := Slot{Day: s[:3], From: s[4:9], To: s[10:]}.times()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// In 2026 the clocks of Cairo are put forward on Friday 24 April, 00:00 to 01:00, and back
// on Thursday 29 October, 24:00 to 23:00.
func TestSchedules(t *testing.T) {
	zone := cairo(t)
	// A time on the wall, "+" for the second of one that comes twice.
	at := func(s string) time.Time {
		if s == "" {
			return time.Time{}
		}
		var again bool
		if s[len(s)-1] == '+' {
			again, s = true, s[:len(s)-1]
		}
		out, err := time.ParseInLocation("2006-01-02 15:04", s, zone)
		if err != nil {
			t.Fatal(err)
		}
		if _, seconds := out.Zone(); again && seconds == 3*3600 {
			out = out.Add(time.Hour)
		}
		return out
	}
	friday := []string{"fri 20:00-22:00"}
	night := []string{"thu 22:00-02:00"}
	for _, c := range []struct {
		name        string
		slots       []string
		from, until string
		grace       int
		now         string
		ok          bool
		code        string
		opens, ends string
		proper      bool
	}{
		{name: "no slots", now: "2026-03-06 12:00", ok: true, proper: true},
		{name: "no slots, until", until: "2026-03-07 00:00", now: "2026-03-06 12:00", ok: true, ends: "2026-03-07 00:00", proper: true},
		{name: "before from", from: "2026-03-07 00:00", now: "2026-03-06 12:00", code: CodeEarly, opens: "2026-03-07 00:00"},
		{name: "at from", from: "2026-03-06 12:00", now: "2026-03-06 12:00", ok: true, proper: true},
		{name: "at until", until: "2026-03-06 12:00", now: "2026-03-06 12:00", code: CodeLate},
		{name: "in a slot", slots: friday, now: "2026-03-06 20:00", ok: true, ends: "2026-03-06 22:00", proper: true},
		{name: "its last minute", slots: friday, now: "2026-03-06 21:59", ok: true, ends: "2026-03-06 22:00", proper: true},
		{name: "its end", slots: friday, now: "2026-03-06 22:00", code: CodeLate, opens: "2026-03-13 20:00"},
		{name: "just before", slots: friday, now: "2026-03-06 19:59", code: CodeEarly, opens: "2026-03-06 20:00"},
		{name: "nearer to the next", slots: friday, now: "2026-03-11 12:00", code: CodeEarly, opens: "2026-03-13 20:00"},
		{name: "nearer to the last", slots: friday, now: "2026-03-07 12:00", code: CodeLate, opens: "2026-03-13 20:00"},
		{name: "grace before: it may wait", slots: friday, grace: 10, now: "2026-03-06 19:50", ok: true, ends: "2026-03-06 22:00"},
		{name: "before grace", slots: friday, grace: 10, now: "2026-03-06 19:49", code: CodeEarly, opens: "2026-03-06 19:50"},
		{name: "grace after", slots: friday, grace: 10, now: "2026-03-06 22:09", ok: true, ends: "2026-03-06 22:00", proper: true},
		{name: "after grace", slots: friday, grace: 10, now: "2026-03-06 22:10", code: CodeLate, opens: "2026-03-13 19:50"},
		{name: "past midnight", slots: night, now: "2026-03-06 01:59", ok: true, ends: "2026-03-06 02:00", proper: true},
		{name: "past midnight, over", slots: night, now: "2026-03-06 02:00", code: CodeLate, opens: "2026-03-12 22:00"},
		{name: "two that touch are one", slots: []string{"fri 20:00-22:00", "fri 22:00-23:00"}, now: "2026-03-06 21:00", ok: true, ends: "2026-03-06 23:00", proper: true},
		{name: "two that touch at midnight", slots: []string{"fri 20:00-00:00", "sat 00:00-01:00"}, now: "2026-03-06 21:00", ok: true, ends: "2026-03-07 01:00", proper: true},
		{name: "a whole day", slots: []string{"fri 00:00-00:00"}, now: "2026-03-06 23:59", ok: true, ends: "2026-03-07 00:00", proper: true},
		{name: "all week", slots: []string{"sun 00:00-00:00", "mon 00:00-00:00", "tue 00:00-00:00", "wed 00:00-00:00", "thu 00:00-00:00", "fri 00:00-00:00", "sat 00:00-00:00"}, now: "2026-03-06 23:59", ok: true, proper: true},
		{name: "until cuts the slot", slots: friday, until: "2026-03-06 21:00", now: "2026-03-06 20:30", ok: true, ends: "2026-03-06 21:00", proper: true},
		{name: "until before the next slot", slots: friday, until: "2026-03-13 20:00", now: "2026-03-12 20:30", code: CodeLate},
		{name: "from in a slot", slots: friday, from: "2026-03-06 21:00", now: "2026-03-06 20:30", code: CodeEarly, opens: "2026-03-06 21:00"},
		{name: "from between slots", slots: friday, from: "2026-03-08 21:00", now: "2026-03-06 20:30", code: CodeEarly, opens: "2026-03-13 20:00"},
		{name: "put forward: a slot in the hour that is left out", slots: []string{"fri 00:30-03:00"}, now: "2026-04-24 01:00", ok: true, ends: "2026-04-24 03:00", proper: true},
		{name: "put forward: just before", slots: []string{"fri 00:30-03:00"}, now: "2026-04-23 23:59", code: CodeEarly, opens: "2026-04-24 01:00"},
		{name: "put forward: past midnight", slots: []string{"thu 23:00-02:00"}, now: "2026-04-24 01:59", ok: true, ends: "2026-04-24 02:00", proper: true},
		{name: "put forward: wholly left out", slots: []string{"fri 00:10-00:50"}, now: "2026-04-24 01:00", code: CodeEarly, opens: "2026-05-01 00:10"},
		{name: "put back: begins with the first 23:30", slots: []string{"thu 23:30-01:00"}, now: "2026-10-29 23:30", ok: true, ends: "2026-10-30 01:00", proper: true},
		{name: "put back: and goes on in the second", slots: []string{"thu 23:30-01:00"}, now: "2026-10-29 23:10+", ok: true, ends: "2026-10-30 01:00", proper: true},
		{name: "put back: ends with the second 23:30", slots: []string{"thu 22:00-23:30"}, now: "2026-10-29 23:29+", ok: true, ends: "2026-10-29 23:30+", proper: true},
		{name: "put back: has ended", slots: []string{"thu 22:00-23:30"}, now: "2026-10-29 23:30+", code: CodeLate, opens: "2026-11-05 22:00"},
	} {
		got := open(read24(t, c.slots...), at(c.from), at(c.until), time.Duration(c.grace)*time.Minute, zone, at(c.now))
		if got.ok != c.ok || got.code != c.code || !got.at.Equal(at(c.opens)) || !got.until.Equal(at(c.ends)) || got.proper != c.proper {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Whatever the schedule: a refusal names a moment at which it opens, and not before; an
// open slot closes when it says, with grace.
func TestRefusalsNameTheMomentAtWhichItOpens(t *testing.T) {
	zones := []*time.Location{cairo(t), time.UTC}
	for _, name := range []string{"America/New_York", "Australia/Lord_Howe", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	rapid.Check(t, func(t *rapid.T) {
		zone := zones[rapid.IntRange(0, len(zones)-1).Draw(t, "zone")]
		var slots []times
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			slots = append(slots, times{
				time.Weekday(rapid.IntRange(0, 6).Draw(t, "day")), rapid.IntRange(0, 24*60-1).Draw(t, "from"), rapid.IntRange(0, 24*60-1).Draw(t, "to"),
			})
		}
		grace := time.Duration(rapid.SampledFrom([]int{0, 5, 240}).Draw(t, "grace")) * time.Minute
		// All of 2026, minute by minute, and often about the changes of Cairo's clocks.
		now := rapid.OneOf(rapid.Int64Range(1767225600, 1798761600), rapid.Int64Range(1776981600-7200, 1776981600+7200), rapid.Int64Range(1793307600-7200, 1793307600+7200)).Draw(t, "now")
		when := time.Unix(now-now%60, 0)
		var from, until time.Time
		if rapid.Bool().Draw(t, "bounded") {
			from = when.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "fromHours")) * time.Hour)
			until = from.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "untilHours")) * time.Hour)
		}
		at := func(now time.Time) opening { return open(slots, from, until, grace, zone, now) }
		o := at(when)
		switch {
		case o.ok != (o.code == ""):
			t.Fatalf("%+v", o)
		case o.ok && !o.until.IsZero():
			closes := o.until.Add(grace)
			if !until.IsZero() && until.Before(closes) {
				closes = until
			}
			if !when.Before(closes) {
				t.Fatalf("open at %s, and closed since %s", when, closes)
			}
			if p := at(closes.Add(-time.Minute)); !p.ok {
				t.Fatalf("closes %s, and is not open a minute before: %+v", closes, p)
			}
			if p := at(closes); p.ok && p.until.Equal(o.until) {
				t.Fatalf("does not close at %s: %+v", closes, p)
			}
		case !o.ok && !o.at.IsZero():
			if !o.at.After(when) {
				t.Fatalf("at %s opens in the past: %+v", when, o)
			}
			if p := at(o.at); !p.ok {
				t.Fatalf("at %s says that it opens %s, and then: %+v", when, o.at, p)
			}
			if before := o.at.Add(-time.Minute); before.After(when) && at(before).ok {
				t.Fatalf("opens earlier than %s", o.at)
			}
		}
	})
}

func TestSlotsNameTheirWrongField(t *testing.T) {
	for _, c := range []struct {
		s    Slot
		want string
	}{
		{Slot{"friday", "20:00", "22:00"}, "day: must be sun, mon, tue, wed, thu, fri or sat: invalid"},
		{Slot{"fri", "8:00", "22:00"}, "from: must be HH:MM, 00:00 to 23:59: invalid"},
		{Slot{"fri", "20:00", "24:00"}, "to: must be HH:MM, 00:00 to 23:59: invalid"},
		{Slot{"FRI", "20:00", "20:00"}, "<nil>"},
	} {
		if _, err := c.s.times(); fmt.Sprint(err) != c.want {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
}

func FuzzSlot(f *testing.F) {
	f.Add("fri", "20:00", "22:00")
	f.Fuzz(func(t *testing.T, day, from, to string) {
		got, err := Slot{day, from, to}.times()
		if err == nil && (got.day < 0 || got.day > 6 || got.from < 0 || got.from >= 24*60 || got.to < 0 || got.to >= 24*60) {
			t.Fatalf("%+v", got)
		}
	})
}
