package config

import (
	"errors"
	"path/filepath"
)

// Podcasts configures what the station offers on demand.
type Podcasts struct {
	Gigabytes float64 `koanf:"gigabytes"`
}

func (p Podcasts) validate() []error {
	if p.Gigabytes > 0 && p.Gigabytes <= 1_000_000 {
		return nil
	}
	return []error{errors.New("podcasts.gigabytes: must be more than 0 and at most 1000000: episodes are bounded")}
}

// Bytes is what all episodes may take.
func (p Podcasts) Bytes() int64 { return int64(p.Gigabytes * (1 << 30)) }

// BulletinsDir holds what bulletins say, for the episodes that are made of them.
func (c *Config) BulletinsDir() string { return filepath.Join(c.DataDir, "bulletins") }
