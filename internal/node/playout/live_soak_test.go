//go:build soak

package playout_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// takeovers is how many the latencies are told of.
const takeovers = 20

// way is how a live source reaches the air.
type way struct {
	name, mime string
	buffer     string // the script's, in seconds
	*live
	turned, heard, back []time.Duration
}

// How soon an encoder is heard, and the rotation after it: as it is now, and with what
// the script had before, ffmpeg as the harbor's decoder and a buffer of a second. Both
// stations run at the same time, and take turns.
func TestSoakLiveTakeoverLatency(t *testing.T) {
	ways := []*way{{name: "MAD, 0.3 s", mime: quickMIME, buffer: "0.3"}, {name: "ffmpeg, 1 s", mime: slowMIME, buffer: "1."}}
	for _, w := range ways {
		r := newRig(t)
		r.push(r.list(music(0, 40*second), music(1, 40*second), music(2, 40*second)))
		r.startIcecast()
		spec, err := playout.Prepare(t.Context(), r.o)
		if err != nil {
			t.Fatal(err)
		}
		script, err := os.ReadFile(r.o.Script())
		if err != nil {
			t.Fatal(err)
		}
		const now = "buffer=0.3,"
		if !bytes.Contains(script, []byte(now)) {
			t.Fatalf("the script has no longer %q", now)
		}
		script = bytes.ReplaceAll(script, []byte(now), []byte("buffer="+w.buffer+","))
		if err := os.WriteFile(r.o.Script(), script, 0o600); err != nil {
			t.Fatal(err)
		}
		spec.Stdout, spec.Stderr, spec.Stop = r.log, r.log, 9
		testkit.Program(t, spec)
		r.reaches(r.onAir)
		w.live = &live{r, aircheck.NewRecorder(r.stream())}
		testkit.Background(t, w.rec.Run)
		w.live.heard(0, 0)
	}
	for range takeovers {
		for _, w := range ways {
			w.takeover()
		}
	}
	for _, w := range ways {
		report := aircheck.Analyse(w.rec.PCM(), 0, 1, 2, 20, emergencyID)
		var talk time.Duration
		pieces := 0
		for _, s := range report.Segments {
			switch s.ID {
			case emergencyID:
				t.Errorf("%s: emergency audio at %s", w.name, s.Start)
			case 20:
				talk += s.Length()
				pieces++
			}
		}
		// More pieces than takeovers: the machine had no time for the encoder.
		t.Logf("%-12s %s of %s of talk are heard, in %d pieces", w.name, round(talk), takeovers*takeoverLong, pieces)
		for _, f := range []struct {
			what string
			took []time.Duration
		}{{"connect to the engine's turn", w.turned}, {"connect to live heard", w.heard}, {"last byte to rotation heard", w.back}} {
			slices.Sort(f.took)
			t.Logf("%-12s %-28s median %7s  worst %7s", w.name, f.what, round(f.took[takeovers/2]), round(f.took[takeovers-1]))
		}
	}
	ratio := func(what string, took func(*way) []time.Duration) {
		now, before := took(ways[0])[takeovers/2], took(ways[1])[takeovers/2]
		t.Logf("%-28s %.2f of what it took, %s less", what, now.Seconds()/before.Seconds(), round(before-now))
	}
	ratio("connect to live heard", func(w *way) []time.Duration { return w.heard })
	ratio("last byte to rotation heard", func(w *way) []time.Duration { return w.back })
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

// takeoverLong is how long a live source of the test talks.
const takeoverLong = 2 * time.Second

// takeover connects, talks from its first frame on in real time, and leaves.
func (w *way) takeover() {
	w.t.Helper()
	audio, err := os.ReadFile(w.encode128(takeoverLong))
	if err != nil {
		w.t.Fatal(err)
	}
	from, marks := w.now(), len(w.control.markers())
	began := time.Now()
	conn, answer := w.dial(liveMount, w.mime)
	if !strings.Contains(answer, " 200 ") {
		w.t.Fatalf("the harbor answers %q", answer)
	}
	const tick = 20 * time.Millisecond
	pace := time.NewTicker(tick)
	defer pace.Stop()
	for len(audio) > 0 {
		n := min(len(audio), 128_000/8/50)
		if _, err := conn.Write(audio[:n]); err != nil {
			w.t.Fatal(err)
		}
		audio = audio[n:]
		<-pace.C
	}
	_ = conn.Close()
	ended := time.Now()
	studio := w.live.heard(20, from)
	w.heard = append(w.heard, w.arrived(studio.Start).Sub(began))
	testkit.Eventually(w.t, "live and rotation marked", func() bool {
		m := w.control.markers()
		return len(m) >= marks+2 && m[len(m)-1].Kind == playout.KindRotation
	})
	m := w.control.markers()[marks]
	if m.Kind != playout.KindLive {
		w.t.Errorf("the first marker of a takeover: %+v", m)
	}
	w.turned = append(w.turned, time.UnixMilli(m.StartedAt).Sub(began))
	// The song after it is another one than that before it.
	next, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(w.control.markers()[marks+1].File), ".wav"))
	w.recorded(studio.Start + takeoverLong)
	back := w.live.heard(next, studio.Start+takeoverLong-second/2)
	w.back = append(w.back, w.arrived(back.Start).Sub(ended))
	w.recorded(back.Start + 2*second)
}

// arrived is when a listener heard a position of the recording.
func (l *live) arrived(position time.Duration) (when time.Time) {
	l.t.Helper()
	testkit.Eventually(l.t, "that recorded", func() (ok bool) {
		when, ok = l.rec.ArrivedAt(position)
		return ok
	})
	return when
}

// encode128 is a tone as the desk encodes it.
func (r *rig) encode128(long time.Duration) string {
	file := filepath.Join(r.dir, "takeover.wav")
	r.write(file, aircheck.Track{ID: 20, Duration: long})
	return r.encode(file, "-b:a", "128k", "-ar", "48000")
}

// The first frame that an encoder sends is on the listener's connection, in real time:
// a stroke that begins with the first sample, in twenty takeovers.
func TestSoakTheFirstFrameOfATakeoverIsHeard(t *testing.T) {
	r := newRig(t)
	r.push(r.list(music(0, 40*second), music(1, 40*second)))
	l := r.boot()
	l.heard(0, 0)
	const stroke = 16
	file := r.encode(r.sound("stroke.wav", second, func(i int) (float64, float64) {
		if i >= rate/20 {
			return 0, 0
		}
		v := 0.25 * math.Sin(2*math.Pi*aircheck.Frequency(stroke)*float64(i)/rate)
		return v, v
	}), "-b:a", "128k", "-ar", "48000")
	audio, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for range takeovers {
		from := l.now()
		conn, answer := l.dial(liveMount, quickMIME)
		if !strings.Contains(answer, " 200 ") {
			t.Fatalf("the harbor answers %q", answer)
		}
		pace := time.NewTicker(20 * time.Millisecond)
		for rest := audio; len(rest) > 0; rest = rest[min(len(rest), 320):] {
			if _, err := conn.Write(rest[:min(len(rest), 320)]); err != nil {
				t.Fatal(err)
			}
			<-pace.C
		}
		pace.Stop()
		_ = conn.Close()
		s := l.heard(stroke, from)
		l.recorded(s.Start + 2*second)
		var most float64 = -200
		for at := s.Start - 50*time.Millisecond; at < s.Start+100*time.Millisecond; at += 5 * time.Millisecond {
			most = max(most, amplitude(l.rec.PCM().Cut(at, at+20*time.Millisecond), stroke))
		}
		t.Logf("a stroke of 50 ms from the first sample on: heard for %s, at %.1f dBFS", s.Length(), most)
		if most < -14 || s.Length() < 40*time.Millisecond {
			t.Errorf("the first stroke is heard for %s at %.1f dBFS", s.Length(), most)
		}
	}
}
