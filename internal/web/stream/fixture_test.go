package stream

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "12") // the command line may ask for more
	testkit.Main(m)
}

// mount is an in-process stand-in for an Icecast mount, for what a real one
// cannot be told to do at an exact byte: it sends each connection what the test
// scripted for it, and the connection stays until it is hung up.
type mount struct {
	*httptest.Server
	format string

	mu      sync.Mutex
	opening func() []byte // what a new connection gets first
	conns   map[chan []byte]bool
	all     int // connections that were ever made
	down    bool
}

func newMount(t *testing.T, format string) *mount {
	t.Helper()
	m := &mount{format: format, conns: map[chan []byte]bool{}, opening: func() []byte { return nil }}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() { m.hangUp(); m.Close() })
	return m
}

func (m *mount) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	if m.down {
		m.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	c := make(chan []byte, 4096)
	m.conns[c] = true
	m.all++
	first := m.opening()
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.conns, c) // it went away by itself
	}()
	w.Header().Set("Content-Type", m.format)
	_, _ = w.Write(first)
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case b, ok := <-c:
			if !ok {
				return
			}
			_, _ = w.Write(b)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (m *mount) send(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.conns {
		c <- b
	}
}

// hangUp ends all connections; what was sent is still delivered.
func (m *mount) hangUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.conns {
		close(c)
		delete(m.conns, c)
	}
}

func (m *mount) set(down bool, opening []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down, m.opening = down, func() []byte { return opening }
}

// served is how many connections there were.
func (m *mount) served() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all
}

// connected waits until the fan-out holds its connection.
func (m *mount) connected(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, "the upstream connection", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.conns) == 1
	})
}

// onAir runs a fan-out and serves it; both end with the test.
func onAir(t *testing.T, opt Options) (*Fanout, *httptest.Server) {
	t.Helper()
	f := run(t, opt)
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s
}

func run(t *testing.T, opt Options) *Fanout {
	t.Helper()
	f, _ := runUntil(t, opt)
	return f
}

// runUntil runs a fan-out until stop is called, at the latest when the test ends.
func runUntil(t *testing.T, opt Options) (f *Fanout, stop func()) {
	t.Helper()
	if opt.Log == nil {
		opt.Log, _ = testkit.Log(t)
	}
	opt.Batch = cmp.Or(opt.Batch, 5*time.Millisecond)
	opt.Silence = cmp.Or(opt.Silence, time.Minute) // a busy machine's test may send nothing for long
	opt.Wait = cmp.Or(opt.Wait, time.Minute)       // or connect late
	f = New(opt)
	return f, testkit.Background(t, f.Run)
}

// capture is a listener that reads until the stream ends.
type capture struct {
	res  *http.Response
	done chan struct{}

	mu   sync.Mutex
	data []byte
}

func listen(t *testing.T, url string, header ...string) *capture {
	t.Helper()
	return listenTransport(t, url, &http.Transport{DisableCompression: true}, header...)
}

func listenTransport(t *testing.T, url string, transport *http.Transport, header ...string) *capture {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		transport.CloseIdleConnections()
		t.Fatalf("a listener is answered %s", res.Status)
	}
	c := &capture{res: res, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		buf := make([]byte, 16<<10)
		for {
			n, err := res.Body.Read(buf)
			c.mu.Lock()
			c.data = append(c.data, buf[:n]...)
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = res.Body.Close(); <-c.done; transport.CloseIdleConnections() })
	return c
}

func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.data)
}

func (c *capture) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.data)
}

// tracks makes Ogg Vorbis files of the given length with pages as Liquidsoap
// makes them, each with a serial number of its own.
func tracks(t *testing.T, count, seconds int) [][]byte {
	t.Helper()
	var out [][]byte
	for i := range count {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.ogg", i))
		_, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("anoisesrc=color=pink:amplitude=0.5:duration=%d:seed=%d:sample_rate=44100", seconds, i),
			"-ac", "2", "-c:a", "libvorbis", "-b:a", "160k", "-page_duration", "200000",
			"-metadata", fmt.Sprintf("title=أغنية %d", i), file,
		}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// decode runs ffmpeg over a capture; any line it says is an error. Timestamps
// are counted anew, because those of a chained file overlap at each boundary by
// the nature of Vorbis, which only ffmpeg's muxers remark on.
func decode(t *testing.T, ogg []byte) (seconds float64) {
	t.Helper()
	var said bytes.Buffer
	var samples counter
	exit, err := proc.Run(t.Context(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg",
		Args:  []string{"-v", "error", "-i", "pipe:0", "-af", "asetpts=N/SR/TB", "-ac", "1", "-f", "s16le", "pipe:1"},
		Stdin: bytes.NewReader(ogg), Stdout: &samples, Stderr: &said,
	}, nil)
	if err != nil || !exit.OK() || said.Len() > 0 {
		t.Errorf("decoding %d bytes: %v %v %s", len(ogg), exit, err, said.String())
	}
	return float64(samples) / 2 / 44100
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
