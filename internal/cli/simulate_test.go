package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func simulated(t *testing.T, ctx context.Context, args ...string) (string, error) { //nolint:revive // as the tests read
	t.Helper()
	var out bytes.Buffer
	err := Main(ctx, Process{Version: "test", Args: append([]string{"simulate"}, args...), Out: &out})
	return out.String(), err
}

func TestSimulateNamesTheFlagThatIsWrong(t *testing.T) {
	dir := t.TempDir()
	wrong := filepath.Join(dir, "wrong.json")
	if err := os.WriteFile(wrong, []byte(`{"ROTATION": {"BUFFER_MAX": 0, "BUFFER": 3}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const library = "--library=synthetic:20"
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"--library DIR", "synthetic:300", "--data DIR"}},
		{[]string{"--library=synthetic:0"}, []string{"--library", "1 to 2000000"}},
		{[]string{"--library=synthetic:many"}, []string{"--library", "synthetic:N"}},
		{[]string{"--library", filepath.Join(dir, "none")}, []string{"--library", "none", "folder that can be read"}},
		{[]string{"--library", dir}, []string{"--library", "no audio"}},
		{[]string{"--data", dir}, []string{"--data", "athir.yaml"}},
		{[]string{library, "--config", filepath.Join(dir, "none.json")}, []string{"--config", "none.json"}},
		{[]string{library, "--config", wrong}, []string{"--config", "BUFFER_MAX", "ROTATION.BUFFER:"}},
		{[]string{library, "--days=0"}, []string{"--days=0", "1 to"}},
		{[]string{library, "--seeds=0"}, []string{"--seeds=0"}},
		{[]string{library, "--from=yesterday"}, []string{"--from=yesterday", "2026-04-06"}},
		{[]string{library, "--zone=Cairo"}, []string{"--zone=Cairo", "Africa/Cairo"}},
		{[]string{library, "--trouble=fire=3"}, []string{"--trouble=fire", "skip, play, live"}},
		{[]string{library, "--posts=-1"}, []string{"--posts=-1", "0 to 100000"}},
		{[]string{library, "--requests=1001"}, []string{"--requests=1001", "0 to 1000"}},
		{[]string{library, "--explain=few"}, []string{"few", "--explain=50"}},
		{[]string{library, "--explain", "--json"}, []string{"--explain", "--airlog"}},
		{[]string{library, "--airlog", filepath.Join(dir, "no", "such", "dir")}, []string{"--airlog", "no such file"}},
		{[]string{library, "--airlog", dir}, []string{"--airlog", "is a directory"}},
	} {
		out, err := simulated(t, t.Context(), c.args...)
		if err == nil {
			t.Errorf("%v: no error; printed %.200s", c.args, out)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v: %q does not name %q", c.args, err, w)
			}
		}
	}
}

// wave is a minute of silence.
func wave(t *testing.T, path string) {
	t.Helper()
	const rate = 8000
	samples := make([]byte, 60*rate)
	for i := range samples {
		samples[i] = 128
	}
	var b bytes.Buffer
	b.WriteString("RIFF")
	u32 := func(n int) { _ = binary.Write(&b, binary.LittleEndian, uint32(n)) } //nolint:gosec // small
	u16 := func(n int) { _ = binary.Write(&b, binary.LittleEndian, uint16(n)) } //nolint:gosec // small
	u32(36 + len(samples))
	b.WriteString("WAVEfmt ")
	u32(16)
	u16(1)
	u16(1)
	u32(rate)
	u32(rate)
	u16(1)
	u16(8)
	b.WriteString("data")
	u32(len(samples))
	b.Write(samples)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSimulateReadsAFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"arabic_hits/A - one.wav", "arabic_hits/B - two.wav", "english/C - three.wav"} {
		wave(t, filepath.Join(dir, name))
	}
	log := filepath.Join(t.TempDir(), "air.tsv")
	out, err := simulated(t, t.Context(), "--library", dir, "--days=1", "--json", "--airlog", log)
	if err != nil {
		t.Fatal(err)
	}
	var rep struct{ Tracks, Entries int }
	if err := json.Unmarshal([]byte(out), &rep); err != nil || rep.Tracks != 3 {
		t.Errorf("%v; %.300s", err, out)
	}
	text, err := os.ReadFile(log) //nolint:gosec // ours
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != rep.Entries+1 {
		t.Errorf("%d lines for %d entries", n, rep.Entries)
	}
	if !strings.Contains(string(text), "\tenglish\tenglish/C - three.wav\tC\tthree\t60.000\t") {
		t.Errorf("the third song is not in the log: %.400s", text)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("the folder was written to: %v", left)
	}
}

// A station's registry, configuration and time zone, without touching it.
func TestSimulateReadsAStation(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"arabic_hits/A - one.wav", "english/B - two.wav", "english/C - three.wav"} {
		wave(t, filepath.Join(dir, name))
	}
	var out bytes.Buffer
	if err := Main(t.Context(), Process{Version: "test", Args: []string{"scan", "--data", data, "--media", dir, "--json"}, Out: &out}); err != nil {
		t.Fatal(err)
	}
	doc := `{"DAYPARTS": [{"name": "always", "start": "00:00", "end": "24:00", "hard": "english"}]}`
	if err := os.WriteFile(filepath.Join(data, "station.json"), []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := simulated(t, t.Context(), "--data", data, "--days=1", "--json", "--from=2026-07-01")
	if err != nil {
		t.Fatal(err)
	}
	var rep struct {
		Tracks int
		Shares map[string]any
	}
	if err := json.Unmarshal([]byte(text), &rep); err != nil || rep.Tracks != 3 || len(rep.Shares) != 1 || rep.Shares["always"] == nil {
		t.Errorf("%v: %.500s", err, text)
	}
}

// Scripts get one object a run, on standard output alone.
func TestSimulatePrintsOneObjectForEachRun(t *testing.T) {
	out, err := simulated(t, t.Context(), "--library=synthetic:60", "--days=2", "--seeds=3", "--json")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines for three seeds", len(lines))
	}
	for _, line := range lines {
		var rep struct {
			Days, Entries int
			Violations    map[string]int
			Build         struct{ P50, P99 float64 } `json:"build_ms"`
		}
		if err := json.Unmarshal([]byte(line), &rep); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		if _, ok := rep.Violations["total"]; rep.Days != 2 || rep.Entries < 500 || !ok {
			t.Errorf("%+v", rep)
		}
	}
}

func TestSimulateExplainsEachEntry(t *testing.T) {
	out, err := simulated(t, t.Context(), "--library=synthetic:200", "--days=1", "--explain=40")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(out, " looked at") != 40 || !strings.Contains(out, "passed over by ") {
		t.Errorf("printed %.600s", out)
	}
}

func TestSimulateStopsWhenItIsTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	log := filepath.Join(dir, "air.tsv")
	if err := os.WriteFile(log, []byte("the last one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := simulated(t, ctx, "--library=synthetic:60", "--days=3000", "--airlog", log); err != nil || out != "" {
		t.Errorf("%v, printed %.200s", err, out)
	}
	left, _ := os.ReadDir(dir)
	if text, err := os.ReadFile(log); err != nil || string(text) != "the last one" || len(left) != 1 { //nolint:gosec // ours
		t.Errorf("left %v, %q, %v", left, text, err)
	}
}
