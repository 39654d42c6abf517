package config

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
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

func newKey() string {
	key := make([]byte, 20)
	_, _ = rand.Read(key) // never fails: it ends the program instead
	return hex.EncodeToString(key)
}
