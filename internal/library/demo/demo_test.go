package demo

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"

	"go.uber.org/goleak"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// childDir, set in the environment, makes this test binary a program that
// builds the library there, for a test to kill.
const childDir = "ATHIR_TEST_DEMO_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		_, err := Build(context.Background(), Options{Dir: dir, Log: slog.Default(), only: sample, Progress: func(p Progress) {
			if p.Stage == Imaging && p.Done == 3 {
				fmt.Println("here")
				select {}
			}
		}})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(0)
	}
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if library.dir != "" {
		_ = os.RemoveAll(library.dir)
	}
	os.Exit(code)
}

// sample picks an asset or two of every kind but the takht, which take longest:
// soak builds these, and more of the others.
func sample(a asset) bool {
	if a.stage == Music {
		return a.credit.Title == "The Deep Path" || a.credit.Title == "A New Journey" || a.credit.Title == "Living Caves"
	}
	switch name := strings.TrimSuffix(filepath.Base(a.path), ".mp3"); name {
	case "SIG_JINGLE_1", "SWP_VOX_1", "SWP_INTRO_1", "SWP_DROP_1", "ID_1", "NEWS_0000000000001",
		"AD_HOUSE_6", "SHORT_06", "SFX_RISER_1", "SFX_BLIP_UP_1", "SFX_GLITCH_1", "SFX_SUBDROP_1":
		return true
	case "SIG_JINGLE_2", "AD_HOUSE_2", "takht-athir-nil-nahawand":
		return soak
	default:
		return soak && strings.HasPrefix(name, "SFX_")
	}
}

// library is the one library all tests look at: building it takes a while. It
// is built in two runs, the first of which is killed half way.
var library struct {
	once           sync.Once
	dir            string
	killed         proc.Exit
	first          []string // whole files after the kill
	report         Report
	musicBeforeAll bool // BeforeImaging came before the first imaging
	err            error
}

func builtLibrary(t *testing.T) string {
	t.Helper()
	library.once.Do(func() { library.err = buildInTwoRuns() })
	if library.err != nil {
		t.Fatal(library.err)
	}
	return library.dir
}

func buildInTwoRuns() error {
	var err error
	if library.dir, err = os.MkdirTemp("", "athir-demo-test-"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	child, kill := context.WithCancel(ctx)
	defer kill()
	library.killed, err = proc.Run(child, proc.Spec{
		Name: "demo builder", Path: os.Args[0], Env: []string{childDir + "=" + library.dir},
		Stdout: killer(kill), Stop: syscall.SIGKILL,
	}, nil)
	if err != nil {
		return err
	}
	library.first = audioFiles(library.dir)
	ready := false
	library.report, err = Build(ctx, Options{
		Dir:           library.dir,
		only:          sample,
		BeforeImaging: func(context.Context) error { ready = true; return nil },
		Progress: func(p Progress) {
			if p.Stage == Imaging && p.Done == 0 {
				library.musicBeforeAll = ready
			}
		},
	})
	return err
}

// killer ends the child at its first word.
type killer func()

func (k killer) Write(b []byte) (int, error) {
	k()
	return len(b), nil
}

func audioFiles(dir string) (paths []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == workDir {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() && filepath.Base(path) != AttributionFile {
			rel, _ := filepath.Rel(dir, path)
			paths = append(paths, rel)
		}
		return nil
	})
	return paths
}

func TestEveryCategoryHasMaterialAndManyArtists(t *testing.T) {
	tracks, missing, err := packageTracks("/usr/share")
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v (%v): run 'make deps'", missing, err)
	}
	least := map[station.Category]int{
		station.ArabicHits: 15, station.English: 15, station.Mashups: 15, station.Ads: 6,
		station.Jingles: 6, station.Sweepers: 6, station.SFX: 8, station.Shorts: 15, station.News: 3,
	}
	count, artists, seen := map[station.Category]int{}, map[station.Category]map[string]bool{}, map[string]bool{}
	for _, a := range append(tracks, generatedAssets()...) {
		if seen[a.path] {
			t.Errorf("two assets are called %s", a.path)
		}
		seen[a.path] = true
		if extra := strings.Contains(a.credit.Source, "hyperrogue") || strings.Contains(a.credit.Source, "asc-music"); extra {
			continue // not installed by default
		}
		c := folderCategory(a.path)
		count[c]++
		if artists[c] == nil {
			artists[c] = map[string]bool{}
		}
		artists[c][a.credit.Artist] = true
	}
	for c, n := range least {
		if count[c] < n {
			t.Errorf("%s: %d files, the rotation needs %d", c, count[c], n)
		}
		if c.Music() && len(artists[c]) < 6 {
			t.Errorf("%s: only %d artists, too few to keep them apart", c, len(artists[c]))
		}
	}
}

// Every spoken clip has the mission's length, whatever else was built.
func TestSpokenClipsHaveTheRightLength(t *testing.T) {
	check := func(kind, voice, text string, around, least, most float64) {
		said, err := say(t.Context(), voice, text)
		if err != nil {
			t.Fatal(err)
		}
		if s := around + said.Seconds(); s < least || s > most {
			t.Errorf("%s of %.1f s, not within %v to %v: %s", kind, s, least, most, text)
		}
	}
	for _, s := range ads() {
		check("ad", s.voice, s.text, 2.8, 10, 20)
	}
	for _, s := range shorts() {
		check("short", s.voice, s.text, 2.8, 10, 40)
	}
	for _, text := range append(sweeperTexts(), introTexts()...) {
		check("sweeper", "ar", text, 1.7, 0, 9.1)
	}
	for _, text := range dropTexts() {
		check("voice drop", "ar", text, 1, 0, 3.8)
	}
	for _, text := range idTexts() {
		check("station ID", "ar", text, 0.9, 0, 5)
	}
}

// A file that is made again after a crash, or on another machine, is the same.
func TestTheSameAssetAlwaysSoundsTheSame(t *testing.T) {
	for _, a := range generatedAssets() {
		switch filepath.Base(a.path) {
		case "SIG_JINGLE_1.mp3", "SWP_DROP_1.mp3":
			var made [2][]byte
			for i := range made {
				temp := filepath.Join(t.TempDir(), "made.mp3")
				if err := a.make(t.Context(), temp, 0); err != nil {
					t.Fatal(err)
				}
				var err error
				if made[i], err = os.ReadFile(temp); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(made[0], made[1]) {
				t.Errorf("%s came out differently", a.path)
			}
		}
	}
}

// A station that starts while the library grows must never read half a file.
func TestKilledBuildLeavesNoHalfFileAndResumes(t *testing.T) {
	dir := builtLibrary(t)
	if library.killed.Signal != syscall.SIGKILL {
		t.Fatalf("the first build was not killed but ended: %s", library.killed)
	}
	all := len(audioFiles(dir))
	if len(library.first) == 0 || len(library.first) >= all {
		t.Fatalf("killed with %d of %d files: not in the middle", len(library.first), all)
	}
	for _, path := range library.first {
		decode(t, filepath.Join(dir, path), 8000)
	}
	// At most what was being made, and one file put in place but not recorded, is made again.
	if r := library.report; r.Kept < len(library.first)-2 || r.Made+r.Kept != all {
		t.Errorf("resumed with %+v after %d of %d files", r, len(library.first), all)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, workDir, "temp")); len(left) > 0 {
		t.Errorf("%d temporary files stay behind", len(left))
	}
	if !library.musicBeforeAll {
		t.Error("imaging began before music was announced")
	}
}

func TestSecondBuildDoesNothing(t *testing.T) {
	dir := builtLibrary(t)
	stamp := func() map[string]time.Time {
		out := map[string]time.Time{}
		for _, path := range append(audioFiles(dir), AttributionFile) {
			info, err := os.Stat(filepath.Join(dir, path))
			if err != nil {
				t.Fatal(err)
			}
			out[path] = info.ModTime()
		}
		return out
	}
	before := stamp()
	report, err := Build(t.Context(), Options{Dir: dir, only: sample})
	if err != nil {
		t.Fatal(err)
	}
	if report.Made != 0 || report.Kept != len(before)-1 {
		t.Errorf("a second build made %d and kept %d of %d files", report.Made, report.Kept, len(before)-1)
	}
	for path, at := range stamp() {
		if !before[path].Equal(at) {
			t.Errorf("%s was written again", path)
		}
	}
}

// The station makes bulletins and imaging of its own and archives these: a start
// must not bring them back.
func TestWhatTheStationReplacesDoesNotComeBack(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Share: t.TempDir(), only: func(a asset) bool {
		switch a.path {
		case "sfx/SFX_DROP_1.mp3", "news/NEWS_0000000000001.mp3":
			return true
		}
		return false
	}}
	own := filepath.Join(opt.Dir, "news", "NEWS_1795303730968.mp3")
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("a bulletin"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := Build(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	made := audioFiles(opt.Dir)
	if first.Made != 1 || len(made) != 2 {
		t.Errorf("made %d files beside the station's own bulletin: %v", first.Made, made)
	}
	if err := os.Remove(filepath.Join(opt.Dir, "sfx", "SFX_DROP_1.mp3")); err != nil { // archived
		t.Fatal(err)
	}
	second, err := Build(t.Context(), opt)
	if err != nil || second.Made != 0 || len(audioFiles(opt.Dir)) != 1 {
		t.Errorf("after an effect was archived: %d made, %v, %v", second.Made, audioFiles(opt.Dir), err)
	}
}

func TestGeneratedAudioIsLevelAndOfTheRightLength(t *testing.T) {
	dir := builtLibrary(t)
	window := map[string][2]float64{ // seconds
		"SWP_VOX": {8.5, 9.1}, "SWP_INTRO": {8.5, 9.1}, "SWP_DROP": {3.5, 4}, "ID": {4, 5},
		"SFX": {0.26, 1.7}, "SIG": {2, 20}, "AD": {10, 20}, "SHORT": {10, 40}, "NEWS": {20, 60}, "takht": {45, 600},
	}
	brief, err := mastering.Named(mastering.Station)
	if err != nil {
		t.Fatal(err)
	}
	brief.Brief = true
	for _, a := range generatedAssets() {
		if !sample(a) {
			continue
		}
		t.Run(a.path, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, a.path)
			made, err := measure(t.Context(), brief, path, 0)
			if err != nil {
				t.Fatal(err)
			}
			// What is under 3 s may be held down by its peaks: it is louder by the integrated
			// measure all the same.
			if made.Integrated > -13 || made.Integrated < -15 && !strings.HasPrefix(filepath.Base(a.path), "SFX") || made.Integrated < -20 || made.TruePeak > -1.5 {
				t.Errorf("%.1f LUFS, %.1f dBTP: not -14 ± 1 below -1.5", made.Integrated, made.TruePeak)
			}
			seconds := float64(decode(t, path, 8000)) / 8000
			limits, known := [2]float64{}, false
			for prefix, w := range window {
				if strings.HasPrefix(filepath.Base(a.path), prefix) {
					limits, known = w, true
				}
			}
			if !known || seconds < limits[0] || seconds > limits[1] {
				t.Errorf("%.2f s long, not within %v", seconds, limits)
			}
		})
	}
}

func readTags(t *testing.T, path string) audiofile.Info {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	stat, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	info, err := audiofile.Read(f, stat.Size())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return info
}

func TestCreditsSurviveInTagsAndAttribution(t *testing.T) {
	dir := builtLibrary(t)
	text, err := os.ReadFile(filepath.Join(dir, AttributionFile))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Split(line, "\t"); len(f) == 5 {
			rows[f[0]] = f[1:]
		}
	}
	arabic := 0
	for _, path := range audioFiles(dir) {
		tags := readTags(t, filepath.Join(dir, path))
		row := rows[filepath.ToSlash(path)]
		if row == nil || row[2] == "" || row[3] == "" {
			t.Errorf("%s: no licence or source in %s", path, AttributionFile)
			continue
		}
		for i, tag := range []string{tags.Artist, tags.Title, tags.License} {
			if tag != row[i] {
				t.Errorf("%s: tag %d is %q, the attribution says %q", path, i, tag, row[i])
			}
		}
		if strings.IndexFunc(row[1], func(r rune) bool { return unicode.Is(unicode.Arabic, r) }) >= 0 {
			arabic++
		}
		c := folderCategory(path)
		isBreak := row[0] == "Break" && row[1] == "Break" && tags.Genre == "Break"
		if want := !c.Music() && c != station.Ads && c != station.Shorts; isBreak != want {
			t.Errorf("%s: Break-tagged is %v", path, isBreak)
		}
	}
	if arabic == 0 {
		t.Error("no title is in Arabic")
	}
}

// Without the packages there is still something to play, and a remedy to read.
func TestMissingPackagesAreNamedAndTheRestIsBuilt(t *testing.T) {
	tracks, missing, err := packageTracks(t.TempDir())
	if err != nil || len(tracks) != 0 {
		t.Fatalf("found %d tracks where there are none: %v", len(tracks), err)
	}
	if len(missing) != len(Packages()) {
		t.Errorf("missing packages are %v, not %v", missing, Packages())
	}
}

// Whatever the offline voice says must be spelt out: it drops unwritten vowels.
func TestSpokenArabicCarriesItsTashkeel(t *testing.T) {
	texts := append(append(append(sweeperTexts(), introTexts()...), dropTexts()...), idTexts()...)
	for _, s := range append(ads(), shorts()...) {
		if s.voice == "ar" {
			texts = append(texts, s.text)
		}
	}
	for _, segments := range bulletins() {
		texts = append(texts, segments...)
	}
	for _, text := range texts {
		letters, marks := 0, 0
		for _, r := range text {
			switch {
			case r >= 0x064B && r <= 0x0652:
				marks++
			case unicode.Is(unicode.Arabic, r) && unicode.IsLetter(r) && !strings.ContainsRune("اويآىء", r):
				letters++
			}
		}
		if marks*10 < letters*8 {
			t.Errorf("%d marks on %d consonants: %s", marks, letters, text)
		}
	}
}

// decode decodes a file to its end, refusing any error on the way, and returns
// the number of mono samples at hz. It must not be silence.
func decode(t *testing.T, path string, hz int) int {
	t.Helper()
	out, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-nostdin", "-v", "error", "-xerror", "-i", path, "-vn", "-ac", "1", "-ar", fmt.Sprint(hz), "-f", "s16le", "pipe:1",
	}}, 256<<20)
	if err != nil {
		t.Fatalf("decode %s: %v", path, err)
	}
	for i := 0; i+1 < len(out); i += 2 {
		if v := int16(binary.LittleEndian.Uint16(out[i:])); v > 1000 || v < -1000 {
			return len(out) / 2
		}
	}
	t.Fatalf("%s decodes to silence", path)
	return 0
}
