package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/config"
)

func TestTheScreenSaysThatThereIsNoKey(t *testing.T) {
	for key, warned := range map[string]bool{"": true, "key": false} {
		cfg, _, err := config.Load(config.Source{DataDir: t.TempDir(), Env: []string{"STATION_KEY=" + key, "ATHIR_OPEN=true"}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		printScreen(&out, cfg, time.Second)
		if strings.Contains(out.String(), "WITHOUT A KEY") != warned {
			t.Errorf("key %q:\n%s", key, out.String())
		}
	}
}

// What serves the controls refuses to start without a key, unless that is said.
func TestNoRoleWithControlsStartsWithoutAKeyUnsaid(t *testing.T) {
	for _, role := range []string{"run", "control"} {
		t.Setenv("STATION_KEY", "") // the command takes it out of the environment
		if err := Main(t.Context(), Process{Version: "test", Args: []string{role, "--data", t.TempDir()}, Out: &bytes.Buffer{}}); err == nil || !strings.Contains(err.Error(), "station_key: must not be empty") {
			t.Errorf("%s: %v", role, err)
		}
	}
}
