package onlibrary

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/station"
)

// A station starts though the folder of imports cannot be opened; imports alone are refused.
func TestAStationStartsWithoutItsFolderOfImports(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "imports"), []byte("a file in its place"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse([]byte("source_password: 0123456789abcdef\nsync_token: 0123456789abcdef0123456789abcdef01234567\n"), map[string]any{"data": dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DataDir = dir
	l := &Library{}
	if err := l.openImports(Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Version: "test"}); err != nil {
		t.Fatal(err)
	}
	if err := l.Imports.Check(desk.Order{System: desk.AzuraCast, Address: "https://example.org", Key: "x"}); !errors.Is(err, station.ErrUnavailable) {
		t.Error(err)
	}
}
