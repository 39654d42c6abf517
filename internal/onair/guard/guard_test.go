package guard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/deadair"
)

// TestMain doubles as the process that fills a disk of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(context.Background(), dir) })
	}
	testkit.Main(m)
}

// studio is a node that hears what its switch says, and an Air that turns it.
type studio struct {
	mu      sync.Mutex
	sound   string
	steps   []Step // taken
	help    Step   // that brings the sound back
	told    []Alert
	judge   *deadair.Judge
	arrived time.Time
	short   string
	kills   int
	onAir   Source // Rotation where it is empty
	asked   int    // questions for the recording on air
	late    int    // of them, those that the machine does not answer in time; -1: none of them
	begins  bool   // the library is taken in for the first time
}

func newStudio(sound string, help Step) *studio {
	return &studio{sound: sound, help: help, judge: deadair.NewJudge(-50)}
}

func (s *studio) put(sound string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sound = sound
}

const (
	tune = "noise"
	hush = "silence"
	gone = ""
	drum = "a bar of drums, again and again"
	away = "the node does not answer"
)

// send hears a block of samples every tenth of a second.
func (s *studio) send(ctx context.Context) error {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's noise
	clock := time.NewTicker(100 * time.Millisecond)
	defer clock.Stop()
	bar, beat := drums(), 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
		pcm := make([]int16, deadair.Rate/10)
		s.mu.Lock()
		for i := 0; s.sound == tune && i < len(pcm); i++ {
			pcm[i] = int16(random.IntN(20000) - 10000) //nolint:gosec // fits
		}
		if s.sound == drum {
			pcm = bar[beat%5*len(pcm):][:len(pcm)]
			beat++
		}
		if s.sound == tune || s.sound == hush || s.sound == drum {
			s.judge.Add(pcm)
			s.arrived = time.Now()
		}
		s.mu.Unlock()
	}
}

// Report is what the node tells.
func (s *studio) Report(context.Context) (Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sound == away {
		return Report{}, errors.New("no answer from the node")
	}
	ago := time.Duration(-1)
	if !s.arrived.IsZero() {
		ago = time.Since(s.arrived)
	}
	return Report{Verdict: s.judge.Verdict(), Arrived: ago, Decoded: ago, Short: s.short, Kills: map[Step]int{RestartEngine: s.kills}}, nil
}

func (s *studio) Playing(context.Context) Source { return s.source() }

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

// drums is half a second of a drum machine.
func drums() []int16 {
	out := make([]int16, deadair.Rate/2)
	for i := range out {
		at := float64(i) / deadair.Rate
		out[i] = int16(12000 * math.Exp(-8*math.Mod(at, 0.25)) * math.Sin(2*math.Pi*(90+400*at)*at))
	}
	return out
}

// Original knows the recording only where it is drums, after so many late answers.
func (s *studio) Original(ctx context.Context) ([]int16, int, error) {
	s.mu.Lock()
	s.asked++
	late, known := s.late < 0 || s.asked <= s.late, s.sound == drum
	s.mu.Unlock()
	switch {
	case !known:
		return nil, 0, errors.New("nothing is known of the recording")
	case late:
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	return slices.Repeat(drums(), 60), 20 * deadair.Rate, nil
}

func (s *studio) alerts() []Alert {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

func (s *studio) source() Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.onAir, Rotation)
}

func (s *studio) beginning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begins
}

// open makes a guard of the studio.
func (s *studio) open(t *testing.T, db *store.DB) *Guard {
	t.Helper()
	log, _ := testkit.Log(t)
	g, err := Open(t.Context(), Options{
		Log: log, DB: db, Node: s.Report,
		Level: -50, Silence: 3 * time.Second, LiveSilence: 30 * time.Second, Air: s,
		OnAir: s.source, Beginning: s.beginning, Intact: func(context.Context) bool { return true },
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
	return g
}

// database is empty, and closed with the test.
func database(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Sound, silence, a step that cannot be taken, one that helps, and sound again:
// told, counted and kept. Then the mount goes, and the process ends in the middle
// of that alarm: the next life shows it as over.
func TestGuardBringsTheSoundBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, db := newStudio(tune, Repush), database(t)
		testkit.Background(t, s.send)
		g := s.open(t, db)
		stop := testkit.Background(t, g.Run)
		time.Sleep(5 * time.Second)
		if shown := g.Status(); shown.State != "watching" || shown.Level < -40 || shown.Level > 0 {
			t.Fatalf("after 5 s of sound: %+v", shown)
		}

		silent := time.Now()
		s.put(hush)
		testkit.Eventually(t, "the alarm is raised", func() bool { return len(s.alerts()) == 1 })
		if after := time.Since(silent); after < 2900*time.Millisecond || after > 3800*time.Millisecond {
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

// runs starts a guard and waits until it has heard its studio.
func (s *studio) runs(t *testing.T) *Guard {
	t.Helper()
	testkit.Background(t, s.send)
	g := s.open(t, database(t))
	testkit.Background(t, g.Run)
	testkit.Eventually(t, "the guard watches", func() bool { return g.Status().State == "watching" })
	return g
}

func (s *studio) taken() []Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.steps)
}

// A node that does not answer is told as that: no step is taken, no time of dead air is
// counted, and the station is not called silent.
func TestANodeThatDoesNotAnswerIsNotDeadAir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(tune, "")
		g := s.runs(t)
		s.put(away)
		testkit.Eventually(t, "an alarm", func() bool { return len(s.alerts()) == 1 })
		if a := s.alerts()[0]; a.Kind != Unreachable {
			t.Errorf("told %+v", a)
		}
		// Every listener gets the event; what the machine is made of is the operator's.
		const finding = "no answer from the node"
		everyones, err := json.Marshal(s.alerts()[0])
		if err != nil || strings.Contains(string(everyones), finding) || !strings.Contains(string(everyones), Unreachable.words()) {
			t.Errorf("listeners are told %s, %v", everyones, err)
		}
		if full := s.alerts()[0].Full(); !strings.Contains(full, finding) {
			t.Errorf("operators are told %q", full)
		}
		time.Sleep(20 * time.Minute)
		if now := g.Status(); now.Reachable || now.Kind != Unreachable || now.State != "pausing" || len(s.taken()) > 0 {
			t.Errorf("after 20 min without the node: %+v, took %v", now, s.taken())
		}
		if dead := g.Totals().Dead; dead != 0 {
			t.Errorf("%s of dead air are counted", dead)
		}
		s.put(tune)
		testkit.Eventually(t, "the alarm is cleared", func() bool { return len(s.alerts()) == 2 && g.Status().Reachable })
	})
}

// Emergency audio is no fault of a station whose library is taken in for the first time,
// however long that takes, nor at the moment of its first song; it is one of any other.
func TestABeginningStationRaisesNoAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(tune, "")
		s.begins, s.onAir = true, EmergencySource
		g := s.runs(t)
		time.Sleep(20 * time.Minute)
		if len(s.alerts()) > 0 || len(s.taken()) > 0 {
			t.Errorf("told %+v, took %v", s.alerts(), s.taken())
		}
		s.mu.Lock()
		s.begins = false
		s.mu.Unlock()
		time.Sleep(settled - 2*tick) // the engine opens the first song
		s.mu.Lock()
		s.onAir = Rotation
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if len(s.alerts()) > 0 || g.Status().State != "watching" {
			t.Errorf("told %+v at the first song, %+v", s.alerts(), g.Status())
		}
		s.mu.Lock()
		s.onAir = EmergencySource
		s.mu.Unlock()
		testkit.Eventually(t, "an alarm", func() bool { return len(s.alerts()) == 1 })
	})
}

// Where the machine is short, that is the alarm: work is shed, and nothing is skipped or
// pushed, however long it lasts.
func TestAStarvedStationIsGivenTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(tune, "")
		g := s.runs(t)
		s.mu.Lock()
		s.short, s.sound = "it waited for a processor in 90 % of the time", gone
		s.mu.Unlock()
		time.Sleep(30 * time.Minute)
		if now := g.Status(); now.Kind != Starved || !now.Short {
			t.Errorf("half an hour without a processor: %+v", now)
		}
		for _, step := range s.taken() {
			if step != Shed {
				t.Errorf("took %v", s.taken())
				break
			}
		}
		if len(s.taken()) == 0 {
			t.Error("nothing was shed")
		}
	})
}

// What the node did by itself is told with the alarm that it belongs to, whichever of
// the two came first.
func TestTheNodesOwnStepsAreTold(t *testing.T) {
	for _, first := range []string{"alarm", "kill"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStudio(tune, "")
			g := s.runs(t)
			kill := func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.kills++
			}
			s.put(gone)
			if first == "kill" {
				time.Sleep(time.Second)
				kill()
			}
			testkit.Eventually(t, "an alarm", func() bool { return len(s.alerts()) == 1 })
			if first == "alarm" {
				kill()
			}
			time.Sleep(2 * time.Second)
			s.put(tune)
			testkit.Eventually(t, "the alarm is cleared", func() bool { return len(s.alerts()) == 2 })
			if last := g.Status().LastAlarm; !slices.Contains(last.Steps, RestartEngine) || g.Totals().Steps[RestartEngine] != 1 {
				t.Errorf("%s first: %+v", first, last)
			}
		})
	}
}

// Silence that no step ends: each is taken once, and not again for five minutes. A guard
// that hears wrongly would cut off a song with every step.
func TestAFruitlessRoundIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(tune, "")
		s.runs(t)
		s.put(hush)
		time.Sleep(4 * time.Minute)
		if got := s.taken(); !slices.Equal(got, []Step{Skip, Repush, AirEmergency}) {
			t.Errorf("took %v in four minutes", got)
		}
	})
}

// A song that repeats itself is not cut off because the machine is too busy to decode it
// in time: it is asked for again. Where no answer ever comes the loop is a fault.
func TestARecordingThatIsNotReadInTimeIsAskedForAgain(t *testing.T) {
	for _, late := range []int{mostUnanswered - 1, -1} {
		synctest.Test(t, func(t *testing.T) {
			s := newStudio(tune, "")
			g := s.runs(t)
			s.mu.Lock()
			s.late, s.sound = late, drum
			s.mu.Unlock()
			time.Sleep(90 * time.Second)
			s.mu.Lock()
			asked := s.asked
			s.mu.Unlock()
			if late > 0 {
				if asked <= late || len(s.alerts()) > 0 || len(s.taken()) > 0 || g.Status().State != "watching" {
					t.Errorf("asked %d times, told %+v, took %v", asked, s.alerts(), s.taken())
				}
				return
			}
			if told := s.alerts(); len(told) != 1 || told[0].Kind != Frozen || asked < mostUnanswered || asked > 90/8 {
				t.Errorf("asked %d times in vain, told %+v", asked, told)
			}
		})
	}
}

// While the node is away nothing is known of what it plays: what is found out meanwhile about
// another recording does not count against the one that is heard then.
func TestWhatWasHeardBeforeACutIsNotJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(tune, "")
		g := s.runs(t)
		s.put(drum)
		time.Sleep(20 * time.Second)
		s.put(away)
		testkit.Eventually(t, "the node is missed", func() bool { return len(s.alerts()) == 1 })
		s.mu.Lock()
		asked := s.asked
		s.mu.Unlock()
		time.Sleep(25 * time.Second)
		s.mu.Lock()
		if s.asked != asked || asked == 0 {
			t.Errorf("asked %d times for the recording before the cut, %d times by its end", asked, s.asked)
		}
		s.mu.Unlock()
		s.put(drum)
		testkit.Eventually(t, "the node is back", func() bool { return len(s.alerts()) == 2 })
		time.Sleep(30 * time.Second)
		if told := s.alerts(); len(told) != 2 || told[1].Kind != Unreachable || len(s.taken()) > 0 || g.Status().State != "watching" {
			t.Errorf("told %+v, took %v", told, s.taken())
		}
	})
}
