package playout

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/test/aircheck"
)

// The loop is heard twice in a row: no silence, no seam, about -20 LUFS.
func TestEmergencyLoopIsQuietAndHasNoSeam(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "emergency.wav")
	if err := ensureEmergency(file); err != nil {
		t.Fatal(err)
	}
	twice := filepath.Join(t.TempDir(), "twice.wav")
	var said bytes.Buffer
	exit, err := proc.Run(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stderr: &said, Args: []string{
		"-nostdin", "-stream_loop", "1", "-i", file, "-af", "ebur128", twice,
	}}, nil)
	if err != nil || !exit.OK() {
		t.Fatal(err, exit, said.String())
	}
	found := regexp.MustCompile(`I:\s+(-[\d.]+) LUFS`).FindAllStringSubmatch(said.String(), -1)
	if len(found) == 0 {
		t.Fatal(said.String())
	}
	if lufs, _ := strconv.ParseFloat(found[len(found)-1][1], 64); lufs < -21 || lufs > -19 {
		t.Errorf("loudness %.1f LUFS", lufs)
	}
	pcm, err := aircheck.Capture(t.Context(), twice, (emergencySeconds+2)*1e9)
	if err != nil {
		t.Fatal(err)
	}
	if report := aircheck.Analyse(pcm, 0); len(report.Clicks) > 0 || report.Gap.Length() > 0 {
		t.Errorf("in the loop, or at its seam %d s in: %s", emergencySeconds, report)
	}
}
