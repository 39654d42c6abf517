package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/test/aircheck"
)

// A backup is made under the air; then database, configuration and settings are damaged
// and the control plane is killed. Music goes on, the port says what is wrong and how it is
// mended, and after that command all that was acknowledged before the backup is back.
func TestADamagedStationIsRestoredUnderTheAir(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, steady).start()
	s.whole()
	if code, text := s.call(http.MethodPost, "control", "/api/comments", "", `{"name":"نور","text":"before"}`); code != http.StatusOK && code != http.StatusCreated {
		t.Fatalf("a comment: %d %s", code, text)
	}
	if code, text := s.operate(http.MethodPost, "/api/station/config/save", ""); code != http.StatusOK {
		t.Fatalf("save: %d %s", code, text)
	}
	var made struct {
		File  string
		Files int
	}
	if err := json.Unmarshal([]byte(s.athir("backup", "--data", s.data, "--json")), &made); err != nil || made.Files < 3 {
		t.Fatalf("%+v, %v", made, err)
	}
	ear := s.listen()
	air := s.pids("liquidsoap", "icecast")
	control := s.pids("control")[0]
	for name, text := range map[string]string{"athir.db": strings.Repeat("damaged ", 4096), "station.json": `{"ROTATION":`, "athir.yaml": "name: [\n"} {
		if err := os.WriteFile(filepath.Join(s.data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(s.data, "athir.db-wal"), 0); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(control, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.eventually("the control plane says what is wrong", func() bool {
		code, text := s.call(http.MethodGet, "control", "/healthz", "", "")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "athir.db is damaged")
	})
	if code, _ := s.call(http.MethodGet, "control", "/ping", "", ""); code != http.StatusOK {
		t.Errorf("/ping: %d", code)
	}
	damaged := func() int {
		return s.logged("level=ERROR", "athir.db is damaged", "athir restore --control", made.File)
	}
	s.eventually("the log says what is wrong, and with what it is mended", func() bool {
		return damaged() > 0 && s.logged("level=ERROR", "the settings cannot be used", "line 1") > 0
	})
	if n := damaged(); n != 1 {
		t.Errorf("the log says %d times what is wrong", n)
	}
	s.athir("restore", "--control", "--yes", "--data", s.data, made.File)
	s.whole()
	if code, text := s.call(http.MethodGet, "control", "/api/comments", "", ""); code != http.StatusOK || !strings.Contains(text, "before") {
		t.Errorf("after the restore: %d %s", code, text)
	}
	if after := s.pids("liquidsoap", "icecast"); !slices.Equal(after, air) {
		t.Errorf("processes of the air %v became %v", air, after)
	}
	ear.stop()
	if report := aircheck.Coarse.Analyse(ear.PCM()); report.Gap.Length() > 200*time.Millisecond {
		t.Errorf("a gap of %s", report.Gap.Length())
	}
	s.eventually("the log says once that it started again by itself", func() bool { return s.logged("database is another file now") == 1 })
	if text, err := os.ReadFile(filepath.Join(s.data, config.FileName)); err != nil || string(text) != "name: [\n" {
		t.Errorf("the settings under a running node became %q (%v)", text, err)
	}
}

// athir runs a command of the program and returns its output.
func (s *station) athir(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(s.program, args...)
	cmd.Env = append(os.Environ(), s.env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("athir %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}
