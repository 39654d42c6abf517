package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// replacedEnv makes this test's program a relay: its folder and two ports.
const replacedEnv = "RELAY_TEST_REPLACED"

// replacedStory is a relay that goes on as another program at each byte of its input, and
// ends with it.
func replacedStory(where string) error {
	parts := strings.Split(where, " ")
	ctx, handover, err := reexec.Inherit(context.Background(), "test")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := New(Options{
		HLSAddress: "127.0.0.1:" + parts[1], PathsAddress: "127.0.0.1:" + parts[2], PublishAddress: "unix:" + filepath.Join(parts[0], "p"),
		StateDir: parts[0], SegmentDuration: time.Second, SegmentCount: 6, Handover: handover,
		// However long a program takes to be replaced: each listener who comes meanwhile is let
		// in, and counted at the end.
		SessionBurst: math.MaxInt32, SessionIdle: time.Hour, SessionReturn: time.Hour, PublisherTimeout: time.Hour,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	ordered := make(chan error, 1)
	go func() {
		<-s.Ready()
		if handover.TakesOver() {
			handover.Settle()
		}
		fmt.Println("ready", os.Getpid())
		if n, _ := os.Stdin.Read(make([]byte, 1)); n == 0 {
			cancel()
			ordered <- nil
			return
		}
		program, err := os.Open("/proc/self/exe")
		if err == nil {
			err = handover.Order(program)
		}
		if ordered <- err; err != nil {
			cancel()
		}
	}()
	if err := s.Run(ctx); err != nil {
		return err
	}
	if err := <-ordered; err != nil {
		return err
	}
	if !errors.Is(context.Cause(ctx), reexec.ErrReplaced) {
		return nil
	}
	return handover.Exec(os.Args)
}

// told runs replacedStory and returns what has it go on as another program, and what it
// says when it is ready.
func told(t *testing.T, where string) (order io.Writer, said *bufio.Scanner) {
	t.Helper()
	in, order, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stop := testkit.Background(t, func(context.Context) error {
		defer stdout.Close()
		exit, err := proc.Run(context.Background(), proc.Spec{
			Name: "relay", Path: self, Env: []string{replacedEnv + "=" + where}, Stdin: in, Stdout: stdout, Stderr: t.Output(),
		}, nil)
		if err == nil && !exit.OK() {
			err = fmt.Errorf("the relay ended: %s", exit)
		}
		return err
	})
	t.Cleanup(func() {
		_ = order.(*os.File).Close()
		stop()
		_, _ = in.Close(), out.Close()
	})
	return order, bufio.NewScanner(out)
}

// A program is replaced by another one, by execve, again and again while a bridge publishes
// and listeners come and load: whatever is asked is answered, the stream is unbroken, and
// each frame is in it once.
func TestNobodyNoticesThatTheProgramIsReplaced(t *testing.T) {
	t.Parallel()
	dir, hlsPort, pathsPort := shortDir(t), testkit.Port(t), testkit.Port(t)
	order, said := told(t, fmt.Sprintf("%s %d %d", dir, hlsPort, pathsPort))
	if !said.Scan() {
		t.Fatal("the relay did not start")
	}
	first := said.Text()
	sendNumbered(t, filepath.Join(dir, "p"))
	base := fmt.Sprintf("http://127.0.0.1:%d/main/", hlsPort)
	p := newPlayer(t, base)
	testkit.Eventually(t, "a segment", func() bool { return p.load() == nil && len(p.order) > 2 })
	p.calm = p.history.newest
	hurried := askOn(t, base, p.session)
	listeners := 1
	for range 4 {
		if _, err := order.Write([]byte("r")); err != nil {
			t.Fatal(err)
		}
		again := make(chan string, 1)
		go func() {
			said.Scan()
			again <- said.Text()
		}()
		for said := ""; said == ""; { // ask and ask, each third time as somebody new
			p.must(t, p.load())
			p.must(t, newPlayer(t, base).load())
			listeners++
			select {
			case said = <-again:
			default:
			}
			if said != "" && said != first {
				t.Fatalf("%q after %q: another process", said, first)
			}
		}
		have := len(p.order)
		testkit.Eventually(t, "two more segments", func() bool { p.must(t, p.load()); return len(p.order) >= have+2 })
	}
	if n := hurried(); n == 0 {
		t.Error("nothing was asked meanwhile")
	}
	p.unbroken(t)
	path, err := ReadMainPath(t.Context(), http.DefaultClient, "127.0.0.1:"+strconv.Itoa(pathsPort))
	http.DefaultClient.CloseIdleConnections()
	if err != nil || !path.Ready || len(path.Readers) != listeners {
		t.Errorf("%+v, %v", path, err)
	}
}

// askOn asks for the playlist without a pause until asked is called, each time over a
// connection of its own, by two at once. The test fails where one is not answered.
func askOn(t *testing.T, base, session string) (asked func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var n atomic.Int64
	for range 2 {
		p := newPlayer(t, base)
		p.client.Transport.(*http.Transport).DisableKeepAlives = true
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := p.get(mediaName + "?" + session); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	asked = func() int64 { cancel(); all.Wait(); return n.Load() }
	t.Cleanup(func() { asked() })
	return asked
}

// sendNumbered is a bridge whose frames carry their numbers, in real time behind a burst.
func sendNumbered(t *testing.T, socket string) {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	writer, track := muxer(t, conn)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { cancel(); _ = conn.Close(); all.Wait() })
	all.Go(func() {
		begin, length := time.Now().Add(-4*time.Second), samplesSpan(usual*samplesPerFrame, testRate)
		for n := 0; ; n += usual {
			at := length * time.Duration(n/usual)
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(begin.Add(at))):
			}
			batch := frames()
			for i := range batch {
				copy(batch[i], fmt.Sprintf("frame %08d", n+i))
			}
			if err := writer.WriteMPEG4Audio(track, clock90k(at), batch); err != nil {
				if ctx.Err() == nil {
					t.Errorf("the bridge is cut off: %v", err)
				}
				return
			}
		}
	})
}

// player loads what a player loads, over connections that it keeps.
type player struct {
	base, session string
	client        *http.Client
	history       *historyValidator
	data          map[string][]byte
	order         []string
	calm          int // newest segment before the first order: a machine that is held up in the burst breaks once by itself
}

func newPlayer(t *testing.T, base string) *player {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &player{base: base, client: &http.Client{Transport: transport}, history: newLiveValidator(), data: map[string][]byte{}}
}

func (p *player) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *player) get(name string) ([]byte, error) {
	r, err := p.client.Get(p.base + name)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	switch {
	case err == nil && r.StatusCode == http.StatusNotFound:
		err = fmt.Errorf("%s: %w", name, errGone)
	case err == nil && r.StatusCode != http.StatusOK:
		err = fmt.Errorf("%s: status %d", name, r.StatusCode)
	}
	return body, err
}

// load loads the playlist, what is new in it, and the oldest of what is listed.
func (p *player) load() error {
	if p.session == "" {
		master, err := p.get(masterName)
		if err != nil {
			return err
		}
		lines := strings.Fields(string(master))
		_, p.session, _ = strings.Cut(lines[len(lines)-1], "?")
	}
	asked := time.Now()
	text, err := p.get(mediaName + "?" + p.session)
	if err != nil {
		return err
	}
	var missing error
	there := func(name string) bool {
		data, err := p.get(name)
		if !errors.Is(err, errGone) { // that is judged by how long it has been gone
			missing = errors.Join(missing, err)
		}
		if name, _, _ = strings.Cut(name, "?"); p.data[name] == nil && err == nil {
			p.data[name], p.order = data, append(p.order, name)
		}
		return err == nil
	}
	return errors.Join(p.history.see(text, asked, there), missing)
}

// unbroken holds the audio of all segments against what was sent.
func (p *player) unbroken(t *testing.T) {
	t.Helper()
	next, due := -1, int64(0)
	for _, name := range p.order {
		var number int
		if _, err := fmt.Sscanf(name, "seg%d.m4s", &number); err != nil {
			t.Fatal(err)
		}
		if p.history.seen[number].Discontinuity && number > p.calm {
			t.Errorf("a break before %s", name)
		}
		times, frames, err := segmentFrames(p.data[name])
		if err != nil {
			t.Fatal(err)
		}
		if next >= 0 && times[0] != due {
			t.Errorf("%s begins at %d, want %d", name, times[0], due)
		}
		due = times[0] + int64(len(frames))*samplesPerFrame
		for _, f := range frames {
			var n int
			if _, err := fmt.Sscanf(f, "frame %d", &n); err != nil || next >= 0 && n != next {
				t.Fatalf("%s: %.14q, want frame %d: %v", name, f, next, err)
			}
			next = n + 1
		}
	}
}
