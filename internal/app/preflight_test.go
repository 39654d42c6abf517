package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/config"
)

// A media folder that is missing is made where its place is there; a mistyped path of a
// new station is refused by name, and nothing is made. A station that has been on the air
// starts without its disk.
func TestAMistypedMediaFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	cfg := &config.Config{DataDir: dir, Media: filepath.Join(dir, "music")}
	for range 2 {
		if err := ReadableMedia(cfg); err != nil {
			t.Error(err)
		}
	}
	wrong := filepath.Join(dir, "muisc", "songs")
	cfg.Media = wrong
	if err := ReadableMedia(cfg); err == nil || !strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), "--media") {
		t.Errorf("a mistyped path: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(wrong)); !os.IsNotExist(err) {
		t.Error("a folder was made in its place")
	}
	if err := os.WriteFile(filepath.Join(dir, "athir.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ReadableMedia(cfg); err != nil {
		t.Errorf("a station whose disk is away does not start: %v", err)
	}
}
