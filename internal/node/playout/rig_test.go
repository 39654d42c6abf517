package playout_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

// TestMain doubles as the process that fills a disk of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(dir) })
	}
	testkit.Main(m)
}

// emergencyID is the tone of the operator's emergency audio in these tests.
const emergencyID = 47

// rig is a station's node to be: options, a control plane that takes the
// markers, and what a test writes into its directory.
type rig struct {
	t       testing.TB
	dir     string
	o       playout.Options
	ice     icecast.Options
	encoded bool // what the engine makes offline goes through the encoder of the stream
	hurried bool // the engine's clock goes ten times slower than its audio, as if it caught up
	slow    bool // an encoder's arrival takes the engine half a second
	control *control
	client  playout.Client
	log     *testkit.Lines // of the engine
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
	_, r.log = testkit.Log(t)
	r.ice = icecast.Options{Dir: dir, Bind: "127.0.0.1", Port: testkit.Port(t), Password: `pa"ss#{word}`, Station: "أثير"}
	r.o = playout.Options{
		Dir: dir, Playlist: filepath.Join(dir, "main.m3u"), Password: r.ice.Password,
		IcecastPort: r.ice.Port, HarborPort: testkit.Port(t),
		MetadataURL: r.control.url + "/metadata", Token: `to"k#{en}`,
		Station: "أثير", Genre: "طرب", Emergency: filepath.Join(dir, "operator.wav"),
		FirstList: time.Nanosecond,
	}
	// The air's patience would be a bound on this machine's time.
	r.client = playout.Client{Socket: r.o.Socket(), Timeout: 2 * time.Minute}
	r.write(r.o.Emergency, aircheck.Track{ID: emergencyID, Duration: 5 * time.Second})
	// Ours takes a second to make. A file of its size is left alone, and not
	// played where the operator's can be.
	if err := os.WriteFile(r.o.EmergencyFile(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(r.o.EmergencyFile(), playout.EmergencySize); err != nil {
		t.Fatal(err)
	}
	return r
}

// status asks again where the client's patience with an engine is at an end: it
// is meant for the air, and this machine may be busy.
func (r *rig) status() (s playout.Status) {
	r.t.Helper()
	testkit.EventuallyNil(r.t, "the engine's status", func() (err error) {
		s, err = r.client.Status(r.t.Context())
		return err
	})
	return s
}

// entry is a track and how the playlist names it.
type entry struct {
	id    int
	kind  string // "" for music
	cross string // "" for music without one of its own
	long  time.Duration
	level float64 // dBFS; -12 when zero
	title string  // makes it an MP3 with tags
}

// gained is how the playlist names a song that comes with a gain, in dB.
func gained(gain, file string) string { return fmt.Sprintf("annotate:athir_gain=%q:%s", gain, file) }

func (e entry) file(dir string) string {
	if e.title != "" {
		return filepath.Join(dir, fmt.Sprintf("%s%02d.mp3", e.kind, e.id))
	}
	return filepath.Join(dir, fmt.Sprintf("%s%02d.wav", e.kind, e.id))
}

func (e entry) line(dir string) string {
	if e.kind == "" && e.cross == "" {
		return e.file(dir)
	}
	if e.kind == "" {
		return fmt.Sprintf("annotate:liq_cross_duration=%s:%s", e.cross, e.file(dir))
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

// control takes markers, and answers as a test tells it to.
type control struct {
	t      testing.TB
	server *httptest.Server
	url    string

	mu     sync.Mutex
	taken  []playout.Marker // answered with 200, each once
	broken []string         // bodies that are no marker
	status func(m playout.Marker) int
	token  string
}

func newControl(t testing.TB) *control {
	c := &control{t: t, url: fmt.Sprintf("http://127.0.0.1:%d", testkit.Port(t))}
	c.listen()
	t.Cleanup(func() { c.server.Close() })
	return c
}

// listen starts the server, at the same address each time.
func (c *control) listen() {
	c.t.Helper()
	l, err := net.Listen("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.server = httptest.NewUnstartedServer(c)
	_ = c.server.Listener.Close()
	c.server.Listener = l
	c.server.Start()
}

func (c *control) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var m playout.Marker
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	c.mu.Lock()
	status := c.status
	if err != nil {
		c.broken = append(c.broken, string(body))
	}
	c.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	code := http.StatusOK
	if status != nil {
		code = status(m) // may take its time
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = req.Header.Get("X-Sync-Token")
	// An engine that missed the answer sends the marker again.
	repeated := slices.ContainsFunc(c.taken, func(o playout.Marker) bool { return o.Engine == m.Engine && o.Seq == m.Seq })
	if code == http.StatusOK && !repeated {
		c.taken = append(c.taken, m)
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

// live returns the markers of live.
func (c *control) live() []playout.Marker {
	return slices.DeleteFunc(c.markers(), func(m playout.Marker) bool { return m.Kind != playout.KindLive })
}

// rotation names the entries that markers have told, in order.
func (c *control) rotation() (files []string) {
	for _, m := range c.markers() {
		if m.Kind == playout.KindRotation {
			files = append(files, filepath.Base(m.File))
		}
	}
	return files
}
