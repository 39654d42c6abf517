package harbor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A harbor that does not answer is given up after exactly as long as it may take.
func TestAHarborThatStandsStillIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go io.Copy(io.Discard, theirs) //nolint:errcheck // it reads and says nothing
		begun := time.Now()
		dial := func(context.Context, string) (net.Conn, error) { return ours, nil }
		if _, err := connect(t.Context(), dial, "", Replace, "sesame"); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != enterWait {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		_ = theirs.Close()
	})
}

// end is the engine's end of connections.
type end struct {
	mu    sync.Mutex
	conns []net.Conn
	got   []*bytes.Buffer
	mode  string // "refuse", "stand" (takes nothing after its answer), "" (takes all)
	tries int
}

func (e *end) set(mode string) { e.mu.Lock(); e.mode = mode; e.mu.Unlock() }

func (e *end) count() int { e.mu.Lock(); defer e.mu.Unlock(); return len(e.conns) }

func (e *end) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.conns {
		_ = c.Close()
	}
}

func (e *end) dial(context.Context, string) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tries++
	if e.mode == "refuse" {
		return nil, errors.New("connection refused")
	}
	ours, theirs := net.Pipe()
	buf, mode := &bytes.Buffer{}, e.mode
	e.conns, e.got = append(e.conns, theirs), append(e.got, buf)
	go func() {
		in := bufio.NewReader(theirs)
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(theirs, "HTTP/1.0 200 OK\r\n\r\n")
		if mode == "stand" {
			return
		}
		part := make([]byte, 4096)
		for {
			n, err := in.Read(part)
			e.mu.Lock()
			buf.Write(part[:n])
			e.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return ours, nil
}

// heard are the numbers of the frames that a connection got.
func (e *end) heard(conn int) (first, last, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.got[conn].Bytes()
	if len(b) < frameBytes {
		return -1, -1, 0
	}
	n = len(b) / frameBytes
	number := func(i int) int { return int(b[i*frameBytes+2])<<8 | int(b[i*frameBytes+3]) }
	return number(0), number(n - 1), n
}

// frames sends numbered frames in real time.
func frames(ctx context.Context, s *Session) {
	for n := 0; ctx.Err() == nil; n++ {
		f := make([]byte, frameBytes)
		f[2], f[3] = byte(n>>8), byte(n)
		s.frame(f)
		time.Sleep(24 * time.Millisecond)
	}
}

func TestWhatWasMissedIsNeverHeard(t *testing.T) {
	for _, c := range []struct {
		name  string
		away  time.Duration // the harbor is, at first
		whole bool          // the beginning is heard all the same
	}{{"at once", 0, true}, {"soon", 500 * time.Millisecond, true}, {"late", 3 * time.Second, false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, _ := testkit.Log(t)
				e := &end{}
				s := New(Options{Log: log, Address: func() string { return "engine" }, Password: func() string { return "sesame" }, Dial: e.dial})
				ctx, cancel := context.WithCancel(t.Context())
				var all sync.WaitGroup
				if c.away > 0 {
					e.set("refuse")
				}
				s.Open(Replace)
				all.Go(func() { s.send(ctx) })
				all.Go(func() { frames(ctx, s) })
				time.Sleep(c.away)
				e.set("")
				time.Sleep(5 * time.Second)
				if first, _, _ := e.heard(0); (first == 0) != c.whole {
					t.Errorf("it begins with frame %d", first)
				}
				// The engine is killed, and away for four seconds.
				e.set("refuse")
				e.close()
				time.Sleep(4 * time.Second)
				if s.Connected() {
					t.Error("connected to nobody")
				}
				e.set("")
				_, before, _ := e.heard(0)
				time.Sleep(5 * time.Second)
				first, last, n := e.heard(1)
				if gap := time.Duration(first-before) * 24 * time.Millisecond; gap < 4*time.Second || last-first+1 != n {
					t.Errorf("what was missed is sent: frame %d follows %d", first, before)
				}
				if breaks, lost := s.Breaks(); breaks != 1 || lost < 3*time.Second {
					t.Errorf("%d breaks, %s lost", breaks, lost)
				}
				cancel()
				all.Wait()
				e.close()
			})
		})
	}
}

// An engine that takes nothing is given up after writeWait, and what piled up is dropped.
func TestAnEngineThatTakesNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, _ := testkit.Log(t)
		e := &end{}
		e.set("stand")
		s := New(Options{Log: log, Address: func() string { return "engine" }, Password: func() string { return "sesame" }, Dial: e.dial})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		s.Open(Replace)
		all.Go(func() { s.send(ctx) })
		all.Go(func() { frames(ctx, s) })
		time.Sleep(writeWait - 100*time.Millisecond)
		if n := e.count(); n != 1 {
			t.Errorf("%d connections", n)
		}
		e.set("")
		time.Sleep(5 * time.Second)
		if first, _, n := e.heard(1); e.count() != 2 || first < 100 || n < 30 {
			t.Errorf("%d connections, frame %d first, %d frames", e.count(), first, n)
		}
		cancel()
		all.Wait()
		e.close()
	})
}

// The end of a broadcast does not wait for an engine that is away.
func TestTheEndDoesNotWaitForTheEngine(t *testing.T) {
	log, _ := testkit.Log(t)
	e := &end{}
	e.set("refuse")
	s := New(Options{Log: log, Address: func() string { return "engine" }, Password: func() string { return "sesame" }, Dial: e.dial})
	stop := testkit.Background(t, s.Run)
	s.Open(Replace)
	s.Write(make([]byte, 3840))
	s.Finish()
	testkit.Receive(t, "its end", s.Done())
	stop()
}

// An encoder that hangs is replaced, and the broadcast goes on.
func TestAnEncoderThatHangsIsReplaced(t *testing.T) {
	log, lines := testkit.Log(t)
	e := &end{}
	encoders := make(chan int, 10)
	s := New(Options{
		Log: log, Address: func() string { return "engine" }, Password: func() string { return "sesame" }, Dial: e.dial, Stall: time.Second, Started: func(pid int) { encoders <- pid },
	})
	stop := testkit.Background(t, s.Run)
	s.Open(Replace)
	_ = syscall.Kill(testkit.Receive(t, "the encoder", encoders), syscall.SIGSTOP)
	testkit.Eventually(t, "it counts as hung", func() bool { // its pipe has to be full first
		s.Write(make([]byte, 3840))
		return lines.Count("live encoder ended", errHung.Error()) > 0
	})
	testkit.Receive(t, "another", encoders)
	testkit.Eventually(t, "its audio", func() bool {
		s.Write(make([]byte, 3840))
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.got) > 0 && e.got[0].Len() > 0
	})
	stop()
	e.close()
}

func TestFramesAreCutWhole(t *testing.T) {
	var got [][]byte
	s := &splitter{give: func(f []byte) { got = append(got, f) }}
	var stream []byte
	stream = append(stream, "half of a frame"...)
	for i := range 5 {
		f := make([]byte, frameBytes)
		f[0], f[1], f[2] = 0xFF, 0xFB, byte(i)
		stream = append(stream, f...)
	}
	for len(stream) > 0 {
		n := min(len(stream), 100)
		_, _ = s.Write(stream[:n])
		stream = stream[n:]
	}
	if len(got) != 5 {
		t.Fatalf("%d frames", len(got))
	}
	for i, f := range got {
		if len(f) != frameBytes || int(f[2]) != i {
			t.Errorf("frame %d begins with % x", i, f[:3])
		}
	}
}
