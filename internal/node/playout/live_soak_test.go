//go:build soak

package playout_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// live is the engine in real time on a real Icecast, and a listener.
type live struct {
	*rig
	rec *aircheck.Recorder
}

func (r *rig) boot() *live {
	r.t.Helper()
	r.startIcecast()
	r.startEngine()
	l := &live{r, aircheck.NewRecorder(r.stream())}
	testkit.Background(r.t, l.rec.Run)
	return l
}

// heard waits for a track after a position of the recording.
func (l *live) heard(id int, after time.Duration) aircheck.Segment {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 2*time.Minute)
	defer cancel()
	s, err := l.rec.WaitFor(ctx, id, after)
	if err != nil {
		l.t.Fatalf("%v; heard so far:\n%s", err, aircheck.Analyse(l.rec.PCM()))
	}
	return s
}

// now is the position of the recording that corresponds to this moment.
func (l *live) now() time.Duration { return l.rec.Position(time.Now()) }

func (l *live) recorded(d time.Duration) {
	l.t.Helper()
	testkit.Eventually(l.t, "enough recorded", func() bool { return l.rec.PCM().Duration() >= d })
}

// figure prints a latency beside its target. It judges nothing: machines are shared.
func figure(t *testing.T, what string, took, target time.Duration) {
	t.Helper()
	t.Logf("%-40s %8s  target %s", what, took.Round(10*time.Millisecond), target)
}

// How soon a skip to a new list is heard, by its marker.
func TestSoakSkipLatency(t *testing.T) {
	r := newRig(t)
	r.push(r.list(music(0, 20*second), music(1, 20*second)))
	l := r.boot()
	l.heard(0, 0)
	var took []time.Duration
	var want []string
	for i := range 14 {
		head, next := music(2+i, 20*second), entry{id: 20, kind: "jingles", cross: "0.5", long: 4 * second}
		if i%2 == 1 {
			next = entry{id: 21, kind: "sfx", cross: "0.2", long: 2 * second}
		}
		r.push(r.list(head, next))
		pressed := time.Now()
		testkit.Eventually(t, "the head opened", func() bool {
			s := r.status()
			return len(s.Prepared) > 0 && s.Prepared[0] == head.file(r.dir)
		})
		if err := r.client.Skip(t.Context()); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the marker of the head", func() bool {
			files := r.control.rotation()
			return files[len(files)-1] == filepath.Base(head.file(r.dir))
		})
		took = append(took, time.Since(pressed))
		want = append(want, filepath.Base(head.file(r.dir)))
		l.recorded(l.now() + 600*time.Millisecond)
	}
	slices.Sort(took)
	figure(t, "skip to its marker, median", took[len(took)/2], second)
	figure(t, "skip to its marker, worst", took[len(took)-1], second)
	if got := r.control.rotation()[1:]; !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
}

// Lists and skips at any instant of real time, with nothing open yet.
func TestSoakSkipsThatRaceWithReloads(t *testing.T) {
	r := newRig(t)
	r.push(r.list(music(0, 20*second), music(1, 20*second)))
	l := r.boot()
	heads := map[string]bool{}
	for id := 2; id < 38; id++ {
		e := music(id, 20*second)
		if id%3 == 0 {
			e.kind, e.cross = "jingles", "0.5"
		}
		heads[e.file(r.dir)] = true
		r.push(r.list(e, music(38+id%8, 20*second)))
		for range 1 + rand.IntN(2) {
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond) // any instant
			if err := r.client.Skip(t.Context()); err != nil && !errors.Is(err, station.ErrConflict) {
				t.Fatal(err)
			}
		}
	}
	l.recorded(l.now() + 2*second) // the listener is still connected
	begun := map[string]int{}
	for _, m := range r.control.markers() {
		if begun[m.File]++; heads[m.File] && begun[m.File] == 2 {
			t.Errorf("%s was begun twice", filepath.Base(m.File))
		}
	}
}

// How soon an encoder is heard, and the rotation after it.
func TestSoakLiveTakeoverLatency(t *testing.T) {
	r := newRig(t)
	r.o.Password, r.ice.Password = "live", "live" // ffmpeg takes it from the address
	r.push(r.list(music(0, 60*second), music(1, 60*second)))
	l := r.boot()
	song := l.heard(0, 0)
	l.recorded(song.Start + 3*second)
	began := l.now()
	end := testkit.Program(t, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", fmt.Sprintf("sine=%g,volume=2", aircheck.Frequency(20)),
		"-ac", "2", "-c:a", "libmp3lame", "-b:a", "128k", "-content_type", "audio/mpeg", "-f", "mp3",
		fmt.Sprintf("icecast://source:live@127.0.0.1:%d/channel_live", r.o.HarborPort),
	}})
	studio := l.heard(20, song.Start)
	figure(t, "encoder's start to live heard", studio.Start-began, 4*second)
	l.recorded(studio.Start + 3*second)
	ended := l.now()
	end()
	back := l.heard(1, studio.Start)
	figure(t, "encoder's end to rotation heard", back.Start-ended, 2*second)
	l.recorded(back.Start + 2*second)
	report := aircheck.Analyse(l.rec.PCM().Cut(song.Start+second, l.now()), 0, 1, 20, emergencyID)
	t.Logf("heard:\n%s", report)
	if got := report.Order(); !slices.Equal(got, []int{0, 20, 1}) {
		t.Errorf("order %v", got)
	}
	if s := r.status(); s.OnAir != playout.KindRotation {
		t.Errorf("status %+v", s)
	}
}
