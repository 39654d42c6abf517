package config

import "errors"

// Guard configures the dead-air guard.
type Guard struct {
	Enabled bool `koanf:"enabled"`
	// Kills lets the node kill those of its own programs that are wedged.
	Kills              bool    `koanf:"kills"`
	LevelDBFS          float64 `koanf:"level_dbfs"`
	SilenceSeconds     float64 `koanf:"silence_seconds"`
	LiveSilenceSeconds float64 `koanf:"live_silence_seconds"`
}

func (g Guard) validate() (wrong []error) {
	if g.LevelDBFS < -90 || g.LevelDBFS > -20 {
		wrong = append(wrong, errors.New("guard.level_dbfs: must be -90 to -20"))
	}
	if g.SilenceSeconds < 2 || g.SilenceSeconds > 60 {
		wrong = append(wrong, errors.New("guard.silence_seconds: must be 2 to 60"))
	}
	if g.LiveSilenceSeconds < 2 || g.LiveSilenceSeconds > 100 {
		wrong = append(wrong, errors.New("guard.live_silence_seconds: must be 2 to 100"))
	}
	return wrong
}
