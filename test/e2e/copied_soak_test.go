//go:build soak

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	run "github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/test/aircheck"
)

// A thousand files are copied into the media folder of a station on the air, with
// mastering on: all of them are registered and become fit, the rotation goes on, and
// nothing is heard of it. What taking them in costs is printed beside what ffmpeg alone
// takes to measure the same files, as a script would. ATHIR_E2E_TRACKS is another
// number of files.
func TestSoakAThousandFilesAreCopiedInOnTheAir(t *testing.T) {
	t.Parallel() // most of it is listening
	files, err := strconv.Atoi(os.Getenv("ATHIR_E2E_TRACKS"))
	if err != nil {
		files = 1000
	}
	s := newStation(t, withKeys, func(s *station) { s.env = append(s.env, "ATHIR_LIBRARY_MASTERING=true") })
	s.program = released(t)
	pieces := sample()
	record(t, s.media, pieces)
	sounds := distinct(t, 20)
	s.start().whole()
	s.atLeisure("its own files are decided", func() bool { left, _, _ := s.inLibrary(""); return left == 0 })
	ear := s.listen()
	s.eventually("something heard", func() bool { return ear.last(aircheck.Fine) >= 0 })

	began := time.Now()
	folder := filepath.Join(s.media, "shorts")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		data, err := os.ReadFile(sounds[i%len(sounds)])
		if err != nil {
			t.Fatal(err)
		}
		// As cp does it: under its own name from the first byte on. What follows the
		// audio tells the files apart.
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("copied %04d.mp3", i)), append(data, fmt.Sprintf("copy %d", i)...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copied := time.Since(began)
	s.atLeisure("all copied files are registered", func() bool {
		left, fit, _ := s.inLibrary("copied")
		return left+fit >= files+len(pieces)
	})
	registered := time.Since(began)
	left, _, n := s.inLibrary("copied")
	for left != 0 || n < 0 { // by itself, however long it takes
		was := left
		s.atLeisure("some more files are decided", func() bool { left, _, n = s.inLibrary("copied"); return left >= 0 && left < was || left == 0 })
	}
	decided := time.Since(began)
	if n != files {
		t.Errorf("%d of %d copied files are fit to air", n, files)
	}
	ear.stop()
	report := aircheck.Fine.Analyse(ear.PCM())
	heard := report.Gap.Length()
	if heard > maxGap {
		t.Errorf("a gap of %s at %s\n%s", heard, report.Gap.Start, s.around(ear, report.Gap))
	}

	alone := measuredAlone(t, sounds, files)
	t.Logf("%d files: copied in %.1f s, all registered after %.1f s, all decided after %.1f s; ffmpeg alone takes %.1f s to measure them, %.2f times as long; longest gap on the air %s",
		files, copied.Seconds(), registered.Seconds(), decided.Seconds(), alone.Seconds(), alone.Seconds()/decided.Seconds(), heard)
}

// measuredAlone is what ffmpeg takes on all processors to measure so many files that are like some.
func measuredAlone(t *testing.T, some []string, files int) time.Duration {
	t.Helper()
	began := time.Now()
	for _, sound := range some {
		if _, err := run.Output(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-nostats", "-i", sound, "-af", "ebur128=peak=true", "-f", "null", "-",
		}}, 64<<10); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(began) * time.Duration(files) / time.Duration(len(some)*runtime.NumCPU())
}

// inLibrary returns how many files are undecided, how many are fit to air, and how many
// of those have that in their name; all are -1 while the station does not answer.
func (s *station) inLibrary(name string) (waiting, fit, named int) {
	body, err := s.get("control", "/api/library?limit=1&q="+name)
	if err != nil {
		return -1, -1, -1
	}
	var l struct {
		Tracks, Total int
		Mastering     struct{ Waiting int }
	}
	if err := json.Unmarshal(body, &l); err != nil {
		return -1, -1, -1
	}
	return l.Mastering.Waiting, l.Tracks, l.Total
}

// distinct makes n sounds of 5 s.
func distinct(t *testing.T, n int) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		file := filepath.Join(dir, fmt.Sprintf("%d.mp3", i))
		if _, err := run.Output(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc=0.3*sin(%d*t*(1+0.2*sin(%d*t)))+0.05*sin(2*PI*400*t):d=5:s=44100", 2000+170*i, 3+i%7), "-b:a", "96k", file,
		}}, 64<<10); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
