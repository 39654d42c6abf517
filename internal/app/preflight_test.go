package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/doctor"
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

// What the doctor calls needed keeps a station from starting, and nothing else does.
func TestAStationStartsWithThePrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, own := range []string{"", "mediamtx"} {
		cfg := &config.Config{DataDir: t.TempDir(), Media: t.TempDir()}
		cfg.HLS.MediaMTX = own
		missing := map[string]bool{}
		for line := range strings.Lines(preflight(cfg, true, true).Error()) {
			if words := strings.Fields(line); words[0] == "program" {
				missing[strings.Trim(words[1], `:"`)] = true
			}
		}
		for _, r := range doctor.Run(t.Context(), doctor.Options{Config: cfg, Offline: true, NewestBackup: func() (time.Time, error) { return time.Time{}, nil }}) {
			if name, is := strings.CutPrefix(r.Name, "program "); is && missing[name] != (r.Verdict == doctor.Wrong) {
				t.Errorf("%s: the doctor says %s, and of the start: missing is %v", name, r.Verdict, missing[name])
			}
		}
		if !missing["liquidsoap"] || !missing["ffprobe"] || missing["espeak-ng"] {
			t.Errorf("missing: %v", missing)
		}
	}
}
