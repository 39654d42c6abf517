package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every user of a machine can read the arguments of all its programs: none of the
// station's holds a key or a password of it.
func TestNoArgumentHoldsASecret(t *testing.T) {
	s := look(t)
	settings, err := os.ReadFile(filepath.Join(s.data, "athir.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{testSourcePassword, testStationKey, testSyncToken}
	for _, key := range regexp.MustCompile(`(?m)^[a-z_]+: "([0-9a-f]{40})"$`).FindAllSubmatch(settings, -1) {
		secrets = append(secrets, string(key[1]))
	}
	if len(secrets) != 3+5 {
		t.Fatalf("%d keys in the settings of a first start", len(secrets)-3)
	}
	seen := map[string]bool{}
	for _, p := range s.tree() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if err != nil {
			continue // gone meanwhile
		}
		seen[p.name] = true
		for _, secret := range secrets {
			if strings.Contains(string(line), secret) {
				t.Errorf("%s shows a secret: %q", p.name, strings.Split(string(line), "\x00"))
			}
		}
	}
	for _, name := range []string{"liquidsoap", "icecast2", "ffmpeg", "nginx", "athir"} {
		if !seen[name] {
			t.Errorf("%s was not looked at: %v", name, seen)
		}
	}
}
