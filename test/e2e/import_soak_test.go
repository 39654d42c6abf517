//go:build soak

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/import/importtest"
	run "github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/test/aircheck"
)

// A station of LibreTime comes over with the files of all its tracks into a station on the air:
// the first of its songs is played while the others still come, all of them are fit to air in the end, and
// nothing is heard of it. What taking them in costs is printed beside what ffmpeg alone takes to
// measure the same sounds. ATHIR_E2E_TRACKS is another number of tracks than 5,000.
func TestSoakAnImportWithAllItsFilesOnTheAir(t *testing.T) {
	t.Parallel() // most of it is listening
	tracks, err := strconv.Atoi(os.Getenv("ATHIR_E2E_TRACKS"))
	if err != nil {
		tracks = 5000
	}
	s, air := importing(t)
	s.program = released(t)
	l, media, sounds := importtest.NewLibre(tracks), t.TempDir(), importedSongs(t, 8)
	for id := 1; id <= tracks; id++ {
		sound := sounds[(id-1)%len(sounds)]
		artist, title := fmt.Sprintf("فنان %d", id%50), fmt.Sprintf("أغنية %d", id)
		if id == 1 {
			artist, title = "A", fmt.Sprint("tone ", firstImported) // files come in the order of their paths
		}
		// What follows the sound tells the files apart.
		l.Record(id, artist, title, "mp3", 61, slices.Concat(sound, []byte(fmt.Sprintf("track %d", id))))
		at := filepath.Join(media, l.Path(id))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, l.Files[id], 0o600); err != nil {
			t.Fatal(err)
		}
		delete(l.Files, id) // gigabytes
	}
	dump := filepath.Join(t.TempDir(), "libretime.sql")
	if err := os.WriteFile(dump, l.Dump(importtest.LibreCopy), 0o600); err != nil {
		t.Fatal(err)
	}

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
	began := time.Now()
	for i := range sounds {
		if _, err := run.Output(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-nostats", "-i", filepath.Join(media, l.Path(i+1)), "-af", "ebur128=peak=true", "-f", "null", "-",
		}}, 64<<10); err != nil {
			t.Fatal(err)
		}
	}
	alone := time.Since(began) * time.Duration(report.Copied) / time.Duration(len(sounds)*runtime.NumCPU())
	t.Logf("IMPORTED %d files of %d tracks in %.1f s; ffmpeg alone takes %.1f s to measure them, %.2f times as long; %d things did not come; longest gap on the air %s",
		report.Copied, tracks, lasted.Seconds(), alone.Seconds(), alone.Seconds()/lasted.Seconds(), len(report.Not), heard.Gap.Length())
}

// importedSongs are so many songs in MP3, the first with the tone of the one that is played: at less
// than 128 kbit/s the encoder takes the tones away.
func importedSongs(t *testing.T, n int) (all [][]byte) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		wav, mp3 := filepath.Join(dir, "song.wav"), filepath.Join(dir, "song.mp3")
		if err := os.WriteFile(wav, importedSong(t, firstImported+i), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Output(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{"-v", "error", "-y", "-i", wav, "-b:a", "128k", mp3}}, 64<<10); err != nil {
			t.Fatal(err)
		}
		sound, err := os.ReadFile(mp3)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sound)
	}
	return all
}
