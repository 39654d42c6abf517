package podcast

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// From a broadcast to what listeners hear: each once, in order, with what its file says of itself.
func TestARecordedBroadcastBecomesAnEpisodeOnce(t *testing.T) {
	r := newRig(t)
	r.happens(Live, "before.flac", 500)
	r.clock.pass(time.Minute)
	o := own("morning", Live)
	o.From.Shortest = 60
	show := r.show(t, o)
	r.happens(Live, "1.flac", 1000, func(w *Raw) {
		w.Creator, w.Listeners, w.Title = "ليلى", 41.5, ""
		w.Chapters = []Chapter{{90_000, "ثان", "فيروز"}, {0, "أول\x00", ""}, {7_200_000, "after the end", ""}, {90_000, "twice", ""}, {5, " ", ""}}
	})
	r.happens(Live, "tried.flac", 1000, func(w *Raw) { w.Duration = 30 * time.Second })
	r.happens(Live, "2.flac", 2000)
	for range 3 {
		r.round(t)
	}
	r.clock.pass(time.Second)
	equal(t, "heard", r.heard(t, "morning"), []string{"2.flac", "1.flac"})
	e := r.episodeOf(t, "morning", "1.flac")
	if e.Number != 1 || e.Title != show.Title || e.Creator != "ليلى" || e.Listeners != 41.5 || e.State != Published || e.Bytes != 1000 || e.DurationMS != 3_600_000 || len(e.ID) != 16 ||
		fmt.Sprint(e.Chapters) != fmt.Sprint([]Chapter{{0, "أول", ""}, {90_000, "ثان", "فيروز"}}) {
		t.Errorf("%+v", e)
	}
	path, _, err := r.Sound("morning", e.ID)
	must(t, err)
	text, err := os.ReadFile(path)
	if err != nil || len(text) != 1000 || filepath.Dir(path) != filepath.Join(r.options.Dir, "morning") {
		t.Errorf("%s: %d bytes, %v", path, len(text), err)
	}
	tags := r.finish.tags[0]
	if tags.Number != 1 || tags.Show != show.Title || tags.Artist != "ليلى" || tags.Language != "ar" || len(tags.Chapters) != 2 || tags.Cover == "" {
		t.Errorf("%+v", tags)
	}
	if r.finish.tags[1].Artist != "أثير" {
		t.Errorf("%+v", r.finish.tags[1])
	}
	if s, _ := r.Show("morning"); s.Episodes != 2 || s.Bytes != 3000 || s.Latest != r.episodeOf(t, "morning", "2.flac").Published || s.Changed < s.Latest {
		t.Errorf("%+v", s)
	}
	if r.origins[Live].fetched != 2 {
		t.Errorf("fetched %d times", r.origins[Live].fetched)
	}
	// By hand: what is older, or a file of the library.
	offers, err := r.Offers(t.Context(), "morning")
	if err != nil || len(offers) != 2 {
		t.Errorf("%v, %v", offers, err)
	}
	_, err = r.Add(t.Context(), "morning", Source{Live, "before.flac"})
	must(t, err)
	_, err = r.Add(t.Context(), "morning", Source{Live, "before.flac"})
	is(t, err, station.ErrConflict)
	_, err = r.Add(t.Context(), "morning", Source{Posts, "before.flac"})
	is(t, err, station.ErrInvalid)
	_, err = r.Add(t.Context(), "morning", Source{Live, "none.flac"})
	is(t, err, station.ErrNotFound)
	r.happens(Library, "english/a.mp3", 700)
	_, err = r.Add(t.Context(), "morning", Source{Library, "english/a.mp3"})
	must(t, err)
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "heard", r.heard(t, "morning"), []string{"english/a.mp3", "before.flac", "2.flac", "1.flac"})
}

// Two shows of one kind take their own of it, or both the same.
func TestTwoShowsOfOneKind(t *testing.T) {
	r := newRig(t)
	a, b, all := own("a", Live), own("b", Live), own("all", Live)
	a.From.Streams, b.From.Streams = []string{"studio"}, []string{"mosque"}
	for _, o := range []Own{a, b, all} {
		r.show(t, o)
	}
	r.happens(Live, "1", 100)
	r.happens(Live, "2", 100, func(w *Raw) { w.Stream = "mosque" })
	r.round(t)
	r.clock.pass(time.Second)
	for slug, want := range map[string][]string{"a": {"1"}, "b": {"2"}, "all": {"2", "1"}} {
		equal(t, slug, r.heard(t, slug), want)
	}
	x, y := r.episodeOf(t, "a", "1"), r.episodeOf(t, "all", "1")
	if x.ID == y.ID || x.GUID == y.GUID {
		t.Errorf("%s, %s", x.ID, y.ID)
	}
	must(t, r.RemoveEpisode(t.Context(), "all", y.ID))
	equal(t, "the other's", r.heard(t, "a"), []string{"1"})
}

func TestPostsAreChosenByType(t *testing.T) {
	r := newRig(t)
	voices := own("voices", Posts)
	voices.From.Types = []string{"voice"}
	r.show(t, own("songs", Posts))
	r.show(t, voices)
	for i, kind := range []string{"song", "mashup", "voice", "photo"} {
		r.happens(Posts, fmt.Sprint(i), 100, func(w *Raw) { w.Type = kind })
	}
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "songs", r.heard(t, "songs"), []string{"1", "0"})
	equal(t, "voices", r.heard(t, "voices"), []string{"2"})
}

// A bulletin is made before it is read, and nobody hears it before.
func TestABulletinIsHeardFromItsTimeOn(t *testing.T) {
	r := newRig(t)
	r.show(t, own("news", Bulletins))
	r.happens(Bulletins, "13", 100, func(w *Raw) { w.From, w.Text = start.Add(time.Hour), "أخبار\nالساعة" })
	r.round(t)
	e := r.episodeOf(t, "news", "13")
	_, _, err := r.Sound("news", e.ID)
	is(t, err, station.ErrNotFound)
	if s, _ := r.Show("news"); s.Episodes != 0 || len(r.heard(t, "news")) != 0 || s.Latest != 0 || s.Bytes != 100 {
		t.Errorf("%+v", s)
	}
	if _, _, err := r.SoundOf(t.Context(), "news", e.ID); err != nil {
		t.Error(err)
	}
	before, _ := r.Show("news")
	r.clock.pass(start.Add(time.Hour).Sub(r.clock.Now()))
	equal(t, "at the hour", r.heard(t, "news"), []string{"13"})
	if s, _ := r.Show("news"); s.Episodes != 1 || s.Latest != start.Add(time.Hour).UnixMilli() || s.Changed <= before.Changed || e.Text != "أخبار\nالساعة" {
		t.Errorf("%+v", s)
	}
	r.clock.pass(-time.Minute) // a clock that is set back
	if len(r.heard(t, "news")) != 0 {
		t.Error("it is heard before its time")
	}
}

func TestAHeldEpisodeWaitsForSomebody(t *testing.T) {
	r := newRig(t)
	o := own("morning", Live)
	o.Held = true
	r.show(t, o)
	r.happens(Live, "1", 100)
	r.round(t)
	e := r.episodeOf(t, "morning", "1")
	if e.State != Held || e.Published != 0 || len(r.heard(t, "morning")) != 0 {
		t.Errorf("%+v", e)
	}
	r.clock.pass(time.Hour)
	e, err := r.Edit(t.Context(), "morning", e.ID, Edit{State: ptr(Published)})
	if err != nil || e.Published != r.clock.Now().UnixMilli() {
		t.Errorf("%+v, %v", e, err)
	}
	r.clock.pass(time.Hour)
	_, err = r.Edit(t.Context(), "morning", e.ID, Edit{State: ptr(Hidden)})
	must(t, err)
	if len(r.heard(t, "morning")) != 0 {
		t.Error("it is hidden")
	}
	again, err := r.Edit(t.Context(), "morning", e.ID, Edit{State: ptr(Published)})
	if err != nil || again.Published != e.Published {
		t.Errorf("%+v, %v", again, err)
	}
	for state, kind := range map[State]error{Held: station.ErrInvalid, Making: station.ErrInvalid, Removed: station.ErrInvalid, "noise": station.ErrInvalid} {
		_, err = r.Edit(t.Context(), "morning", e.ID, Edit{State: ptr(state)})
		is(t, err, kind)
	}
}

func TestAnEpisodeIsEdited(t *testing.T) {
	r := newRig(t)
	r.show(t, own("morning", Live))
	r.happens(Live, "1", 100)
	r.round(t)
	r.clock.pass(time.Second)
	e := r.episodeOf(t, "morning", "1")
	for _, wrong := range []Edit{
		{Title: ptr(" ")}, {Title: ptr(strings.Repeat("ص", 201))}, {Summary: ptr(strings.Repeat("ص", 4001))}, {Creator: ptr(strings.Repeat("ص", 201))},
		{Chapters: &[]Chapter{{0, "", ""}}}, {Chapters: &[]Chapter{{-1, "a", ""}}}, {Chapters: &[]Chapter{{3_600_000, "a", ""}}},
		{Chapters: &[]Chapter{{1, "a", ""}, {1, "b", ""}}}, {Chapters: ptr(make([]Chapter, MostChapters+1))}, {Chapters: &[]Chapter{{0, "a", strings.Repeat("ص", 201)}}},
	} {
		var field *station.FieldError
		if _, err := r.Edit(t.Context(), "morning", e.ID, wrong); !errors.As(err, &field) || field.Arabic == "" {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if now := r.episodeOf(t, "morning", "1"); fmt.Sprint(now) != fmt.Sprint(e) {
		t.Errorf("%+v, before %+v", now, e)
	}
	before, _ := r.Show("morning")
	_, err := r.Edit(t.Context(), "morning", e.ID, Edit{Title: ptr(" صباح "), Summary: ptr("a\r\nb"), Chapters: &[]Chapter{{10, "b", ""}, {0, "a", "A"}}, Pinned: ptr(true), Explicit: ptr(true)})
	must(t, err)
	r.open(t)
	now := r.episodeOf(t, "morning", "1")
	if now.Title != "صباح" || now.Summary != "a\nb" || now.Chapters[0] != (Chapter{0, "a", "A"}) || !now.Pinned || !now.Explicit || now.GUID != e.GUID || now.Published != e.Published {
		t.Errorf("%+v", now)
	}
	if s, _ := r.Show("morning"); s.Changed <= before.Changed || s.Version != before.Version {
		t.Errorf("%+v, before %+v", s, before)
	}
}

// What was removed comes back within a week, with its file; then it is gone, its file too, and its
// source, which is still there, makes no other by itself. By hand it may.
func TestRemovingAnEpisodeCanBeUndoneForAWeek(t *testing.T) {
	r := newRig(t)
	r.show(t, own("morning", Live))
	r.happens(Live, "1", 100)
	r.round(t)
	r.clock.pass(time.Second)
	e := r.episodeOf(t, "morning", "1")
	_, err := r.Edit(t.Context(), "morning", e.ID, Edit{Pinned: ptr(true)})
	must(t, err)
	must(t, r.RemoveEpisode(t.Context(), "morning", e.ID))
	is(t, r.RemoveEpisode(t.Context(), "morning", e.ID), station.ErrConflict)
	_, err = r.Edit(t.Context(), "morning", e.ID, Edit{Title: ptr("a")})
	is(t, err, station.ErrConflict)
	_, err = r.Add(t.Context(), "morning", Source{Live, "1"})
	is(t, err, station.ErrConflict)
	r.clock.pass(undoFor - time.Minute)
	r.round(t)
	if len(r.heard(t, "morning")) != 0 || r.episodeOf(t, "morning", "1").Removed == 0 {
		t.Error("it is there")
	}
	must(t, r.RestoreEpisode(t.Context(), "morning", e.ID))
	is(t, r.RestoreEpisode(t.Context(), "morning", e.ID), station.ErrConflict)
	r.round(t)
	equal(t, "brought back", r.heard(t, "morning"), []string{"1"})
	equal(t, "files", r.files(t, "morning"), []string{r.episodeOf(t, "morning", "1").File})
	must(t, r.RemoveEpisode(t.Context(), "morning", e.ID))
	r.clock.pass(undoFor)
	r.round(t)
	r.open(t)
	r.round(t)
	if all, _ := r.Episodes(t.Context(), "morning"); len(all) != 0 || len(r.files(t, "morning")) != 0 {
		t.Errorf("%v, %v", all, r.files(t, "morning"))
	}
	is(t, r.RestoreEpisode(t.Context(), "morning", e.ID), station.ErrNotFound)
	again, err := r.Add(t.Context(), "morning", Source{Live, "1"})
	if err != nil || again.ID != e.ID || again.Number != 2 {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestRemovingAShowCanBeUndoneForAWeek(t *testing.T) {
	r := newRig(t)
	r.show(t, own("morning", Live))
	r.happens(Live, "1", 100)
	r.round(t)
	r.clock.pass(time.Second)
	must(t, r.Remove(t.Context(), "morning"))
	is(t, r.Remove(t.Context(), "morning"), station.ErrConflict)
	_, err := r.Heard("morning")
	is(t, err, station.ErrNotFound)
	_, _, err = r.Sound("morning", r.episodeOf(t, "morning", "1").ID)
	is(t, err, station.ErrNotFound)
	if s, err := r.Show("morning"); err != nil || s.Removed == 0 || s.Public() {
		t.Errorf("%+v, %v", s, err)
	}
	_, err = r.Create(t.Context(), own("morning", Live), "")
	is(t, err, station.ErrConflict)
	r.happens(Live, "2", 100)
	r.round(t)
	must(t, r.Restore(t.Context(), "morning"))
	is(t, r.Restore(t.Context(), "morning"), station.ErrConflict)
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "brought back", r.heard(t, "morning"), []string{"2", "1"})
	must(t, r.Remove(t.Context(), "morning"))
	r.clock.pass(undoFor)
	r.round(t)
	if _, err := os.Stat(filepath.Join(r.options.Dir, "morning")); err == nil || len(r.Shows()) != 0 {
		t.Errorf("%v, %v", err, r.Shows())
	}
	is(t, r.Restore(t.Context(), "morning"), station.ErrNotFound)
	r.show(t, own("morning", Posts)) // its name is free
	r.open(t)
	if s, err := r.Show("morning"); err != nil || s.From.Kind != Posts || s.Episodes != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAShowIsSetByVersion(t *testing.T) {
	r := newRig(t)
	o := own("morning", Live)
	r.show(t, o)
	_, err := r.Create(t.Context(), o, "")
	is(t, err, station.ErrConflict)
	o.Title = "آخر"
	_, err = r.Set(t.Context(), "morning", 2, o)
	is(t, err, station.ErrConflict)
	s, err := r.Set(t.Context(), "morning", 1, o)
	if err != nil || s.Version != 2 || s.Title != "آخر" {
		t.Errorf("%+v, %v", s, err)
	}
	for field, change := range map[string]func(*Own){"slug": func(o *Own) { o.Slug = "evening" }, "from.kind": func(o *Own) { o.From.Kind = Posts }} {
		x := o
		change(&x)
		var wrong *station.FieldError
		if _, err := r.Set(t.Context(), "morning", 2, x); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%v", err)
		}
	}
	_, err = r.Set(t.Context(), "none", 1, own("none", Live))
	is(t, err, station.ErrNotFound)
	o.On = false
	_, err = r.Set(t.Context(), "morning", 2, o)
	must(t, err)
	_, err = r.Heard("morning")
	is(t, err, station.ErrNotFound)
	for i := range MostShows - 1 {
		r.show(t, own(fmt.Sprintf("s%d", i), Library))
	}
	_, err = r.Create(t.Context(), own("more", Live), "")
	is(t, err, station.ErrFull)
	before := s.GUID
	r.open(t)
	if s, err := r.Show("morning"); err != nil || s.GUID != before || s.Version != 3 || len(r.Shows()) != MostShows {
		t.Errorf("%+v, %v", s, err)
	}
}

// What listeners ask for is answered with the database closed and the folder away.
func TestListenersAreAnsweredFromMemory(t *testing.T) {
	r := newRig(t)
	r.show(t, own("morning", Live))
	r.happens(Live, "1", 100)
	r.round(t)
	r.clock.pass(time.Second)
	e := r.episodeOf(t, "morning", "1")
	must(t, r.db.Close())
	must(t, os.RemoveAll(r.options.Dir))
	equal(t, "heard", r.heard(t, "morning"), []string{"1"})
	s, err := r.Show("morning")
	if path, _, serr := r.Sound("morning", e.ID); err != nil || serr != nil || path == "" || len(r.Shows()) != 1 || r.Shows()[0] != s {
		t.Errorf("%v, %v, %s", err, serr, path)
	}
	if a := testing.AllocsPerRun(100, func() {
		_, _ = r.Heard("morning")
		_, _ = r.Show("morning")
		r.Shows()
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func TestDownloadsAreCounted(t *testing.T) {
	r := newRig(t)
	r.show(t, own("morning", Live))
	r.happens(Live, "1", 100)
	r.round(t)
	r.clock.pass(time.Second)
	e := r.episodeOf(t, "morning", "1")
	s, _ := r.Show("morning")
	for range 3 {
		r.Count("morning", e.ID)
		r.Count("morning", "none")
		r.Count("none", e.ID)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.flush(ended); err == nil {
		t.Error("nothing was written")
	}
	must(t, r.flush(t.Context()))
	must(t, r.flush(t.Context()))
	r.open(t)
	now := r.episodeOf(t, "morning", "1")
	if after, _ := r.Show("morning"); now.Downloads != 3 || now.Changed != e.Changed || after.Changed != s.Changed {
		t.Errorf("%+v", now)
	}
}
