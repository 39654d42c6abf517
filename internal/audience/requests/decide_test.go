package requests

import (
	"strings"
	"testing"
	"time"
)

// calm are the facts of a request that nothing stands against.
func calm() facts {
	return facts{
		now: time.Date(2026, 5, 4, 20, 30, 0, 0, time.UTC), plays: true, rest: time.Hour, artistGap: 30 * time.Minute,
		limits: Limits{Every: 30 * time.Minute, PerDay: 3, Queue: 8, Rest: 3 * time.Hour},
	}
}

func TestDecideFollowsItsTable(t *testing.T) {
	ago := func(d time.Duration) time.Time { return calm().now.Add(-d) }
	in := func(d time.Duration) time.Time { return calm().now.Add(d) }
	for _, c := range []struct {
		what   string
		change func(f *facts)
		want   Code
		at     string
		en, ar string
	}{
		{"nothing", func(*facts) {}, "", "", "", ""},
		{"a closed desk", func(f *facts) { f.closed, f.queue = true, 9 }, Closed, "", "The studio takes no requests now", "الاستوديو لا يستقبل طلبات الآن"},
		{"a full queue", func(f *facts) { f.queue, f.frees = 8, in(5*time.Minute) }, Full, "20:35", "The queue of requests is full, again from 20:35", "قائمة الطلبات ممتلئة، ويمكنك الطلب من 20:35"},
		{"a full queue of unknown end", func(f *facts) { f.queue = 8 }, Full, "", "The queue of requests is full, try again later", "قائمة الطلبات ممتلئة، حاول بعد قليل"},
		{"room for one", func(f *facts) { f.queue = 7 }, "", "", "", ""},
		{"29 minutes after", func(f *facts) { f.mine = []time.Time{ago(29 * time.Minute)} }, TooSoon, "20:31", "You have just asked for a song, again from 20:31", "طلبت أغنية قبل قليل، ويمكنك الطلب من 20:31"},
		{"30 minutes after", func(f *facts) { f.mine = []time.Time{ago(30 * time.Minute)} }, "", "", "", ""},
		{"three today", func(f *facts) { f.mine = []time.Time{ago(23 * time.Hour), ago(5 * time.Hour), ago(time.Hour)} }, DayLimit, "21:30", "You have asked for 3 songs today, again from 21:30", "بلغت الحد اليومي للطلبات، ويمكنك الطلب من 21:30"},
		{"the third day's, tomorrow", func(f *facts) { f.mine = []time.Time{ago(4 * time.Hour), ago(3 * time.Hour), ago(time.Hour)} }, DayLimit, "16:30", "You have asked for 3 songs today, again from tomorrow at 16:30", "بلغت الحد اليومي للطلبات، ويمكنك الطلب من 16:30 غدًا"},
		{"a quarter of the queue", func(f *facts) { f.addressQueue = 2 }, Network, "", "Many requests came from your network, try again later", "وصلتنا طلبات كثيرة من شبكتك، حاول بعد قليل"},
		{"half of the queue", func(f *facts) { f.widerQueue = 4 }, Network, "", "", ""},
		{"an address's day", func(f *facts) { f.addressDay = make([]time.Time, 24) }, Network, "", "", ""},
		{"asked for", func(f *facts) { f.asked, f.askedAt = true, in(11*time.Minute) }, Asked, "20:41", "Somebody has asked for it, expected at 20:41", "طلبها مستمع آخر، وموعدها المتوقع 20:41"},
		{"coming", func(f *facts) { f.coming, f.comingAt = true, in(59*time.Minute) }, Soonest, "21:29", "It is coming up, expected at 21:29", "ستُذاع قريبًا، وموعدها المتوقع 21:29"},
		{"coming late", func(f *facts) { f.coming, f.comingAt = true, in(time.Hour) }, "", "", "", ""},
		{"coming during a takeover", func(f *facts) { f.coming = true }, Soonest, "", "It is coming up", "ستُذاع قريبًا"},
		{"aired 40 minutes ago", func(f *facts) { f.aired, f.limits.Rest = ago(40*time.Minute), 80*time.Minute }, JustAired, "21:10", "Aired 40 minutes ago, from 21:10", "أُذيعت قبل 40 دقيقة، ويمكن طلبها من 21:10"},
		{"aired two hours ago", func(f *facts) { f.aired = ago(2 * time.Hour) }, JustAired, "21:30", "Aired 2 hours ago, from 21:30", "أُذيعت قبل ساعتين، ويمكن طلبها من 21:30"},
		{"the rotation rests longer", func(f *facts) { f.aired, f.rest = ago(3*time.Hour), 4*time.Hour }, JustAired, "21:30", "Aired 3 hours ago, from 21:30", "أُذيعت قبل 3 ساعات، ويمكن طلبها من 21:30"},
		{"aired three hours ago", func(f *facts) { f.aired = ago(3 * time.Hour) }, "", "", "", ""},
		{"the artist is asked for", func(f *facts) { f.artistAsked, f.artistAskedAt = true, in(10*time.Minute) }, ArtistAsked, "21:10", "A song of this artist is asked for already, from 21:10", "هناك طلب سابق لهذا الفنان، ويمكن طلبها من 21:10"},
		{"the artist was on", func(f *facts) { f.artistAired = ago(12 * time.Minute) }, ArtistAired, "20:48", "This artist was on 12 minutes ago, from 20:48", "كان هذا الفنان على الهواء قبل 12 دقيقة، ويمكن طلبها من 20:48"},
		{"the artist was on a gap ago", func(f *facts) { f.artistAired = ago(30 * time.Minute) }, "", "", "", ""},
		{"its own rest is longer", func(f *facts) { f.aired, f.ownRest = ago(3*time.Hour), 5*time.Hour }, JustAired, "22:30", "Aired 3 hours ago, from 22:30", "أُذيعت قبل 3 ساعات، ويمكن طلبها من 22:30"},
		{"its own rest is of days", func(f *facts) { f.aired, f.ownRest = ago(3*time.Hour), 9*day }, JustAired, "17:30", "Aired 3 hours ago", "أُذيعت قبل 3 ساعات"},
		{"its own rest is of two days", func(f *facts) { f.aired, f.ownRest = ago(3*time.Hour), 30*time.Hour }, JustAired, "23:30", "Aired 3 hours ago, from tomorrow at 23:30", "أُذيعت قبل 3 ساعات، ويمكن طلبها من 23:30 غدًا"},
		{"its own limits", func(f *facts) { f.limited, f.limitedUntil = true, in(time.Hour) }, OwnLimits, "21:30", "This song is not available now, from 21:30", "هذه الأغنية غير متاحة حاليًا، ويمكن طلبها من 21:30"},
		{"its own last day is over", func(f *facts) { f.limited = true }, OwnLimits, "", "This song is not available now", "هذه الأغنية غير متاحة حاليًا"},
		{"another part of the day", func(f *facts) { f.plays, f.playsAt = false, in(90*time.Minute) }, Daypart, "22:00", "Not in this part of the day, from 22:00", "ليست ضمن برنامج هذه الفترة، ويمكن طلبها من 22:00"},
	} {
		f := calm()
		c.change(&f)
		r := f.refusal(time.UTC)
		if r == nil {
			r = &Refusal{}
		}
		at := ""
		if !r.At.IsZero() && r.At.Year() > 1 {
			at = r.At.Format("15:04")
		}
		if r.Code != c.want || c.what != "an address's day" && at != c.at || c.en != "" && (r.En != c.en || r.Ar != c.ar) {
			t.Errorf("%s: %q at %q: %s | %s", c.what, r.Code, at, r.En, r.Ar)
		}
	}
}

// The first rule of the table that stands against a request is the one that is told.
func TestDecideNamesTheFirstRule(t *testing.T) {
	f := calm()
	f.closed, f.queue, f.mine, f.addressQueue, f.asked, f.coming, f.artistAsked, f.plays = true, 8, []time.Time{f.now, f.now, f.now}, 2, true, true, true, false
	f.aired, f.artistAired, f.limited = f.now, f.now, true
	lift := []func(){
		func() { f.closed = false }, func() { f.queue = 0 }, func() { f.mine = []time.Time{f.now.Add(-time.Hour), f.now.Add(-time.Hour), f.now.Add(-time.Hour)} },
		func() { f.mine = nil }, func() { f.addressQueue = 0 }, func() { f.asked = false }, func() { f.coming = false }, func() { f.aired = time.Time{} },
		func() { f.artistAsked = false }, func() { f.artistAired = time.Time{} }, func() { f.plays = true },
		func() { f.limited = false },
	}
	for i, code := range Codes() {
		if got, _, _ := decide(f); got != code {
			t.Errorf("%d: %s, want %s", i, got, code)
		}
		lift[i]()
	}
	if _, _, granted := decide(f); !granted {
		t.Error("nothing stands against it any more")
	}
}

func TestEveryRuleHasWordsInBothLanguages(t *testing.T) {
	for _, code := range Codes() {
		en, ar := calm().words(code, "21:00", "21:00")
		if en == string(code) || !strings.ContainsAny(ar, "اأةه") || strings.ContainsAny(ar, "abcdefghijklmnopqrstuvwxyz") {
			t.Errorf("%s: %q, %q", code, en, ar)
		}
	}
}
