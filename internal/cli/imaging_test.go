package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// What scripts rely on: a JSON line for each asset with these names, and files
// where the lines say.
func TestImagingPrintsOneJSONLinePerAsset(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "media")
	var out strings.Builder
	err := Main(t.Context(), Process{Version: "test", Args: []string{"imaging", "--out", dir, "--kind", "drop", "--count", "1", "--seed", "7", "--offline", "--json"}, Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	if err := Main(t.Context(), Process{Version: "test", Args: []string{"imaging", "--out", dir, "--design", "blip-up", "--design=ZAP", "--seed", "7", "--offline", "--json"}, Out: &out}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	kinds := map[string]int{}
	for _, line := range lines {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		path, _ := got["path"].(string)
		info, err := ffmpeg.Probe(t.Context(), path)
		if err != nil || info.Codec != "mp3" || info.Tags["artist"] != "Break" {
			t.Errorf("%s: %+v, %v", path, info, err)
		}
		lufs, peak := got["i_lufs"].(float64), got["tp_dbtp"].(float64)
		most := -13.5
		if got["kind"] == "stinger" {
			most = -7.5
		}
		if lufs < -14.5 || lufs > most || peak > -1.5 || got["seconds"].(float64) <= 0 || got["order_seed"] != 7.0 || got["seed"] == nil {
			t.Errorf("%s", line)
		}
		kind := got["kind"].(string)
		if d, ok := got["design"].(string); ok {
			kind += " " + d
		}
		kinds[kind]++
		if voiced := got["kind"] == "voice_drop"; voiced != (got["voice"] == "espeak-ng:ar" && got["text"] != "") {
			t.Errorf("%s", line)
		}
	}
	if kinds["voice_drop"] != 1 || kinds["stinger BLIP_UP"] != 1 || kinds["stinger ZAP"] != 1 {
		t.Errorf("kinds: %v", kinds)
	}
}

func TestImagingDryRunMakesNothing(t *testing.T) {
	dir, music := filepath.Join(t.TempDir(), "media"), t.TempDir()
	var out strings.Builder
	err := Main(t.Context(), Process{Version: "test", Args: []string{"imaging", "--out", dir, "--seed", "3", "--songs", music, "--dry-run"}, Out: &out})
	if err != nil || !strings.Contains(out.String(), "2 sweepers, 1 drops over a song, 1 over a whoosh, 2 IDs, 16 stingers") {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

func TestImagingRefusalsNameTheFlag(t *testing.T) {
	for _, wrong := range []struct{ flag, remedy string }{
		{"--kind=jingle", "must be sweeper"},
		{"--count=-1", "from 0 to 200"},
		{"--seed=many", "--seed"},
		{"--design=BOING", "RISER"},
		{"--songs=/nowhere", "name one"},
		{"--station=", "--station"},
	} {
		var out strings.Builder
		err := Main(t.Context(), Process{Version: "test", Args: []string{"imaging", "--out", t.TempDir(), wrong.flag}, Out: &out})
		name, _, _ := strings.Cut(wrong.flag, "=")
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), wrong.remedy) {
			t.Errorf("%s: %v", wrong.flag, err)
		}
	}
}
