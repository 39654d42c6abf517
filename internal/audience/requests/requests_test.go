package requests_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/station"
)

func refusedBy(err error) requests.Code {
	var no *requests.Refusal
	if errors.As(err, &no) {
		return no.Code
	}
	return ""
}

func TestARequestFromItsAskingToTheAir(t *testing.T) {
	r := newRig(t)
	r.plan(song(50), song(51))
	q, err := r.ask(listener(1), song(7))
	r.must(err)
	if got := r.Wanted(); !slices.Equal(got, []string{song(7).Path}) {
		t.Fatalf("wanted: %q", got)
	}
	r.Look(t.Context())
	if got := r.shown(); got[0] != "Song 7 waiting" {
		t.Fatalf("asked: %q", got)
	}
	r.pass(10 * time.Second)
	r.Look(t.Context())
	r.plan(song(50), song(7), song(51))
	r.Look(t.Context())
	open, _ := r.Queue()
	if open[0].Status != requests.Planned || !open[0].ExpectedAt.Equal(r.clock().Add(8*time.Minute)) {
		t.Fatalf("planned: %+v", open[0])
	}
	r.pass(4 * time.Minute)
	r.airs(song(50))
	r.Look(t.Context())
	r.pass(4 * time.Minute)
	r.airs(song(7))
	r.Look(t.Context())
	r.Look(t.Context())
	if got := r.shown(); got[0] != "Song 7 aired" || len(r.Wanted()) != 0 {
		t.Fatalf("aired: %q, wanted %q", got, r.Wanted())
	}
	if want := []string{"new Song 7", "soon Song 7", "aired Song 7"}; !slices.Equal(r.events, want) {
		t.Errorf("events %q, want %q", r.events, want)
	}
	mine, err := r.Mine(t.Context(), listener(1))
	r.must(err)
	if len(mine) != 1 || mine[0].ID != q.ID || mine[0].Status != requests.Aired {
		t.Errorf("mine: %+v", mine)
	}
	if r.plans != 1 {
		t.Errorf("the rotation was planned %d times for one request", r.plans)
	}
}

// What aired before it was asked for is not that request, and one that leaves the
// rotation waits again.
func TestOnlyAnAiringSinceCounts(t *testing.T) {
	r := newRig(t)
	r.airs(song(7))
	r.pass(4 * time.Hour)
	_, err := r.ask(listener(1), song(7))
	r.must(err)
	r.Look(t.Context())
	r.plan(song(7))
	r.Look(t.Context())
	r.plan(song(8))
	r.Look(t.Context())
	if got := r.shown(); got[0] != "Song 7 waiting" {
		t.Errorf("%q", got)
	}
}

func TestWhatCannotBePlannedExpires(t *testing.T) {
	r := newRig(t)
	_, err := r.ask(listener(1), song(7))
	r.must(err)
	r.pass(4*time.Hour - time.Second)
	r.Look(t.Context())
	if len(r.Wanted()) != 1 {
		t.Fatal("expired too early")
	}
	r.pass(time.Second)
	r.Look(t.Context())
	if len(r.Wanted()) != 0 || r.events[len(r.events)-1] != "refused Song 7" {
		t.Fatalf("wanted %q, events %q", r.Wanted(), r.events)
	}
	// It was not the listener's fault: it does not count.
	for n := range 5 {
		_, err := r.ask(listener(1), song(10+n))
		r.must(err)
		r.pass(31 * time.Minute)
	}
}

// A storm of requests is heard soon, and planned once a minute.
func TestAStormOfRequestsIsPlannedOnceAMinute(t *testing.T) {
	r := newRigWith(t, func(l *requests.Limits) { l.Queue = 100 })
	r.Look(t.Context())
	for n := range 60 { // seconds
		if n < 50 {
			_, err := r.ask(listener(n), song(n))
			r.must(err)
		}
		r.pass(time.Second)
		r.Look(t.Context())
		if n == 10 && r.plans > 1 {
			t.Fatalf("%d plans within ten seconds", r.plans)
		}
	}
	if r.plans > 1 {
		t.Errorf("%d plans within a minute for 50 requests", r.plans)
	}
	for range 90 {
		r.pass(time.Second)
		r.Look(t.Context())
	}
	if r.plans < 1 || r.plans > 2 {
		t.Errorf("%d plans in two and a half minutes", r.plans)
	}
}

// A lone request is planned within seconds, and not at all where the rotation was
// planned anew meanwhile.
func TestALoneRequestIsPlannedWithinSeconds(t *testing.T) {
	r := newRig(t)
	_, err := r.ask(listener(1), song(1))
	r.must(err)
	if wait := r.Look(t.Context()); wait > 3*time.Second || r.plans != 0 {
		t.Fatalf("looks again in %v, %d plans", wait, r.plans)
	}
	r.pass(3 * time.Second)
	r.Look(t.Context())
	if r.plans != 1 {
		t.Fatalf("%d plans", r.plans)
	}
	r.pass(2 * time.Minute)
	_, err = r.ask(listener(2), song(2))
	r.must(err)
	r.pass(time.Second)
	r.plan(song(1), song(2))
	r.pass(time.Minute)
	r.Look(t.Context())
	if r.plans != 1 {
		t.Errorf("%d plans, though it was planned already", r.plans)
	}
}

func TestTheSameIDIsTheSameRequest(t *testing.T) {
	r := newRig(t)
	in := requests.Ask{Path: song(1).Path, ID: "write-000001"}
	one, err := r.Ask(t.Context(), listener(1), in)
	r.must(err)
	r.open()
	two, err := r.Ask(t.Context(), listener(1), in)
	r.must(err)
	if one.ID != two.ID || len(r.Wanted()) != 1 {
		t.Errorf("%d and %d, wanted %q", one.ID, two.ID, r.Wanted())
	}
	in.Path = song(2).Path
	if _, err := r.Ask(t.Context(), listener(1), in); !errors.Is(err, station.ErrConflict) {
		t.Errorf("the id for another song: %v", err)
	}
	if _, err := r.Ask(t.Context(), listener(2), in); err != nil {
		t.Errorf("the same id of another listener: %v", err)
	}
}

func TestTheQueueSurvivesAStop(t *testing.T) {
	r := newRig(t)
	for n := range 3 {
		_, err := r.ask(listener(n), song(n))
		r.must(err)
	}
	r.must(r.SetOpen(t.Context(), false))
	want := r.Wanted()
	r.open()
	if got := r.Wanted(); !slices.Equal(got, want) || r.Open() {
		t.Errorf("after a stop: %q, open %v", got, r.Open())
	}
	if _, err := r.ask(listener(9), song(9)); refusedBy(err) != requests.Closed {
		t.Errorf("closed: %v", err)
	}
	r.must(r.SetOpen(t.Context(), true))
	_, err := r.ask(listener(9), song(9))
	r.must(err)
}

func TestTheStudioRefusesAndTheAskerTakesBack(t *testing.T) {
	r := newRig(t)
	a, _ := r.ask(listener(1), song(1))
	b, _ := r.ask(listener(2), song(2))
	c, _ := r.ask(listener(3), song(3))
	if err := r.Cancel(t.Context(), listener(1), b.ID); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("another's: %v", err)
	}
	r.must(r.Cancel(t.Context(), listener(1), a.ID))
	r.must(r.Cancel(t.Context(), listener(1), a.ID))
	r.must(r.Refuse(t.Context(), b.ID, "ليست اليوم"))
	r.must(r.Remove(t.Context(), c.ID))
	if err := r.Refuse(t.Context(), a.ID, "x"); !errors.Is(err, station.ErrConflict) {
		t.Errorf("refused what is cancelled: %v", err)
	}
	if len(r.Wanted()) != 0 {
		t.Errorf("wanted %q", r.Wanted())
	}
	mine, _ := r.Mine(t.Context(), listener(2))
	if len(mine) != 1 || mine[0].Status != requests.Denied || mine[0].Word != "ليست اليوم" {
		t.Errorf("mine: %+v", mine)
	}
	// Taking back does not make room for one more.
	if _, err := r.ask(listener(1), song(5)); refusedBy(err) != requests.TooSoon {
		t.Errorf("after taking back: %v", err)
	}
	if _, err := r.ask(listener(2), song(5)); err != nil {
		t.Errorf("after a refusal of the studio: %v", err)
	}
	deeds, err := r.Audit(t.Context())
	r.must(err)
	var did []string
	for _, d := range deeds {
		did = append(did, fmt.Sprint(d.Who, " ", d.Action, " ", d.Request, d.Word))
	}
	if want := []string{fmt.Sprint("studio remove ", c.ID), fmt.Sprint("studio refuse ", b.ID, "ليست اليوم"), fmt.Sprint("asker cancel ", a.ID)}; !slices.Equal(did, want) {
		t.Errorf("audit %q, want %q", did, want)
	}
	if want := []string{"new Song 1", "new Song 2", "new Song 3", "refused Song 2", "new Song 5"}; !slices.Equal(r.events, want) {
		t.Errorf("events %q, want %q", r.events, want)
	}
}

func TestAHostileClientGetsNothing(t *testing.T) {
	r := newRig(t)
	r.tracks = append(r.tracks,
		station.Track{Path: "news/1.mp3", Category: station.News, Title: "News", Duration: time.Minute},
		station.Track{Path: "social/song/SOC_1_x.mp3", Category: station.English, Title: "A post", Submitter: "x", Duration: 3 * time.Minute},
		station.Track{Path: "music/mashups/1.mp3", Category: station.Mashups, Title: "Not allowed", Duration: 3 * time.Minute},
		station.Track{Path: "music/english/short.mp3", Category: station.English, Title: "Short", Duration: 20 * time.Second})
	for _, path := range []string{"", "../athir.yaml", "/etc/passwd", "music/english/../english/1.mp3", "news/1.mp3", "social/song/SOC_1_x.mp3", "music/mashups/1.mp3", "music/english/short.mp3", "a\x00b", strings.Repeat("x", 1<<16)} {
		if _, err := r.Ask(t.Context(), listener(1), requests.Ask{Path: path}); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%.40q: %v", path, err)
		}
	}
	for _, in := range []requests.Ask{
		{Name: strings.Repeat("ا", 41)}, {Note: strings.Repeat("x", 201)}, {Note: "see https://example.org"}, {Name: "WWW.example.org"},
		{Note: "badger"}, {Name: "spam.example"}, {ID: "../../x"}, {ID: "short"}, {Name: strings.Repeat("\u200b", 1<<20)},
	} {
		in.Path = song(1).Path
		if _, err := r.Ask(t.Context(), listener(1), in); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%.60q: %v", fmt.Sprint(in), err)
		}
	}
	q, err := r.Ask(t.Context(), listener(1), requests.Ask{Path: song(1).Path, Name: " \u202eسلمى\n\x00 ", Note: "<b>\tحبيبتي</b>\u2066"})
	r.must(err)
	if q.Name != "سلمى" || q.Note != "<b> حبيبتي</b>" {
		t.Errorf("kept %q, %q", q.Name, q.Note)
	}
}

// One address with many invented devices holds a quarter of the queue, its network half.
func TestInventedDevicesOfOneNetworkHoldAPartOfTheQueue(t *testing.T) {
	r := newRig(t)
	granted := 0
	for n := range 40 {
		_, err := r.ask(requests.Client{Address: "198.51.100.7", Device: fmt.Sprintf("invented-%d", n)}, song(n))
		if err == nil {
			granted++
		} else if refusedBy(err) != requests.Network {
			t.Fatal(err)
		}
	}
	if granted != 5 {
		t.Errorf("one address got %d of 20 places", granted)
	}
	for n := range 40 {
		_, err := r.ask(requests.Client{Address: fmt.Sprintf("2001:db8:1:%x::/64", n), Device: fmt.Sprintf("six-%05d", n)}, song(40+n))
		if err == nil {
			granted++
		}
	}
	if granted != 15 {
		t.Errorf("with a site of IPv6 %d places are taken, want 5 and 10", granted)
	}
	r = newRig(t)
	granted = 0
	for n := range 40 {
		if _, err := r.ask(requests.Client{Address: fmt.Sprintf("198.51.100.%d", n), Device: fmt.Sprintf("four-%05d", n)}, song(n)); err == nil {
			granted++
		}
	}
	if granted != 10 {
		t.Errorf("addresses of one network of IPv4 got %d of 20 places", granted)
	}
}

func TestSearchSaysOfEachWhetherItMayBeAskedFor(t *testing.T) {
	r := newRig(t)
	r.tracks[3].Artist, r.tracks[3].Title = "فيروز", "نسم علينا الهوى"
	r.tracks[4].Artist = "Fairuz feat. Singer 5"
	r.tracks[5].Own = &station.Own{Aliases: []string{"The wedding song"}}
	r.last[song(4).Path] = noon().Add(-40 * time.Minute)
	found, total, err := r.Search(t.Context(), listener(1), "fairuz", 0)
	r.must(err)
	if total != 2 || found[0].Track.Path != song(4).Path || found[1].Track.Path != song(3).Path || found[1].Refusal != nil || found[0].Refusal == nil || found[0].Refusal.Code != requests.JustAired {
		t.Fatalf("%d: %+v", total, found)
	}
	_, err = r.ask(listener(2), r.tracks[3])
	r.must(err)
	found, _, _ = r.Search(t.Context(), listener(1), "فيروز", 0)
	if found[0].Track.Path != song(3).Path || found[0].Refusal.Code != requests.Asked {
		t.Errorf("%+v", found[0])
	}
	if found, total, _ = r.Search(t.Context(), listener(1), "wedding", 0); total != 1 || found[0].Track.Path != song(5).Path {
		t.Errorf("by an operator's other name: %+v", found)
	}
	all, total, _ := r.Search(t.Context(), listener(3), "", 90)
	if total != 100 || len(all) != 10 {
		t.Errorf("the last page has %d of %d", len(all), total)
	}
}

func TestAnotherPartOfTheDayIsNamedWithItsBeginning(t *testing.T) {
	r := newRig(t)
	r.gate = station.ArabicHits
	_, err := r.ask(listener(1), song(1))
	var no *requests.Refusal
	if !errors.As(err, &no) || no.Code != requests.Daypart || !no.At.Equal(noon().Add(3*time.Hour)) {
		t.Errorf("%+v", err)
	}
}

// What an operator says of one song keeps it off for requests as for the planner.
func TestASongWithLimitsOfItsOwnIsOfferedWithinThem(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		what   string
		limits station.Limits
		starts []time.Duration // before noon of the fourth of May
		want   requests.Code
		at     time.Duration // after it
	}{
		{"none", station.Limits{}, []time.Duration{20 * time.Hour}, "", 0},
		{"once a day", station.Limits{PerDay: 1}, []time.Duration{20 * time.Hour}, requests.OwnLimits, 4 * time.Hour},
		{"twice a day", station.Limits{PerDay: 2}, []time.Duration{20 * time.Hour}, "", 0},
		{"twice, and had", station.Limits{PerDay: 2}, []time.Duration{23 * time.Hour, 20 * time.Hour}, requests.OwnLimits, time.Hour},
		{"a rest of a day", station.Limits{Rest: 24 * time.Hour}, []time.Duration{20 * time.Hour}, requests.JustAired, 4 * time.Hour},
		{"rested", station.Limits{Rest: 19 * time.Hour}, []time.Duration{20 * time.Hour}, "", 0},
		{"the evening", station.Limits{Hours: 1<<22 | 1<<23}, nil, requests.OwnLimits, 10 * time.Hour},
		{"once a day in the evening", station.Limits{Hours: 1<<15 | 1<<22, PerDay: 1}, []time.Duration{20 * time.Hour}, requests.OwnLimits, 10 * time.Hour},
		{"this hour", station.Limits{Hours: 1 << 12}, nil, "", 0},
		{"a later day", station.Limits{From: 20260506}, nil, requests.OwnLimits, 36 * time.Hour},
		{"a day that is over", station.Limits{Until: 20260503}, nil, requests.OwnLimits, -1},
	} {
		r.forget()
		r.lock(func() {
			r.tracks[1].Own = &station.Own{Limits: c.limits}
			r.starts = map[string][]time.Time{}
			for _, before := range c.starts {
				r.last[song(1).Path] = noon().Add(-before)
				r.starts[song(1).Path] = append(r.starts[song(1).Path], noon().Add(-before))
			}
		})
		_, err := r.ask(listener(1), r.tracks[1])
		var no *requests.Refusal
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		at := noon().Add(c.at)
		if c.at < 0 {
			at = time.Time{}
		}
		if !errors.As(err, &no) || no.Code != c.want || !no.At.Equal(at) {
			t.Errorf("%s: %+v, want %s at %v", c.what, err, c.want, at)
		}
	}
}

func TestFiguresOfTheQueue(t *testing.T) {
	r := newRig(t)
	_, err := r.ask(listener(1), song(1))
	r.must(err)
	_, _ = r.ask(listener(1), song(2))
	_, _ = r.ask(listener(2), song(1))
	r.pass(time.Minute)
	s := r.Stats()
	if s.Granted != 1 || s.Waiting != 1 || s.Oldest != time.Minute || s.Refused[requests.TooSoon] != 1 || s.Refused[requests.Asked] != 1 {
		t.Errorf("%+v", s)
	}
}

// However listeners ask, what is granted keeps the rules: nobody more often than it
// may, no track and no artist twice in the queue, and none that has just aired.
func TestWhatIsGrantedKeepsTheRules(t *testing.T) {
	r := newRigWith(t, func(l *requests.Limits) { l.Queue, l.PerDay, l.Expire = 6, 3, 1000*time.Hour })
	for i := range r.tracks {
		r.tracks[i].Artist = fmt.Sprint("Singer ", i%15)
	}
	rapid.Check(t, func(rt *rapid.T) {
		r.forget()
		asked := map[int][]time.Time{}
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				r.pass(time.Duration(rapid.IntRange(1, 90).Draw(rt, "minutes")) * time.Minute)
			case 1:
				if open, _ := r.Queue(); len(open) > 0 {
					r.airs(open[0].Track)
				}
				r.Look(t.Context())
			default:
				who, n := rapid.IntRange(0, 4).Draw(rt, "who"), rapid.IntRange(0, 40).Draw(rt, "track")
				before := r.Wanted()
				if _, err := r.ask(listener(who), r.tracks[n]); err != nil {
					continue
				}
				now := r.clock()
				if last := r.last[r.tracks[n].Path]; !last.IsZero() && now.Sub(last) < r.limit.Rest {
					rt.Fatalf("granted %d, which aired %v ago", n, now.Sub(last))
				}
				if k := len(asked[who]); k > 0 && now.Sub(asked[who][k-1]) < r.limit.Every || k >= 3 && now.Sub(asked[who][k-3]) < 24*time.Hour {
					rt.Fatalf("granted too often: %v at %v", asked[who], now)
				}
				asked[who] = append(asked[who], now)
				if len(before) >= 6 || slices.Contains(before, r.tracks[n].Path) {
					rt.Fatalf("granted beside %q", before)
				}
				for _, path := range before {
					if other, _ := r.Find(path); other.Artist == r.tracks[n].Artist {
						rt.Fatalf("granted %q beside %q", r.tracks[n].Path, path)
					}
				}
			}
		}
	})
}
