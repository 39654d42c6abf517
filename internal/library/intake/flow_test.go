package intake

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestAFileWhoseCategoryIsChosenIsTakenByItself(t *testing.T) {
	r := newRig(t)
	id := r.send("200|أم كلثوم|أنت عمري|oud", "track 7.MP3", "category", "arabic_hits", "batch", "b1", "folder", "x/y")
	if got := r.expect(id, Waiting, ""); got.By != "نادية" || got.Batch != "b1" || got.Folder != "x/y" || got.Name != "track 7.MP3" || got.Guessed {
		t.Errorf("%+v", got)
	}
	r.run()
	a := r.expect(id, Taken, "arabic_hits/أم كلثوم - أنت عمري.mp3")
	if a.Category != station.ArabicHits || a.Title != "أنت عمري" || a.Artist != "أم كلثوم" || a.Duration != 200*time.Second || a.Reason != nil || !a.AirsAt.IsZero() {
		t.Errorf("%+v", a)
	}
	if _, ok := r.shelf.Find(a.Path); !ok {
		t.Error("the library does not know of it")
	}
	if info, err := os.Stat(filepath.Join(r.shelf.media, a.Path)); err != nil || info.Mode() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left := content(t, filepath.Join(r.dir, "arrivals")); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	r.shelf.airs = true
	all, taking := r.List(t.Context())
	if len(all) != 1 || taking || !all[0].AirsAt.Equal(r.clock.Now()) {
		t.Errorf("%+v, %v", all, taking)
	}
	r.clock.pass(time.Hour)
	r.open() // the line outlives the process, for a day
	if got := r.expect(id, Taken, a.Path); !got.AirsAt.Equal(all[0].AirsAt) {
		t.Errorf("%+v", got)
	}
	r.clock.pass(24 * time.Hour)
	r.tidy(t.Context())
	if all, _ := r.List(t.Context()); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if len(content(t, r.shelf.media)) != 1 {
		t.Error("its file went with its line")
	}
}

func TestWhatWasGuessedWaitsForAPerson(t *testing.T) {
	r := newRig(t)
	folder := r.send("20||Ident|a", "ident.ogg", "folder", "Radio/My Jingles/2024")
	short := r.send("20||Hello|b", "hello.ogg")
	arabic := r.send("200|فيروز|نسم علينا الهوى|c", "x.flac")
	other := r.send("200|Dido|Thank You|d", "01 - y.wav", "folder", "The Best/Of")
	r.run()
	for id, want := range map[string]struct {
		category station.Category
		en, ar   string
	}{
		folder: {station.Jingles, "“My Jingles”", "«My Jingles»"}, short: {station.Shorts, "0:20, less than a minute", "أقل من دقيقة"},
		arabic: {station.ArabicHits, "in Arabic", "بحروف عربية"}, other: {station.English, "not written in Arabic", "ليست"},
	} {
		a := r.expect(id, Asks, "")
		if a.Category != want.category || !a.Guessed || !strings.Contains(a.Why.En, want.en) || !strings.Contains(a.Why.Ar, want.ar) || !slices.Equal(a.Asks, []Question{AskCategory}) {
			t.Errorf("%+v", a)
		}
	}
	if n := len(content(t, r.shelf.media)); n != 0 {
		t.Fatalf("%d files were placed", n)
	}
	r.open() // nothing of it is in memory alone
	if n, err := r.Take(t.Context(), []string{short, "none", short}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, taking := r.List(t.Context()); !taking {
		t.Error("nothing is being taken")
	}
	if n, err := r.Take(t.Context(), nil); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	r.run()
	want := map[string]string{
		"jingles/Ident.ogg": "20||Ident|a", "shorts/Hello.ogg": "20||Hello|b",
		"arabic_hits/فيروز - نسم علينا الهوى.flac": "200|فيروز|نسم علينا الهوى|c", "english/Dido - Thank You.wav": "200|Dido|Thank You|d",
	}
	if diff := cmp.Diff(want, content(t, r.shelf.media)); diff != "" {
		t.Error(diff)
	}
	if n, err := r.Take(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("taken twice: %d, %v", n, err)
	}
}

func TestADuplicateIsAskedAboutAndTakenBeside(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/Dido - Thank You.mp3", "200|Dido|Thank You|guitar")
	same := r.send("201|D|Thx|guitar", "a.mp3", "category", "english")
	named := r.send("190|dido|thank you|piano", "b.mp3", "category", "english")
	r.run()
	a := r.expect(same, Asks, "")
	if len(a.Alike) != 1 || !a.Alike[0].Recording || a.Alike[0].Path != "english/Dido - Thank You.mp3" || a.Alike[0].Title != "Thank You" || !slices.Equal(a.Asks, []Question{AskDuplicate}) {
		t.Errorf("%+v", a)
	}
	b := r.expect(named, Asks, "")
	if len(b.Alike) != 1 || b.Alike[0].Recording || b.Alike[0].Difference != 1 || len(b.Asks) != 1 {
		t.Errorf("%+v", b)
	}
	// Other names: no likeness is left to be asked about.
	b, err := r.Change(t.Context(), named, Change{Title: ptr("Thank You (live)")})
	if err != nil || len(b.Alike) != 0 || len(b.Asks) != 0 || b.Title != "Thank You (live)" || b.State != Asks {
		t.Errorf("%+v, %v", b, err)
	}
	if n, err := r.Take(t.Context(), nil); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	r.run()
	r.expect(same, Taken, "english/D - Thx.mp3")
	r.expect(named, Taken, "english/dido - Thank You (live).mp3")
	if want := []string{"english/dido - Thank You (live).mp3|نادية|Thank You (live)|"}; !slices.Equal(r.shelf.named, want) {
		t.Errorf("%q", r.shelf.named)
	}
}

// Two copies of one recording in one drop: none is in the library when they are compared.
func TestTheSecondOfTwoCopiesIsAskedAbout(t *testing.T) {
	for _, chosen := range []string{"english", ""} {
		for _, again := range []bool{false, true} {
			r := newRig(t)
			first := r.send("200|Dido|Thank You|guitar", "a.mp3", "category", chosen)
			second := r.send("200|Dido|Thank You|guitar", "b.mp3", "category", chosen)
			for r.lookNext(t.Context()) {
			}
			if again {
				r.open()
			}
			if chosen == "" {
				if n, err := r.Take(t.Context(), nil); n != 2 || err != nil {
					t.Fatalf("%d, %v", n, err)
				}
			}
			r.run()
			r.expect(first, Taken, "english/Dido - Thank You.mp3")
			if b := r.expect(second, Asks, ""); !slices.Equal(b.Asks, []Question{AskDuplicate}) {
				t.Errorf("%q: %+v", chosen, b)
			}
			if n, err := r.Take(t.Context(), []string{second}); n != 1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			r.run()
			r.expect(second, Taken, "english/Dido - Thank You (2).mp3")
		}
	}
}

func TestAPersonChangesWhatWasHeard(t *testing.T) {
	r := newRig(t)
	id := r.send("400|Dido|Thank You|guitar", "a.mp3")
	r.run()
	if _, err := r.Change(t.Context(), id, Change{Category: ptr(station.Jingles)}); !isCode(err, TooLong) || station.Status(err) != 422 {
		t.Errorf("a song among the jingles: %v", err)
	}
	for _, category := range []station.Category{"films", station.Social} {
		if _, err := r.Change(t.Context(), id, Change{Category: &category}); !isCode(err, NoCategory) {
			t.Errorf("%s: %v", category, err)
		}
	}
	a, err := r.Change(t.Context(), id, Change{Category: ptr(station.Mashups), Artist: ptr(" DJ\u202e Z ")})
	if err != nil || a.State != Asks || a.Category != station.Mashups || a.Guessed || len(a.Asks) != 0 || a.Artist != "DJ Z" || a.Why != (Words{}) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := r.Change(t.Context(), "none", Change{}); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if n, err := r.Take(t.Context(), []string{id}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := r.Change(t.Context(), id, Change{Title: ptr("x")}); !errors.Is(err, station.ErrConflict) {
		t.Errorf("%v", err)
	}
	r.run()
	r.expect(id, Taken, "mashups/DJ Z - Thank You.mp3")
}

// What a person says while a file waits or is listened to holds.
func TestAChangeBeforeTheFileWasHeardHolds(t *testing.T) {
	r := newRig(t)
	id := r.send("400|Dido|Thank You|guitar", "a.mp3")
	if _, err := r.Change(t.Context(), id, Change{Category: ptr(station.Mashups), Title: ptr("Mine")}); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.expect(id, Taken, "mashups/Dido - Mine.mp3")
}

func TestARefusedFileSaysWhyAndIsLookedAtAgain(t *testing.T) {
	r := newRig(t)
	broken := r.send("broken", "a.mp3", "category", "english")
	long := r.send("400|Dido|Thank You|guitar", "b.mp3", "category", "jingles")
	r.run()
	for id, code := range map[string]Code{broken: Damaged, long: TooLong} {
		if a := r.expect(id, Refused, ""); a.Reason == nil || a.Reason.Code != code {
			t.Errorf("%+v", a)
		}
	}
	if n, err := r.Take(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "arrivals", broken+".mp3"), []byte("200||Mended|x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := r.Again(t.Context(), broken); err != nil || a.State != Waiting || a.Reason != nil {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := r.Again(t.Context(), broken); !errors.Is(err, station.ErrConflict) {
		t.Errorf("%v", err)
	}
	if a, err := r.Change(t.Context(), long, Change{Category: ptr(station.English)}); err != nil || a.State != Waiting {
		t.Errorf("%+v, %v", a, err)
	}
	r.run()
	r.expect(broken, Taken, "english/Mended.mp3")
	r.expect(long, Taken, "english/Dido - Thank You.mp3")
}

func TestADroppedFileIsGoneAndATakenOneStays(t *testing.T) {
	r := newRig(t)
	asks := r.send("200|Dido|Thank You|guitar", "a.mp3")
	taken := r.send("200|Dido|White Flag|drums", "b.mp3", "category", "english")
	r.run()
	waits := r.send("200|Dido|Life for Rent|bass", "c.mp3")
	for _, id := range []string{asks, taken, waits} {
		if err := r.Drop(t.Context(), id); err != nil {
			t.Error(err)
		}
		if err := r.Drop(t.Context(), id); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("twice: %v", err)
		}
		if _, err := r.File(id); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
	r.run()
	r.open()
	if all, _ := r.List(t.Context()); len(all) != 0 || len(content(t, filepath.Join(r.dir, "arrivals"))) != 0 || len(content(t, r.shelf.media)) != 1 {
		t.Errorf("%+v", all)
	}
}

func TestTheFileIsWhereTheArrivalIs(t *testing.T) {
	r := newRig(t)
	id := r.send("200|Dido|Thank You|guitar", "a.mp3")
	r.run()
	for range 2 {
		abs, err := r.File(id)
		text, rerr := os.ReadFile(abs)
		if err != nil || rerr != nil || string(text) != "200|Dido|Thank You|guitar" {
			t.Errorf("%q, %v, %v", text, err, rerr)
		}
		_, _ = r.Take(t.Context(), nil)
		r.run()
	}
}

func TestWhatNobodyAnswersIsDroppedInTheEnd(t *testing.T) {
	r := newRig(t)
	id := r.send("200|Dido|Thank You|guitar", "a.mp3")
	r.run()
	r.clock.pass(30*24*time.Hour - time.Minute)
	r.tidy(t.Context())
	r.expect(id, Asks, "")
	r.clock.pass(2 * time.Minute)
	for range 6*60 - 1 { // the clock may have been set ahead: nothing is dropped until it has gone on
		r.tidy(t.Context())
		r.clock.pass(time.Minute)
	}
	r.expect(id, Asks, "")
	for range 3 {
		r.tidy(t.Context())
		r.clock.pass(time.Minute)
	}
	if _, err := r.Find(id); !errors.Is(err, station.ErrNotFound) || len(content(t, filepath.Join(r.dir, "arrivals"))) != 0 {
		t.Errorf("%v", err)
	}
	if r.lines.Count("not answered for too long") != 1 {
		t.Error("nobody is told")
	}
}

// While the machine is short a file waits; nothing that is placed does.
func TestFilesAreHeldBackWhileTheMachineIsShort(t *testing.T) {
	r := newRig(t)
	asked, open := make(chan struct{}, 1), make(chan struct{})
	r.opt.Hold = func(ctx context.Context) error {
		select {
		case asked <- struct{}{}:
		default:
		}
		return testkit.Held(ctx, open)
	}
	id := r.send("200|Dido|Thank You|guitar", "a.mp3", "category", "english")
	stop := testkit.Background(t, r.Run)
	testkit.Receive(t, "a file is held back", asked)
	r.expect(id, Looking, "")
	close(open)
	testkit.Eventually(t, "it is placed once the machine has time", func() bool { return r.arrival(id).State == Taken })
	stop()
	r.expect(id, Taken, "english/Dido - Thank You.mp3")
}

func isCode(err error, code Code) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Code == code
}
