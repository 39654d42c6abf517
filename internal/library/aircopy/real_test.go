package aircopy

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// realRig is a rig that masters for real.
func realRig(t *testing.T) (*rig, *studio) {
	t.Helper()
	g := newRig(t, nil, nil)
	s, err := newStudio(t.Context(), g.db)
	if err != nil {
		t.Fatal(err)
	}
	g.opt.Master = s
	return g, s
}

// untouched describes every file of a folder.
func untouched(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %v %x\n", path, info.ModTime(), sha256.Sum256(data))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// What an operator keeps of a track airs, from a new copy; taken back, it airs whole again.
func TestATrackAirsWhatIsKeptOfIt(t *testing.T) {
	g, _ := realRig(t)
	sound(t, g.path("english/a.flac"), music(4, 0.1))
	tell := func(cut station.Cut) {
		tracks := g.reg.look()
		if cut != (station.Cut{}) {
			tracks[0].Own = &station.Own{Cut: cut}
		}
		g.reg.tell(tracks)
	}
	tell(station.Cut{})
	g.open()
	g.run()
	lasts := func(want time.Duration) {
		t.Helper()
		g.until(fmt.Sprintf("%v airs", want), func(s *Snapshot) bool {
			return len(s.Tracks) == 1 && (s.Tracks[0].Duration-want).Abs() < 60*time.Millisecond && idle(s)
		})
	}
	lasts(4 * time.Second)
	tell(station.Cut{In: 500 * time.Millisecond, Out: 3 * time.Second})
	lasts(2500 * time.Millisecond)
	if info, err := ffmpeg.Probe(t.Context(), g.rack.Path("english/a.flac")); err != nil || (info.Duration-2500*time.Millisecond).Abs() > 100*time.Millisecond {
		t.Errorf("the file that airs lasts %v, %v", info.Duration, err)
	}
	if rows, err := load(t.Context(), g.db); err != nil || rows["english/a.flac"].from != 500*time.Millisecond || rows["english/a.flac"].to != 3*time.Second {
		t.Errorf("a restart knows %+v, %v", rows["english/a.flac"], err)
	}
	tell(station.Cut{})
	lasts(4 * time.Second)
}

func TestRealFilesAirAtTheStationsLoudness(t *testing.T) {
	g, s := realRig(t)
	sound(t, g.path("english/loud.flac"), music(2, 4), "-metadata", "title=صاخب", "-metadata", "artist=فرقة")
	sound(t, g.path("english/quiet.wav"), music(2, 0.004), "-c:a", "pcm_s24le")
	sound(t, g.path("arabic_hits/silence at the ends.flac"), music(3, 0.1)+",adelay=1500:all=1,apad=pad_dur=2.5")
	sound(t, g.path("ads/telephone.wav"), music(2, 0.2), "-ac", "1", "-ar", "8000")
	sound(t, g.path("shorts/film.mp4"), music(2, 0.2), "-f", "lavfi", "-i", "testsrc=d=2:s=64x64", "-shortest")
	sound(t, g.path("mashups/really-ogg.mp3"), music(2, 0.2), "-f", "ogg", "-c:a", "libvorbis")
	sound(t, g.path("sfx/silent.flac"), "anullsrc=d=2")
	sound(t, g.path("jingles/cut.mp3"), music(6, 0.2))
	g.write("news/text.mp3", strings.Repeat("no music\n", 500))
	if err := os.Truncate(g.path("jingles/cut.mp3"), 40_000); err != nil {
		t.Fatal(err)
	}
	sound(t, filepath.Join(g.dir, "fit.wav"), music(2, 0.2))
	profile, err := mastering.Named(mastering.Station)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(g.path("sweepers"), 0o750); err != nil {
		t.Fatal(err)
	}
	// As imaging and bulletin write theirs: it is found to be fit.
	if _, err := s.Master.Do(t.Context(), mastering.Job{In: filepath.Join(g.dir, "fit.wav"), Out: g.path("sweepers/fit.mp3"), Profile: profile}, nil); err != nil {
		t.Fatal(err)
	}
	before := untouched(t, g.reg.root)
	g.reg.scan()
	g.open()
	g.run()
	snap := g.until("all decided", func(s *Snapshot) bool { return len(s.Tracks)+len(s.Refused) == 10 && idle(s) })
	if got := paths(snap); got != "ads/telephone.wav arabic_hits/silence at the ends.flac english/loud.flac english/quiet.wav mashups/really-ogg.mp3 shorts/film.mp4 sweepers/fit.mp3" {
		t.Errorf("these air: %s", got)
	}
	for _, r := range snap.Refused {
		if want := map[string]string{"jingles/cut.mp3": "truncated", "news/text.mp3": "audio", "sfx/silent.flac": "silent"}[r.Path]; want == "" || !strings.Contains(r.Reason, want) {
			t.Errorf("%s is refused because %s", r.Path, r.Reason)
		}
	}
	for _, track := range snap.Tracks {
		path := g.rack.Path(track.Path)
		rec, err := s.Master.Do(t.Context(), mastering.Job{In: path, Out: filepath.Join(g.dir, "none.mp3"), Profile: profile, Measure: true}, nil)
		if err != nil || math.Abs(rec.Integrated+14) > 0.5 || rec.TruePeak > -1.5 || (rec.Duration-track.Duration).Abs() > 2*time.Millisecond {
			t.Errorf("%s airs at %.2f LUFS, %.2f dBTP for %v, shown as %v (%v)", track.Path, rec.Integrated, rec.TruePeak, rec.Duration, track.Duration, err)
		}
		if asItIs := strings.HasPrefix(path, g.reg.root); asItIs != (track.Path == "sweepers/fit.mp3") {
			t.Errorf("%s airs from %s", track.Path, path)
		}
	}
	if d := g.rack.rows["arabic_hits/silence at the ends.flac"]; (d.Duration-3330*time.Millisecond).Abs() > 60*time.Millisecond || (d.CueIn-30*time.Millisecond).Abs() > 20*time.Millisecond {
		t.Errorf("silence is left: %v, cue points %v to %v", d.Duration, d.CueIn, d.CueOut)
	}
	if info, err := ffmpeg.Probe(t.Context(), g.rack.Path("english/loud.flac")); err != nil || info.Tags["title"] != "صاخب" || info.Tags["artist"] != "فرقة" {
		t.Errorf("tags: %+v, %v", info.Tags, err)
	}
	if after := untouched(t, g.reg.root); after != before {
		t.Errorf("the media folder was changed:\n%s\n%s", before, after)
	}
}

func TestFileReplacedWhileItIsMasteredAirsAsItIsNow(t *testing.T) {
	g, s := realRig(t)
	rel := "english/song.wav"
	sound(t, g.path(rel), music(2, 0.2))
	sound(t, filepath.Join(g.dir, "other.wav"), music(4, 0.1))
	var once sync.Once
	s.during = func(_ string, share float64) {
		if share > 0.2 { // it is being encoded
			once.Do(func() {
				if err := os.Rename(filepath.Join(g.dir, "other.wav"), g.path(rel)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("a second attempt", func(s2 *Snapshot) bool { g.reg.scan(); return s.calls.Load() >= 2 })
	snap := g.until("it airs", func(s *Snapshot) bool { return len(s.Tracks) == 1 && idle(s) })
	if d := snap.Tracks[0].Duration; (d - 4*time.Second).Abs() > 50*time.Millisecond {
		t.Errorf("%v of it air: that is the old file", d)
	}
}

// A station that is killed in the middle of its work has no half file, and goes
// on where it was.
func TestKilledStationGoesOnWhereItWas(t *testing.T) {
	g := newRig(t, nil, nil)
	const files = 4
	for i := range files {
		sound(t, g.path(fmt.Sprintf("english/%d.wav", i)), music(3, 0.05+0.03*float64(i)))
	}
	g.reg.scan()
	_ = g.db.Close()
	finished := 0
	for round := range 2 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+g.dir)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		testkit.EventuallyNil(t, "the child is in the middle of a copy", func() error {
			whole, making := 0, 0
			for _, name := range g.kept() {
				if strings.HasPrefix(filepath.Base(name), ".") {
					making++
				} else {
					whole++
				}
			}
			if whole >= files-1 || whole > finished && (making > 0 || round == 0) {
				return nil
			}
			return fmt.Errorf("the child says %q", said.String())
		})
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		db, err := store.Open(t.Context(), filepath.Join(g.dir, "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		g.db = db
		g.opt.Master = &copier{}
		g.open()
		snap := g.rack.Snapshot()
		for _, track := range snap.Tracks {
			length, err := ffmpeg.Length(t.Context(), g.rack.Path(track.Path))
			if err != nil || (length-track.Duration).Abs() > 2*time.Millisecond || (length-3*time.Second).Abs() > 50*time.Millisecond {
				t.Errorf("round %d: %s is %v long, shown as %v: %v", round, track.Path, length, track.Duration, err)
			}
		}
		if len(snap.Tracks) < finished {
			t.Errorf("round %d: %d were finished, %d air", round, finished, len(snap.Tracks))
		}
		finished = len(snap.Tracks)
		_ = db.Close()
	}
	db, err := store.Open(t.Context(), filepath.Join(g.dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	g.db = db
	s, err := newStudio(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	g.opt.Master = s
	g.open()
	g.run()
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == files && idle(s) })
	g.stop()
	if left := g.kept(); len(left) != files {
		t.Errorf("leftovers: %v", left)
	}
	if n := int(s.calls.Load()); n > files-finished {
		t.Errorf("%d files were mastered again, %d were left to do", n, files-finished)
	}
}
