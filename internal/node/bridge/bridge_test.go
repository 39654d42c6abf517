package bridge_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/bridge"
	"github.com/athir-radio/athir/internal/node/relay"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// chain is source → bridge → relay → listener.
type chain struct {
	dir      string
	address  string // of HLS, kept across restarts of the relay
	relay    *relay.Server
	stop     func()
	progress *bridge.Progress

	mu   sync.Mutex
	pids []int
}

func newChain(t *testing.T, source string) *chain {
	t.Helper()
	dir, err := os.MkdirTemp("", "bridge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &chain{dir: dir, address: "127.0.0.1:0", progress: &bridge.Progress{}}
	c.startRelay(t)
	c.startBridge(t, source)
	return c
}

func (c *chain) startRelay(t *testing.T) {
	t.Helper()
	s, err := relay.New(relay.Options{
		HLSAddress: c.address, PathsAddress: "127.0.0.1:0", PublishAddress: "unix:" + filepath.Join(c.dir, "p"),
		StateDir: c.dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	c.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(c.stop)
	<-s.Ready()
	c.relay, c.address = s, s.HLSAddr().String()
}

// startBridge runs the bridge, and runs it again when it ends, as the
// supervisor does.
func (c *chain) startBridge(t *testing.T, source string) {
	t.Helper()
	spec, err := bridge.Spec(bridge.Options{
		Source: source, Target: "unix:" + filepath.Join(c.dir, "p"), Stall: 2 * time.Second, Progress: c.progress,
	})
	if err != nil {
		t.Fatal(err)
	}
	spec.Stderr = t.Output()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			exit, err := proc.Run(ctx, spec, func(pid int) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.pids = append(c.pids, pid)
			})
			if err != nil {
				t.Error(err)
				return
			}
			t.Logf("bridge: %s", exit)
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func (c *chain) starts() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]int(nil), c.pids...)
}

func (c *chain) playing(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, "segments", func() bool { return c.relay.Snapshot().Segments > 1 })
}

func TestChainedOggReachesAPlayerWithoutAGap(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main")
	c.playing(t)

	// ffmpeg plays HLS with nothing but the address.
	samples := decode(t, nil, "-t", "14", "-i", "http://"+c.address+"/main/index.m3u8")
	audio := listenTo(samples)
	if gap := longestSilence(audio[1:]); gap > 50*time.Millisecond {
		t.Errorf("silence of %s: %v", gap, audio)
	}
	for i, h := range audio {
		if i == 0 || i == len(audio)-1 {
			continue // cut by the capture
		}
		if off := h.length - toneLength; off.Abs() > 100*time.Millisecond || h.tone != (audio[i-1].tone+1)%toneCount {
			t.Errorf("tone %d after %d lasts %s", h.tone, audio[i-1].tone, h.length)
		}
	}
	if len(audio) < 4 || c.relay.Snapshot().Discontinuities != 0 {
		t.Errorf("%d tones heard, %d discontinuities", len(audio), c.relay.Snapshot().Discontinuities)
	}
}

func TestAKilledBridgeCostsAListenerNothingButTheBreak(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main")
	c.playing(t)
	l := newListener(t, c.address)
	l.follow(t, "a while of music", func() bool { return len(l.pieces) >= 4 })
	if err := syscall.Kill(c.starts()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	breaks := func() (n int) {
		for _, p := range l.pieces {
			if p.fresh {
				n++
			}
		}
		return n
	}
	after := 0
	l.follow(t, "music after the restart", func() bool {
		if after == 0 && breaks() > 0 {
			after = len(l.pieces)
		}
		return after > 0 && len(l.pieces) >= after+3
	})
	audio := l.audio(t)
	worst := l.checkDates(t, source, audio)
	t.Logf("bridge killed: %d break, %s of programme lost, date-time off by at most %s, longest silence %s",
		breaks(), l.lost().Round(time.Millisecond), worst.Round(time.Millisecond), longestSilence(audio[1:]))
	if breaks() != 1 {
		t.Errorf("%d discontinuities, want 1", breaks())
	}
	if worst > time.Second {
		t.Errorf("programme date-time is off by %s", worst)
	}
	if gap := longestSilence(audio[1:]); gap > 150*time.Millisecond {
		t.Errorf("silence of %s: %v", gap, audio)
	}
}

// The same process goes through everything an Icecast does to its listeners.
func TestTransientInputErrorsStayInsideTheProcess(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main")
	c.playing(t)
	for _, fault := range []struct {
		name  string
		begin func()
	}{
		{"end of file", func() { source.fail(false, false) }},
		{"no mount for 2 s", func() {
			source.fail(true, false)
			time.Sleep(2 * time.Second)
			source.fail(false, false)
		}},
		{"no data for 3 s", func() {
			source.stall(true)
			time.Sleep(3 * time.Second)
			source.stall(false)
		}},
	} {
		fault.begin()
		at, before := time.Now(), c.relay.Snapshot()
		testkit.Eventually(t, "segments after: "+fault.name, func() bool { return c.relay.Snapshot().Segments >= before.Segments+2 })
		t.Logf("%s: two more segments %s after it ended", fault.name, time.Since(at).Round(10*time.Millisecond))
		if pids := c.starts(); len(pids) != 1 {
			t.Fatalf("%s: the bridge was started %d times", fault.name, len(pids))
		}
	}
	if moved := c.progress.Moved(); time.Since(moved) > 5*time.Second {
		t.Errorf("progress stopped at %s", moved)
	}
}

// The relay restarts under the bridge and under a listener.
func TestARelayRestartIsBridgedByTheFifo(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main")
	c.playing(t)
	l := newListener(t, c.address)
	l.follow(t, "music", func() bool { return len(l.pieces) >= 2 })
	c.stop()
	down := time.Now()
	time.Sleep(time.Second)
	c.startRelay(t)
	before := len(l.pieces)
	l.follow(t, "music after the relay's restart", func() bool { return len(l.pieces) >= before+2 })
	t.Logf("relay away for 1 s: two more segments %s after it went, %s of programme lost",
		time.Since(down).Round(10*time.Millisecond), l.lost().Round(time.Millisecond))
	if pids := c.starts(); len(pids) != 1 {
		t.Errorf("the bridge was started %d times", len(pids))
	}
	if l.pieces[before].name <= l.pieces[before-1].name {
		t.Errorf("segment %s after %s", l.pieces[before].name, l.pieces[before-1].name)
	}
}
