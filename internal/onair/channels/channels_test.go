package channels_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rig is a station with a library of a few files, which may be restarted.
type rig struct {
	gain float64 // of every file
	*channels.Channels
	t    *testing.T
	dir  string
	db   *store.DB
	gone map[string]bool
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), gone: map[string]bool{}}
	for name, seconds := range map[string]string{"a.mp3": "2", "b.mp3": "1"} {
		_, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-f", "lavfi", "-i", "sine=frequency=440:duration=" + seconds, filepath.Join(r.dir, name),
		}}, 1<<20)
		r.must(err)
	}
	r.must(os.WriteFile(filepath.Join(r.dir, "broken.mp3"), []byte("no audio"), 0o600))
	r.start()
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) start() {
	r.t.Helper()
	if r.db != nil {
		_ = r.db.Close()
	}
	var err error
	r.db, err = store.Open(r.t.Context(), filepath.Join(r.dir, "athir.db"))
	r.must(err)
	r.Channels, err = channels.Open(r.t.Context(), channels.Options{
		Log: slog.New(slog.DiscardHandler), DB: r.db, Now: time.Now,
		Find: func(path string) (station.Track, bool) { return station.Track{Path: path, Title: path}, !r.gone[path] },
		Airs: func(path string) (string, float64) { return filepath.Join(r.dir, path), r.gain },
	})
	r.must(err)
}

func (r *rig) begin(id string) io.ReadCloser {
	r.t.Helper()
	p := r.Begin(r.t.Context(), id)
	if p == nil {
		r.t.Fatalf("nothing waits on %s: %+v", id, r.List())
	}
	return p
}

func TestChannelsAndTheirQueuesOutlastARestart(t *testing.T) {
	r := newRig(t)
	first, err := r.Create(t.Context(), "fairuz", "  فيروز طول اليوم ")
	r.must(err)
	_, err = r.Create(t.Context(), "quran-24", "قرآن")
	r.must(err)
	for i, path := range []string{"a.mp3", "b.mp3", "\xff\"\n.mp3"} {
		before, err := r.Queue(t.Context(), "fairuz", path)
		if err != nil || before != i {
			t.Errorf("%q: %d before it, %v", path, before, err)
		}
	}
	r.must(r.begin("fairuz").Close())
	want := r.List()
	if heard := want[0].Heard; len(heard) != 1 || heard[0].Track.Path != "a.mp3" {
		t.Errorf("heard %+v", heard)
	}
	want[0].Heard = nil // what was heard is of one life
	r.start()
	if got := r.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("after the restart %+v, before %+v", got, want)
	}
	if first.Name != "فيروز طول اليوم" || want[0].ID != "fairuz" || !slices.Equal(want[0].Waiting, []string{"b.mp3", "\xff\"\n.mp3"}) || len(want[1].Waiting) > 0 {
		t.Errorf("%+v", want)
	}
	r.must(r.Remove(t.Context(), "fairuz"))
	if err := r.Remove(t.Context(), "fairuz"); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	_, err = r.Create(t.Context(), "fairuz", "فيروز")
	r.must(err)
	if c, err := r.Find("fairuz"); err != nil || len(c.Waiting) > 0 {
		t.Errorf("what waited came back with the name: %+v, %v", c, err)
	}
}

func TestWrongChannelsAreRefused(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"", "-a", "a-", "A", "a b", "a/b", "..", "قناة", strings.Repeat("a", 41), "a\n"} {
		if _, err := r.Create(t.Context(), id, "اسم"); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	for _, name := range []string{"", " ", "a\nb", "a\u202eb", strings.Repeat("م", 61), "\xff"} {
		if _, err := r.Create(t.Context(), "a", name); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if _, err := r.Create(t.Context(), "main", "اسم"); !errors.Is(err, station.ErrConflict) {
		t.Errorf("main: %v", err)
	}
	if _, err := r.Queue(t.Context(), "none", "a.mp3"); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a queue of none: %v", err)
	}
	// As many as may be, whoever makes them at once.
	var all sync.WaitGroup
	for i := range 3 * channels.Most {
		all.Go(func() { _, _ = r.Create(t.Context(), fmt.Sprint("c", i%(2*channels.Most)), "اسم") })
	}
	all.Wait()
	if n := len(r.List()); n != channels.Most {
		t.Errorf("%d channels", n)
	}
	id := r.List()[0].ID
	for range channels.MostWaiting {
		if _, err := r.Queue(t.Context(), id, "a.mp3"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Queue(t.Context(), id, "a.mp3"); !errors.Is(err, station.ErrConflict) {
		t.Errorf("one too many: %v", err)
	}
}

// Each track is heard once, whole, in order; what has left the library, or is
// no audio, keeps nobody waiting.
func TestTracksOfAQueueBeginInOrderAndWhole(t *testing.T) {
	r := newRig(t)
	_, err := r.Create(t.Context(), "x", "قناة")
	r.must(err)
	if p := r.Begin(t.Context(), "x"); p != nil {
		t.Fatal("something plays where nothing waits")
	}
	for _, path := range []string{"gone.mp3", "a.mp3", "broken.mp3", "b.mp3"} {
		_, err := r.Queue(t.Context(), "x", path)
		r.must(err)
	}
	select {
	case <-r.Waiting("x"):
	default:
		t.Error("nobody is told that something waits")
	}
	r.gone["gone.mp3"] = true
	for _, want := range []struct {
		path   string
		length time.Duration
	}{{"a.mp3", 2 * time.Second}, {"broken.mp3", 0}, {"b.mp3", time.Second}} {
		p := r.begin("x")
		if c, err := r.Find("x"); err != nil || c.Playing == nil || c.Playing.Path != want.path {
			t.Errorf("%+v plays, not %s", c.Playing, want.path)
		}
		audio, _ := io.ReadAll(p)
		r.must(p.Close())
		if want.length == 0 {
			continue
		}
		path := filepath.Join(r.dir, "heard.ogg")
		r.must(os.WriteFile(path, audio, 0o600))
		if length, err := ffmpeg.Length(t.Context(), path); err != nil || (length-want.length).Abs() > 100*time.Millisecond || !bytes.HasPrefix(audio, []byte("OggS")) {
			t.Errorf("%s: %s of it, %v", want.path, length, err)
		}
	}
	if p := r.Begin(t.Context(), "x"); p != nil {
		t.Error("something plays after the last")
	}
	select {
	case <-r.Waiting("x"):
		t.Error("somebody is told that nothing waits")
	default:
	}
	if c, err := r.Find("x"); err != nil || c.Playing != nil {
		t.Errorf("%+v plays", c.Playing)
	}
}

// A song that has no mastered copy yet is brought to its loudness here too, with no peak
// over the limit.
func TestASongWithoutACopyIsBroughtToItsLoudness(t *testing.T) {
	r := newRig(t)
	_, err := r.Create(t.Context(), "x", "x")
	r.must(err)
	heard := func(gain float64) *loudness.Measurement {
		r.gain = gain
		_, err := r.Queue(t.Context(), "x", "a.mp3")
		r.must(err)
		p := r.begin("x")
		audio, _ := io.ReadAll(p)
		r.must(p.Close())
		path := filepath.Join(r.dir, "heard.ogg")
		r.must(os.WriteFile(path, audio, 0o600))
		meter := loudness.NewMeter(44100, loudness.Stereo)
		r.must(ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: 44100, Channels: 2}, func(s []float32) error { meter.Write(s); return nil }))
		return meter.Result()
	}
	plain := heard(0).Integrated
	if got := heard(6.25).Integrated; math.Abs(got-plain-6.25) > 0.1 {
		t.Errorf("%.2f LUFS with 6.25 dB of gain, %.2f without", got, plain)
	}
	if got := heard(30).TruePeak; got > -1.5 {
		t.Errorf("%.2f dBTP behind the limiter", got)
	}
}

// A channel reads a track in real time: its end is read long after the encoder
// has written it and gone.
func TestEndOfATrackOutlastsItsEncoder(t *testing.T) {
	r := newRig(t)
	_, err := r.Create(t.Context(), "x", "قناة")
	r.must(err)
	_, err = r.Queue(t.Context(), "x", "a.mp3")
	r.must(err)
	p := r.begin("x")
	first := make([]byte, 100)
	if _, err := io.ReadFull(p, first); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the encoder gone", func() bool {
		return len(proc.Find("ffmpeg", "file:"+filepath.Join(r.dir, "a.mp3"))) == 0
	})
	time.Sleep(proc.DefaultDrain + 200*time.Millisecond) // what the output of a server has
	rest, err := io.ReadAll(p)
	r.must(err)
	r.must(p.Close())
	path := filepath.Join(r.dir, "heard.ogg")
	r.must(os.WriteFile(path, append(first, rest...), 0o600))
	if length, err := ffmpeg.Length(t.Context(), path); err != nil || (length-2*time.Second).Abs() > 100*time.Millisecond {
		t.Errorf("%s of 2 s were heard, %v", length, err)
	}
}

// A listener's channel that ends takes its encoder with it.
func TestClosedProgrammeLeavesNoEncoder(t *testing.T) {
	r := newRig(t)
	_, err := r.Create(t.Context(), "x", "قناة")
	r.must(err)
	for range 2 {
		_, err = r.Queue(t.Context(), "x", "a.mp3")
		r.must(err)
	}
	p := r.begin("x")
	if _, err := p.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	r.must(p.Close())
	ctx, cancel := context.WithCancel(t.Context())
	p = r.Begin(ctx, "x")
	cancel()
	_, _ = io.Copy(io.Discard, p)
	r.must(p.Close())
	if pids := proc.Find("ffmpeg", "file:"+filepath.Join(r.dir, "a.mp3")); len(pids) > 0 {
		t.Errorf("still there: %v", pids)
	}
}
