package supervise

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A program that is paced by the wall clock is started again each time that is set back, even
// where nothing may be killed, and that counts as no kill. The others go on.
func TestWhatIsPacedByAClockThatIsSetBackIsStartedAgain(t *testing.T) {
	var set atomic.Int64
	ahead := func(d time.Duration) { set.Store(int64(d)) }
	around := Around{
		Hold: func() string { return "guard.kills is false" },
		Wall: func() time.Time { return time.Now().Add(time.Duration(set.Load())) },
	}
	paced := Program{Name: "paced", PacedByWall: true, Prepare: shell("exec sleep 600")}
	s, err := New(slog.New(slog.DiscardHandler), around, paced, Program{Name: "other", Prepare: shell("exec sleep 600")})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, s.Run)
	running := func(not int) (pid, other int) {
		testkit.Eventually(t, "both run", func() bool {
			p := s.Programs()
			pid, other = p[0].PID, p[1].PID
			return pid != not && p[0].State == "running" && p[1].State == "running"
		})
		return pid, other
	}
	pid, other := running(0)
	for _, at := range []time.Duration{-time.Hour, -2 * time.Hour} {
		ahead(at)
		pid, _ = running(pid)
	}
	if p := s.Programs(); p[1].PID != other || p[0].Kills != 0 || p[0].Restarts != 2 {
		t.Errorf("after the clock was set back twice: %+v; %+v was %d", p[0], p[1], other)
	}
}
