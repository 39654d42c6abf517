package onbackup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/onair/policy"
)

// lastSuffix names the copy of the configuration as it was when it was last read well.
const lastSuffix = ".last"

// OpenConfiguration opens the station configuration. One that cannot be read is kept aside
// and told of, and the one of the last start takes its place, or the defaults: a station
// without its own rotation is better than one without a control plane.
func OpenConfiguration(cfg *config.Config, log *slog.Logger) (*policy.Owner, error) {
	path := cfg.StationFile()
	last := path + lastSuffix
	owner, err := policy.Open(path, nil)
	var wrong *policy.InvalidError
	if err == nil {
		if err := keepLast(path, last); err != nil {
			log.Warn("cannot keep a copy of the station configuration", "file", last, "err", err)
		}
		return owner, nil
	}
	if !errors.As(err, &wrong) {
		return nil, err
	}
	aside := freeName(fmt.Sprintf("%s.damaged-%s", path, time.Now().UTC().Format(timeFormat)))
	if rerr := os.Rename(path, aside); rerr != nil {
		return nil, errors.Join(err, rerr)
	}
	instead := "the defaults"
	if text, rerr := os.ReadFile(last); rerr == nil && policy.Check(text) == nil { //nolint:gosec // our own
		if rerr := file.WriteAtomic(path, text, 0o600); rerr != nil {
			return nil, errors.Join(err, rerr)
		}
		instead = "that of the last start"
	}
	attrs := []any{"file", path, "kept", aside, "in force", instead, "err", err}
	if all, _ := List(cfg); len(all) > 0 {
		attrs = append(attrs, "backup", all[0].File, "look", fmt.Sprintf("tar --zstd -xOf %s %s", quoted(all[0].File), stationName))
	}
	log.Error("the station configuration is damaged and was put aside: mend it and put it back while the station is stopped, or save another one", attrs...)
	return policy.Open(path, nil)
}

// keepLast copies what was read well, where it is another.
func keepLast(path, last string) error {
	text, err := os.ReadFile(path) //nolint:gosec // the station's own
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(last); err == nil && bytes.Equal(old, text) { //nolint:gosec // as above
		return nil
	}
	return file.WriteAtomic(last, text, 0o600)
}

// SettingsHint names where the settings can be had from when their file cannot be read;
// empty where there is no backup. The folder that they name is not known then.
func SettingsHint(data string) string {
	found, _ := filepath.Glob(filepath.Join(data, "backups", "athir-*"+suffix))
	newest, at := "", time.Time{}
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(at) {
			if m, err := manifestOf(path); err == nil && slices.ContainsFunc(m.Files, func(f archive.File) bool { return f.Name == settingsName }) {
				newest, at = path, info.ModTime()
			}
		}
	}
	if newest == "" {
		return ""
	}
	return fmt.Sprintf("those of the newest backup: tar --zstd -xOf %s %s", quoted(newest), settingsName)
}
