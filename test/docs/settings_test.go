package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/athir-radio/athir/internal/config"
)

// keys are those that a station refuses to be without.
const keys = `
station_key: key-of-the-tests
sync_token: token-of-the-tests
source_password: password-of-the-tests
turn_secret: secret-of-the-tests
`

// pages are the manuals' texts, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}

// Every example of settings is one that the station takes.
func TestTheSettingsOfTheManualsLoad(t *testing.T) {
	shown := 0
	for page, text := range pages(t) {
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatchIndex(text, -1) {
			shown++
			dir, line := t.TempDir(), strings.Count(text[:m[2]], "\n")+1
			settings := strings.ReplaceAll(text[m[2]:m[3]], "…", strings.Repeat("A", 35)) // a secret is left out there
			if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(settings+keys), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := config.Load(config.Source{DataDir: dir, Controls: true}); err != nil {
				t.Errorf("%s:%d: %v", page, line, err)
			}
		}
	}
	if shown < 5 {
		t.Errorf("only %d examples of settings: has the form of the manuals changed?", shown)
	}
}

// noSettings look like one and are a file, an event of webhooks or a part of station.json.
var noSettings = []string{"node.sock", "live.start", "live.stop", "live.streams", "bulletin.made"}

// Every setting that a sentence names is in the manual of the settings.
func TestTheManualsNameSettingsThatExist(t *testing.T) {
	var example map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "athir.example.yaml")), &example); err != nil {
		t.Fatal(err)
	}
	named := 0
	for page, text := range pages(t) {
		for n, line := range strings.Split(text, "\n") {
			for _, m := range regexp.MustCompile("`([a-z_]+)((?:\\.[a-z_]+)+)(?:: [^`]*)?`").FindAllStringSubmatch(line, -1) {
				section, isSection := example[m[1]].(map[string]any)
				if !isSection || slices.Contains(noSettings, m[1]+m[2]) {
					continue
				}
				named++
				var at any = section
				for _, key := range strings.Split(m[2][1:], ".") {
					within, _ := at.(map[string]any)
					var found bool
					if at, found = within[key]; !found {
						t.Errorf("%s:%d: there is no setting %s", page, n+1, m[1]+m[2])
						break
					}
				}
			}
		}
	}
	if named < 80 {
		t.Errorf("the manuals name only %d settings: has their form changed?", named)
	}
}
