package guard

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// studio is a mount that sends what its switch says, and an Air that turns it.
type studio struct {
	*httptest.Server
	mu    sync.Mutex
	sound string // an ffmpeg source
	steps []Step // taken
	help  Step   // that brings the sound back
	told  []Alert
	turn  chan struct{} // closed when sound changes
}

func (s *studio) put(sound string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sound = sound
	close(s.turn)
	s.turn = make(chan struct{})
}

const (
	tune = "aevalsrc=0.3*sin(2*PI*(300+200*sin(t))*t):s=44100"
	hush = "anullsrc=r=44100"
)

// serve sends one chained Ogg stream, a new link at each change of the sound.
func (s *studio) serve(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		s.mu.Lock()
		sound, turn := s.sound, s.turn
		s.mu.Unlock()
		if sound == "" {
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			select {
			case <-turn:
			case <-ctx.Done():
			}
			cancel()
		}()
		_, _ = proc.Run(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stdout: flushing{w}, Args: []string{
			"-v", "quiet", "-nostdin", "-re", "-f", "lavfi", "-i", sound, "-ac", "2", "-c:a", "libvorbis", "-b:a", "128k",
			"-page_duration", "200000", "-flush_packets", "1", "-f", "ogg", "pipe:1",
		}}, nil)
		cancel()
		<-stop
	}
}

type flushing struct{ http.ResponseWriter }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	_ = http.NewResponseController(f.ResponseWriter).Flush()
	return n, err
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

// Sound, silence, a step that cannot be taken, one that helps, and sound again:
// judged through a real decoder, told, counted and kept.
func TestGuardBringsTheSoundBack(t *testing.T) {
	s := &studio{sound: tune, help: Repush, turn: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	defer s.Close()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's
	opt := Options{
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), DB: db, URL: s.URL, Standby: "ATHIR=standby", Listening: func() bool { return true },
		Level: -50, Silence: 3 * time.Second, LiveSilence: 30 * time.Second, Air: s,
		OnAir: func() Source { return Rotation }, Intact: func(context.Context) bool { return true },
		Tell: func(event string, payload any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if a, ok := payload.(Alert); ok && event == Event {
				s.told = append(s.told, a)
			}
		},
	}
	g, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("never: %s; %+v", what, g.Status())
			}
		}
	}
	eventually("watching", func() bool { return g.Status().State == "watching" })
	if level := g.Status().Level; level < -40 || level > 0 {
		t.Errorf("level %.1f dBFS", level)
	}
	s.put(hush)
	eventually("raised", func() bool { return len(s.alerts()) == 1 })
	eventually("cleared", func() bool { return len(s.alerts()) == 2 })
	for i, state := range []string{"raised", "cleared"} {
		if a := s.alerts()[i]; a.State != state || a.Kind != Silence || a.Text == "" {
			t.Errorf("told %+v", a)
		}
	}
	if n := g.Totals(); n.Alarms[Silence] != 1 || n.Steps[Skip] != 1 || n.Steps[Repush] != 1 || n.Dead < 3*time.Second {
		t.Errorf("totals %+v", n)
	}
	kept := func() Alarm {
		all, err := g.History(t.Context(), 10)
		if err != nil || len(all) != 1 {
			t.Fatalf("history: %+v, %v", all, err)
		}
		return all[0]
	}
	eventually("kept", func() bool { return kept().Cleared > 0 })
	if a := kept(); a.Kind != Silence || len(a.Steps) < 2 || !slices.Equal(a.Steps[:2], []Step{Skip, Repush}) || a.Heard < a.Raised || a.Raised-a.Began < 3000 {
		t.Errorf("kept %+v", a)
	}

	// The mount is gone, and the process ends in the middle of it.
	s.put("")
	eventually("raised again", func() bool { return len(s.alerts()) == 3 && g.Status().Kind == Gone })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	again, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if last := again.Status().LastAlarm; last == nil || last.Kind != Gone || last.Cleared == 0 {
		t.Errorf("an alarm of the life before is %+v", last)
	}
}
