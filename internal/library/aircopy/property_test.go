package aircopy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Whatever happens to files, profiles, disk and station, what is shown is there
// in the size it is shown in; and in the end all that can air does, as it is now.
func TestWhatIsShownIsThereWhateverHappens(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { t.Parallel(); anything(t, rand.New(rand.NewPCG(seed, 4))) })
	}
}

func anything(t *testing.T, rng *rand.Rand) {
	names := []string{
		"english/a.mp3", "english/a.wav", "english/a.wav.mp3", "english/deep/er/b.ogg", "arabic_hits/أ.flac", "news/n.mp3", "sfx/boom.wav", "sweepers/s.mp3",
	}
	c := &copier{}
	var kill atomic.Bool
	c.killed = func() bool { return kill.Swap(false) }
	var profile, inUse atomic.Pointer[string]
	usualProfile := "-14"
	profile.Store(&usualProfile)
	g := newRig(t, c, func(o *Options) {
		o.Profile = func(station.Category) string { return *profile.Load() }
	})
	g.used = func(path string) bool { u := inUse.Load(); return u != nil && *u == path }
	var disk atomic.Int64
	start := func() {
		g.open()
		g.rack.free = func(string) (int64, int64, error) { return disk.Load(), 1 << 41, nil }
		g.run()
	}
	disk.Store(1 << 40)
	start()
	var mu sync.Mutex // holds the watcher back while the Rack is another
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				mu.Lock()
				watch(t, g)
				mu.Unlock()
			}
		}
	}()
	content := func() string {
		kind := []string{"song", "song", "song", "fit", "bad"}[rng.IntN(5)]
		return kind + strings.Repeat(".", rng.IntN(2000))
	}
	for range 60 {
		name := names[rng.IntN(len(names))]
		switch rng.IntN(12) {
		case 0, 1, 2, 3:
			g.write(name, content())
			g.reg.scan()
		case 4, 5:
			_ = os.Remove(g.path(name))
			g.reg.scan()
		case 6: // behind the registry's back: it learns of it later
			g.write(name, content())
		case 7:
			other := []string{"-14", "-16"}[rng.IntN(2)]
			profile.Store(&other)
			g.rack.Recheck()
		case 8:
			path := g.rack.Path(name)
			inUse.Store(&path)
		case 9:
			disk.Store(int64(rng.IntN(2)) << 40)
		case 10:
			broken := []error{nil, syscall.EIO}[rng.IntN(2)]
			if c.machine.Store(&broken); broken == nil {
				c.machine.Store(nil)
			}
		case 11:
			kill.Store(rng.IntN(2) == 0)
			mu.Lock()
			g.stop()
			start()
			mu.Unlock()
		}
		time.Sleep(time.Duration(rng.IntN(8)) * time.Millisecond)
	}
	close(stop)
	<-watched
	disk.Store(1 << 40)
	c.machine.Store(nil)
	kill.Store(false)
	inUse.Store(nil)
	g.reg.scan()
	want, refused, copies := expected(t, g, *profile.Load())
	g.until("what can air does", func(s *Snapshot) bool {
		return idle(s) && s.Problem == "" && paths(s) == want && len(s.Refused) == refused
	})
	g.until("as it is now, and nothing else is kept", func(*Snapshot) bool {
		for rel, text := range copies {
			if got, err := os.ReadFile(g.rack.Path(rel)); err != nil || !bytes.Equal(got, text) {
				return false
			}
		}
		return len(g.kept()) == len(copies)
	})
	watch(t, g)
}

// watch checks that what is shown is there. Files of the media folder may have
// gone before the registry knows; copies are ours.
func watch(t *testing.T, g *rig) {
	s := g.rack.Snapshot()
	for _, track := range s.Tracks {
		path := g.rack.Path(track.Path)
		if !strings.HasPrefix(path, g.opt.Dir) {
			continue
		}
		before, err := os.Stat(path)
		known := g.rack.Size(path)
		after, err2 := os.Stat(path)
		if now := g.rack.Snapshot(); now.Generation != s.Generation {
			return // what was looked at is no longer shown
		}
		if err != nil || err2 != nil {
			t.Errorf("%s is shown, and not there: %v, %v", track.Path, err, err2)
		} else if known >= 0 && known != before.Size() && known != after.Size() {
			t.Errorf("%s has %d bytes, then %d, and is known to have %d", track.Path, before.Size(), after.Size(), known)
		}
		if back, ok := g.rack.Rel(path); !ok || back != track.Path {
			t.Errorf("%s leads back to %q", track.Path, back)
		}
	}
}

// expected is what there should be in the end.
func expected(t *testing.T, g *rig, profile string) (fit string, refused int, copies map[string][]byte) {
	t.Helper()
	copies = map[string][]byte{}
	var all []string
	for _, track := range g.reg.Tracks() {
		text, err := os.ReadFile(g.path(track.Path))
		switch {
		case err != nil:
			t.Fatal(err)
		case bytes.HasPrefix(text, []byte("bad")):
			refused++
			continue
		case !bytes.HasPrefix(text, []byte("fit")):
			copies[track.Path] = mastered(text, profile)
		}
		all = append(all, track.Path)
	}
	return strings.Join(all, " "), refused, copies
}
