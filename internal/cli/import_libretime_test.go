package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/import/importtest"
)

// A key may not read users there, so presenters come with an administrator's login alone. What is
// brought once is not brought again.
func TestImportBringsARunningLibreTime(t *testing.T) {
	server := importtest.NewLibre(20).Serve(t, false)
	secret := func(text string) string {
		name := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for kind, c := range map[string]struct {
		args   []string
		people int
	}{
		"login": {[]string{"--user", importtest.LibreUser, "--password-file", secret(importtest.LibrePassword)}, 3},
		"key":   {[]string{"--api-key-file", secret(importtest.LibreKey)}, 0},
	} {
		s, data := importtest.NewStation(t), dataDir(t)
		for range 2 {
			out, err := imports(t.Context(), t, s, data, append([]string{"libretime", server.URL, "--private"}, c.args...)...)
			if err != nil || len(s.Tracks) != 16 || len(s.Arrivals) != 16 || len(s.Lists) != 6 || len(s.People) != c.people {
				t.Errorf("%s: %v: %d tracks, %d files, %d playlists, %d people\n%s", kind, err, len(s.Tracks), len(s.Arrivals), len(s.Lists), len(s.People), out)
			}
		}
	}
	if out, err := imports(t.Context(), t, importtest.NewStation(t), dataDir(t), "libretime", server.URL, "--private", "--user", "admin", "--password-file", secret("no")); err == nil || !strings.Contains(err.Error(), "--password-file") {
		t.Errorf("another password: %v\n%s", err, out)
	}
}
