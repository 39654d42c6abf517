package production

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/media"
)

// While the media folder is away no fingerprint is looked for, file by file; what was
// listed stays known.
func TestNoFingerprintsAreTakenWhileTheMediaFolderIsAway(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "media")
	wave := append([]byte("RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00"), make([]byte, 8000)...)
	if err := os.MkdirAll(filepath.Join(root, "english"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "english", "a.wav"), wave, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	lib, err := media.Open(t.Context(), db, media.Options{Root: root, Log: slog.New(slog.DiscardHandler), Settle: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := &recordings{lib: lib, root: root}
	for _, away := range []bool{false, true, false} {
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
