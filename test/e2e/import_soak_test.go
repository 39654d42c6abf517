//go:build soak

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/test/aircheck"
)

// A station of LibreTime comes over with the files of all its tracks into a station on the air:
// the first of its songs is played while the others still come, all of them are fit to air in the
// end, and nothing is heard of it. What taking them in costs is printed beside what ffmpeg alone
// takes to measure the same sounds. ATHIR_E2E_TRACKS is another number of tracks than 5,000, which
// want 15 GB of the disk.
func TestSoakAnImportWithAllItsFilesOnTheAir(t *testing.T) {
	t.Parallel() // most of it is listening
	tracks, err := strconv.Atoi(os.Getenv("ATHIR_E2E_TRACKS"))
	if err != nil {
		tracks = 5000
	}
	s, air := importing(t)
	s.program = released(t)
	l, media, files := importtest.NewLibre(tracks), t.TempDir(), importedSongs(t, 8)
	for id := 1; id <= tracks; id++ {
		sound, err := os.ReadFile(files[(id-1)%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		artist, title := fmt.Sprintf("فنان %d", id%50), fmt.Sprintf("أغنية %d", id)
		if id == 1 {
			artist, title = "A", fmt.Sprint("tone ", firstImported) // files come in the order of their paths
		}
		// What follows the sound tells the files apart.
		recordLibre(t, l, media, id, artist, title, "mp3", slices.Concat(sound, fmt.Appendf(nil, "track %d", id)))
	}
	dump := libreDump(t, l)

	before := time.Now()
	came := make(chan string, 1)
	go func() {
		out, err := s.command("import", "libretime", dump, "--media", media, "--data", s.data, "--json")
		if err != nil {
			out = fmt.Sprintf("%v: %s", err, out)
		}
		came <- out
	}()
	s.playsImported()
	t.Logf("HEARD %s after the import began", air.hears(s, firstImported, before).Round(100*time.Millisecond))
	text := <-came
	lasted := time.Since(before)
	var report broughtOver
	if from := strings.Index(text, "{"); from < 0 || json.Unmarshal([]byte(text[from:]), &report) != nil {
		t.Fatalf("%.600s", text)
	}
	if left, fit, _ := s.inLibrary(""); left != 0 || fit < report.Copied {
		t.Errorf("of %d files that came, %d are fit to air and %d are undecided", report.Copied, fit, left)
	}
	const lost = 3 // hidden, broken, or deleted there
	if report.Copied != tracks-lost {
		t.Errorf("%d files came of %d: %v", report.Copied, tracks, report.Not)
	}
	air.stop()
	heard := aircheck.Fine.Analyse(air.PCM())
	if heard.Gap.Length() > maxGap {
		t.Errorf("a gap of %s at %s\n%s", heard.Gap.Length(), heard.Gap.Start, s.around(air, heard.Gap))
	}
	alone := measuredAlone(t, files, report.Copied)
	t.Logf("IMPORTED %d files of %d tracks in %.1f s; ffmpeg alone takes %.1f s to measure them, %.2f times as long; %d things did not come; longest gap on the air %s",
		report.Copied, tracks, lasted.Seconds(), alone.Seconds(), alone.Seconds()/lasted.Seconds(), len(report.Not), heard.Gap.Length())
}

// importedSongs are so many songs in MP3, the first with the tone of the one that is played.
func importedSongs(t *testing.T, n int) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		file := filepath.Join(dir, fmt.Sprintf("%d.mp3", i))
		if err := aircheck.WriteMP3(t.Context(), file, aircheck.Track{ID: firstImported + i, Scale: aircheck.Fine, Duration: 61 * time.Second}); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
