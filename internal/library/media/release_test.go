package media

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// A library that the reader before registered gets what reports need with the next scan:
// no file is decoded, and nothing else of it changes.
func TestARegisteredLibraryIsReadForISRCAndLabelAlone(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.mp3", "bare-vbr.mp3", "c.ogg"} { // the second has a doubtful length, and the third is no Ogg: their headers alone do not do
		args := []string{
			"-v", "error", "-f", "lavfi", "-i", "sine=d=40:r=44100", "-metadata", "title=T", "-metadata", "TSRC=eg-a01-26-00001",
			"-metadata", "publisher=Sono", "-metadata", "composer=R", "-q:a", "4",
		}
		switch name {
		case "bare-vbr.mp3":
			args = append(args, "-write_xing", "0")
		case "c.ogg":
			args = append(args, "-metadata", "ISRC=eg-a01-26-00001", "-metadata", "label=Sono", "-f", "matroska")
		}
		path := filepath.Join(root, name)
		if text, err := exec.Command("ffmpeg", append(args, path)...).CombinedOutput(); err != nil { //nolint:gosec // test
			t.Fatalf("%v: %s", err, text)
		}
		if err := os.Chtimes(path, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "junk.mp3"), []byte("no sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	scan := func() (*Library, Report) {
		t.Helper()
		l, err := Open(t.Context(), db, Options{Root: root, Log: slog.New(slog.DiscardHandler), Settle: 1})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Scan(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return l, r
	}
	l, first := scan()
	if first.Probed == 0 {
		t.Fatal("nothing had to be decoded: the test shows nothing")
	}
	whole := l.Snapshot().Tracks
	if len(whole) != 3 || whole[0].ISRC != "EGA012600001" || whole[0].Label != "Sono" || whole[0].Composer != "R" || whole[1].ISRC != "EGA012600001" || whole[2].ISRC != "EGA012600001" || whole[2].Label != "Sono" {
		t.Fatalf("%+v", whole)
	}
	// As the version before left it; the length is one that no reader would find.
	err = db.Write(context.Background(), func(tx *sql.Tx) error {
		before := int64(stampOf(beforeRelease, credit{}, fileStamp{})) //nolint:gosec // a hash
		if _, err := tx.Exec(`UPDATE media_track SET isrc = '', label = '', composer = '', stamp = ?, duration_us = duration_us + 7`, before); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE media_quarantine SET stamp = ?`, before)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l, r := scan()
	if r.Opened != 3 || r.Probed != 1 || r.Updated != 3 || r.Quarantined != 0 {
		t.Errorf("%+v", r)
	}
	for i, got := range l.Snapshot().Tracks {
		want := whole[i]
		want.Duration += 7 * time.Microsecond
		if got.ISRC != want.ISRC || got.Label != want.Label || got.Composer != want.Composer || got.Duration != want.Duration ||
			got.Title != want.Title || !got.AddedAt.Equal(want.AddedAt) || got.Size != want.Size {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	if _, r := scan(); r.Opened != 0 {
		t.Errorf("and once more: %+v", r)
	}
}

// What a disk cannot read at this moment is read again: the file airs on meanwhile, and is not
// taken for one without an ISRC for good.
func TestWhatCannotBeReadNowIsPutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.mp3")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // reading fails
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // test
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var late *lateError
	if got, err := new(reader).released(t.Context(), f, job{abs: path, file: stampFile(info), tagsOf: &station.Track{}}); !errors.As(err, &late) {
		t.Errorf("%+v, %v", got, err)
	}
}
