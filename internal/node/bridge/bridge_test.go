package bridge_test

import (
	"cmp"
	"context"
	"fmt"
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

// TestMain doubles as the process that fills a disk of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(dir) })
	}
	testkit.Main(m)
}

// chain is source → bridge → relay → listener.
type chain struct {
	dir      string
	address  string // of HLS, kept across restarts of the relay
	relay    *relay.Server
	stop     func()
	progress *bridge.Progress
	handover *testkit.Handover // nil: the relay leaves nothing
	behind   string            // where the relay takes the bridge's stream; "p" when empty

	mu   sync.Mutex
	pids []int
}

func newChain(t *testing.T, source string, stall time.Duration) *chain {
	t.Helper()
	c := newPlaces(t)
	c.startRelay(t)
	c.startBridge(t, source, stall)
	return c
}

// newPlaces is a chain in which nothing runs yet.
func newPlaces(t *testing.T) *chain {
	t.Helper()
	dir, err := os.MkdirTemp("", "bridge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &chain{dir: dir, address: fmt.Sprintf("127.0.0.1:%d", testkit.Port(t)), progress: &bridge.Progress{}}
}

// renditions are those that a station has by itself.
func renditions() []int { return []int{256, 128, 64} }

func (c *chain) startRelay(t *testing.T) {
	t.Helper()
	opts := relay.Options{
		HLSAddress: c.address, PathsAddress: "127.0.0.1:0", PublishAddress: "unix:" + filepath.Join(c.dir, cmp.Or(c.behind, "p")),
		StateDir: c.dir, Renditions: renditions(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if c.handover != nil {
		opts.Handover = c.handover
	}
	s, err := relay.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	c.stop = testkit.Background(t, func(ctx context.Context) error {
		defer close(ended)
		return s.Run(ctx)
	})
	select {
	case <-s.Ready():
	case <-ended:
		t.Fatal("the relay did not start") // stop tells why
	}
	c.relay = s
}

// startBridge runs the bridge, and runs it again when it ends, as the
// supervisor does.
func (c *chain) startBridge(t *testing.T, source string, stall time.Duration) {
	t.Helper()
	spec, err := bridge.Spec(bridge.Options{
		Source: source, Target: "unix:" + filepath.Join(c.dir, "p"), Stall: stall, Progress: c.progress, Renditions: renditions(),
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

// anyStall is for a source that never falls silent.
const anyStall = time.Minute

func TestChainedOggReachesAPlayerWithoutAGap(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main", anyStall)
	c.playing(t)
	// A relay that was held up in the burst may have broken once by itself.
	before := c.relay.Snapshot().Discontinuities
	l := newListener(t, c.address)
	l.follow(t, "four tones", func() bool { return l.length() > 5*toneLength })

	audio := l.audio(t)
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
	if len(audio) < 4 || l.breaks() != before || l.lost() > time.Millisecond {
		t.Errorf("%d tones heard, %d breaks after %d, %s lost by the programme date-time", len(audio), l.breaks(), before, l.lost())
	}
	// ffmpeg plays HLS with nothing but the address.
	if samples := decode(t, nil, "-t", "1", "-i", "http://"+c.address+"/main/index.m3u8"); len(samples) != listenRate {
		t.Errorf("a player takes %d samples of a second, want %d", len(samples), listenRate)
	}
}

func TestAKilledBridgeCostsAListenerNothingButTheBreak(t *testing.T) {
	t.Parallel()
	c, l, _ := killedBridge(t)
	l.follow(t, "each break that the relay counts", func() bool { return l.breaks() == c.relay.Snapshot().Discontinuities })
	audio := l.audio(t)
	// A relay that is held up in the burst of the new bridge breaks once more by itself.
	if n := l.breaks() - l.early; n < 1 || n > 2 {
		t.Errorf("%d breaks heard, and %d were before the kill", l.breaks(), l.early)
	}
	if gap := longestSilence(audio[1:]); gap > 150*time.Millisecond {
		t.Errorf("silence of %s: %v", gap, audio)
	}
}

// killedBridge is a listener who has heard a bridge killed and replaced.
func killedBridge(t *testing.T) (*chain, *listener, *fakeIcecast) {
	t.Helper()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main", anyStall)
	c.playing(t)
	l := newListener(t, c.address)
	l.follow(t, "a while of music", func() bool { return len(l.pieces) >= 2 })
	l.early = l.breaks()
	if err := syscall.Kill(c.starts()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	after := 0
	l.follow(t, "music after the restart", func() bool {
		if after == 0 && l.breaks() > l.early {
			after = len(l.pieces)
		}
		return after > 0 && len(l.pieces) >= after+2
	})
	return c, l, source
}

// The same process goes through everything an Icecast does to its listeners.
func TestTransientInputErrorsStayInsideTheProcess(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main", 3*time.Second)
	c.playing(t)
	// asked waits until the bridge has come n times more.
	asked := func(n int, begin func()) {
		t.Helper()
		before := source.requests()
		begin()
		testkit.Eventually(t, "the bridge asking again", func() bool { return source.requests() >= before+n })
	}
	for _, fault := range []struct {
		name  string
		begin func()
	}{
		{"end of file", func() { asked(1, func() { source.fail(0) }) }},
		{"no mount", func() { asked(3, func() { source.fail(2) }) }},
		{"no data", func() { asked(1, source.stall) }},
	} {
		fault.begin()
		before, moved := c.relay.Snapshot(), c.progress.Moved()
		testkit.Eventually(t, "segments after: "+fault.name, func() bool { return c.relay.Snapshot().Segments >= before.Segments+2 })
		testkit.Eventually(t, "progress after: "+fault.name, func() bool { return c.progress.Moved().After(moved) })
		if pids := c.starts(); len(pids) != 1 {
			t.Fatalf("%s: the bridge was started %d times", fault.name, len(pids))
		}
	}
}

// The relay restarts under the bridge and under a listener. The encoder goes on
// while the relay is away.
func TestARelayRestartIsBridgedByTheFifo(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newChain(t, source.URL+"/main", anyStall)
	c.playing(t)
	l := newListener(t, c.address)
	l.follow(t, "music", func() bool { return len(l.pieces) >= 2 })
	c.stop()
	for range 2 {
		moved := c.progress.Moved()
		testkit.Eventually(t, "the encoder going on", func() bool { return c.progress.Moved().After(moved) })
	}
	c.startRelay(t)
	before := len(l.pieces)
	l.follow(t, "music after the relay's restart", func() bool { return len(l.pieces) >= before+2 })
	t.Logf("%s of programme lost", l.lost().Round(time.Millisecond))
	if pids := c.starts(); len(pids) != 1 {
		t.Errorf("the bridge was started %d times", len(pids))
	}
	if l.pieces[before].name <= l.pieces[before-1].name {
		t.Errorf("segment %s after %s", l.pieces[before].name, l.pieces[before-1].name)
	}
}
