package onbackup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	stations "github.com/athir-radio/athir/internal/station"
)

const song = "music/english/1.mp3"

// shelf is a library of one song.
type shelf struct{ signal.Changes }

func (*shelf) Tracks() []stations.Track {
	return []stations.Track{{Path: song, Title: "One", Artist: "Amr", Category: stations.English}}
}

// empty is the library as the intake knows it, with nothing in it.
type empty struct{}

func (empty) Find(string) (stations.Track, bool)        { return stations.Track{}, false }
func (empty) Register(context.Context, ...string) error { return nil }
func (empty) Airs(string) bool                          { return false }
func (empty) Tracks() int                               { return 0 }
func (empty) Alike(context.Context, []fingerprint.Print, string, string) ([]intake.Match, error) {
	return nil, nil
}
func (empty) Add(context.Context, string, string, string, string) error { return nil }
func (empty) Archive(context.Context, string, string) error             { return nil }
func (empty) Restore(context.Context, string, string) error             { return nil }

// studio is the library of a data directory as the studio has it.
type studio struct {
	notes    *overlay.Overlay
	views    *catalog.Views
	pictures *covers.Covers
	arrivals *intake.Intake
	close    func()
}

func openStudio(t *testing.T, cfg *config.Config) (s studio) {
	t.Helper()
	log, _ := testkit.Log(t)
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	s.notes, err = overlay.Open(t.Context(), overlay.Options{Log: log, DB: db, Registry: &shelf{}, Whole: func() bool { return true }})
	must(t, err)
	s.views, err = catalog.OpenViews(t.Context(), db)
	must(t, err)
	s.pictures, err = covers.Open(cfg.CoversDir())
	must(t, err)
	s.arrivals, err = intake.Open(t.Context(), db, intake.Options{
		Dir: filepath.Join(cfg.IntakeDir(), "files"), Media: cfg.MediaDir(), Library: empty{}, Prints: empty{}, Archive: empty{}, Log: log,
	})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.arrivals.Run(ctx) }()
	s.close = func() {
		cancel()
		must(t, errors.Join(<-ended, db.Close()))
	}
	return s
}

// What an operator has said of tracks, kept of searches and given of pictures is in every
// backup, and can still be taken back after a restore. An upload that waited for an answer is
// not: the station says so, and asks for it again.
func TestTheLibraryOfARestoredStationIsAsItWas(t *testing.T) {
	cfg := station(t)
	const waiting = "7mq2xkvd4hzr5tnbwc3yalpoge"
	file := filepath.Join(cfg.IntakeDir(), "files", waiting+".mp3")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=70", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := openStudio(t, cfg)
	var picture bytes.Buffer
	must(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 400, 400))))
	id, err := s.pictures.Put(picture.Bytes())
	must(t, err)
	done, err := s.notes.Change(t.Context(), overlay.Order{
		Who: "nour", Paths: []string{song}, Set: json.RawMessage(`{"title":"نسم علينا الهوى","limits":{"perDay":2},"cover":"` + id + `"}`),
	})
	must(t, err)
	views := []catalog.View{{Name: "رمضان", Query: catalog.Query{Genre: []string{"طرب"}}}}
	must(t, s.views.Set(t.Context(), views))
	eventually(t, s.arrivals, waiting, intake.Asks, "")
	said, _ := s.notes.Note(song)
	drawn := read(t, s.pictures, id)
	s.close()

	data := t.TempDir()
	_, err = restore(t, backup(t, cfg, onbackup.Choice{}), data)
	must(t, err)
	cfg, _, err = config.Load(config.Source{DataDir: data})
	must(t, err)
	s = openStudio(t, cfg)
	defer s.close()
	if now, ok := s.notes.Note(song); !ok || !reflect.DeepEqual(now, said) {
		t.Errorf("of the song is said %+v, and was %+v", now, said)
	}
	if now, err := s.views.List(t.Context()); err != nil || !reflect.DeepEqual(now, views) {
		t.Errorf("searches: %+v, %v", now, err)
	}
	if !bytes.Equal(read(t, s.pictures, id), drawn) {
		t.Error("the picture is another")
	}
	if out, _, err := s.notes.Undo(t.Context(), done.Deed.ID, "nour"); err != nil || out.Changed != 1 {
		t.Errorf("taken back: %+v, %v", out, err)
	}
	_, err = s.arrivals.Take(t.Context(), []string{waiting})
	must(t, err)
	eventually(t, s.arrivals, waiting, intake.Refused, intake.Gone)
}

func eventually(t *testing.T, arrivals *intake.Intake, id string, state intake.State, code intake.Code) {
	t.Helper()
	testkit.EventuallyNil(t, "the upload is "+string(state), func() error {
		a, err := arrivals.Find(id)
		if err == nil && (a.State != state || code != "" && (a.Reason == nil || a.Reason.Code != code)) {
			err = fmt.Errorf("it is %s: %+v", a.State, a.Reason)
		}
		return err
	})
}

func read(t *testing.T, pictures *covers.Covers, id string) []byte {
	t.Helper()
	f, err := pictures.Open(id, 640)
	must(t, err)
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(f)
	must(t, err)
	return text
}
