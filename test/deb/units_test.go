package deb

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// exposure is what systemd-analyze may find at most, in tenths: 2.5.
const exposure = "25"

func units(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "deploy/systemd/*.service"))
	if err != nil || len(found) < 6 {
		t.Fatalf("found the units %q: %v", found, err)
	}
	return found
}

func TestUnitsAreSoundAndConfined(t *testing.T) {
	for _, unit := range units(t) {
		// The program is not where the package puts it, nor is the manual.
		body := strings.ReplaceAll(text(t, "deploy/systemd/"+filepath.Base(unit)), "/usr/bin/athir", "/bin/true")
		copied := filepath.Join(t.TempDir(), filepath.Base(unit))
		if err := os.WriteFile(copied, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", copied).CombinedOutput()
		if err != nil || strings.Contains(string(out), filepath.Base(unit)) {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
		out, err = exec.Command("systemd-analyze", "security", "--no-pager", "--offline=yes", "--threshold="+exposure, copied).CombinedOutput()
		if err != nil {
			t.Errorf("%s is more exposed than 2.5: %v\n%s", unit, err, out)
		}
		t.Log(regexp.MustCompile(`Overall exposure.*`).FindString(string(out)))
	}
}

// The sandbox is written out in each unit, so that systemctl cat shows all of it; this
// keeps it one.
func TestEveryUnitHasTheSameSandbox(t *testing.T) {
	first := ""
	for _, unit := range units(t) {
		_, after, ok := strings.Cut(text(t, "deploy/systemd/"+filepath.Base(unit)), "\n# The sandbox:")
		box, _, closed := strings.Cut(after, "\n[Install]")
		if !ok || !closed {
			t.Fatalf("%s has no sandbox", unit)
		}
		if first == "" {
			first = box
		}
		if box != first {
			t.Errorf("%s has another sandbox than the first unit", unit)
		}
	}
}

func TestUnitsRunTheRoleOfTheirName(t *testing.T) {
	for _, unit := range units(t) {
		role := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(unit), ".service"), "athir-")
		if role == "athir" {
			role = "run"
		}
		body := text(t, "deploy/systemd/"+filepath.Base(unit))
		for _, want := range []string{"\nExecStart=/usr/bin/athir " + role + " --data /var/lib/athir", "\nUser=athir\n", "\nType=notify\n", "\nRestart=always\n", "\nEnvironmentFile=-/etc/default/athir\n"} {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", unit, want)
			}
		}
	}
}
