package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// settingsFile makes a data directory whose settings file holds text.
func settingsFile(t *testing.T, text string, mode os.FileMode) (dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

// An operator who empties the settings and follows the advice has a station with a key.
func TestAnEmptiedSettingsFileLeadsToNoStationWithoutAKey(t *testing.T) {
	dir := settingsFile(t, "\n", 0o600)
	_, _, err := Load(Source{DataDir: dir, Controls: true})
	if err == nil {
		t.Fatal("an empty settings file is a station that everybody steers")
	}
	var advice strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^(\w+): .*?: add (\w+: "\w+")`).FindAllStringSubmatch(err.Error(), -1) {
		if !strings.HasPrefix(line[2], line[1]+":") {
			t.Errorf("%s is told to be mended by %s", line[1], line[2])
		}
		advice.WriteString(line[2] + "\n")
	}
	cfg, _, err := Load(Source{DataDir: settingsFile(t, advice.String(), 0o600), Controls: true})
	if err != nil || len(cfg.StationKey) != 40 {
		t.Errorf("with the advice\n%s: %v", advice.String(), err)
	}
	for _, without := range [][]string{{"STATION_KEY="}, {"STATION_KEY=", "ATHIR_OPEN=false"}} {
		if _, _, err := Load(Source{DataDir: t.TempDir(), Controls: true, Env: without}); err == nil || !strings.Contains(err.Error(), "station_key: must not be empty") || !strings.Contains(err.Error(), "open: true") {
			t.Errorf("%v: %v", without, err)
		}
	}
	if cfg, _, err := Load(Source{DataDir: t.TempDir(), Controls: true, Env: []string{"STATION_KEY=", "ATHIR_OPEN=true"}}); err != nil || cfg.StationKey != "" {
		t.Errorf("said to be open: %v", err)
	}
	// A node or an edge has no controls.
	if _, _, err := Load(Source{DataDir: t.TempDir(), Env: []string{"STATION_KEY="}}); err != nil {
		t.Errorf("without controls: %v", err)
	}
}

// The guide's own settings, followed literally: beside the keys of a first start, and
// alone.
func TestTheSettingsOfTheScalingGuideMakeNoStationWithoutAKey(t *testing.T) {
	guide, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := strings.Join(regexp.MustCompile(`(?m)^[a-z_]+: "[0-9a-f]{40}"$`).FindAllString(string(filled(t)), -1), "\n")
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(blocks) != 5 {
		t.Fatalf("%d settings in the guide, want an edge's, the control plane's and the node's, and these with a spare", len(blocks))
	}
	cfg, _, err := Load(Source{DataDir: settingsFile(t, keys+"\n"+string(blocks[0][1]), 0o600)})
	if err != nil || cfg.Bus.Edge() != "cairo-2" {
		t.Errorf("the edge's settings: %v", err)
	}
	for i, block := range blocks[1:] {
		if _, _, err := Load(Source{DataDir: settingsFile(t, string(block[1]), 0o600), Controls: true}); err == nil || !strings.Contains(err.Error(), "station_key: must not be empty") {
			t.Errorf("settings %d alone: %v", i, err)
		}
		cfg, _, err := Load(Source{DataDir: settingsFile(t, keys+"\n"+string(block[1]), 0o600), Controls: true})
		if err != nil || !cfg.Node.Remote || cfg.StationKey == "" || cfg.Open {
			t.Errorf("settings %d beside the keys: %v", i, err)
		}
	}
}

func TestSettingsThatOthersReadAreWarnedOf(t *testing.T) {
	text := string(filled(t))
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o644: true, 0o640: true} {
		dir := settingsFile(t, text, mode)
		cfg, _, err := Load(Source{DataDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(strings.Join(cfg.Warnings, "\n"), "chmod 600 "+filepath.Join(dir, FileName)); warned != want {
			t.Errorf("mode %v: %q", mode, cfg.Warnings)
		}
	}
}

func TestVariablesThatAreNoSettingsAreNamedWithTheNearest(t *testing.T) {
	env := []string{"ATHIR_BNID=127.0.0.1", "ATHIR_STATION_KEYS=x", "ATHIR_HLS_SEGMENT=9", "ATHIR_DATA=/d", "ATHIR_ZZZ=1", "ATHIR_BIND=127.0.0.1", "PATH=/bin"}
	cfg, _, err := Load(Source{DataDir: t.TempDir(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(cfg.Warnings, "\n")
	want := `environment ATHIR_BNID: no such setting (did you mean ATHIR_BIND?): it does nothing
environment ATHIR_HLS_SEGMENT: no such setting (did you mean ATHIR_HLS_SEGMENTS?): it does nothing
environment ATHIR_STATION_KEYS: no such setting (did you mean ATHIR_STATION_KEY?): it does nothing
environment ATHIR_ZZZ: no such setting: it does nothing`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A value that cannot be read hides no other fault, of any kind.
func TestEveryWrongSettingIsNamedAtOnce(t *testing.T) {
	text := strings.NewReplacer(
		"control: 5000", "control: many", "Africa/Cairo", "Africa/Kairo", "segments: 8", "segments: [1, 2]", "language: ar", "language: fr", "mastering: true", "mastering: perhaps",
		"bind: 0.0.0.0", "bnid: 0.0.0.0",
	).Replace(string(filled(t)))
	_, err := Parse([]byte(text), nil, []string{"ATHIR_PORTS_CONTORL=1", "BULLETIN_HOURS=soon", "SOURCE_PASSWORD=short"})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`ports.control: must be a whole number, not "many"`, "timezone", "Africa/Kairo", "hls.segments: must be a whole number, not a list", `language: "fr"`, `library.mastering: must be true or false, not "perhaps"`, "bnid: no such setting (did you mean bind?)",
		"ATHIR_PORTS_CONTORL: no such port (did you mean ATHIR_PORTS_CONTROL?)", "bulletin.hours", "source_password: must have at least 8",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "strconv") || strings.Contains(err.Error(), "parse value") {
		t.Errorf("it speaks of Go, not of settings:\n%v", err)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 9 {
		t.Errorf("%d lines, want one for each of 9 faults:\n%v", len(lines), err)
	}
}
