package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What scripts rely on: a JSON line for each file with these names, null for
// what is not known, and a failure when one file failed.
func TestMasterPrintsOneJSONLinePerFileAndFailsIfOneDid(t *testing.T) {
	dir := t.TempDir()
	good, dashed, bad := filepath.Join(dir, "one.wav"), filepath.Join(dir, "sub", "one.flac"), filepath.Join(dir, "bad.mp3")
	if err := os.Mkdir(filepath.Dir(dashed), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{good, dashed} {
		if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=440:d=1.5", path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile(bad, []byte("no sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	master := func(args ...string) (map[string]map[string]any, error) {
		t.Helper()
		var text bytes.Buffer
		err := Main(t.Context(), Process{Version: "test", Args: append([]string{"master", "-o", out, "--json"}, args...), Out: &text})
		lines := map[string]map[string]any{}
		for line := range strings.Lines(text.String()) {
			var l map[string]any
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if got := slices.Sorted(maps.Keys(l)); !slices.Equal(got, []string{"below_lu", "error", "gain_db", "i_lufs", "in", "lra_lu", "method", "out", "tp_dbtp"}) {
				t.Errorf("names %v", got)
			}
			lines[l["in"].(string)] = l
		}
		return lines, err
	}

	lines, err := master("--dry-run", good)
	if err != nil || lines[good]["i_lufs"].(float64) > -15 {
		t.Errorf("dry run: %v, %v", lines, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a dry run wrote something")
	}
	if lines, err = master("--", good, dashed, bad); err == nil || !strings.Contains(err.Error(), "1 of 3 files") {
		t.Errorf("with a file that is no sound: %v", err)
	}
	if l := lines[bad]; l["error"] == nil || l["out"] != nil || l["i_lufs"] != nil || l["method"] != nil {
		t.Errorf("the bad one: %v", l)
	}
	for path, name := range map[string]string{good: "one.mp3", dashed: "one-2.mp3"} {
		l := lines[path]
		if l["error"] != nil || l["out"] != filepath.Join(out, name) || l["method"] == nil {
			t.Fatalf("%s: %v", path, l)
		}
		if i := l["i_lufs"].(float64); i < -14.2 || i > -13.8 {
			t.Errorf("%s: %v", path, l)
		}
	}
	before, err := os.Stat(filepath.Join(out, "one.mp3"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := master(good)
	after, err2 := os.Stat(filepath.Join(out, "one.mp3"))
	if err != nil || err2 != nil || !os.SameFile(before, after) || again[good]["i_lufs"] != lines[good]["i_lufs"] {
		t.Errorf("made a second time: %v, %v, %v", again, err, err2)
	}
	if _, err := master("--profile=-9", good); err == nil {
		t.Error("a profile that there is not")
	}
	if _, err := master("--bitrate=100", good); err == nil {
		t.Error("a bit rate that there is not")
	}
}
