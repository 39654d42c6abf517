package bridge_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"
	"go.uber.org/goleak"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/node/bridge"
	"github.com/athir-radio/athir/internal/node/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

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
	eventually(t, "segments", func() bool { return c.relay.Snapshot().Segments > 1 })
}

// piece is a segment as a listener got it.
type piece struct {
	name  string
	at    time.Time
	until time.Time
	fresh bool // behind a discontinuity
	data  []byte
}

// listener follows the playlist as a player does.
type listener struct {
	base   string
	client *http.Client
	seen   map[string]bool
	pieces []piece
	bad    []string
}

func newListener(t *testing.T, address string) *listener {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	l := &listener{base: "http://" + address + "/main/", client: &http.Client{Jar: jar, Transport: transport}, seen: map[string]bool{}}
	if _, err := l.get("index.m3u8"); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *listener) get(name string) ([]byte, error) {
	r, err := l.client.Get(l.base + name)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d", name, r.StatusCode)
	}
	return body, err
}

// follow plays until the condition holds. Errors that a player retries by
// itself (connection refused, 5xx) are passed over, a 4xx is not.
func (l *listener) follow(t *testing.T, what string, until func() bool) {
	t.Helper()
	eventually(t, what, func() bool {
		text, err := l.get("main_stream.m3u8")
		if err == nil {
			err = l.take(text)
		}
		if err != nil && strings.Contains(err.Error(), "status 4") {
			t.Fatalf("the listener was cut off: %v", err)
		}
		return until()
	})
}

func (l *listener) take(text []byte) error {
	var list playlist.Media
	if err := list.Unmarshal(text); err != nil {
		return err
	}
	for _, s := range list.Segments {
		if l.seen[s.URI] {
			continue
		}
		data, err := l.get(s.URI)
		if err != nil {
			return err
		}
		l.seen[s.URI] = true
		l.pieces = append(l.pieces, piece{name: s.URI, at: *s.DateTime, until: s.DateTime.Add(s.Duration), fresh: s.Discontinuity, data: data})
	}
	return nil
}

// audio decodes everything the listener got, in one go.
func (l *listener) audio(t *testing.T) []heard {
	t.Helper()
	var all []byte
	for _, p := range l.pieces {
		all = append(all, p.data...)
	}
	return listenTo(decode(t, bytes.NewReader(all), "-f", "mpegts", "-i", "pipe:0"))
}

// timeOf says when a position in that audio was on air.
func (l *listener) timeOf(position time.Duration) time.Time {
	for _, p := range l.pieces {
		if length := p.until.Sub(p.at); position <= length {
			return p.at.Add(position)
		} else {
			position -= length
		}
	}
	return time.Time{}
}

// lost is how much of the programme the listener never got.
func (l *listener) lost() time.Duration {
	sum := time.Duration(0)
	for i := 1; i < len(l.pieces); i++ {
		sum += max(0, l.pieces[i].at.Sub(l.pieces[i-1].until))
	}
	return sum
}

// checkDates compares the programme date-time of every change of tone with
// when the source really made it, and returns the largest error.
func (l *listener) checkDates(t *testing.T, source *fakeIcecast, audio []heard) time.Duration {
	t.Helper()
	worst := time.Duration(0)
	for i := 1; i < len(audio); i++ {
		if audio[i].tone < 0 || audio[i-1].tone < 0 || audio[i].tone != (audio[i-1].tone+1)%toneCount {
			continue
		}
		said := l.timeOf(audio[i].from + 25*time.Millisecond)
		n := source.toneAt(said.Add(toneLength / 2)) // the nearest change
		real := source.begin.Add(time.Duration(n) * toneLength)
		if n%toneCount != audio[i].tone {
			t.Errorf("at %s the playlist has tone %d, the source %d", said, audio[i].tone, n%toneCount)
			continue
		}
		worst = max(worst, said.Sub(real).Abs())
	}
	return worst
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
		eventually(t, "segments after: "+fault.name, func() bool { return c.relay.Snapshot().Segments >= before.Segments+2 })
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
	time.Sleep(time.Second) // a token is from before the restart by the second
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
