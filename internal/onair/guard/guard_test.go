package guard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// studio is a mount that sends what its switch says, and an Air that turns it.
// Its stream holds plain samples: what decodes it in these tests only copies.
type studio struct {
	network *testkit.Network
	mu      sync.Mutex
	sound   string
	steps   []Step // taken
	help    Step   // that brings the sound back
	told    []Alert
}

func (s *studio) put(sound string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sound = sound
}

func (s *studio) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sound
}

const (
	tune = "noise"
	hush = "silence"
	gone = ""
)

// serve sends a block of samples every tenth of a second, for as long as the
// mount is there.
func (s *studio) serve(w http.ResponseWriter, r *http.Request) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's noise
	pages := http.NewResponseController(w)
	for sound := s.sent(); sound != gone && r.Context().Err() == nil; sound = s.sent() {
		pcm := make([]byte, 2*blockSize)
		for i := 0; sound == tune && i < len(pcm); i += 2 {
			binary.LittleEndian.PutUint16(pcm[i:], uint16(int16(random.IntN(20000)-10000))) //nolint:gosec // the same bits
		}
		if _, err := w.Write(pcm); err != nil || pages.Flush() != nil {
			return
		}
		select {
		case <-time.After(block):
		case <-r.Context().Done():
		}
	}
}

func (s *studio) Sight(context.Context) Sight { return Sight{Feed: true, OnAir: Rotation} }

func (s *studio) Take(_ context.Context, step Step) error {
	s.mu.Lock()
	s.steps = append(s.steps, step)
	help := s.help
	s.mu.Unlock()
	if step == Skip && help != Skip {
		return errors.New("no entry is on air")
	}
	if step == help {
		s.put(tune)
	}
	return nil
}

func (s *studio) Release(context.Context) error { return nil }

func (s *studio) Original(context.Context) ([]int16, int, error) {
	return nil, 0, errors.New("nothing is known of the recording")
}

func (s *studio) alerts() []Alert {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// open makes a guard that listens to the studio.
func (s *studio) open(t *testing.T, db *store.DB) *Guard {
	t.Helper()
	log, _ := testkit.Log(t)
	g, err := Open(t.Context(), Options{
		Log: log, DB: db, URL: "http://studio/main", Standby: "ATHIR=standby", Listening: func() bool { return true },
		Level: -50, Silence: 3 * time.Second, LiveSilence: 30 * time.Second, Air: s,
		OnAir: func() Source { return Rotation }, Intact: func(context.Context) bool { return true },
		Tell: func(event string, payload any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if a, ok := payload.(Alert); ok && event == Event {
				s.told = append(s.told, a)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.ear.dial = s.network.Dial
	g.ear.decode = func(_ context.Context, stream io.Reader, samples io.Writer) error {
		_, err := io.Copy(samples, stream)
		return err
	}
	return g
}

// Sound, silence, a step that cannot be taken, one that helps, and sound again:
// told, counted and kept. Then the mount goes, and the process ends in the middle
// of that alarm: the next life shows it as over.
func TestGuardBringsTheSoundBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &studio{network: testkit.NewNetwork(), sound: tune, help: Repush}
		server := &http.Server{Handler: http.HandlerFunc(s.serve)} //nolint:gosec // in memory
		go func() { _ = server.Serve(s.network) }()
		defer server.Close() //nolint:errcheck // a test's
		db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() //nolint:errcheck // a test's
		g := s.open(t, db)
		stop := testkit.Background(t, g.Run)
		time.Sleep(5 * time.Second)
		if shown := g.Status(); shown.State != "watching" || shown.Level < -40 || shown.Level > 0 {
			t.Fatalf("after 5 s of sound: %+v", shown)
		}

		silent := time.Now()
		s.put(hush)
		testkit.Eventually(t, "the alarm is raised", func() bool { return len(s.alerts()) == 1 })
		if after := time.Since(silent); after < 3*time.Second-block || after > 3*time.Second+5*block {
			t.Errorf("raised %s after the sound ended, want 3 s", after)
		}
		testkit.Eventually(t, "the alarm is cleared", func() bool { return len(s.alerts()) == 2 })
		time.Sleep(time.Minute)
		if len(s.alerts()) != 2 {
			t.Fatalf("told %+v", s.alerts())
		}
		for i, state := range []string{"raised", "cleared"} {
			if a := s.alerts()[i]; a.State != state || a.Kind != Silence || a.Text == "" {
				t.Errorf("told %+v", a)
			}
		}
		if n := g.Totals(); n.Alarms[Silence] != 1 || n.Steps[Skip] != 1 || n.Steps[Repush] != 1 || n.Dead < 3*time.Second || n.Dead > 5*time.Second {
			t.Errorf("totals %+v", n)
		}
		all, err := g.History(t.Context(), 10)
		if err != nil || len(all) != 1 {
			t.Fatalf("history: %+v, %v", all, err)
		}
		a := all[0]
		if a.Kind != Silence || !slices.Equal(a.Steps, []Step{Skip, Repush}) || a.Raised-a.Began < 3000 || a.Heard < a.Raised ||
			a.Heard-a.Raised > 2000 || a.Cleared-a.Heard < 3000 || a.Cleared-a.Heard > 3500 {
			t.Errorf("kept %+v", a)
		}

		s.put(gone)
		testkit.Eventually(t, "the alarm is raised again", func() bool { return len(s.alerts()) == 3 })
		stop()
		again := s.open(t, db)
		if last := again.Status().LastAlarm; last == nil || last.Kind != Gone || last.Cleared == 0 {
			t.Errorf("an alarm of the life before is %+v", last)
		}
	})
}

// A decoder that makes nothing of what comes is started anew, and so is a
// connection on which nothing comes: each after three seconds.
func TestTheEarBeginsAnewWhereItHearsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		sound string
		want  error
	}{"nothing is decoded": {tune, errDeaf}, "nothing is sent": {"headers", errStill}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &studio{network: testkit.NewNetwork(), sound: c.sound}
				arrivals := make(chan time.Time, 10)
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // in memory
					arrivals <- time.Now()
					if c.sound == tune {
						s.serve(w, r)
						return
					}
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				})}
				go func() { _ = server.Serve(s.network) }()
				defer server.Close() //nolint:errcheck // a test's
				db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close() //nolint:errcheck // a test's
				e := s.open(t, db).ear
				log, lines := testkit.Log(t)
				e.log = log
				e.decode = func(_ context.Context, stream io.Reader, _ io.Writer) error {
					_, err := io.Copy(io.Discard, stream)
					return err
				}
				defer testkit.Background(t, func(ctx context.Context) error { e.run(ctx); return nil })()
				first, second := testkit.Receive(t, "a connection", arrivals), testkit.Receive(t, "another", arrivals)
				if apart := second.Sub(first); apart < deaf || apart > deaf+time.Second {
					t.Errorf("a new connection after %s", apart)
				}
				if log := lines.String(); !strings.Contains(log, c.want.Error()) {
					t.Errorf("the log does not say %q:\n%s", c.want, log)
				}
			})
		})
	}
}

// What the decoder makes of the mount's chained Ogg is judged as it was sent:
// links with sound, and one in which the sound ends.
func TestTheEarHearsWhatTheMountSends(t *testing.T) {
	var stream bytes.Buffer
	for _, source := range []string{
		"aevalsrc=0.3*sin(2*PI*(300+200*sin(t))*t):s=44100:d=2", "aevalsrc=0.3*sin(2*PI*(500+200*sin(t))*t):s=44100:d=2", "anullsrc=r=44100:d=4",
	} {
		_, err := proc.Run(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stdout: &stream, Args: []string{
			"-v", "quiet", "-nostdin", "-f", "lavfi", "-i", source, "-ac", "2", "-c:a", "libvorbis", "-b:a", "128k", "-f", "ogg", "pipe:1",
		}}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	e := newEar(Options{Level: -50})
	_ = decodeOgg(t.Context(), &stream, e)
	h := e.hearing()
	if h.Sounding || h.Silent < 3800*time.Millisecond || h.Silent > 4200*time.Millisecond || h.Level > -60 {
		t.Errorf("after 4 s of silence: %+v", h.Verdict)
	}
	sounding := 0
	for _, level := range e.judge.levels {
		if level >= e.judge.limit {
			sounding++
		}
	}
	if sounding < 38 || sounding > 42 {
		t.Errorf("%d blocks of sound, want 40", sounding)
	}
}
