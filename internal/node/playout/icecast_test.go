package playout_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
)

// Icecast dies and comes back: so does the stream, from the same engine run, and
// with the title of the song that was on all the while.
func TestStreamReturnsAfterIcecastIsKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.StreamTitles = true
	song := music(3, time.Minute)
	song.title = "أغنية"
	r.push(r.list(song))
	kill := r.startIcecast()
	r.startEngine()
	before := r.status()
	kill()
	r.startIcecast()
	r.reaches(r.onAir)
	client := httpClient(t)
	r.reaches(func() error {
		s, err := icecast.ReadStatus(t.Context(), client, r.ice)
		if main, _ := s.Source("main"); err == nil && (main.Title != song.title || main.Artist != "مطرب" || main.Name != "أثير") {
			err = fmt.Errorf("Icecast shows %+v", s)
		}
		return err
	})
	if after := r.status(); after.Engine != before.Engine {
		t.Error("the engine was restarted")
	}
	for i, file := range r.control.rotation() { // as often as it has begun
		if m := r.control.markers()[i]; file != filepath.Base(song.file(r.dir)) || m.Seq != int64(i+1) || m.Engine != before.Engine {
			t.Errorf("marker %d: %+v", i, m)
		}
	}
}

// Every user of a machine reads the arguments of all its programs. The engine is on the
// mount, so the password reached it all the same.
func TestTheEnginesArgumentsHoldNoSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(1, 60*second)))
	r.startIcecast()
	r.startEngine()
	pids := playout.Find(r.o)
	if len(pids) != 1 {
		t.Fatalf("engines found: %v", pids)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pids[0]))
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	for _, secret := range []string{r.o.Password, r.o.Token} {
		if strings.Contains(string(line), secret) {
			t.Errorf("%q is in the arguments %q", secret, args)
		}
	}
	named := args[slices.Index(args, "--")+3] // the specification's third argument
	kept, err := os.ReadFile(named)
	if info, serr := os.Stat(named); err != nil || serr != nil || string(kept) != r.o.Password || info.Mode() != 0o600 {
		t.Errorf("the argument %s names a file with %q: %v, %v", named, kept, err, serr)
	}
}

// startIcecast runs the real server until kill, at the latest to the test's end.
func (r *rig) startIcecast() (kill func()) {
	r.t.Helper()
	spec, err := icecast.Prepare(r.t.Context(), r.ice)
	if err != nil {
		r.t.Fatal(err)
	}
	spec.Stop = 9 // no test waits for a clean end
	kill = testkit.Supervised(r.t, spec)
	client := httpClient(r.t)
	r.reaches(func() error { return icecast.Ready(r.t.Context(), client, r.ice) })
	return kill
}

// startEngine runs the engine in real time and waits until it is on the mount.
func (r *rig) startEngine() (kill func()) {
	r.t.Helper()
	kill = r.startEngineOnly()
	r.reaches(func() error { return playout.Ready(r.t.Context(), r.o) })
	r.reaches(r.onAir)
	return kill
}

// startEngineOnly does not wait for anything.
func (r *rig) startEngineOnly() (kill func()) {
	r.t.Helper()
	spec, err := playout.Prepare(r.t.Context(), r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	spec.Stdout, spec.Stderr, spec.Stop = r.log, r.log, 9
	return testkit.Program(r.t, spec)
}

func (r *rig) stream() string { return fmt.Sprintf("http://127.0.0.1:%d/main", r.ice.Port) }

func (r *rig) onAir() error { return icecast.OnAir(r.t.Context(), httpClient(r.t), r.ice) }

func (r *rig) offAir() error {
	if err := r.onAir(); errors.Is(err, icecast.ErrNoSource) {
		return nil
	}
	return errors.New("still on the mount")
}

func (r *rig) reaches(check func() error) {
	r.t.Helper()
	testkit.EventuallyNil(r.t, "the wanted state", check)
}

func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// A new station has no list yet: it sends nothing until the first one, and what is heard
// first is its song, not emergency audio.
func TestANewStationIsHeardFromItsFirstSong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.FirstList = time.Hour
	r.startIcecast()
	r.startEngineOnly()
	r.reaches(func() error {
		_, err := r.client.Status(t.Context())
		return err
	})
	if err := r.offAir(); err != nil {
		t.Errorf("before the first list: %v", err)
	}
	r.push(r.list(music(0, 20*second)))
	r.reaches(r.onAir)
	r.reaches(func() error {
		if len(r.control.markers()) == 0 {
			return errors.New("no marker")
		}
		return nil
	})
	if first := r.control.markers()[0]; first.Kind != playout.KindRotation {
		t.Errorf("first on the air: %+v", first)
	}
}
