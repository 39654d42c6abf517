package config

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// keySettings are the settings a first start fills with random values.
func keySettings() []string {
	return []string{"station_key", "sync_token", "social_admin_key", "source_password", "turn_secret"}
}

// withKeys fills every empty key of a settings text with 160 random bits.
// Hexadecimal: a key must survive URLs, XML, command lines and OBS's key field.
func withKeys(text []byte) ([]byte, error) {
	out := string(text)
	for _, name := range keySettings() {
		empty := "\n" + name + `: ""` + "\n"
		if !strings.Contains(out, empty) {
			return nil, fmt.Errorf("write keys: the example settings have no empty %s", name)
		}
		out = strings.Replace(out, empty, "\n"+name+`: "`+newKey()+"\"\n", 1)
	}
	return []byte(out), nil
}

// closed refuses a station whose controls anybody could use, unless that is said.
func (c *Config) closed() error {
	if c.StationKey != "" || c.Open {
		return nil
	}
	return fmt.Errorf("station_key: must not be empty: add station_key: %q, or say that no key is needed, so that whoever reaches the port steers the station: add open: true", newKey())
}

// readableByOthers warns of a settings file that other users of the machine can read.
func readableByOthers(path string) []string {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has mode %04o, so that other users of this machine may read its keys: chmod 600 %s", path, info.Mode().Perm(), path)}
}

func newKey() string {
	key := make([]byte, 20)
	_, _ = rand.Read(key) // never fails: it ends the program instead
	return hex.EncodeToString(key)
}
