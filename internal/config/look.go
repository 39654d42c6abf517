package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoStation means that a directory has no settings of a station.
var ErrNoStation = errors.New("no station there")

// Look is Load without a trace: it makes neither a directory nor a file. The Config is as far
// as the settings can be read, beside the error that lists what is wrong with them; nil where
// they cannot be read at all. Where there is no settings file the error is ErrNoStation.
func Look(src Source) (*Config, error) {
	dir, err := filepath.Abs(src.DataDir)
	if err != nil {
		return nil, fmt.Errorf("find data directory %q: %w", src.DataDir, err)
	}
	path := filepath.Join(dir, FileName)
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing: name the data directory of a station with --data", ErrNoStation, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	cfg, err := Parse(text, src.Flags, src.Env)
	if cfg == nil {
		return nil, err
	}
	cfg.DataDir, cfg.Env = dir, settingsOf(src.Env)
	if src.Controls {
		err = errors.Join(err, cfg.closed())
	}
	cfg.Warnings = append(readableByOthers(path), strangers(src.Env)...)
	return cfg, errors.Join(err, cfg.apart())
}
