package production

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/media"
)

// What is made while the media disk is away would be all there is to air.
func TestNothingIsMadeInThePlaceOfTheMediaDisk(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "media")
	db, err := store.Open(t.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	lib, err := media.Open(t.Context(), db, media.Options{Root: root, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	p := &Production{root: root, lib: lib}
	show := func(jobs.Progress) {}
	if made, err := p.Imaging(t.Context(), ImagingOrder{IDs: 1}, show); err == nil {
		t.Errorf("imaging: %+v", made)
	}
	if made, err := p.Bulletin(t.Context(), show); err == nil {
		t.Errorf("bulletin: %+v", made)
	}
	if _, err := os.Lstat(root); !os.IsNotExist(err) {
		t.Errorf("the media folder was made: %v", err)
	}
	// Its mount point is there, and a scan would say why it is not believed.
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if media.Present(root, 1) == nil || media.Present(root, 0) != nil {
		t.Error("an empty folder is there only where nothing is registered")
	}
}
