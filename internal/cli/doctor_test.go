package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/app/doctor"
)

// The command ends with 0, 1 or 2, prints a table without colours where there is no
// terminal, or one JSON object.
func TestDoctorEndsWithItsVerdict(t *testing.T) {
	run := func(settings string, args ...string) (out string, code int) {
		dir := t.TempDir()
		if settings != "" {
			if err := os.WriteFile(filepath.Join(dir, "athir.yaml"), []byte("station_key: k\nsync_token: t\nsource_password: long-enough\n"+settings), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		err := Main(t.Context(), Process{Version: "test", Args: append([]string{"doctor", "--offline", "--data", dir}, args...), Out: &b})
		var coded exitError
		if errors.As(err, &coded) {
			code = coded.ExitCode()
		} else if err != nil {
			code = -1
		}
		return b.String(), code
	}
	if out, code := run(""); code != 2 || out != "" {
		t.Errorf("no station: %d\n%s", code, out)
	}
	out, code := run("nmae: أثير\n")
	if code != 1 || !strings.Contains(out, "wrong    settings") || !strings.Contains(out, "name") || strings.Contains(out, "\x1b") {
		t.Errorf("an unknown setting: %d\n%s", code, out)
	}
	out, _ = run("ports: {control: 27}\n", "--json")
	var r doctorReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Checks) < 30 || r.Checks[0].Name != "settings" || r.Checks[0].Verdict != doctor.OK {
		t.Errorf("%v\n%s", err, out)
	}
	if r.OK != (doctor.Count(r.Checks, doctor.Wrong) == 0) {
		t.Errorf("ok is %v\n%s", r.OK, out)
	}
}

// The list is longer than a screen: its last line names what needs somebody.
func TestTheLastLineOfDoctorNamesWhatIsWrong(t *testing.T) {
	var b bytes.Buffer
	if err := printResults(&b, false, []doctor.Result{
		{Name: "bus", Verdict: doctor.OK}, {Name: "clock", Verdict: doctor.Warning, Remedy: "set it"},
		{Name: "door hls", Verdict: doctor.Wrong, Remedy: "look"}, {Name: "database", Verdict: doctor.Wrong, Remedy: "restore"},
		{Name: "turn", Verdict: doctor.Skipped},
	}); err != nil {
		t.Fatal(err)
	}
	if want := "\n\n1 well, 1 warnings (clock), 2 wrong (door hls, database), 1 skipped\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("it ends with %q, want %q", b.String(), want)
	}
}
