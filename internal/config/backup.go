package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Backup configures the station's own backups.
type Backup struct {
	Every           string `koanf:"every"`
	Keep            int    `koanf:"keep"`
	To              string `koanf:"to"`
	BeforeMigration bool   `koanf:"before_migration"`
	Continuous      string `koanf:"continuous"`
}

// mostBackupEvery keeps a typing error from being no backup at all.
const mostBackupEvery = 31 * 24 * time.Hour

// Interval is the time from one scheduled backup to the next; 0: none are made.
func (b Backup) Interval() time.Duration {
	d, _ := time.ParseDuration(b.Every) // validated
	return d
}

func (b Backup) validate() (wrong []error) {
	d, err := time.ParseDuration(b.Every)
	if err != nil || d != 0 && (d < time.Minute || d > mostBackupEvery) {
		wrong = append(wrong, fmt.Errorf("backup.every: %q must be a time from 1m to 744h, as in 24h or 90m, or 0 for none", b.Every))
	}
	if b.Keep < 1 || b.Keep > 1000 {
		wrong = append(wrong, fmt.Errorf("backup.keep: must be 1 to 1000"))
	}
	if !oneLine(b.To) {
		wrong = append(wrong, fmt.Errorf("backup.to: must name a folder"))
	}
	switch {
	case b.Continuous == "":
	case strings.Contains(b.Continuous, "://"):
		wrong = append(wrong, fmt.Errorf("backup.continuous: %q is an address: mount it (sshfs, rclone mount, NFS) and name a folder in it, as /mnt/nas/athir", b.Continuous))
	case !filepath.IsAbs(b.Continuous) || !oneLine(b.Continuous):
		wrong = append(wrong, fmt.Errorf("backup.continuous: %q must be an absolute path, as /mnt/nas/athir", b.Continuous))
	}
	return wrong
}

// beside refuses a continuous copy where it goes with the data, or on air. It looks at the
// words alone: a mount that hangs must not keep the station from starting.
func (c *Config) beside() error {
	for _, dir := range []string{c.DataDir, c.MediaDir()} {
		rel, err := filepath.Rel(dir, c.Backup.Continuous)
		if c.Backup.Continuous != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return fmt.Errorf("backup.continuous: must not lie in %s: choose a folder on another disk", dir)
		}
	}
	return nil
}

// BackupDir is where backups are kept.
func (c *Config) BackupDir() string { return c.inData(c.Backup.To) }

// StationFile is the saved station configuration.
func (c *Config) StationFile() string { return filepath.Join(c.DataDir, "station.json") }
