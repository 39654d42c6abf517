package playout_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/node/playout"
)

// An engine that runs takes other logins of its harbor, each until its time, and keeps its own.
func TestLoginsOfTheHarborChangeUnderTheEngine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Logins = []secret.Old{{Text: "fir#{st}"}}
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	o := r.offline()
	o.play(second)
	check := func(when string, want map[string]bool) {
		t.Helper()
		for password, ok := range want {
			// Whoever is known learns that nobody sends.
			got := r.entitle(password, url.Values{"mode": {"updinfo"}, "mount": {"/channel_live"}, "title": {"x"}})
			if (got == http.StatusNotFound) != ok || !ok && got != http.StatusUnauthorized {
				t.Errorf("%s: %q is answered %d", when, password, got)
			}
		}
	}
	check("before", map[string]bool{r.o.Password: true, "fir#{st}": true, "second": false, "": false, "0": false})
	next := r.o
	now := time.Unix(offlineStart, 0) // the script's clock, which goes on as it plays
	next.Logins = []secret.Old{{Text: "second"}, {Text: "fir#{st}", Until: now.Add(time.Hour)}, {Text: "ended", Until: now}}
	if err := playout.PutSecrets(next); err != nil {
		t.Fatal(err)
	}
	check("replaced", map[string]bool{r.o.Password: true, "fir#{st}": true, "second": true, "ended": false})
	next.Logins = []secret.Old{{Text: "third"}, {Text: "second", Until: now.Add(10 * time.Second)}}
	if err := playout.PutSecrets(next); err != nil {
		t.Fatal(err)
	}
	check("without the first", map[string]bool{r.o.Password: true, "third": true, "second": true, "fir#{st}": false})
	o.play(10 * second)
	check("after its time", map[string]bool{r.o.Password: true, "third": true, "second": false})

	// A script of a version before reads no file: whoever replaces a secret is told.
	script, err := os.ReadFile(r.o.Script())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.o.Script(), []byte(strings.ReplaceAll(string(script), "harbor.logins", "none")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := playout.PutSecrets(next); err == nil || !strings.Contains(err.Error(), playout.ErrOldScript.Error()) {
		t.Errorf("an engine of a version before: %v", err)
	}
}
