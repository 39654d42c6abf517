package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process that is started again while the settings are damaged goes on with those that
// its supervisor has; who starts the station is told.
func TestASupervisedProcessOutlivesDamagedSettings(t *testing.T) {
	dir := t.TempDir()
	whole, first, err := Load(Source{DataDir: dir, Controls: true, Supervises: true})
	if err != nil || !first {
		t.Fatal(first, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "node", lastName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	path := filepath.Join(dir, FileName)
	for name, damage := range map[string]func() error{
		"no YAML":       func() error { return os.WriteFile(path, []byte("name: x\n\tports: {"), 0o600) },
		"emptied":       func() error { return os.WriteFile(path, nil, 0o600) },
		"a wrong value": func() error { return os.WriteFile(path, []byte("name: x\nports: {control: 70000}\n"), 0o600) },
		"removed":       func() error { return os.Remove(path) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := Load(Source{DataDir: dir, Controls: true, Last: true})
		if err != nil || cfg.Unusable == "" || cfg.StationKey != whole.StationKey {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(cfg.Unusable, path) || name == "no YAML" && !strings.Contains(cfg.Unusable, "line 2") {
			t.Errorf("%s: %v", name, cfg.Unusable)
		}
		if _, err := cfg.Again(); err == nil {
			t.Errorf("%s: read again without an error", name)
		}
		if name == "removed" {
			if _, err := os.Stat(path); err == nil {
				t.Error("new keys were made beside a running station")
			}
			continue
		}
		if _, _, err := Load(Source{DataDir: dir, Controls: true, Supervises: true}); err == nil || name == "no YAML" && !errors.Is(err, ErrNotYAML) {
			t.Errorf("%s, and the station starts: %v", name, err)
		}
	}
}
