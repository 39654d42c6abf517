package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

// A station goes on the air with the first few songs: they are to be there soon, and
// something of each category among them.
func TestTheFirstSongsAreSmallAndOfEveryCategory(t *testing.T) {
	tracks, _, err := packageTracks("/usr/share")
	if err != nil || len(tracks) < 12 {
		t.Fatalf("%d tracks (%v): run 'make deps'", len(tracks), err)
	}
	first, last := map[station.Category]bool{}, map[station.Category]int64{}
	for i, a := range tracks {
		c := folderCategory(a.path)
		first[c] = first[c] || i < 6
		if a.size < last[c] {
			t.Errorf("%s, %d bytes, comes after one of %d", a.path, a.size, last[c])
		}
		last[c] = a.size
	}
	for c, among := range first {
		if !among {
			t.Errorf("no song of %s is among the first six", c)
		}
	}
}

// What is generated takes the processor for a minute or more: it begins when the
// station says so, and then the music is all there.
func TestImagingWaitsUntilASongIsOnTheAir(t *testing.T) {
	two := func(a asset) bool { return a.path == "sfx/SFX_DROP_1.mp3" || a.credit.Title == "Transience" }
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	var before []string
	_, err := Build(ctx, Options{Dir: dir, only: two, BeforeImaging: func(ctx context.Context) error {
		before = audioFiles(dir)
		cancel() // the station ends before anything is heard
		<-ctx.Done()
		return ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the build ended with %v", err)
	}
	if len(before) != 1 || !strings.HasPrefix(before[0], "music/") {
		t.Fatalf("in place before the imaging: %v", before)
	}
	if after := audioFiles(dir); len(after) != 1 {
		t.Errorf("made although nothing was heard yet: %v", after)
	}
	info, err := os.Stat(filepath.Join(dir, before[0]))
	if err != nil {
		t.Fatal(err)
	}
	if age := time.Since(info.ModTime()); age < 30*time.Second {
		t.Errorf("a song of %s of age: a scanner takes it for one that is still written", age)
	}

	calls := 0
	count := func(context.Context) error { calls++; return nil }
	for range 2 {
		if _, err := Build(t.Context(), Options{Dir: dir, only: two, BeforeImaging: count}); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 1 {
		t.Errorf("waited %d times in a build with something left to make and one without", calls)
	}
	calls = 0
	if _, err := Build(t.Context(), Options{Dir: t.TempDir(), Share: t.TempDir(), only: two, BeforeImaging: count}); err != nil || calls != 0 {
		t.Errorf("waited %d times for music that no package has: %v", calls, err)
	}
}

// The copies are for the air; what is generated must not slow it.
func TestImagingIsMadeOneAtATimeAndNicely(t *testing.T) {
	dir := t.TempDir()
	b := &build{opt: Options{Dir: dir, Nice: 19}, temp: filepath.Join(dir, "temp")}
	if err := b.prepare(dir, nil); err != nil {
		t.Fatal(err)
	}
	var now, most atomic.Int32
	nice := map[Stage]int{}
	made := func(stage Stage, wait chan struct{}) (all []asset) {
		for i := range 4 {
			all = append(all, asset{path: fmt.Sprintf("sfx/%s %d.mp3", stage, i), make: func(_ context.Context, temp string, _ int) error {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				if i == 0 {
					raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
					if err != nil {
						return err
					}
					nice[stage] = 20 - raw // as the raw call has it
					close(wait)
				}
				<-wait
				return os.WriteFile(temp, []byte("sound"), 0o600)
			}})
		}
		return all
	}
	ours, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []Stage{Music, Imaging} {
		most.Store(0)
		if err := b.stage(t.Context(), stage, made(stage, make(chan struct{}))); err != nil {
			t.Fatal(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d pieces of imaging at a time", most.Load())
	}
	if nice[Imaging] != 19 || nice[Music] != 20-ours {
		t.Errorf("imaging at a niceness of %d and music at %d, where the test has %d", nice[Imaging], nice[Music], 20-ours)
	}
}

// A program of low priority may give nothing for a minute on a busy machine: that is no
// fault of the file, and the rest of the library must not stay away for it.
func TestWhatIsNotMadeInTimeIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	b := &build{opt: Options{Dir: dir}, temp: filepath.Join(dir, "temp")}
	if err := b.prepare(dir, nil); err != nil {
		t.Fatal(err)
	}
	attempts := 0
	slow := asset{path: "sfx/slow.mp3", make: func(_ context.Context, temp string, _ int) error {
		if attempts++; attempts < 3 {
			return fmt.Errorf("encode: %w", &ffmpeg.UnfinishedError{Path: temp, Reason: "ffmpeg decoded nothing for 1m0s"})
		}
		return os.WriteFile(temp, []byte("sound"), 0o600)
	}}
	if err := b.stage(t.Context(), Imaging, []asset{slow}); err != nil || attempts != 3 || b.report.Made != 1 {
		t.Errorf("%d attempts, %d made: %v", attempts, b.report.Made, err)
	}
	broken := asset{path: "sfx/broken.mp3", make: func(context.Context, string, int) error { attempts++; return errors.New("no such program") }}
	attempts = 0
	if err := b.stage(t.Context(), Imaging, []asset{broken}); err == nil || attempts != 1 {
		t.Errorf("%d attempts at what fails for another reason: %v", attempts, err)
	}
}
