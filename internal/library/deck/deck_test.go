package deck_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/deck"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// registry is the media library as the copies know it.
type registry struct{ lib *media.Library }

func (r registry) Tracks() []station.Track              { return r.lib.Snapshot().Tracks }
func (r registry) Subscribe() (<-chan struct{}, func()) { return r.lib.Subscribe() }

// wave is a second of silence as a WAV file: 8 kHz, mono, 8 bits.
func wave() []byte {
	samples := bytes.Repeat([]byte{128}, 8000)
	head := []byte("RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00")
	return append(head, samples...)
}

// open opens the registry, the copies and the deck of a folder with these files, and runs
// the copies until the test ends.
func open(t *testing.T, opt aircopy.Options, files ...string) (*deck.Deck, *aircopy.Rack) {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	root := filepath.Join(dir, "media")
	for _, name := range files {
		if err := errors.Join(os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700), os.WriteFile(filepath.Join(root, name), wave(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	lib, err := media.Open(t.Context(), db, media.Options{Root: root, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	opt.Root, opt.Dir, opt.Registry, opt.Log = root, filepath.Join(dir, "mastered"), registry{lib}, log
	opt.Profile = func(station.Category) string { return "-14" }
	rack, err := aircopy.Open(t.Context(), db, opt)
	if err != nil {
		t.Fatal(err)
	}
	d := deck.New(lib, rack)
	testkit.Background(t, func(ctx context.Context) error { return rack.Run(ctx, func(string) bool { return false }) })
	if err := d.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d, rack
}

// newDeck makes the deck of that many files, 000.wav and so on.
func newDeck(t *testing.T, files int) *deck.Deck {
	t.Helper()
	names := make([]string, files)
	for i := range names {
		names[i] = fmt.Sprintf("english/%03d.wav", i)
	}
	d, _ := open(t, aircopy.Options{Disabled: true}, names...)
	testkit.Eventually(t, "all tracks", func() bool { return len(d.Snapshot().Tracks) == files })
	return d
}

// masters finds every file fit; songs only once let is closed.
type masters struct{ let chan struct{} }

func (m masters) Do(ctx context.Context, job mastering.Job, _ func(float64)) (mastering.Record, error) {
	if strings.Contains(job.In, "english") {
		select {
		case <-m.let:
		case <-ctx.Done():
			return mastering.Record{}, ctx.Err()
		}
	}
	return mastering.Record{Outcome: mastering.Outcome{Fit: true, Duration: time.Second}}, nil
}

func (masters) Forget(context.Context, string) error { return nil }

// A station does not begin with imaging alone while a song is about to be ready; one that
// has no song does.
func TestImagingWaitsForTheFirstSong(t *testing.T) {
	for _, song := range []bool{true, false} {
		files := []string{"jingles/a.wav", "sweepers/b.wav"}
		if song {
			files = append(files, "english/c.wav")
		}
		let := make(chan struct{})
		d, rack := open(t, aircopy.Options{Master: masters{let}}, files...)
		testkit.Eventually(t, "the imaging is ready", func() bool { return len(rack.Snapshot().Tracks) == 2 })
		if tracks, scanning := d.Tracks(); song && (len(tracks) > 0 || !scanning) {
			t.Errorf("the station begins with %v", tracks)
		}
		close(let)
		testkit.Eventually(t, "everything is in the deck", func() bool {
			tracks, scanning := d.Tracks()
			return len(tracks) == len(files) && !scanning
		})
	}
}

// What is leaving is gone from the deck the moment that Hide returns, subscribers
// hear of it, and it is back once it stays; while nothing changes, the snapshot is
// the same one.
func TestWhatIsLeavingIsInNoSnapshot(t *testing.T) {
	d := newDeck(t, 2)
	changed, leave := d.Subscribe()
	defer leave()
	before := d.Snapshot()
	if d.Snapshot() != before {
		t.Error("another snapshot while nothing changed")
	}
	d.Hide(map[string]bool{"english/000.wav": true})
	if _, ok := d.Find("english/000.wav"); ok || len(d.Snapshot().Tracks) != 1 {
		t.Errorf("still shown: %+v", d.Snapshot().Tracks)
	}
	testkit.Receive(t, "the change", changed)
	d.Hide(nil)
	if _, ok := d.Find("english/000.wav"); !ok {
		t.Error("what stays is not back")
	}
	if _, scanning := d.Tracks(); scanning || time.Since(before.Tracks[0].ModTime) < 0 {
		t.Error("a scanned library is still being scanned")
	}
}

// A snapshot keeps the folded names of its tracks: a search that is repeated
// allocates for what it finds, not for what there is.
func TestSearchedNamesAreKeptWithTheDeck(t *testing.T) {
	const files = 300
	d := newDeck(t, files)
	asked := media.Search{Text: "3.WAV", Limit: 5}
	search := func() { d.Snapshot().Search(asked) }
	for hidden, want := range map[string]int{"": files / 10, "english/003.wav": files/10 - 1} {
		d.Hide(map[string]bool{hidden: true})
		if found, total := d.Snapshot().Search(asked); total != want || len(found) != 5 {
			t.Fatalf("%d of %d found with %q hidden", len(found), total, hidden)
		}
		// Others in this process may allocate meanwhile.
		testkit.Eventually(t, "a search without an allocation for each track", func() bool {
			return testing.AllocsPerRun(1, search) < files/2
		})
	}
}
