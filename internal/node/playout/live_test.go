package playout_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// encode sends a tone to the live harbor, as the live restream does, until
// ended: MP3, 128 kbit/s, stereo.
func (r *rig) encode(id int) (end func()) {
	r.t.Helper()
	return run(r.t, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", fmt.Sprintf("sine=%g,volume=2", aircheck.Frequency(id)),
		"-ac", "2", "-c:a", "libmp3lame", "-b:a", "128k", "-content_type", "audio/mpeg", "-f", "mp3",
		fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/channel_live", "live", r.o.HarborPort),
	}})
}

// The life of a station in one boot: nothing to play, then a playlist, then a
// live source over it, then the rotation again, then a playlist that ends.
func TestEmergencyRotationLiveAndBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Password = "live" // ffmpeg takes it from the address
	r.ice.Password = "live"
	r.boot() // there is no playlist file yet
	empty := r.heard(emergencyID, 0)
	if err := r.client.Skip(t.Context()); !errors.Is(err, station.ErrConflict) {
		t.Errorf("skip of the emergency audio: %v", err)
	}

	from := r.now()
	r.push(r.list(music(0, 20*second), music(1, 20*second), music(2, 60*second)))
	first := r.heard(0, empty.Start)
	t.Logf("the rotation comes %s after its first playlist", first.Start-from)

	from = r.now()
	end := r.encode(20)
	live := r.heard(20, first.Start)
	t.Logf("live is heard %s after the encoder starts", live.Start-from)
	r.recorded(live.Start + 2*second)
	if err := r.client.Skip(t.Context()); !errors.Is(err, station.ErrConflict) {
		t.Errorf("skip while live: %v", err)
	}
	if s, err := r.client.Status(t.Context()); err != nil || s.OnAir != playout.KindLive || !s.LiveConnected {
		t.Errorf("status while live: %+v, %v", s, err)
	}
	from = r.now()
	end()
	next := r.heard(1, live.Start)
	t.Logf("the rotation is back %s after the encoder ends", next.Start-from)

	end = r.encode(21)
	live = r.heard(21, next.Start)
	if err := r.client.DisconnectLive(t.Context()); err != nil {
		t.Error(err)
	}
	end()
	next = r.heard(2, live.Start)
	r.recorded(next.Start + second)

	// Nothing left to play: the entries are gone, and the list is empty.
	from = r.now()
	r.push(pad("#EXTM3U\n"))
	r.eventually(func() error {
		s, err := r.client.Status(t.Context())
		if err == nil && s.Entries != 0 {
			err = errors.New("the engine still has the old list")
		}
		return err
	})
	if err := r.client.Skip(t.Context()); err != nil {
		t.Error(err)
	}
	again := r.heard(emergencyID, from)
	r.recorded(again.Start + second)
	r.push(r.list(music(5, 20*second)))
	back := r.heard(5, again.Start)
	r.recorded(back.Start + second)

	report := aircheck.Analyse(r.rec.PCM(), 0, 1, 2, 5, 20, 21, emergencyID)
	t.Logf("heard:\n%s", report)
	if got, want := report.Order(), []int{emergencyID, 0, 20, 1, 21, 2, emergencyID, 5}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if gap := report.Gap.Length(); gap > 100*time.Millisecond {
		t.Errorf("longest gap %s", gap)
	}
	want := []string{"emergency .", "rotation 00.wav", "live .", "rotation 01.wav", "live .", "rotation 02.wav", "emergency .", "rotation 05.wav"}
	if got := r.control.files(); !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
}

// An operator's emergency file that is no audio: ours is played instead.
func TestCorruptEmergencyFileFallsBackToOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := os.WriteFile(r.o.Emergency, []byte(strings.Repeat("not audio ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	r.boot()
	r.recorded(5 * second)
	pcm := r.rec.PCM().Cut(2*second, 5*second)
	report := aircheck.Analyse(pcm)
	if report.Gap.Length() > 0 || len(pcm.Samples) == 0 {
		t.Errorf("silence for %s", report.Gap.Length())
	}
	if got := r.control.files(); !slices.Equal(got, []string{"emergency ."}) {
		t.Errorf("markers %v", got)
	}
	// The same engine is told from others by its script, and has a size.
	pids := playout.Find(r.o)
	if len(pids) != 1 || proc.RSS(pids[0]) < 1<<20 {
		t.Errorf("engines found: %v", pids)
	}
	// A tampered script heals with the next start.
	if err := os.WriteFile(r.o.Script(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.engine()
	if err := playout.Ready(t.Context(), r.o); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("ready without an engine: %v", err)
	}
	r.startEngine()
}

// Icecast dies and comes back: so does the stream, from the same engine run.
func TestStreamReturnsAfterIcecastIsKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.StreamTitles = true
	song := music(3, 60*second)
	song.title = "أغنية"
	r.push(r.list(song))
	kill := r.startIcecast()
	r.startEngine()
	before, err := r.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kill()
	r.startIcecast()
	up := time.Now()
	r.eventually(func() error { return icecast.OnAir(t.Context(), httpClient(t), r.ice) })
	t.Logf("on air again %s after Icecast is up", time.Since(up))
	r.record()
	r.heard(3, 0)
	r.eventually(func() error {
		s, err := icecast.ReadStatus(t.Context(), httpClient(t), r.ice)
		if main, _ := s.Source("main"); err == nil && (main.Title != song.title || main.Artist != "مطرب" || main.Name != "أثير") {
			err = fmt.Errorf("Icecast shows %+v", s)
		}
		return err
	})
	after, err := r.client.Status(t.Context())
	if err != nil || after.Engine != before.Engine {
		t.Errorf("the engine was restarted: %v", err)
	}
	if got := r.control.files(); !slices.Equal(got, []string{"rotation " + filepath.Base(song.file(r.dir))}) {
		t.Errorf("markers %v", got)
	}
}
