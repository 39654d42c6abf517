package playout_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// emergencyID is the tone of the operator's emergency audio in these tests.
const emergencyID = 47

// rig is a real engine on a real Icecast, with a control plane that takes the
// markers and a recorder on the stream.
type rig struct {
	t       testing.TB
	dir     string
	o       playout.Options
	ice     icecast.Options
	control *control
	client  playout.Client
	rec     *aircheck.Recorder
	engine  func() // ends the engine
	log     *logTail
}

// newRig makes everything but starts nothing.
func newRig(t testing.TB) *rig {
	t.Helper()
	// Unix socket paths are short and t.TempDir holds the test's whole name.
	dir, err := os.MkdirTemp("", "athir-playout-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // Icecast's user walks through it
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &rig{t: t, dir: dir, control: newControl(t)}
	ports := freePorts(t, 2)
	r.ice = icecast.Options{Dir: dir, Bind: "127.0.0.1", Port: ports[0], Password: `pa"ss#{word}`, Station: "أثير"}
	r.o = playout.Options{
		Dir: dir, Playlist: filepath.Join(dir, "main.m3u"), Password: r.ice.Password,
		IcecastPort: ports[0], HarborPort: ports[1],
		MetadataURL: r.control.server.URL + "/metadata", Token: `to"k#{en}`,
		Station: "أثير", Genre: "طرب", Emergency: filepath.Join(dir, "operator.wav"),
	}
	r.client = playout.Client{Socket: r.o.Socket()}
	r.write(r.o.Emergency, aircheck.Track{ID: emergencyID, Duration: 5 * time.Second})
	return r
}

// boot starts Icecast, the engine and the recorder, and waits for sound.
func (r *rig) boot() {
	r.t.Helper()
	r.startIcecast()
	r.startEngine()
	r.record()
}

func (r *rig) startIcecast() (kill func()) {
	r.t.Helper()
	spec, err := icecast.Prepare(r.t.Context(), r.ice)
	if err != nil {
		r.t.Fatal(err)
	}
	kill = run(r.t, spec)
	r.eventually(func() error { return icecast.Ready(r.t.Context(), httpClient(r.t), r.ice) })
	return kill
}

func (r *rig) startEngine() {
	r.t.Helper()
	r.startEngineOnly()
	r.eventually(func() error { return playout.Ready(r.t.Context(), r.o) })
	r.eventually(func() error { return icecast.OnAir(r.t.Context(), httpClient(r.t), r.ice) })
}

var errNotYet = errors.New("nothing on the mount")

func (r *rig) offAir() error {
	if err := icecast.OnAir(r.t.Context(), httpClient(r.t), r.ice); errors.Is(err, icecast.ErrNoSource) {
		return nil
	}
	return errors.New("still on the mount")
}

// startEngineOnly does not wait for anything.
func (r *rig) startEngineOnly() {
	r.t.Helper()
	spec, err := playout.Prepare(r.t.Context(), r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	log := &logTail{}
	r.log = log
	spec.Stdout, spec.Stderr = log, log
	r.engine = run(r.t, spec)
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Log("the engine said:\n" + log.String())
		}
	})
}

func (r *rig) stream() string { return fmt.Sprintf("http://127.0.0.1:%d/main", r.ice.Port) }

func (r *rig) record() {
	r.rec = aircheck.NewRecorder(r.stream())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.rec.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
		if keep := os.Getenv("AIRCHECK_DIR"); keep != "" {
			_ = r.rec.PCM().WriteFile(filepath.Join(keep, r.t.Name()+".wav"))
		}
	})
}

// heard waits for a track after a position of the recording.
func (r *rig) heard(id int, after time.Duration) aircheck.Segment {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	s, err := r.rec.WaitFor(ctx, id, after)
	if err != nil {
		pcm := r.rec.PCM()
		r.t.Fatalf("%v; heard so far:\n%s", err, aircheck.Analyse(pcm))
	}
	return s
}

// now is the position of the recording that corresponds to this moment.
func (r *rig) now() time.Duration { return r.rec.Position(time.Now()) }

func (r *rig) recorded(d time.Duration) {
	r.t.Helper()
	r.eventually(func() error {
		if got := r.rec.PCM().Duration(); got < d {
			return fmt.Errorf("recorded %s of %s", got, d)
		}
		return nil
	})
}

// entry is a track and how the playlist names it.
type entry struct {
	id    int
	kind  string // "" for music
	cross string
	long  time.Duration
	level float64 // dBFS; -12 when zero
	title string  // makes it an MP3 with tags
}

func (e entry) file(dir string) string {
	if e.title != "" {
		return filepath.Join(dir, fmt.Sprintf("%s%02d.mp3", e.kind, e.id))
	}
	return filepath.Join(dir, fmt.Sprintf("%s%02d.wav", e.kind, e.id))
}

func (e entry) line(dir string) string {
	if e.kind == "" {
		return e.file(dir)
	}
	return fmt.Sprintf("annotate:type=%s,liq_cross_duration=%s:%s", e.kind, e.cross, e.file(dir))
}

func music(id int, long time.Duration) entry { return entry{id: id, long: long} }

// write makes one track.
func (r *rig) write(file string, track aircheck.Track) {
	r.t.Helper()
	if err := aircheck.WriteWAV(file, track); err != nil {
		r.t.Fatal(err)
	}
}

// list makes the tracks and returns a playlist file's 32768 bytes.
func (r *rig) list(entries ...entry) []byte {
	r.t.Helper()
	var b strings.Builder
	b.WriteString("#EXTM3U\n")
	for _, e := range entries {
		if _, err := os.Stat(e.file(r.dir)); err != nil && e.long > 0 {
			track := aircheck.Track{ID: e.id, Duration: e.long, Level: e.level, Title: e.title, Artist: "مطرب"}
			if e.title == "" {
				r.write(e.file(r.dir), track)
			} else if err := aircheck.WriteMP3(r.t.Context(), e.file(r.dir), track); err != nil {
				r.t.Fatal(err)
			}
		}
		b.WriteString(e.line(r.dir) + "\n")
	}
	return pad(b.String())
}

const playlistSize = 32768

func pad(text string) []byte {
	b := append([]byte(text), '#')
	b = append(b, bytes.Repeat([]byte(" "), playlistSize-1-len(b))...)
	return append(b, '\n')
}

// push writes a playlist as the control plane does: one write, in place.
func (r *rig) push(list []byte) {
	r.t.Helper()
	f, err := os.OpenFile(r.o.Playlist, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := f.WriteAt(list, 0); err != nil {
		r.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) eventually(f func() error) {
	r.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run keeps a program running until the test ends or kill is called.
func run(t testing.TB, spec proc.Spec) (kill func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	spec.Stop = 9 // no test waits for a clean end
	go func() {
		_, err := proc.Run(ctx, spec, nil)
		done <- err
	}()
	kill = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(kill)
	return kill
}

func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		ports = append(ports, testkit.Port(t))
	}
	return ports
}

func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// control takes markers, and answers as a test tells it to.
type control struct {
	server *httptest.Server

	mu      sync.Mutex
	taken   []playout.Marker // answered with 200
	refused int              // answered otherwise
	status  func(m playout.Marker) int
	token   string
}

func newControl(t testing.TB) *control {
	c := &control{}
	c.server = httptest.NewServer(c)
	t.Cleanup(c.server.Close)
	return c
}

// newServerAt listens where an earlier server did.
func newServerAt(t testing.TB, addr string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (c *control) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var m playout.Marker
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		slog.Error("marker", "body", string(body), "err", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	status := c.status
	c.mu.Unlock()
	code := http.StatusOK
	if status != nil {
		code = status(m) // may take its time
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = req.Header.Get("X-Sync-Token")
	if code == http.StatusOK {
		c.taken = append(c.taken, m)
	} else {
		c.refused++
	}
	w.WriteHeader(code)
}

func (c *control) answer(status func(playout.Marker) int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *control) markers() []playout.Marker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.taken)
}

func (c *control) files() []string {
	var files []string
	for _, m := range c.markers() {
		files = append(files, m.Kind+" "+filepath.Base(m.File))
	}
	return files
}

// logTail keeps the last words of a program.
type logTail struct {
	mu  sync.Mutex
	buf []byte
}

func (l *logTail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	if len(l.buf) > 32<<10 {
		l.buf = l.buf[len(l.buf)-16<<10:]
	}
	return len(b), nil
}

func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.buf)
}
