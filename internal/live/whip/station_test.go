package whip_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// control is a control plane in memory: keys, the registry's one entry, and who left.
type control struct {
	mu      sync.Mutex
	refused map[string]live.Admission // by user
	gone    map[string]string         // publishers whose key is not good any more, and how
	events  []string                  // "arrived sara", "left sara: why"
	down    bool
	waits   map[string]bool // publishers who may not take the air without the studio
}

func (c *control) Admit(_ context.Context, who live.Credentials) (live.Admission, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return live.Admission{}, station.ErrUnavailable
	}
	if a, ok := c.refused[who.User]; ok {
		return a, nil
	}
	if who.Secret != "secret" {
		return live.Admission{Code: "unknown", Detail: "this key is not known"}, nil
	}
	return live.Admission{Allowed: true, Publisher: live.Presenter{ID: who.User, Name: who.User, Show: "The show of " + who.User}}, nil
}

func (c *control) Arrived(_ context.Context, a live.Arrival) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return "", station.ErrUnavailable
	}
	event := "arrived " + a.Publisher + " " + a.Title
	if a.Push {
		event += ", listeners are to be told"
	}
	c.events = append(c.events, event)
	return "LIVE00000001", nil
}

func (c *control) Left(_ context.Context, l live.Leaving) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, "left "+l.Publisher+": "+l.Why)
	return nil
}

func (c *control) Facts(_ context.Context, publisher, stream string) (live.Facts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return live.Facts{}, station.ErrUnavailable
	}
	f := live.Facts{Allowed: true, Auto: !c.waits[publisher], State: "waiting", Now: time.Now().UnixMilli()}
	if stream != "" {
		f.State = "on air"
	}
	if code := c.gone[publisher]; code != "" {
		f.Allowed, f.Code, f.Detail = false, code, "the key is "+code
	}
	return f, nil
}

func (c *control) told(event string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, e := range c.events {
		if e == event {
			n++
		}
	}
	return n
}

// house is a running server with its reader of the pipe.
type house struct {
	t       testing.TB
	control *control
	server  *whip.Server
	public  *httptest.Server
	inner   *httptest.Server
	client  *http.Client
	pipe    string
	ear     *ear
	mutes   chan bool
	stop    func()
}

func open(t testing.TB, change func(*whip.Options)) *house {
	t.Helper()
	log, _ := testkit.Log(t)
	h := &house{t: t, control: &control{refused: map[string]live.Admission{}, gone: map[string]string{}}, mutes: make(chan bool, 16),
		pipe: filepath.Join(t.TempDir(), "live", "whip.pcm")}
	opt := whip.Options{
		Log: log, Pipe: h.pipe, UDP: "127.0.0.1:0", TCP: "127.0.0.1:0", Control: h.control, Origins: []string{"*"},
		Note: func(ctx context.Context, muted bool) error {
			select {
			case h.mutes <- muted:
			case <-ctx.Done():
			}
			return nil
		},
		ICEServers: func(string, bool) ([]string, []whip.Turn) {
			return []string{"stun:127.0.0.1:3478"}, []whip.Turn{{URLs: []string{"turn:127.0.0.1:3478?transport=udp", "turn:127.0.0.1:3478?transport=tcp"}, Username: `1:"sara"`, Credential: "pass"}}
		},
		Pages: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }),
	}
	if change != nil {
		change(&opt)
	}
	server, err := whip.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	h.server = server
	h.stop = testkit.Background(t, server.Run)
	h.public, h.inner = httptest.NewServer(server.Handler()), httptest.NewServer(server.Inner())
	h.client = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		h.stop()
		h.public.Close()
		h.inner.Close()
	})
	testkit.Eventually(t, "the server runs", func() bool { return h.get("/livez").StatusCode == http.StatusOK })
	return h
}

// hearing adds a reader of the pipe.
func (h *house) hearing() *house {
	h.ear = newEar(h.t, h.pipe)
	return h
}

func (h *house) get(path string) *http.Response {
	return h.do(http.MethodGet, h.public.URL+path, nil, "")
}

func (h *house) do(method, url string, header http.Header, body string) *http.Response {
	h.t.Helper()
	resp := h.ask(method, url, header, body)
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp
}

func (h *house) ask(method, url string, header http.Header, body string) *http.Response {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, url, readerOf(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp
}

func (h *house) sessions() []live.Session {
	h.t.Helper()
	resp := h.ask(http.MethodGet, h.inner.URL+"/sessions", nil, "")
	defer resp.Body.Close()
	var out []live.Session
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		h.t.Fatal(err)
	}
	return out
}

// holder is the publisher who feeds the pipe.
func (h *house) holder() string {
	for _, s := range h.sessions() {
		if s.Holds {
			return s.Publisher
		}
	}
	return ""
}

// waits returns the session of a publisher whose sound is here, behind another's. Its
// first packet asks for the pipe only after it was measured, but before the second.
func (h *house) waits(publisher string) (id string) {
	h.t.Helper()
	testkit.Eventually(h.t, publisher+" waits", func() bool {
		for _, s := range h.sessions() {
			if s.Publisher == publisher && s.PeakDBFS > -30 && s.Frames > 1 && !s.Holds {
				id = s.ID
			}
		}
		return id != ""
	})
	return id
}

func (h *house) live() bool {
	h.t.Helper()
	resp := h.ask(http.MethodGet, h.public.URL+"/whip-info", nil, "")
	defer resp.Body.Close()
	var info struct {
		Live bool `json:"live"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil {
		h.t.Fatal(err)
	}
	return info.Live
}

// ear reads the pipe as the desk does, and keeps all of it.
type ear struct {
	t       testing.TB
	mu      sync.Mutex
	samples []int16
	odd     int // reads that were no whole samples
}

func newEar(t testing.TB, path string) *ear {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := &ear{t: t}
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, live.FrameBytes)
		for {
			n, err := f.Read(buf)
			e.take(buf[:n])
			select {
			case <-stop:
				return
			default:
			}
			if n == 0 || err != nil {
				time.Sleep(2 * time.Millisecond) // no writer has it open
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		_ = f.SetReadDeadline(time.Now())
		<-done
		_ = f.Close()
	})
	return e
}

func (e *ear) take(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(b)%4 != 0 {
		e.odd++
	}
	for i := 0; i+1 < len(b); i += 2 {
		e.samples = append(e.samples, int16(uint16(b[i])|uint16(b[i+1])<<8))
	}
}

// mark is a place in what was heard.
func (e *ear) mark() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.samples)
}

func (e *ear) since(mark int) []int16 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]int16(nil), e.samples[mark:]...)
}

const sara, omar = 440, 1000 // the tones of two publishers

// ticks are which tone each 20 ms since a mark hold: 0 sara's, 1 omar's, -1 neither.
func (e *ear) ticks(mark int) []int {
	all := e.since(mark)
	var out []int
	for ; len(all) >= live.FrameSamples*2; all = all[live.FrameSamples*2:] {
		out = append(out, whiptest.Heard(all[:live.FrameSamples*2], sara, omar))
	}
	return out
}

// hears waits until a tone fills the newest 200 ms that came since now.
func (e *ear) hears(tone int) {
	e.t.Helper()
	mark := e.mark()
	testkit.EventuallyNil(e.t, fmt.Sprintf("tone %d in the pipe", tone), func() error {
		t := e.ticks(mark)
		for i := max(0, len(t)-10); i < len(t); i++ {
			if t[i] != tone {
				return fmt.Errorf("the last ticks are %v", t[max(0, len(t)-10):])
			}
		}
		if len(t) < 10 {
			return fmt.Errorf("%d ticks", len(t))
		}
		return nil
	})
}

// serve serves a handler on loopback for the length of the test.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
