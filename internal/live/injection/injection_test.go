package injection_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/injection"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// harbor takes sources in as the live desk does, and keeps what they send.
type harbor struct {
	net.Listener
	refuse bool

	mu    sync.Mutex
	got   bytes.Buffer
	login string
	kind  string
	name  string
	path  string
	open  int
}

func newHarbor(t *testing.T) *harbor {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &harbor{Listener: l}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { h.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return h
}

func (h *harbor) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // a test's
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	if h.refuse {
		_, _ = io.WriteString(conn, "HTTP/1.0 403 Mountpoint in use\r\n\r\n")
		return
	}
	h.mu.Lock()
	_, h.login, _ = req.BasicAuth()
	h.name = req.Header.Get("Ice-Name")
	h.kind, h.path = req.Header.Get("Content-Type"), req.Method+" "+req.URL.Path
	h.open++
	h.mu.Unlock()
	defer func() { h.mu.Lock(); h.open--; h.mu.Unlock() }()
	_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n")
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		h.mu.Lock()
		h.got.Write(buf[:n])
		h.mu.Unlock()
		if err != nil || bytes.Contains(buf[:n], []byte("this is no audio")) { // as what the desk cannot decode
			return
		}
	}
}

func (h *harbor) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.got.Bytes())
}

func (h *harbor) sources() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// rig is a desk at a harbor whose clock a test sets.
type rig struct {
	*injection.Desk
	h   *harbor
	log *testkit.Lines

	mu     sync.Mutex
	now    time.Time
	failed []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	log, lines := testkit.Log(t)
	r := &rig{h: newHarbor(t), now: time.Unix(1_800_000_000, 0), log: lines}
	r.Desk = injection.New(injection.Options{
		Log: log, Desk: func() string { return r.h.Addr().String() }, Password: secret.Of("sesame"), Name: "أثير",
		Failed: func(m string) { r.mu.Lock(); r.failed = append(r.failed, m); r.mu.Unlock() },
		Now:    func() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return r.now },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = r.Run(ctx) })
	t.Cleanup(func() { cancel(); run.Wait() })
	testkit.Eventually(t, "ready", func() bool { return !errors.Is(r.Start("probe", ""), station.ErrUnavailable) })
	if err := r.Stop(t.Context(), "probe"); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) later(d time.Duration) { r.mu.Lock(); r.now = r.now.Add(d); r.mu.Unlock() }

func (r *rig) faults() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.failed, "; ")
}

// recorded is what a browser's recorder would send of a tone.
func recorded(t *testing.T, seconds int, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	exit, err := proc.Run(t.Context(), proc.Spec{Name: "tone", Path: "ffmpeg", Stdout: &out, Args: append([]string{
		"-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("sine=1000:d=%d:r=48000", seconds),
	}, args...)}, nil)
	if err != nil || !exit.OK() {
		t.Fatal(err, exit)
	}
	return out.Bytes()
}

func TestLiveAudioOfTheStudioReachesTheDesk(t *testing.T) {
	for mime, args := range map[string][]string{
		"audio/webm;codecs=opus": {"-c:a", "libopus", "-f", "webm", "pipe:1"},
		"audio/mp4":              {"-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof", "-f", "mp4", "pipe:1"},
		"audio/ogg":              {"-c:a", "libvorbis", "-f", "ogg", "pipe:1"},
	} {
		t.Run(mime, func(t *testing.T) {
			r := newRig(t)
			if err := r.Start("studio", mime); err != nil {
				t.Fatal(err)
			}
			if err := r.Start("studio", mime); err != nil {
				t.Errorf("start again: %v", err)
			}
			if err := r.Start("another", mime); !errors.Is(err, station.ErrConflict) {
				t.Errorf("a second desk: %v", err)
			}
			if _, err := r.Data("another", []byte("x")); !errors.Is(err, station.ErrConflict) {
				t.Errorf("audio of a second desk: %v", err)
			}
			audio := recorded(t, 5, args...)
			whole := audio
			for len(audio) > 0 {
				n := min(len(audio), 4000)
				r.later(200 * time.Millisecond)
				if _, err := r.Data("studio", audio[:n]); err != nil {
					t.Fatal(err)
				}
				audio = audio[n:]
			}
			testkit.Eventually(t, "all of it at the desk", func() bool { return bytes.Equal(r.h.bytes(), whole) })
			kind, _, _ := strings.Cut(mime, ";")
			if _, live := r.Live(); !live || r.h.login != "sesame" || r.h.kind != kind || r.h.path != "SOURCE /studio" || r.h.name != "أثير" {
				t.Errorf("live %v, login %q, type %q, %s", live, r.h.login, r.h.kind, r.h.path)
			}
			if err := r.Stop(t.Context(), "another"); err != nil {
				t.Errorf("a stop of nothing: %v", err)
			}
			if err := r.Stop(t.Context(), "studio"); err != nil {
				t.Fatal(err)
			}
			if _, live := r.Live(); live {
				t.Error("still live")
			}
			testkit.Eventually(t, "the desk left", func() bool { return r.h.sources() == 0 })
			if r.faults() != "" {
				t.Errorf("told as a fault: %s", r.faults())
			}
		})
	}
}

func TestLiveAudioIsBoundedAndItsFaultsAreTold(t *testing.T) {
	r := newRig(t)
	for _, mime := range []string{"text/html", "audio/webm/../x", "concat:/etc/passwd"} {
		if err := r.Start("studio", mime); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %v", mime, err)
		}
	}
	if err := r.Start("studio", "audio/wav"); err != nil {
		t.Fatal(err)
	}
	var limit *client.LimitError
	sent := 0
	// Audio that can be read, so that only the bound ends this.
	for chunk := range slices.Chunk(recorded(t, 60, "-f", "wav", "pipe:1"), 64<<10) {
		n, err := r.Data("studio", chunk)
		if err != nil {
			if !errors.As(err, &limit) {
				t.Fatal(err)
			}
			break
		}
		sent = int(n)
	}
	if limit == nil || sent > 4<<20 {
		t.Errorf("%d bytes are taken at once", sent)
	}
	_ = r.Stop(t.Context(), "studio")

	if err := r.Start("studio", "audio/webm"); err != nil {
		t.Fatal(err)
	}
	r.later(time.Minute)
	testkit.Eventually(t, "silence told", func() bool { return strings.Contains(r.log.String(), "no audio") })

	if err := r.Start("studio", "audio/wav"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Data("studio", []byte(strings.Repeat("this is no audio ", 5000))); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "nonsense told", func() bool { return strings.Contains(r.log.String(), "the live desk ended it") })

	r.h.refuse = true
	if err := r.Start("studio", "audio/webm"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "a mount in use told", func() bool { return strings.Contains(r.log.String(), "403 Mountpoint in use") })
	_ = r.h.Close()
	if err := r.Start("studio", "audio/webm"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "a desk that is away told", func() bool { return strings.Contains(r.log.String(), "refused") })
	testkit.Eventually(t, "nothing live", func() bool { _, live := r.Live(); return !live })
	// Everybody is told that it failed, each time, and how in the log alone.
	told := strings.Split(r.faults(), "; ")
	if len(told) != 4 {
		t.Errorf("%d failures told: %q", len(told), told)
	}
	for _, text := range told {
		if text != told[0] || !strings.Contains(text, "the station's log has the reason") {
			t.Errorf("everybody is told %q", text)
		}
	}
}
