package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/import/azuracast"
	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

func open() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }

func azura(t *testing.T, tracks int) *model.Station {
	t.Helper()
	a := importtest.NewAzura(tracks, 1)
	st, err := azuracast.Read(t.Context(), azuracast.Source{File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.zip"), a.Entries(true)), Station: "athir"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

func list(t *testing.T, p *plan.Plan, was string) plan.Playlist {
	t.Helper()
	for _, l := range p.Playlists {
		if l.Was == was || l.Was == "" && l.Settings.Name == was {
			return l
		}
	}
	t.Fatalf("no playlist %q", was)
	return plan.Playlist{}
}

func TestTracksAreMatchedByFileAndByRecording(t *testing.T) {
	minute := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	st := &model.Station{Tracks: []model.Track{
		{ID: "file", Path: "a/b.mp3", Title: "Other", Size: 5, Length: minute(3), Open: open, Album: "New", ISRC: "eg-a01-26-00001"},
		{ID: "grown", Path: "a/c.mp3", Title: "Grown", Size: 6, Length: minute(3), Open: open, ISRC: "none"},
		{ID: "song", Path: "x.mp3", Title: "إنت عمري", Artist: "أم كلثوم", Length: minute(9) + 900*time.Millisecond, Size: 1, Open: open, Album: "حفلة"},
		{ID: "live", Path: "y.mp3", Title: "إنت عمري", Artist: "أم كلثوم", Length: minute(9) + 1100*time.Millisecond, Size: 1, Open: open},
		{ID: "edited", Path: "e.mp3", Title: "Mine", Artist: "Me", Length: minute(2), Open: open, Genre: "Pop"},
		{ID: "none", Path: "n.mp3", Title: "N", Length: minute(2)},
		{ID: "form", Path: "n.wma", Title: "N", Length: minute(2), Open: open},
		{ID: "out", Path: "../n.mp3", Title: "N", Length: minute(2), Open: open},
	}}
	lib := plan.Library{Tracks: []plan.Held{
		{Path: "a/b.mp3", Title: "Title", Size: 5, Length: minute(3)}, {Path: "a/c.mp3", Title: "Old", Size: 5, Length: minute(3)},
		{Path: "arabic_hits/1.mp3", Title: "انت عمرى", Artist: "ام كلثوم", Length: minute(9), Size: 7},
		{Path: "english/m.mp3", Title: "Mine", Artist: "Me", Length: minute(2), Edited: true},
	}}
	p := plan.Make(st, lib, plan.Memory{})
	var got []string
	for _, tr := range p.Tracks {
		got = append(got, tr.ID+" "+string(tr.Do)+" "+tr.Path)
	}
	want := []string{"file there a/b.mp3", "grown bring ", "song there arabic_hits/1.mp3", "live bring ", "edited there english/m.mp3", "none not ", "form not ", "out not "}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := p.Tracks[0].Note; n == nil || *n != (plan.Note{Title: "Other", Album: "New", ISRC: "EGA012600001"}) {
		t.Errorf("%+v", n)
	}
	if p.Tracks[4].Note != nil {
		t.Errorf("what an operator said is overwritten: %+v", p.Tracks[4].Note)
	}
	again := plan.Make(st, lib, plan.Memory{
		Tracks:  map[string]plan.Brought{"live": {From: *p.Tracks[3].Source(), Path: "arabic_hits/1.mp3"}, "grown": {From: plan.Source{Path: "a/c.mp3", Title: "Before", LengthMS: 180_400}, Path: "gone.mp3"}},
		Refused: map[string]plan.Refused{"none": {From: *p.Tracks[5].Source(), Why: plan.Words{En: "no", Ar: "لا"}}},
	})
	if again.Tracks[3].Do != plan.There || again.Tracks[1].Do != plan.Not || again.Tracks[5].Why.Ar != "لا" {
		t.Errorf("%+v", again.Tracks)
	}
}

func TestTheCategoryIsGuessedAsTheLibraryDoes(t *testing.T) {
	st := &model.Station{
		Tracks: []model.Track{
			{ID: "1", Path: "x/id.mp3", Title: "هوية", Length: 4 * time.Second, Open: open}, {ID: "2", Path: "x/both.mp3", Title: "Both", Length: 3 * time.Minute, Open: open},
			{ID: "3", Path: "إعلانات/s.mp3", Title: "S", Length: 30 * time.Second, Open: open}, {ID: "4", Path: "x/a.mp3", Title: "أغنية", Length: 3 * time.Minute, Open: open},
			{ID: "5", Path: "x/m.mp3", Title: "Mix", Length: 200 * time.Minute, Open: open}, {ID: "6", Path: "x/s.mp3", Title: "Short", Length: 40 * time.Second, Open: open},
		},
		Playlists: []model.Playlist{{ID: "1", Name: "IDs", Jingles: true, Items: []string{"1", "2"}}, {ID: "2", Name: "Songs", Items: []string{"2"}}},
	}
	var got []string
	for _, tr := range plan.Make(st, plan.Library{}, plan.Memory{}).Tracks {
		if got = append(got, string(tr.Category)); tr.Why == nil || tr.Why.Ar == "" {
			t.Errorf("%s: no reason", tr.ID)
		}
	}
	if want := []string{"jingles", "english", "ads", "arabic_hits", "mashups", "shorts"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestPlaylistsComeAsTheyPlayed(t *testing.T) {
	st := azura(t, 200)
	lib := plan.Library{Playlists: []plan.List{{ID: 3, Settings: plan.Settings{Name: "سهرة الجمعة"}}, {ID: 7, Settings: plan.Settings{Name: "Renamed"}}}, Logins: []string{"DJ_Sami"}, Webhooks: []string{"https://example.org/off"}}
	p := plan.Make(st, lib, plan.Memory{})
	for was, want := range map[string]string{
		"كل الأغاني": "bring كل الأغاني share 5", "Classics": "bring Classics share 2", "classics": "bring classics (2) share 2",
		"سهرة الجمعة": "bring سهرة الجمعة (2) only 1", "Album of the week": "bring Album of the week once 1", "هويات": "bring هويات songs 1",
		"Half-hourly": "bring Half-hourly songs 1", "Elsewhere": "bring Elsewhere share 3", "Relay": "not Relay share 1", "Empty": "not Empty share 1",
	} {
		l := list(t, p, was)
		if got := fmt.Sprintf("%s %s %s", l.Do, l.Settings.Name, l.Settings.Plays); !strings.HasPrefix(want, got+" ") {
			t.Errorf("%s: %s", was, got)
		}
	}
	sum := 0
	for _, l := range p.Playlists {
		if l.Do == plan.Bring && l.Settings.Plays == "share" && l.Settings.On {
			sum += l.Settings.Share
		}
	}
	if sum != 100 {
		t.Errorf("the shares are %d together", sum)
	}
	if l := list(t, p, "Half-hourly"); l.Settings.EverySongs < 5 || l.Settings.EverySongs > 12 || len(l.Notes) != 1 {
		t.Errorf("%+v", l)
	}
	if l := list(t, p, "Elsewhere"); l.Settings.Kind != "remote" || l.Settings.Address == "" || l.Settings.EveryMinutes == 0 {
		t.Errorf("%+v", l)
	}
	if d := []plan.Do{p.People[0].Do, p.People[1].Do, p.People[2].Do}; !slices.Equal(d, []plan.Do{plan.Bring, plan.There, plan.Not}) {
		t.Errorf("%v", p.People)
	}
	if d := []plan.Do{p.Webhooks[0].Do, p.Webhooks[1].Do, p.Webhooks[2].Do}; !slices.Equal(d, []plan.Do{plan.Bring, plan.Not, plan.There}) || !slices.Equal(p.Webhooks[0].Events, []string{"track.change", "live.start"}) {
		t.Errorf("%v", p.Webhooks)
	}
	mem := plan.Memory{Playlists: map[string]plan.Made{"1": {From: "كل الأغاني", Name: "Kept", ID: 7, Done: true}, "2": {From: "Classics", Name: "Half"}}}
	if again := plan.Make(st, lib, mem); again.Playlists[0].Do != plan.There || again.Playlists[0].Settings.Name != "Renamed" || again.Playlists[1].Do != plan.Bring || again.Playlists[1].Settings.Name != "Half" {
		t.Errorf("%+v", again.Playlists[:2])
	}
}

func TestThePlanIsPrintedInBothLanguagesAndKeptAsJSON(t *testing.T) {
	st := azura(t, 60)
	st.Tracks = append(st.Tracks, model.Track{ID: "x", Path: "bad\x1b[31m.mp3", Title: "x"})
	p := plan.Make(st, plan.Library{}, plan.Memory{})
	for lang, words := range map[string][]string{
		"en": {"TRACKS", "PLAYLISTS", "plays alone", "22:00–02:00 fri sat", "after every 4 songs", "dj_nour", "mounts", "--media", "Second Station"},
		"ar": {"المقاطع", "قوائم التشغيل", "تُذاع وحدها", "الجمعة", "بعد كل 4 أغانٍ", "نقاط البث", "كلمات المرور"},
	} {
		var out bytes.Buffer
		if err := p.Print(&out, lang); err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %q in\n%s", lang, w, out.String())
			}
		}
		if strings.ContainsRune(out.String(), 0x1b) {
			t.Error("a name steers the terminal")
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back plan.Plan
	if err := json.Unmarshal(text, &back); err != nil || len(back.Tracks) != len(p.Tracks) || fmt.Sprint(back.Playlists[2].Settings) != fmt.Sprint(p.Playlists[2].Settings) {
		t.Errorf("%v", err)
	}
}

// What an earlier run brought and somebody deleted is not there, nor does it come again.
func TestAPlaylistThatWasDeletedHereIsToldToBeGone(t *testing.T) {
	st := azura(t, 60)
	for _, done := range []bool{true, false} {
		p := plan.Make(st, plan.Library{}, plan.Memory{Playlists: map[string]plan.Made{"2": {From: "Classics", Name: "Classics", ID: 4, Done: done}}})
		if l := list(t, p, "Classics"); l.Do != plan.Not || !strings.Contains(l.Why.En, "deleted") {
			t.Errorf("%+v", l)
		}
	}
	// The id was another list's there: a line of it says nothing of this one.
	p := plan.Make(st, plan.Library{}, plan.Memory{Playlists: map[string]plan.Made{"2": {From: "Jazz", Name: "Jazz", ID: 4, Done: true}}})
	if l := list(t, p, "Classics"); l.Do != plan.Bring || l.Settings.Name != "Classics" {
		t.Errorf("%+v", l)
	}
}

// Another backup of a station, of which no journal knows, doubles none of its playlists.
func TestPlaylistsThatAreThereDoNotComeAgain(t *testing.T) {
	st := azura(t, 60)
	first := plan.Make(st, plan.Library{}, plan.Memory{})
	var lib plan.Library
	for i, l := range first.Playlists {
		if l.Do == plan.Bring {
			lib.Playlists = append(lib.Playlists, plan.List{ID: int64(i + 1), Tracks: len(l.Items), Settings: l.Settings})
		}
	}
	for _, l := range plan.Make(st, lib, plan.Memory{}).Playlists {
		if l.Do == plan.Bring {
			t.Errorf("%s comes again as %s", l.From, l.Settings.Name)
		}
	}
	// One that plays otherwise is another, and so is what a run that was killed left.
	for i := range lib.Playlists {
		switch l := &lib.Playlists[i]; l.Name {
		case "Classics":
			l.Order = "sequence"
		case "سهرة الجمعة":
			l.On, l.Tracks = false, 1
		}
	}
	again := plan.Make(st, lib, plan.Memory{})
	if l := list(t, again, "Classics"); l.Do != plan.Bring || l.Settings.Name != "Classics (2)" && l.Settings.Name != "Classics (3)" {
		t.Errorf("%+v", l)
	}
	if l := list(t, again, "سهرة الجمعة"); l.Do != plan.Bring {
		t.Errorf("%+v", l)
	}
}

// Shares are of those that come, and where not all can come the programme does first.
func TestSharesAndTheLimitGoByWhatComes(t *testing.T) {
	st := &model.Station{Tracks: []model.Track{{ID: "1", Path: "a/1.mp3", Length: 3 * time.Minute, Open: open}, {ID: "2", Path: "a/2.wma", Length: 3 * time.Minute, Open: open}}}
	st.Playlists = []model.Playlist{
		{ID: "1", Name: "A", Plays: "share", Weight: 3, Items: []string{"1"}}, {ID: "2", Name: "B", Plays: "share", Weight: 7, Items: []string{"2"}},
		{ID: "3", Name: "C", Plays: "share", Weight: 1, Items: []string{"1"}},
	}
	p := plan.Make(st, plan.Library{}, plan.Memory{})
	if a, b, c := p.Playlists[0], p.Playlists[1], p.Playlists[2]; a.Settings.Share != 75 || b.Do != plan.Not || c.Settings.Share != 25 {
		t.Errorf("%+v", p.Playlists)
	}
	st.Playlists = append(st.Playlists, model.Playlist{ID: "4", Name: "Off", Off: true, Items: []string{"1"}},
		model.Playlist{ID: "5", Name: "Timed", Plays: "only", Items: []string{"1"}, When: []rotation.Window{{}}})
	var lib plan.Library
	for i := range 198 {
		lib.Playlists = append(lib.Playlists, plan.List{ID: int64(i + 1), Settings: plan.Settings{Name: fmt.Sprint("Mine ", i)}})
	}
	var got []string
	for _, l := range plan.Make(st, lib, plan.Memory{}).Playlists {
		if l.Do == plan.Bring {
			got = append(got, fmt.Sprint(l.Settings.Name, " ", l.Settings.Share))
		}
	}
	if !slices.Equal(got, []string{"A 100", "Timed 10"}) {
		t.Errorf("%q", got)
	}
}

func TestThePlanWarnsOfZonesAndOfSharesThatTakeAll(t *testing.T) {
	st := &model.Station{Zone: "Africa/Cairo", Tracks: []model.Track{{ID: "1", Path: "a/1.mp3", Length: 3 * time.Minute, Open: open}}}
	st.Playlists = []model.Playlist{{ID: "1", Name: "A", Plays: "only", Items: []string{"1"}, When: []rotation.Window{{}}}}
	said := func(lib plan.Library) string {
		var all []string
		for _, w := range plan.Make(st, lib, plan.Memory{}).Say {
			all = append(all, w.En+" "+w.Ar)
		}
		return strings.Join(all, " ")
	}
	if s := said(plan.Library{Zone: "Asia/Riyadh"}); !strings.Contains(s, "Africa/Cairo") || !strings.Contains(s, "Asia/Riyadh") {
		t.Errorf("%q", s)
	}
	if s := said(plan.Library{Zone: "Africa/Cairo"}); s != "" {
		t.Errorf("%q", s)
	}
	st.Playlists[0].Plays, st.Playlists[0].When = "share", nil
	if s := said(plan.Library{Zone: "Asia/Riyadh"}); strings.Contains(s, "zone") || !strings.Contains(s, "all of it") || !strings.Contains(s, "النسب") {
		t.Errorf("%q", s)
	}
}

// Whatever the source says, a note is one that the library takes, and a playlist one within
// the limits, of a name of its own.
func TestWhatIsPlannedIsWithinTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Map(rapid.IntRange(-5_000, 2_000_000), func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
		st := &model.Station{}
		for i := range rapid.IntRange(0, 6).Draw(t, "tracks") {
			st.Tracks = append(st.Tracks, model.Track{
				ID: fmt.Sprint(i), Path: rapid.String().Draw(t, "path"), Title: rapid.String().Draw(t, "title"), Open: open,
				Length: max(0, d.Draw(t, "length")), CueIn: max(0, d.Draw(t, "in")), CueOut: max(0, d.Draw(t, "out")), Cross: max(0, d.Draw(t, "cross")),
			})
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "lists") {
			st.Playlists = append(st.Playlists, model.Playlist{
				ID: fmt.Sprint(i), Name: rapid.SampledFrom([]string{"", "a", "A", "أ", strings.Repeat("x", 300)}).Draw(t, "name"), Items: []string{"0", "1", "9"},
				Plays: rotation.ListPlays(rapid.SampledFrom([]string{"clock", "only", "share", "songs", "hourly", "once", ""}).Draw(t, "plays")),
				Every: rapid.IntRange(-1, 900).Draw(t, "every"), Minutes: rapid.IntRange(0, 9000).Draw(t, "minutes"), Weight: rapid.IntRange(-3, 30).Draw(t, "weight"),
				When: make([]rotation.Window, rapid.IntRange(0, 60).Draw(t, "windows")),
			})
		}
		p := plan.Make(st, plan.Library{}, plan.Memory{})
		for i, tr := range p.Tracks {
			n := tr.Note
			if n == nil {
				continue
			}
			end := n.CueOutMS
			if end == 0 {
				end = tr.LengthMS
			}
			if n.CueInMS < 0 || n.CueOutMS < 0 || n.CueOutMS > 0 && n.CueOutMS-n.CueInMS < 1000 || n.CrossMS < 0 || n.CrossMS > 30_000 || n.CrossMS > 0 && 2*n.CrossMS >= end-n.CueInMS {
				t.Fatalf("%+v of %+v", n, st.Tracks[i])
			}
		}
		names := map[string]bool{}
		for _, l := range p.Playlists {
			s := l.Settings
			if l.Do == plan.Bring && names[rotation.Fold(s.Name)] || len([]rune(s.Name)) > 80 || l.Do == plan.Bring && s.Plays == "once" && (len(s.When) == 0 || s.Order != "sequence") || s.Name == "" || s.Share < 1 || s.Share > 100 || s.EverySongs < 1 || s.EverySongs > 500 || len(s.When) > 50 && l.Do == plan.Bring {
				t.Fatalf("%+v", l)
			}
			if l.Do == plan.Bring {
				names[rotation.Fold(s.Name)] = true
			}
		}
	})
}
