package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// stationRules reads the station configuration (DIR/station.json): the
// rotation's knobs over their defaults. No file means the defaults.
func stationRules(cfg *config.Config) (rotation.Config, error) {
	rules := rotation.DefaultConfig()
	path := filepath.Join(cfg.DataDir, "station.json")
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if errors.Is(err, fs.ErrNotExist) {
		return rules, nil
	}
	if err != nil {
		return rules, fmt.Errorf("station configuration: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rules); err != nil {
		return rules, fmt.Errorf("station configuration %s: %w", path, err)
	}
	if dec.Decode(new(any)) != io.EOF {
		return rules, fmt.Errorf("station configuration %s: something follows the closing brace: remove it", path)
	}
	if err := rules.Validate(); err != nil {
		return rules, fmt.Errorf("station configuration %s:\n%w", path, err)
	}
	return rules, nil
}
