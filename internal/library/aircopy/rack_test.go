package aircopy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

func idle(s *Snapshot) bool { return s.Work.Waiting == 0 }

func TestEachFileAirsAsItIsOrAsACopyOrIsRefused(t *testing.T) {
	c := &copier{}
	g := newRig(t, c, nil)
	long := strings.Repeat("ن", 126) // 252 bytes: no room for .mp3
	for rel, text := range map[string]string{
		"english/fit.mp3": "fit", "english/song.mp3": "song", "english/song.wav": "wave", "english/song.wav.mp3": "its double",
		"news/bad.mp3": "bad", "arabic_hits/أغنية \xff.FLAC": "arabic", "_/x.mp3": "x", "english/" + long: "long",
	} {
		g.write(rel, text)
	}
	g.reg.scan()
	g.open()
	if n := len(g.rack.Snapshot().Tracks); n != 0 {
		t.Fatalf("%d tracks air before they were looked at", n)
	}
	g.run()
	s := g.until("all decided", func(s *Snapshot) bool { return len(s.Tracks) == 7 && len(s.Refused) == 1 && idle(s) })
	if s.Refused[0].Path != "news/bad.mp3" || s.Refused[0].Reason != "it is bad" {
		t.Errorf("refused: %+v", s.Refused)
	}
	seen := map[string]bool{}
	for _, track := range s.Tracks {
		path := g.rack.Path(track.Path)
		info, err := os.Stat(path)
		back, ok := g.rack.Rel(path)
		if err != nil || info.Size() != track.Size || g.rack.Size(path) != track.Size || !ok || back != track.Path || seen[path] {
			t.Errorf("%q: %s of %d bytes (%v), shown as %d, known as %d, leads back to %q, %v; twice: %v", track.Path, path, info.Size(), err, track.Size, g.rack.Size(path), back, ok, seen[path])
		}
		seen[path] = true
		source, _ := os.ReadFile(g.path(track.Path))
		if track.Duration != time.Duration(len(source))*time.Second {
			t.Errorf("%q: %v is not what is heard", track.Path, track.Duration)
		}
	}
	for rel, want := range map[string]string{
		"english/fit.mp3": g.path("english/fit.mp3"), "english/song.mp3": g.opt.Dir + "/english/song.mp3",
		"arabic_hits/أغنية \xff.FLAC": g.opt.Dir + "/arabic_hits/أغنية \xff.FLAC.mp3",
	} {
		if got := g.rack.Path(rel); got != want {
			t.Errorf("%q airs from %q", rel, got)
		}
	}
	if rel, ok := g.rack.Rel("/etc/passwd"); ok || g.rack.Size("/etc/passwd") != -1 || g.rack.Size(g.path("news/bad.mp3")) != -1 {
		t.Errorf("strangers are known: %q", rel)
	}
	calls := c.calls.Load()
	g.stop()
	g.open()
	again := g.rack.Snapshot()
	if paths(again) != paths(s) || len(again.Refused) != 1 {
		t.Errorf("after a restart %+v air", again)
	}
	g.run()
	g.write("news/bad.mp3", "mended")
	g.reg.scan()
	g.until("a refused file that was mended airs", func(s *Snapshot) bool { return len(s.Tracks) == 8 && len(s.Refused) == 0 && idle(s) })
	if n := c.calls.Load() - calls; n != 1 {
		t.Errorf("%d files were looked at again, 1 had changed", n)
	}
}

func TestOldCopyAirsUntilTheNewOneIsThere(t *testing.T) {
	var gate atomic.Pointer[chan struct{}]
	shut := func() (open func()) { // a new gate each time: none who passes late finds it shut
		c := make(chan struct{})
		gate.Store(&c)
		open = sync.OnceFunc(func() { close(c) })
		t.Cleanup(open)
		return open
	}
	shut()()
	profile := atomic.Pointer[string]{}
	name := "-14"
	profile.Store(&name)
	c := &copier{hold: func(string) { <-*gate.Load() }}
	g := newRig(t, c, func(o *Options) {
		o.Profile = func(station.Category) string { return *profile.Load() }
	})
	g.write("english/copy.mp3", "one")
	g.write("english/fit.mp3", "fit one")
	g.reg.scan()
	g.open()
	g.run()
	g.until("both air", func(s *Snapshot) bool { return len(s.Tracks) == 2 && idle(s) })

	open := shut()
	other := "-16"
	profile.Store(&other)
	g.rack.Recheck()
	s := g.until("asked again", func(s *Snapshot) bool { return s.Work.Waiting == 2 })
	if paths(s) != "english/copy.mp3 english/fit.mp3" || s.Work.Silent != 0 {
		t.Errorf("another profile is set, and %q air, %+v", paths(s), s.Work)
	}
	open()
	g.until("the new copy", func(s *Snapshot) bool {
		text, _ := os.ReadFile(g.rack.Path("english/copy.mp3"))
		return idle(s) && strings.HasSuffix(string(text), "one-16")
	})

	asTheyAre := func() (n int) {
		for _, f := range g.reg.look() {
			if g.rack.AirsAsIs(f) {
				n++
			}
		}
		return n
	}
	open = shut()
	g.write("english/copy.mp3", "another one")
	g.write("english/fit.mp3", "no longer")
	g.reg.scan()
	s = g.until("asked again", func(s *Snapshot) bool { return s.Work.Waiting == 2 && len(s.Tracks) == 1 })
	if text, _ := os.ReadFile(g.rack.Path("english/copy.mp3")); paths(s) != "english/copy.mp3" || !strings.HasSuffix(string(text), "one-16") {
		t.Errorf("both have changed, and %q air, with %q", paths(s), text)
	}
	if n := asTheyAre(); n != 0 {
		t.Errorf("%d of two air as they are now, which have no copies yet", n)
	}
	open()
	g.until("both again", func(s *Snapshot) bool { return len(s.Tracks) == 2 && idle(s) })
	if n := asTheyAre(); n != 2 {
		t.Errorf("%d of two air as they are now", n)
	}
}

func TestCopyInUseIsNeverTakenAway(t *testing.T) {
	var used atomic.Pointer[string]
	g := newRig(t, &copier{}, nil)
	g.used = func(path string) bool { u := used.Load(); return u != nil && *u == path }
	for _, rel := range []string{"english/a.mp3", "english/deep/b.wav", "english/c.mp3"} {
		g.write(rel, rel)
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == 3 })
	onAir := g.rack.Path("english/a.mp3")
	used.Store(&onAir)
	gone := g.rack.Path("english/deep/b.wav")
	for _, rel := range []string{"english/a.mp3", "english/deep/b.wav"} {
		if err := os.Remove(g.path(rel)); err != nil {
			t.Fatal(err)
		}
	}
	g.write("english/c.mp3", "fit now")
	g.reg.scan()
	g.until("the others are removed", func(s *Snapshot) bool { return paths(s) == "english/c.mp3" && len(g.kept()) == 1 })
	if rel, ok := g.rack.Rel(onAir); !ok || rel != "english/a.mp3" {
		t.Errorf("what plays is no longer known: %q, %v", rel, ok)
	}
	g.until("so is its empty folder", func(*Snapshot) bool { _, err := os.Stat(filepath.Dir(gone)); return err != nil })
	g.until("mastering is told of the removed copy", func(*Snapshot) bool {
		_, told := g.opt.Master.(*copier).forgot.Load(gone)
		return told
	})
	// A restart does not lose it, nor take it away.
	g.stop()
	g.open()
	g.run()
	g.write("english/d.mp3", "d")
	g.reg.scan()
	g.until("work goes on", func(s *Snapshot) bool { return len(s.Tracks) == 2 && idle(s) })
	if _, err := os.Stat(onAir); err != nil {
		t.Fatal(err)
	}
	used.Store(nil)
	g.until("it is removed in the end", func(*Snapshot) bool { return strings.Join(g.kept(), " ") == "english/d.mp3" })
}

func TestDiskThatIsAwayCostsNoCopies(t *testing.T) {
	g := newRig(t, &copier{}, nil)
	const files = 30
	for i := range files {
		g.write(fmt.Sprintf("english/%02d.mp3", i), "x")
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == files && idle(s) })
	away := filepath.Join(g.dir, "away")
	if err := os.Rename(g.path("english"), away); err != nil {
		t.Fatal(err)
	}
	g.write("news/a.mp3", "a") // what the station itself makes meanwhile
	g.reg.scan()
	g.until("only that airs", func(s *Snapshot) bool { return paths(s) == "news/a.mp3" && idle(s) })
	for range 50 { // looks at the copies
		time.Sleep(g.rack.tend)
	}
	if got := g.kept(); len(got) != files+1 {
		t.Errorf("%d copies are left of %d", len(got), files+1)
	}
	if err := os.Remove(g.path("news/a.mp3")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, g.path("english")); err != nil {
		t.Fatal(err)
	}
	g.reg.scan()
	g.until("it airs again", func(s *Snapshot) bool { return len(s.Tracks) == files && idle(s) })
	if made := g.opt.Master.(*copier).calls.Load(); made != files+1 {
		t.Errorf("%d copies were made of %d files", made, files+1)
	}
	// The few that are really gone go as always.
	for i := range 3 {
		if err := os.Remove(g.path(fmt.Sprintf("english/%02d.mp3", i))); err != nil {
			t.Fatal(err)
		}
	}
	g.reg.scan()
	g.until("their copies are removed", func(*Snapshot) bool { return len(g.kept()) == files-3 })
}

func TestFullDiskKeepsTheAirAndIsTriedAgain(t *testing.T) {
	c := &copier{}
	g := newRig(t, c, nil)
	g.write("english/a.mp3", "a")
	g.reg.scan()
	g.open()
	var free atomic.Int64
	free.Store(1 << 40)
	g.rack.free = func(string) (int64, int64, error) { return free.Load(), 1 << 41, nil }
	g.run()
	g.until("it airs", func(s *Snapshot) bool { return len(s.Tracks) == 1 })
	for _, broken := range []error{nil, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, errors.New("no such program")} {
		rel := "english/" + strings.Repeat("b", int(c.calls.Load())) + ".mp3"
		if broken == nil {
			free.Store(100)
		} else {
			c.machine.Store(&broken)
		}
		g.write(rel, rel)
		g.reg.scan()
		s := g.until("said", func(s *Snapshot) bool { return s.Problem != "" })
		if full := strings.Contains(s.Problem, "disk"); full != (broken == nil || errors.Is(broken, syscall.ENOSPC)) || len(s.Refused) != 0 {
			t.Errorf("%v is said as %q; refused %v", broken, s.Problem, s.Refused)
		}
		if !strings.Contains(paths(s), "english/a.mp3") || strings.Contains(paths(s), rel) || s.Work.Waiting != 1 {
			t.Errorf("%v: %q air, %+v", broken, paths(s), s.Work)
		}
		free.Store(1 << 40)
		c.machine.Store(nil)
		g.until("done in the end", func(s *Snapshot) bool { return s.Problem == "" && strings.Contains(paths(s), rel) })
	}
}

// What is fit needs no room. What needs a copy is measured once, says what it
// lacks, and is made when there is room, of which a small disk keeps less.
func TestWithoutRoomWhatIsFitAirsAndTheRestSaysWhatItLacks(t *testing.T) {
	c := &copier{}
	g := newRig(t, c, func(o *Options) { o.Reserve = 256 << 20 })
	for _, rel := range []string{"english/a.mp3", "english/b.mp3", "sweepers/c.mp3"} {
		g.write(rel, rel)
	}
	g.write("news/fit.mp3", "fit")
	g.reg.scan()
	g.open()
	var free, all, looks atomic.Int64
	free.Store(150 << 20)
	all.Store(1 << 40)
	g.rack.free = func(string) (int64, int64, error) { looks.Add(1); return free.Load(), all.Load(), nil }
	g.run()
	s := g.until("what is fit airs, and the disk is looked at again and again", func(s *Snapshot) bool {
		return paths(s) == "news/fit.mp3" && s.Work.Waiting == 3 && looks.Load() > 8 && c.calls.Load() >= 4
	})
	if want := "needs 257 MB free in " + g.opt.Dir + ", which has 150 MB: free some space there"; !strings.Contains(s.Problem, want) || c.calls.Load() != 4 {
		t.Errorf("%d looked at, said: %q, want %q", c.calls.Load(), s.Problem, want)
	}
	g.write("sfx/fit.mp3", "fit too")
	g.reg.scan()
	g.until("what is fit airs at once", func(s *Snapshot) bool { return paths(s) == "news/fit.mp3 sfx/fit.mp3" && s.Problem != "" })
	all.Store(2 << 30) // a twentieth of it is under what is free
	if s = g.until("the rest airs", func(s *Snapshot) bool { return len(s.Tracks) == 5 && s.Work.Waiting == 0 }); s.Problem != "" {
		t.Errorf("all is well, and it says %q", s.Problem)
	}
}

func TestLostOrDamagedCopyIsMadeAgain(t *testing.T) {
	c := &copier{}
	g := newRig(t, c, nil)
	for _, rel := range []string{"english/a.mp3", "english/b.mp3", "english/c.mp3"} {
		g.write(rel, rel)
	}
	g.reg.scan()
	g.open()
	g.run()
	g.until("all air", func(s *Snapshot) bool { return len(s.Tracks) == 3 && idle(s) })
	if err := os.Remove(g.rack.Path("english/a.mp3")); err != nil {
		t.Fatal(err)
	}
	g.until("while it runs", func(*Snapshot) bool { return c.calls.Load() == 4 && len(g.kept()) == 3 })
	g.until("it airs", func(s *Snapshot) bool { return len(s.Tracks) == 3 && idle(s) })
	g.stop()
	if err := errors.Join(os.Truncate(g.rack.Path("english/b.mp3"), 3), os.WriteFile(g.opt.Dir+"/english/.athir-master-1.part", nil, 0o600),
		os.WriteFile(g.opt.Dir+"/english/stray.mp3", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	g.open()
	if got := paths(g.rack.Snapshot()); got != "english/a.mp3 english/c.mp3" {
		t.Errorf("with a damaged copy %q air", got)
	}
	g.run()
	g.until("made again", func(s *Snapshot) bool { return len(s.Tracks) == 3 })
	if left := g.kept(); len(left) != 3 {
		t.Errorf("leftovers: %v", left)
	}
}

func TestDisabledMirrorsTheRegistry(t *testing.T) {
	c := &copier{}
	g := newRig(t, c, func(o *Options) { o.Disabled = true })
	g.write("english/a.ogg", "bad")
	g.reg.scan()
	g.open()
	g.run()
	g.write("english/b.wav", "b")
	g.reg.scan()
	s := g.until("both", func(s *Snapshot) bool { return len(s.Tracks) == 2 })
	if p := g.rack.Path("english/b.wav"); p != g.path("english/b.wav") || g.rack.Size(p) != 1 || s.Tracks[1].Duration != 3*time.Second || c.calls.Load() != 0 {
		t.Errorf("%s, %d bytes, %+v", p, g.rack.Size(p), s.Tracks)
	}
}

func TestNewStationHasSomethingOfEveryDeckFirst(t *testing.T) {
	now := time.UnixMilli(1_800_001_800_000) // half past
	var jobs []job
	add := func(path string, c station.Category, minutes int, age time.Duration, airs bool) {
		jobs = append(jobs, job{track: station.Track{Path: path, Category: c, Duration: time.Duration(minutes) * time.Minute, AddedAt: now.Add(-age)}, airs: airs})
	}
	add("e-long", station.English, 9, 0, false)
	add("e-short", station.English, 2, time.Millisecond, false)
	add("e-old", station.English, 1, 48*time.Hour, false)
	add("e-airs", station.English, 1, 0, true)
	add("a", station.ArabicHits, 5, 0, false)
	add("news", station.News, 1, 0, false)
	add("sweeper", station.Sweepers, 0, 0, false)
	add("odd", "opera", 1, 96*time.Hour, false)
	var got []string
	for _, j := range order(jobs) {
		got = append(got, j.track.Path)
	}
	if want := "news sweeper a e-short e-long e-old odd e-airs"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
