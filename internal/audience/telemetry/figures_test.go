package telemetry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// made writes airings by hand: whoever tells of them reads what a person has reckoned.
func (h *house) made(all ...Aired) {
	h.t.Helper()
	err := h.db.Write(h.t.Context(), func(tx *sql.Tx) error {
		for _, a := range all {
			if err := keepAired(h.t.Context(), tx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// song is an airing of a file, heard by start to begin with and samples of listeners since.
func song(path string, began time.Time, length time.Duration, start, came, went int, samples ...int) Aired {
	a := Aired{
		Airing: Airing{
			ID: path + began.String(), Path: path, Title: "T " + path, Artist: "A", Category: "english", Type: "music", Kind: "rotation", StartedAt: began,
		},
		EndedAt: began.Add(length), Counted: true, Start: start, Came: came, Went: went, samples: int64(len(samples)),
	}
	for _, n := range samples {
		a.sum += int64(n)
	}
	return a
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestTracksAreSummedUpAsAPersonReckons(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	at := func(minute int) time.Time { return h.now.Add(time.Duration(minute-600) * time.Minute) }
	uncounted := song("a", at(60), 6*time.Minute, 0, 5, 5)
	uncounted.Counted = false
	onAir := song("b", h.now.Add(-3*time.Minute), 0, 40, 10, 50, 20, 20)
	onAir.EndedAt = time.Time{}
	jingle := song("j", at(0), 10*time.Second, 7, 0, 0)
	jingle.Category, jingle.Type = "jingles", "jingles"
	live := song("", at(3), time.Hour, 9, 0, 0, 9)
	renamed := song("c", at(500), 4*time.Minute, 1, 0, 4, 1) // who left is more than who was there: none is kept, not fewer
	renamed.Title = "new"
	h.made(
		song("a", at(0), 3*time.Minute, 10, 2, 3, 10, 12, 8), // 30 listeners in 3 polls: 0.5 h
		song("a", at(30), 6*time.Minute, 20, 0, 20, 10, 10),  // 1 h
		uncounted, onAir, jingle, live,
		song("c", at(400), 4*time.Minute, 3, 1, 1), renamed, // shorter than a poll: 3 for 4 minutes; then 1
		song("old", h.now.AddDate(0, 0, -3), time.Minute, 1, 0, 0),
	)
	got, total, err := h.Tracks(t.Context(), at(0), h.now.Add(time.Hour), "", ByPlays, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []Track{
		{Path: "a", Title: "T a", Artist: "A", Category: "english", Plays: 3, Aired: 15 * time.Minute, Counted: 2, ListenerHours: 1.5, Start: 15, Came: 2, Went: 23, Kept: 9.0 / 32, Reached: 32},
		{Path: "c", Title: "new", Artist: "A", Category: "english", Plays: 2, Aired: 8 * time.Minute, Counted: 2, ListenerHours: 4.0 * 4 / 60, Start: 2, Came: 1, Went: 5, Kept: 3.0 / 5, Reached: 5},
		{Path: "b", Title: "T b", Artist: "A", Category: "english", Plays: 1, Aired: 3 * time.Minute, Counted: 1, ListenerHours: 1, Start: 40, Came: 10, Went: 50},
		{Path: "j", Title: "T j", Artist: "A", Category: "jingles", Plays: 1, Aired: 10 * time.Second, Counted: 1, ListenerHours: 70.0 / 3600, Start: 7, Kept: 1, Reached: 7},
	}
	if total != len(want) || len(got) != len(want) {
		t.Fatalf("%d of %d: %+v", len(got), total, got)
	}
	for i := range want {
		if !near(got[i].ListenerHours, want[i].ListenerHours) || !near(got[i].Kept, want[i].Kept) {
			t.Errorf("%s: %v hours, kept %v; want %v and %v", want[i].Path, got[i].ListenerHours, got[i].Kept, want[i].ListenerHours, want[i].Kept)
		}
		got[i].ListenerHours, got[i].Kept = want[i].ListenerHours, want[i].Kept
		if got[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", got[i], want[i])
		}
	}
	for sort, paths := range map[TrackSort]string{ByHours: "a b c j", ByKept: "j c a b", ByLeft: "b a c j", ByTitle: "c a b j"} {
		got, total, err := h.Tracks(t.Context(), at(0), h.now.Add(time.Hour), "", sort, 3)
		var names []string
		for _, one := range got {
			names = append(names, one.Path)
		}
		if want := strings.Fields(paths)[:3]; err != nil || total != 4 || !reflect.DeepEqual(names, want) {
			t.Errorf("by %s: %v of %d, %v; want %v", sort, names, total, err, want)
		}
	}
	if got, total, _ := h.Tracks(t.Context(), at(0), h.now, "jingles", ByPlays, 9); total != 1 || got[0].Path != "j" {
		t.Errorf("of one category: %+v", got)
	}
	if got, total, err := h.Tracks(t.Context(), at(1), at(1), "", ByPlays, 9); total != 0 || got == nil || err != nil {
		t.Errorf("of no time: %+v, %v", got, err)
	}
}

// What is kept by polls is what a person counts: of ten who hear it begin and two who come,
// three leave.
func TestWhatIsKeptFollowsFromPolls(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	listeners := func(from, to int) *Reading {
		r := &Reading{IDs: []string{}}
		for i := from; i < to; i++ {
			r.IDs = append(r.IDs, fmt.Sprint(i))
		}
		r.Listeners = len(r.IDs)
		return r
	}
	h.hls = listeners(0, 10)
	h.plays("zero")
	h.pass(2 * time.Minute)
	h.plays("one")
	h.pass(time.Minute)
	h.hls = listeners(0, 12) // two came
	h.pass(time.Minute)
	h.hls = listeners(3, 12) // three left
	h.pass(time.Minute)
	h.plays("two")
	h.pass(time.Minute)
	h.stop()
	got, _, err := h.Tracks(t.Context(), time.UnixMilli(0), h.now, "", ByPlays, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range got {
		if one.Path == "music/one\xff.mp3" {
			if one.Start != 10 || one.Came != 2 || one.Went != 3 || one.Reached != 12 || !near(one.Kept, 0.75) {
				t.Errorf("%+v", one)
			}
			return
		}
	}
	t.Errorf("%+v", got)
}

func crowdOf(devices, countries map[string]int) census.Crowd {
	return census.Crowd{Devices: devices, Countries: countries}
}

func TestListenersAreSummedByKindThroughARestartInTheMidstOfAnHour(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-21 12:40:00")
	h.hls = &Reading{Listeners: 3, IDs: []string{"a", "b", "c"}, Crowd: crowdOf(map[string]int{"android": 2, "iphone": 1}, map[string]int{"EG": 3})}
	h.stream = &Reading{Listeners: 1, Crowd: crowdOf(map[string]int{"player": 1}, map[string]int{"JO": 1})}
	h.ice = &Reading{Listeners: 2, IDs: []string{"1", "2"}} // of kinds that nobody knows
	h.pass(5 * time.Minute)
	h.stop()
	h.open()
	h.hls.Crowd = crowdOf(map[string]int{"android": 900, "<b>": 4}, nil) // more than there are, and what is no kind
	h.pass(5 * time.Minute)
	h.stop()
	h.pass(20 * time.Minute) // into the next hour
	h.stop()
	for name, from := range map[string]time.Time{"by hours": h.now.Add(-2 * time.Hour), "by days": time.UnixMilli(0)} {
		got, err := h.Audience(t.Context(), from, h.now)
		if err != nil {
			t.Fatal(err)
		}
		const minute = 60
		want := Audience{
			Devices:   []Share{{"android", (5*2 + 25*3) * minute}, {"other", 30 * 2 * minute}, {"player", 30 * minute}, {"iphone", 5 * minute}},
			Countries: []Share{{"ZZ", (25*3 + 30*2) * minute}, {"JO", 30 * minute}, {"EG", 15 * minute}},
			Ways:      []Share{{"hls", 30 * 3 * minute}, {"icecast", 30 * 2 * minute}, {"stream", 30 * minute}},
			Since:     time.Date(2026, 11, 21, 0, 0, 0, 0, h.zone),
		}
		if !got.Since.Equal(want.Since) {
			t.Errorf("%s: since %v", name, got.Since)
		}
		got.Since = want.Since
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
	if got, _ := h.Audience(t.Context(), h.now.Add(-5*time.Minute), h.now); got.Devices[0].Seconds != (10*60+5)*3 { // the poll of 13:00:00 too
		t.Errorf("from within an hour on counts that hour whole: %+v", got.Devices)
	}
	h.now = h.now.AddDate(0, 3, 0)
	h.pass(2 * time.Minute)
	var hours, days int
	if err := h.db.Read().QueryRow(`SELECT COUNT(*) FILTER (WHERE by = 'hour' AND at < ?1), COUNT(*) FILTER (WHERE by = 'day' AND at < ?1) FROM telemetry_crowd`,
		h.now.AddDate(0, 0, -61).UnixMilli()).Scan(&hours, &days); err != nil || hours != 0 || days == 0 {
		t.Errorf("after three months there are %d hours and %d days: %v", hours, days, err)
	}
}

func TestAMonthIsThatOfTheStationsClock(t *testing.T) {
	for _, c := range []struct {
		zone, month string
		hours       float64
	}{
		{"Africa/Cairo", "2026-04", 30*24 - 1}, {"Africa/Cairo", "2026-10", 31*24 + 1}, {"Africa/Cairo", "2026-02", 28 * 24}, {"UTC", "2024-02", 29 * 24},
		{"America/New_York", "2026-03", 31*24 - 1}, {"Asia/Amman", "2026-12", 31 * 24},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ParseMonth(c.month)
		if err != nil || m.String() != c.month {
			t.Fatalf("%v, %v", m, err)
		}
		from, to := m.span(zone)
		if got := to.Sub(from).Hours(); got != c.hours || from.In(zone).Day() != 1 || to.In(zone).Day() != 1 {
			t.Errorf("%s in %s lasts %v h, want %v: %v to %v", c.month, c.zone, got, c.hours, from, to)
		}
	}
	for _, bad := range []string{"", "2026", "2026-13", "2026-1", "2026-00", "26-11", "2026-11-01", "١٢٣٤-١١"} {
		if m, err := ParseMonth(bad); err == nil {
			t.Errorf("%q is %v", bad, m)
		}
	}
}

func TestTheMusicOfAMonthIsSummedByRecordingAndStaysWhenTheFileIsGone(t *testing.T) {
	h := newHouse(t, "Africa/Cairo", "2026-11-30 23:00:00")
	month := Month{2026, time.November}
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, h.zone) }
	with := func(a Aired, title, artist string, r Release) Aired {
		a.Title, a.Artist, a.Release = title, artist, r
		return a
	}
	isrc := Release{Album: "L", ISRC: "EGA012600001", Label: "Sono", Composer: "R"}
	uncounted := with(song("z.mp3", at(9, 9), 4*time.Minute, 0, 3, 3), "Unknown", "", Release{})
	uncounted.Counted = false
	jingle, live, alarm := song("j", at(2, 2), time.Second, 9, 9, 0), song("", at(2, 3), time.Hour, 9, 9, 0), song("e", at(2, 4), time.Hour, 9, 9, 0)
	jingle.Type, live.Kind, alarm.Kind = "jingles", "live", "emergency"
	h.made(
		with(song("a.mp3", at(1, 0), 3*time.Minute, 10, 5, 9, 20), "Song", "Singer", isrc),
		with(song("copy/a.flac", at(2, 0), 3*time.Minute, 1, 0, 0, 2), "SONG", "Singer", Release{ISRC: isrc.ISRC}),
		with(song("b.mp3", at(3, 0), 6*time.Minute, 4, 1, 0, 10), "Other", "Singer", Release{}),
		with(song("b.mp3", at(4, 0), 6*time.Minute, 0, 0, 0, 0), "Other", "Singer", Release{}),
		with(song("c.mp3", at(5, 0), time.Minute, 1, 0, 0), "Other", "Singer", Release{Album: "elsewhere"}),
		uncounted, jingle, live, alarm,
		song("a.mp3", at(1, 0).Add(-time.Millisecond), time.Minute, 99, 99, 0), song("a.mp3", time.Date(2026, 12, 1, 0, 0, 0, 0, h.zone), time.Minute, 99, 99, 0),
	)
	h.known = map[string]Release{"b.mp3": {ISRC: "EGA012600002", Label: "Later"}, "a.mp3": {ISRC: "USXXX0000000", Label: "another by now"}}
	want := []Use{
		{Title: "Unknown", Plays: 1, Aired: 4 * time.Minute},
		{Title: "Other", Artist: "Singer", Release: Release{Album: "elsewhere"}, Plays: 1, Aired: time.Minute, ListenerHours: 1.0 / 60, Performances: 1},
		{Title: "Other", Artist: "Singer", Release: h.known["b.mp3"], Plays: 2, Aired: 12 * time.Minute, ListenerHours: 1, Performances: 5},
		{Title: "SONG", Artist: "Singer", Release: isrc, Plays: 2, Aired: 6 * time.Minute, ListenerHours: 1.1, Performances: 16},
	}
	check := func(when string) {
		t.Helper()
		got, err := h.Used(t.Context(), month)
		if err != nil || got.Plays != 6 || !near(got.ListenerHours, 2.1+1.0/60) || got.Uncounted != 4*time.Minute || len(got.Uses) != len(want) {
			t.Fatalf("%s: %+v, %v", when, got, err)
		}
		for i, u := range got.Uses {
			if !near(u.ListenerHours, want[i].ListenerHours) {
				t.Errorf("%s, %s: %v hours, want %v", when, u.Title, u.ListenerHours, want[i].ListenerHours)
			}
			if u.ListenerHours = want[i].ListenerHours; u != want[i] {
				t.Errorf("%s:\n got %+v\nwant %+v", when, u, want[i])
			}
		}
	}
	check("as the library has it")
	h.stop() // writes what was not known
	h.known = nil
	check("when the files are gone")
	var order []string
	if err := h.Music(t.Context(), month, func(a *Aired) error { order = append(order, a.Path); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := strings.Fields("a.mp3 copy/a.flac b.mp3 b.mp3 c.mp3 z.mp3"); !reflect.DeepEqual(order, want) {
		t.Errorf("a line each: %v", order)
	}
}

// A song that is on the air keeps what is filled in, though it is written each minute.
func TestWhatIsFilledInOutlastsTheNextWrite(t *testing.T) {
	h := newHouse(t, "UTC", "2026-11-21 12:00:00")
	h.known = map[string]Release{"music/x\xff.mp3": {ISRC: "EGA012600001"}}
	h.plays("x")
	h.pass(15 * time.Minute)
	h.known = nil
	h.pass(2 * time.Minute)
	if all := h.aired(); len(all) != 1 || all[0].ISRC != "EGA012600001" {
		t.Errorf("%+v", all)
	}
}

// However many ask, one report is made at a time; who waits long is told.
func TestReportsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel := &Telemetry{opt: Options{Now: time.Now}, reports: make(chan struct{}, 1)}
		done, err := tel.report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(mostWait / 2)
			done()
		}()
		next, err := tel.report(t.Context())
		if err != nil {
			t.Fatalf("within the wait: %v", err)
		}
		if _, _, err := tel.Tracks(t.Context(), time.Now(), time.Now(), "", ByPlays, 1); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("beyond it: %v", err)
		}
		if _, err := tel.Used(t.Context(), Month{}); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("beyond it: %v", err)
		}
		next()
	})
}

// 400 days of airings, one each 230 s.
const many = 150_000

func manyAirings(b *testing.B) *Telemetry {
	b.Helper()
	db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "athir.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	away := func(context.Context) (Reading, error) { return Reading{}, errAway }
	tel, err := Open(b.Context(), Options{
		Log: discard(), DB: db, Zone: time.UTC, Now: func() time.Time { return now }, HLS: Source{"a", away}, Icecast: Source{"b", away}, Stream: Source{"c", away},
		Known: func(_, _, _ string) (Release, bool) { return Release{}, false },
	})
	if err != nil {
		b.Fatal(err)
	}
	err = db.Write(b.Context(), func(tx *sql.Tx) error {
		for i := range many {
			a := song(fmt.Sprintf("music/english/%05d.mp3", i*7919%10_000), now.Add(-time.Duration(i)*230*time.Second), 230*time.Second, i%500, i%7, i%5, i%500, i%499)
			a.ID = fmt.Sprint(i)
			if err := keepAired(b.Context(), tx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return tel
}

func BenchmarkFiguresOf400Days(b *testing.B) {
	tel := manyAirings(b)
	ever, now := time.UnixMilli(0), tel.opt.Now()
	b.Run("tracks of all", func(b *testing.B) {
		for b.Loop() {
			if got, total, err := tel.Tracks(b.Context(), ever, now, "", ByHours, 20_000); err != nil || total != 10_000 || len(got) != total {
				b.Fatal(total, err)
			}
		}
	})
	b.Run("tracks of 30 days", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := tel.Tracks(b.Context(), now.AddDate(0, 0, -30), now, "", ByPlays, 100); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("month", func(b *testing.B) {
		for b.Loop() {
			if got, err := tel.Used(b.Context(), Month{2026, time.October}); err != nil || got.Plays < 11_000 {
				b.Fatal(got.Plays, err)
			}
		}
	})
	b.Run("fill", func(b *testing.B) {
		var last []byte
		for b.Loop() {
			var err error
			if last, err = tel.book.fill(b.Context(), last, tel.opt.Known); err != nil {
				b.Fatal(err)
			}
		}
	})
}
