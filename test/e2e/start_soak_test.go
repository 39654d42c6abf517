//go:build soak

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	run "github.com/athir-radio/athir/internal/kit/proc"
)

// What the measure of first starts takes from the environment.
const (
	startsVar = "ATHIR_STARTS" // of each case, 10
	listenVar = "ATHIR_LISTEN" // how long each is listened to, 1m
	loopsVar  = "ATHIR_LOOPS"  // busy loops beside a starved one, 8
	// ownVar is a folder of one's own music to start with; one is made where it is empty.
	ownVar = "ATHIR_OWN"
	// programVar is another build of athir to measure, such as one from before a change.
	programVar = "ATHIR_PROGRAM"
)

const (
	// songHeard is how long a first song is listened to at least: its loudness is that of
	// this stretch.
	songHeard = 30 * time.Second
	// untilSong is how long a first song is waited for.
	untilSong = 8 * time.Minute
	// off is how far (LU) the first song may be from the loudness that its category is
	// mastered to, and mostPeak (dBTP) what nothing that is heard may exceed.
	off      = 1.5
	mostPeak = -1.0
)

// First starts of a station with an empty data folder, as a listener hears them who is
// there from the first byte: with the demo library, and with a folder of one's own music
// that the station has never seen; on a quiet machine, and beside busy loops. What the
// machine decides, the seconds, is printed. What must be so is asserted: the first thing
// heard is a song, at its loudness, with no alarm of dead air.
func TestSoakFirstStarts(t *testing.T) {
	program := released(t)
	starts, loops := number(t, startsVar, 10), number(t, loopsVar, 8)
	listen, err := time.ParseDuration(envOr(listenVar, "1m"))
	if err != nil || listen < songHeard || listen > 15*time.Minute {
		t.Fatalf("%s=%s: must be a duration from %s to 15m", listenVar, os.Getenv(listenVar), songHeard)
	}
	own := os.Getenv(ownVar) // else made once
	songs := &shelf{prints: map[string][]uint32{}}
	var table []string
	for _, c := range []struct {
		name       string
		demo, busy bool
	}{{"demo, quiet", true, false}, {"own music, quiet", false, false}, {"demo, starved", true, true}, {"own music, starved", false, true}} {
		var all []firstStart
		for i := range starts {
			t.Run(fmt.Sprintf("%s %d", c.name, i+1), func(t *testing.T) {
				s := newStation(t, asShipped)
				s.program = program
				if c.demo {
					s.args = []string{"--demo"}
				} else {
					if own == "" {
						own = ownMusic(t, filepath.Dir(binary))
					}
					linked(t, own, s.media)
				}
				calm := func() {}
				if c.busy {
					calm = beside(t, loops)
				}
				f := s.firstStart(listen, songs, calm)
				t.Logf("FIRST START %s: %s", c.name, f)
				all = append(all, f)
				f.judge(t)
			})
		}
		if len(all) > 0 {
			table = append(table, row(c.name, all))
		}
	}
	for _, line := range append(slices.Clone(tableHead), table...) {
		t.Log(line)
	}
}

// released is the program that people run, without the race detector, which takes several
// times the machine: the seconds are to be theirs.
func released(t *testing.T) string {
	t.Helper()
	program := os.Getenv(programVar)
	if program == "" {
		program = filepath.Join(t.TempDir(), "athir")
		if err := compile(program, false); err != nil {
			t.Fatal(err)
		}
	}
	return program
}

// asShipped has the settings that a station starts with: what other tests switch off
// competes with the first song, too. There is no network here, though.
func asShipped(s *station) {
	s.env = slices.DeleteFunc(s.env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"ATHIR_TIMEZONE", "ATHIR_LIBRARY_MASTERING", "BULLETIN_HOURS", "CONTENT_REFRESH_HOURS", "ATHIR_GUARD_ENABLED"}, name)
	})
	if err := os.Remove(filepath.Join(s.data, "station.json")); err != nil {
		s.t.Fatal(err)
	}
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(envOr(name, strconv.Itoa(otherwise)))
	if err != nil || n < 1 || n > 1000 {
		t.Fatalf("%s=%s: must be a number from 1 to 1000", name, os.Getenv(name))
	}
	return n
}

// beside runs n busy loops until calm is called or the test ends.
func beside(t *testing.T, n int) (calm func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := run.Run(ctx, run.Spec{Name: "busy loop", Path: "sh", Args: []string{"-c", "while :; do :; done"}}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	calm = func() { cancel(); wg.Wait() }
	t.Cleanup(calm)
	return calm
}

// linked puts the files of a folder into another one, each under its own name at once.
func linked(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path) // a path below from
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if err := os.Link(path, filepath.Join(to, rel)); !errors.Is(err, syscall.EXDEV) {
			return err
		}
		return copied(path, filepath.Join(to, rel))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copied copies a file, as old as it is.
func copied(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, data, 0o600), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

const symphony = "the_dangerous_symphony.ogg"

// ownMusic makes a folder of about 40 songs of 50 to 330 s as somebody's own folder has
// them: in many formats, with and without tags, far too quiet up to pressed against full
// scale; with a few jingles, sweepers and an advertisement.
func ownMusic(t *testing.T, dir string) string {
	t.Helper()
	dir = filepath.Join(dir, "own")
	var found []string
	for _, folder := range []string{"games/wesnoth/1.16/data/core/music/*.ogg", "games/singularity/music/*.ogg"} {
		files, _ := filepath.Glob(filepath.Join("/usr/share", folder)) // the pattern is sound
		found = append(found, files...)
	}
	kinds := []struct {
		ext    string
		encode []string
	}{
		{"mp3", []string{"-c:a", "libmp3lame", "-b:a", "128k"}}, {"ogg", []string{"-c:a", "libvorbis", "-q:a", "4"}}, {"flac", []string{"-c:a", "flac"}},
		{"mp3", []string{"-c:a", "libmp3lame", "-q:a", "4"}}, {"wav", []string{"-c:a", "pcm_s16le"}}, {"m4a", []string{"-c:a", "aac", "-b:a", "128k"}},
	}
	levels := []string{"volume=-9dB", "anull", "volume=6dB,alimiter=limit=0.98:level=false", "volume=-18dB", "volume=-3dB"}
	folders := []string{"music/english", "music/arabic_hits", "music/english", "music/mashups", "Some Artist/Some Album"}
	var jobs [][]string // arguments of ffmpeg, the file last
	n := 0
	for _, file := range found {
		seconds := length(t, file)
		if seconds < 50 || seconds > 330 || filepath.Base(file) == symphony {
			continue
		}
		kind := kinds[n%len(kinds)]
		args := []string{"-i", file, "-map", "0:a:0", "-af", levels[n%len(levels)], "-ar", "44100"}
		if name := strings.TrimSuffix(filepath.Base(file), ".ogg"); n%3 == 0 {
			args = append(args, "-map_metadata", "-1")
		} else {
			args = append(args, "-metadata", "title="+name, "-metadata", fmt.Sprintf("artist=Artist %d", n%9))
		}
		jobs = append(jobs, append(append(args, kind.encode...), filepath.Join(dir, folders[n%len(folders)], fmt.Sprintf("own song %02d.%s", n, kind.ext))))
		n++
	}
	if n < 30 {
		t.Fatalf("%d songs of 50 to 330 s found in Debian's packages: run 'make deps'", n)
	}
	// The imaging is cut out of music that is none of the songs.
	for i, c := range []struct{ file, from, seconds, to string }{
		{"vengeful.ogg", "20", "6", "jingles/SIG_JINGLE_1.mp3"}, {"vengeful.ogg", "90", "7", "jingles/SIG_JINGLE_2.mp3"}, {"vengeful.ogg", "160", "5", "jingles/SIG_JINGLE_3.wav"},
		{symphony, "30", "8", "sweepers/sweep one.mp3"}, {symphony, "100", "9", "sweepers/sweep two.mp3"},
		{symphony, "200", "18", "ads/our shop.mp3"},
	} {
		jobs = append(jobs, []string{"-ss", c.from, "-t", c.seconds, "-i", "/usr/share/games/wesnoth/1.16/data/core/music/" + c.file, "-map_metadata", "-1", "-af", levels[i%len(levels)], filepath.Join(dir, c.to)})
	}
	long := time.Now().Add(-30 * 24 * time.Hour)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for _, args := range jobs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			file := args[len(args)-1]
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Error(err)
				return
			}
			if _, err := run.Output(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: append([]string{"-v", "error", "-nostdin", "-y"}, args...)}, 64<<10); err != nil {
				t.Errorf("make %s: %v", file, err)
				return
			}
			if err := os.Chtimes(file, long, long); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return dir
}

func length(t *testing.T, file string) float64 {
	t.Helper()
	out, err := run.Output(t.Context(), run.Spec{Name: "ffprobe", Path: "ffprobe", Args: []string{
		"-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file,
	}}, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return seconds
}
