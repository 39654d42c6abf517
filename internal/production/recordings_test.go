package production

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/media"
)

// second is a WAV file of one second of silence.
func second() []byte {
	head := "RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00"
	return append([]byte(head), make([]byte, 8000)...)
}

// shelf is a library of English songs, not scanned yet.
func shelf(t *testing.T, songs ...string) (lib *media.Library, db *store.DB, root string) {
	t.Helper()
	dir := t.TempDir()
	root = filepath.Join(dir, "media")
	if err := os.MkdirAll(filepath.Join(root, "english"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, song := range songs {
		if err := os.WriteFile(filepath.Join(root, "english", song), second(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	lib, err = media.Open(t.Context(), db, media.Options{Root: root, Log: slog.New(slog.DiscardHandler), Settle: 1})
	if err != nil {
		t.Fatal(err)
	}
	return lib, db, root
}

// While the media folder is away no fingerprint is looked for, file by file; what was
// listed stays known.
func TestNoFingerprintsAreTakenWhileTheMediaFolderIsAway(t *testing.T) {
	lib, _, root := shelf(t, "a.wav")
	r := &recordings{lib: lib, root: root}
	for _, away := range []bool{false, true, false} {
		var err error
		if away {
			err = os.Rename(root, root+".away")
		} else if _, gone := os.Stat(root); gone != nil {
			err = os.Rename(root+".away", root)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = lib.Scan(t.Context(), nil) // with the folder away it fails, and says so in the snapshot
		files, there := r.files()
		if there == away || there && len(files) != 1 || len(lib.Snapshot().Tracks) != 1 {
			t.Errorf("away %t: %d files listed, %t; %d tracks", away, len(files), there, len(lib.Snapshot().Tracks))
		}
	}
}

// Taking fingerprints makes way for the air after each file.
func TestFingerprintsAreHeldUp(t *testing.T) {
	lib, db, root := shelf(t, "a.wav", "b.wav", "c.wav")
	if _, err := lib.Scan(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	held := 0
	r, err := openRecordings(t.Context(), db, nil, lib, root, func(ctx context.Context) error {
		held++
		return ctx.Err()
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer r.store.Close()
	if !r.take(t.Context()) || held != 3 {
		t.Errorf("asked %d times for 3 files", held)
	}
	if r.take(t.Context()); held != 3 {
		t.Errorf("asked %d times though none is missing", held)
	}
}
