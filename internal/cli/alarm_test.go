package cli

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// The command sends from the settings alone, station or not, says what came of each
// receiver, and shows no secret.
func TestAlarmsAreTriedFromTheSettings(t *testing.T) {
	var asked atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case strings.HasPrefix(r.URL.Path, "/hook"):
			w.WriteHeader(http.StatusNoContent)
		case strings.HasPrefix(r.URL.Path, "/beat"):
		default:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"ok":false,"error_code":401,"description":"Unauthorized"}`)
		}
	}))
	defer service.Close()
	run := func(settings string, args ...string) (string, error) {
		dir := t.TempDir()
		text := "source_password: long-enough\nsync_token: x\nlanguage: en\nalarms:\n  allow_private: true\n" + strings.ReplaceAll(settings, "AT", service.URL)
		if err := os.WriteFile(filepath.Join(dir, "athir.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := Main(t.Context(), Process{Version: "test", Args: append([]string{"alarm", "test", "--data", dir}, args...), Out: &out})
		return out.String(), err
	}
	const well = "  discord: {url: \"AT/hook-secret\"}\n  heartbeat: {url: \"AT/beat-secret\"}\n"
	out, err := run(well)
	if err != nil || strings.Count(out, "sent") != 2 || asked.Load() != 2 {
		t.Errorf("%v, asked %d times:\n%s", err, asked.Load(), out)
	}
	out, err = run(well + "  telegram: {token: \"12345:AAF-secret-token\", chat: \"1\", server: \"AT\"}\n")
	if !errors.Is(err, errUntold) || !strings.Contains(out, "→ alarms.telegram.token") || strings.Contains(out, "secret") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = run(well, "--json")
	if err != nil || !strings.Contains(out, `"receiver":"heartbeat","sent":true`) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = run("  per_hour: 5\n"); err == nil || !strings.Contains(err.Error(), "no receiver is set up") {
		t.Errorf("without receivers: %v\n%s", err, out)
	}
	if err := Main(t.Context(), Process{Version: "test", Args: []string{"alarm", "test", "--data", t.TempDir()}, Out: io.Discard}); err == nil || !strings.Contains(err.Error(), "no station") {
		t.Errorf("without a station: %v", err)
	}
}
