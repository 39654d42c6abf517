package desk_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// engine is a harbor as Liquidsoap's, which keeps what it is sent.
type engine struct {
	net.Listener
	mu    sync.Mutex
	got   map[string][]*bytes.Buffer // by mount, one for each connection
	open  map[string]net.Conn
	takes int
	login string
	kind  string
	names []string // titles it was told, as "mount: title by artist"
	came  []chunk
}

// chunk is when so many bytes of a mount's newest connection had come.
type chunk struct {
	mount string
	bytes int
	at    time.Time
}

func newEngine(t testing.TB) *engine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{Listener: l, got: map[string][]*bytes.Buffer{}, open: map[string]net.Conn{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); e.cut(); all.Wait() })
	return e
}

func (e *engine) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // a test's
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	mount := req.URL.Path
	if mount == "/admin/metadata" {
		e.rename(conn, req)
		return
	}
	e.mu.Lock()
	if e.open[mount] != nil {
		e.mu.Unlock()
		_, _ = io.WriteString(conn, "HTTP/1.0 403 Mountpoint in use\r\n\r\n")
		return
	}
	_, e.login, _ = req.BasicAuth()
	e.kind = req.Header.Get("Content-Type")
	e.takes++
	e.open[mount] = conn
	buf := &bytes.Buffer{}
	e.got[mount] = append(e.got[mount], buf)
	e.mu.Unlock()
	defer func() { e.mu.Lock(); delete(e.open, mount); e.mu.Unlock() }()
	_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n")
	part := make([]byte, 4096)
	for {
		n, err := in.Read(part)
		e.mu.Lock()
		buf.Write(part[:n])
		e.came = append(e.came, chunk{mount, buf.Len(), time.Now()})
		e.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// rename takes a title as the engine does: 404 while nobody sends.
func (e *engine) rename(conn net.Conn, req *http.Request) {
	q := req.URL.Query()
	_, password, _ := req.BasicAuth()
	e.mu.Lock()
	known := e.open[q.Get("mount")] != nil
	if known && password == e.login && q.Get("mode") == "updinfo" {
		e.names = append(e.names, q.Get("mount")+": "+q.Get("title")+" by "+q.Get("artist"))
	}
	e.mu.Unlock()
	status := "200 OK"
	if !known {
		status = "404 Not Found"
	}
	_, _ = io.WriteString(conn, "HTTP/1.0 "+status+"\r\n\r\n")
}

func (e *engine) titles() []string { e.mu.Lock(); defer e.mu.Unlock(); return slices.Clone(e.names) }

// cut closes every connection, as an engine that is killed does.
func (e *engine) cut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.open {
		_ = c.Close()
	}
}

func (e *engine) state() (takes, open int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.takes, len(e.open)
}

// audio is what a mount was sent, decoded: one channel at 48,000 Hz.
func (e *engine) audio(t testing.TB, mount string) (pcm []int16) {
	t.Helper()
	e.mu.Lock()
	var parts [][]byte
	for _, b := range e.got[mount] {
		parts = append(parts, bytes.Clone(b.Bytes()))
	}
	e.mu.Unlock()
	for _, mp3 := range parts { // the engine decodes each connection by itself
		pcm = append(pcm, decoded(t, mp3, "mp3")...)
	}
	return pcm
}

func (e *engine) seconds(mount string) (s float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range e.got[mount] {
		s += float64(b.Len()) / 16000
	}
	return s
}

// hears waits until the last second that a mount got is a tone: a machine that is short
// makes holes, and they end.
func (e *engine) hears(t testing.TB, mount string, hz float64) {
	t.Helper()
	testkit.EventuallyNil(t, fmt.Sprintf("a second of %.0f Hz", hz), func() error {
		pcm := e.audio(t, mount)
		if len(pcm) < 48000 {
			return fmt.Errorf("%d frames", len(pcm))
		}
		if got := pitch(pcm[len(pcm)-48000:]); math.Abs(got-hz) > 5 {
			return fmt.Errorf("%.1f Hz", got)
		}
		return nil
	})
}

func decoded(t testing.TB, data []byte, format string) []int16 {
	t.Helper()
	raw := run(t, bytes.NewReader(data), "-f", format, "-i", "pipe:0", "-ac", "1", "-ar", "48000", "-f", "s16le", "pipe:1")
	pcm := make([]int16, len(raw)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return pcm
}

func run(t testing.TB, in io.Reader, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	_, err := proc.Run(t.Context(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stdin: in, Stdout: &out, Drain: proc.DrainWhole, Args: append([]string{"-v", "error"}, args...),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// control is the control plane: it knows the show "sara" with the password "s3cret".
type control struct {
	mu      sync.Mutex
	arrived []live.Arrival
	left    []live.Leaving
	asked   []live.Credentials
	refuse  string // a code
	away    bool
	deaf    bool // to comings and goings
	order   []string
}

func (c *control) Admit(_ context.Context, who live.Credentials) (live.Admission, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, who)
	switch {
	case c.away:
		return live.Admission{}, errors.New("connection refused")
	case who.Secret != "s3cret":
		return live.Admission{Code: "unknown"}, nil
	case c.refuse != "":
		return live.Admission{Code: c.refuse, Detail: "not before 20:00"}, nil
	}
	return live.Admission{Allowed: true, Publisher: live.Presenter{ID: who.User, Name: "Sara", Show: "Evening"}}, nil
}

func (c *control) Arrived(_ context.Context, a live.Arrival) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deaf {
		return "", station.ErrUnavailable
	}
	c.arrived, c.order = append(c.arrived, a), append(c.order, "arrived "+a.Session)
	return "LIVE" + a.URL[len(live.SourceScheme)+1:], nil
}

func (c *control) Left(_ context.Context, l live.Leaving) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deaf {
		return station.ErrUnavailable
	}
	c.left, c.order = append(c.left, l), append(c.order, "left "+l.Session)
	return nil
}

func (c *control) Roll(context.Context, live.Roll) (live.RollAnswer, error) {
	return live.RollAnswer{}, nil
}

func (c *control) hear(on bool)  { c.mu.Lock(); defer c.mu.Unlock(); c.deaf = !on }
func (c *control) partings() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.left) }
func (c *control) arrivals() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.arrived) }

// recorder keeps what is recorded.
type recorder struct {
	mu   sync.Mutex
	acts []string
	pcm  []int16
}

func (r *recorder) Begin(s live.Source, _ live.Mode) { r.act("begin " + s.ID + " by " + s.Creator) }
func (r *recorder) Titled(title, artist string)      { r.act("titled " + title + " by " + artist) }
func (r *recorder) End(why string)                   { r.act("end " + why) }
func (r *recorder) Current() *live.RecordingReport   { return nil }
func (r *recorder) act(s string)                     { r.mu.Lock(); r.acts = append(r.acts, s); r.mu.Unlock() }

func (r *recorder) done() []string { r.mu.Lock(); defer r.mu.Unlock(); return slices.Clone(r.acts) }

// loud is how many samples of the recording lie beyond 6000.
func (r *recorder) loud() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.pcm {
		if v > 6000 || v < -6000 {
			n++
		}
	}
	return n
}

// Write keeps the left channel.
func (r *recorder) Write(pcm []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 0; i+3 < len(pcm); i += 4 {
		r.pcm = append(r.pcm, int16(binary.LittleEndian.Uint16(pcm[i:])))
	}
}

// rig is a desk between an engine, a control plane and encoders.
type rig struct {
	*desk.Desk
	t        testing.TB
	engine   *engine
	control  *control
	recorder *recorder
	log      *testkit.Lines
	address  string // of the ingest
	number   uint64
	encoders chan int
	stop     func()
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigWith(t, func(*desk.Options) {})
}

func newRigWith(t testing.TB, change func(*desk.Options)) *rig {
	t.Helper()
	log, lines := testkit.Log(t)
	r := &rig{t: t, engine: newEngine(t), control: &control{}, recorder: &recorder{}, log: lines, encoders: make(chan int, 100)}
	opt := desk.Options{
		Log: log, HarborAddress: func() string { return r.engine.Addr().String() }, HarborPassword: func() string { return "sesame" }, StudioPassword: secret.Of("studio"),
		Control: r.control, Recorder: r.recorder,
		Fetch:          fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
		RTMPOwn:        "rtmp://127.0.0.1:1/",
		EncoderStarted: func(pid int) { r.encoders <- pid },
	}
	change(&opt)
	r.Desk = desk.New(opt)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = r.Run(ctx) })
	all.Go(func() { _ = r.Ingest(ctx, l) })
	r.stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(r.stop)
	return r
}

func (r *rig) order(air *live.Source, next ...live.Source) live.Report {
	r.number++
	return r.Order(live.Order{Epoch: "one", Number: r.number, Air: air, Next: next, Why: "stopped by the studio"})
}

// told waits until the engine has been told these titles and no other.
func (r *rig) told(want ...string) {
	r.t.Helper()
	testkit.EventuallyNil(r.t, "titles", func() error {
		if got := r.engine.titles(); !slices.Equal(got, want) {
			return fmt.Errorf("%q, want %q", got, want)
		}
		return nil
	})
}

func (r *rig) source(id string) live.SourceReport {
	for _, s := range r.Report().Sources {
		if s.ID == id {
			return s
		}
	}
	return live.SourceReport{}
}

func (r *rig) state(id string, want live.State) {
	r.t.Helper()
	testkit.EventuallyNil(r.t, fmt.Sprintf("%s %s", id, want), func() error {
		if s := r.source(id); s.State != want {
			return fmt.Errorf("it is %+v\n%s", s, r.log)
		}
		return nil
	})
}

// encoder runs an ffmpeg that sends a tone to a mount as a live encoder, until the test
// ends; pid is its process.
func (r *rig) encoder(hz int, mount string, args ...string) (pid int) {
	r.t.Helper()
	if len(args) == 0 {
		args = []string{"-c:a", "libmp3lame", "-b:a", "128k", "-content_type", "audio/mpeg", "-f", "mp3"}
	}
	all := append([]string{"-v", "error", "-re", "-f", "lavfi", "-i", fmt.Sprintf("sine=%d:r=48000,volume=2", hz)}, args...)
	return r.program(append(all, "icecast://sara:s3cret@"+r.address+mount)...)
}

// says sends a title as encoders do.
func (r *rig) says(mount, title, artist string) {
	r.t.Helper()
	ask := url.Values{"mode": {"updinfo"}, "mount": {mount}, "title": {title}, "artist": {artist}}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.address+"/admin/metadata?"+ask.Encode(), http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	req.SetBasicAuth("sara", "s3cret")
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		r.t.Errorf("a title: %s", resp.Status)
	}
}

func (r *rig) program(args ...string) (pid int) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	started := make(chan int, 1)
	all.Go(func() {
		_, _ = proc.Run(ctx, proc.Spec{Name: "encoder", Path: "ffmpeg", Args: append([]string{"-nostdin"}, args...), Stop: unix.SIGKILL},
			func(pid int) { started <- pid })
	})
	r.t.Cleanup(func() { cancel(); all.Wait() })
	return testkit.Receive(r.t, "the start of an encoder", started)
}

// phone is a pipe as the WHIP server makes it, and what it writes: 20 ms at a time.
type phone struct {
	path string
	f    *os.File
}

func (r *rig) phone() *phone {
	r.t.Helper()
	p := &phone{path: filepath.Join(r.t.TempDir(), "phone.pcm")}
	if err := unix.Mkfifo(p.path, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// open waits for the reader, as the WHIP server does.
func (p *phone) open(t testing.TB) {
	t.Helper()
	testkit.EventuallyNil(t, "a reader of the pipe", func() (err error) {
		p.f, err = os.OpenFile(p.path, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err
	})
}

// send writes audio in real time until it is used up; sound gives each sample.
func (p *phone) send(ctx context.Context, sound func(n int) int16) {
	tick := time.NewTicker(live.Tick)
	defer tick.Stop()
	defer p.f.Close() //nolint:errcheck // a test's
	for n := 0; ; {
		buf := make([]byte, 0, live.FrameBytes)
		for range live.FrameSamples {
			v := uint16(sound(n))
			buf = binary.LittleEndian.AppendUint16(buf, v)
			buf = binary.LittleEndian.AppendUint16(buf, v)
			n++
		}
		if _, err := p.f.Write(buf); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func pitch(pcm []int16) float64 {
	n := 0
	for i := 1; i < len(pcm); i++ {
		if pcm[i-1] < 0 && pcm[i] >= 0 {
			n++
		}
	}
	return float64(n) / (float64(len(pcm)) / 48000)
}

// longestSilence in ms, between the first and the last sound.
func longestSilence(pcm []int16) float64 {
	longest, run, begun := 0, 0, false
	for _, v := range pcm {
		if v > 60 || v < -60 {
			if begun {
				longest = max(longest, run)
			}
			run, begun = 0, true
		} else {
			run++
		}
	}
	return float64(longest) / 48
}
