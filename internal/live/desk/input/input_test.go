package input_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/desk/input"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// sink keeps what comes.
type sink struct {
	mu  sync.Mutex
	pcm []byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pcm = append(s.pcm, p...)
	return len(p), nil
}

func (s *sink) len() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.pcm) }

// left is the left channel.
func (s *sink) left() []int16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]int16, 0, len(s.pcm)/4)
	for i := 0; i+3 < len(s.pcm); i += 4 {
		out = append(out, int16(uint16(s.pcm[i])|uint16(s.pcm[i+1])<<8))
	}
	return out
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

func made(t *testing.T, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	exit, err := proc.Run(t.Context(), proc.Spec{
		Name: "tone", Path: "ffmpeg", Stdout: &out, Drain: proc.DrainWhole,
		Args: append([]string{"-v", "error", "-f", "lavfi", "-i", "sine=440:d=3:r=48000,volume=4"}, args...),
	}, nil)
	if err != nil || !exit.OK() {
		t.Fatal(err, exit)
	}
	return out.Bytes()
}

// forms are what encoders send.
func forms() map[string][]string {
	return map[string][]string{
		"audio/mpeg":              {"-c:a", "libmp3lame", "-b:a", "128k", "-f", "mp3", "pipe:1"},
		"application/ogg":         {"-c:a", "libvorbis", "-f", "ogg", "pipe:1"},
		"audio/ogg; codecs=opus":  {"-c:a", "libopus", "-f", "ogg", "pipe:1"},
		"audio/aac":               {"-c:a", "aac", "-f", "adts", "pipe:1"},
		"audio/webm;codecs=opus":  {"-c:a", "libopus", "-f", "webm", "pipe:1"},
		"audio/mp4":               {"-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof", "-f", "mp4", "pipe:1"},
		"audio/flac":              {"-c:a", "flac", "-f", "flac", "pipe:1"},
		"audio/wav":               {"-f", "wav", "pipe:1"},
		"audio/x-wav":             {"-ar", "16000", "-ac", "1", "-f", "wav", "pipe:1"},
		"application/ogg; x=flac": {"-c:a", "flac", "-f", "ogg", "pipe:1"},
	}
}

func TestEveryFormOfPushIsDecoded(t *testing.T) {
	for kind, args := range forms() {
		t.Run(kind, func(t *testing.T) {
			var out sink
			err := (&input.Push{Type: kind, Body: bytes.NewReader(made(t, args...))}).Run(t.Context(), &out)
			if !errors.Is(err, io.EOF) {
				t.Errorf("ended with %v", err)
			}
			pcm := out.left()
			if s := float64(len(pcm)) / 48000; s < 2.97 || s > 3.15 {
				t.Fatalf("%.2f s", s)
			}
			if hz := pitch(pcm[24000 : len(pcm)-24000]); math.Abs(hz-440) > 3 {
				t.Errorf("%.1f Hz", hz)
			}
		})
	}
}

// A browser's microphone ends in the midst of a cluster, for the decoder has no end of it:
// that is no audio that cannot be read.
func TestAPushThatEndsMidwayHasLeft(t *testing.T) {
	for _, kind := range []string{"audio/webm;codecs=opus", "audio/mp4", "audio/mpeg", "audio/flac", "audio/ogg; codecs=opus"} {
		var out sink
		body := made(t, forms()[kind]...)
		err := (&input.Push{Type: kind, Body: bytes.NewReader(body[:len(body)*4/5])}).Run(t.Context(), &out)
		if !errors.Is(err, io.EOF) || out.len() == 0 {
			t.Errorf("%s ended with %v, after %d bytes", kind, err, out.len())
		}
	}
}

// What is not what it says is refused in words, and no name decides what it is.
func TestAPushThatIsNoAudioEnds(t *testing.T) {
	mp3 := made(t, "-c:a", "libmp3lame", "-f", "mp3", "pipe:1")
	for name, p := range map[string]*input.Push{
		"text":           {Type: "audio/mpeg", Body: strings.NewReader(strings.Repeat("this is no audio ", 5000))},
		"MP3 as FLAC":    {Type: "audio/flac", Body: bytes.NewReader(mp3)},
		"a playlist":     {Type: "audio/aac", Body: strings.NewReader("#EXTM3U\n#EXTINF:1\nfile:///etc/passwd\n")},
		"a concat list":  {Type: "audio/wav", Body: strings.NewReader("ffconcat version 1.0\nfile /etc/passwd\n")},
		"nothing":        {Type: "audio/ogg", Body: strings.NewReader("")},
		"a type unknown": {Type: "text/html", Body: bytes.NewReader(mp3)},
	} {
		var out sink
		if err := p.Run(t.Context(), &out); err == nil || out.len() > 0 {
			t.Errorf("%s: %v, %d bytes", name, err, out.len())
		}
	}
}

// A file that is sent as fast as the network goes is no live source.
func TestAFileIsNoLiveSource(t *testing.T) {
	var out bytes.Buffer
	_, err := proc.Run(t.Context(), proc.Spec{Name: "tone", Path: "ffmpeg", Stdout: &out, Drain: proc.DrainWhole, Args: []string{
		"-v", "error", "-f", "lavfi", "-i", "anullsrc=d=600:r=48000", "-c:a", "libmp3lame", "-b:a", "32k", "-f", "mp3", "pipe:1",
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&input.Push{Type: "audio/mpeg", Body: &out}).Run(t.Context(), &sink{}); !errors.Is(err, input.ErrTooFast) {
		t.Errorf("ended with %v", err)
	}
}

// The end of the context ends the decoder, though the encoder says nothing.
func TestAPushEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, feed := io.Pipe()
	var out sink
	ended := make(chan error, 1)
	go func() { ended <- (&input.Push{Type: "audio/wav", Body: stoppable{in}}).Run(ctx, &out) }()
	go feed.Write(made(t, "-f", "wav", "pipe:1")) //nolint:errcheck // it is cut off
	testkit.Eventually(t, "sound", func() bool { return out.len() > 0 })
	cancel()
	if err := testkit.Receive(t, "its end", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

type stoppable struct{ *io.PipeReader }

func (s stoppable) Stop() { _ = s.Close() }

func TestAPipeSurvivesItsWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	fifo := func() {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fifo()
	var out sink
	p := &input.Pipe{Path: path}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- p.Run(ctx, &out) }()
	write := func(text string) {
		t.Helper()
		var f *os.File
		testkit.EventuallyNil(t, "a reader", func() (err error) { // as the WHIP server opens it
			f, err = os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
			return err
		})
		_, _ = f.WriteString(text)
		_ = f.Close()
	}
	for i := range 5 { // one after another
		write(fmt.Sprint(i))
		testkit.Eventually(t, "it read", func() bool { return out.len() == i+1 })
	}
	// A second reader would take half of it.
	if err := p.Run(t.Context(), io.Discard); !errors.Is(err, station.ErrConflict) {
		t.Errorf("a second reader: %v", err)
	}
	// A WHIP server that starts again makes a new one.
	_ = os.Remove(path)
	fifo()
	if err := testkit.Receive(t, "its end", ended); err == nil || !strings.Contains(err.Error(), "made anew") && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("replaced: %v", err)
	}
	go func() { ended <- p.Run(ctx, &out) }()
	write("5")
	testkit.Eventually(t, "the new one read", func() bool { return out.len() == 6 })
	cancel()
	if err := testkit.Receive(t, "its end", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if string(out.pcm) != "012345" {
		t.Errorf("read %q", out.pcm)
	}
	// Nobody reads any longer.
	if f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0); !errors.Is(err, unix.ENXIO) {
		_ = f.Close()
		t.Errorf("still read: %v", err)
	}
}

func TestAPipeMustBeOne(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink(file, link)
	for _, path := range []string{file, link, dir, filepath.Join(dir, "none"), "/dev/zero"} {
		var out sink
		if err := (&input.Pipe{Path: path}).Run(t.Context(), &out); err == nil || out.len() > 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// proxied are playlists whose address has the scheme by which ffmpeg connects to a proxy.
func proxied(trap string) map[string]string {
	address := "httpproxy://" + trap + "/10.0.0.5:80/x.ts"
	begin := "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:3\n"
	return map[string]string{
		"/segment": begin + "#EXTINF:3,\n" + address + "\n#EXT-X-ENDLIST\n",
		"/key":     begin + "#EXT-X-KEY:METHOD=AES-128,URI=\"" + address + "\"\n#EXTINF:3,\nlive0.ts\n#EXT-X-ENDLIST\n",
		"/map":     begin + "#EXT-X-MAP:URI=\"" + address + "\"\n#EXTINF:3,\nlive0.ts\n#EXT-X-ENDLIST\n",
		"/variant": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n" + address + "\n",
		"/within":  "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nsegment\n",
		"/item":    begin + "#EXTINF:3,\nsegment\n#EXT-X-ENDLIST\n",
	}
}

// station of addresses: an HLS playlist, a stream, and traps.
func addresses(t *testing.T, more ...map[string]string) (base string, asked func(path string) int) {
	dir := t.TempDir()
	made(t, "-c:a", "aac", "-f", "hls", "-hls_time", "1", "-hls_list_size", "0", filepath.Join(dir, "live.m3u8"))
	mp3 := made(t, "-c:a", "libmp3lame", "-b:a", "128k", "-f", "mp3", "pipe:1")
	secret := filepath.Join(dir, "secret.ts")
	_ = os.WriteFile(secret, made(t, "-c:a", "aac", "-f", "mpegts", "pipe:1"), 0o600)
	var mu sync.Mutex
	count := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		count[r.URL.Path]++
		mu.Unlock()
		switch r.URL.Path {
		case "/stream":
			w.Header().Set("Content-Type", "audio/mpeg")
			_, _ = w.Write(mp3)
		case "/moved":
			http.Redirect(w, r, "/stream", http.StatusFound)
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/file.m3u8":
			fmt.Fprintf(w, "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nfile://%s\n#EXT-X-ENDLIST\n", secret)
		case "/inside.m3u8":
			fmt.Fprint(w, "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nhttp://10.0.0.1/x.ts\n#EXT-X-ENDLIST\n")
		default:
			for _, texts := range more {
				if text := texts[r.URL.Path]; text != "" {
					_, _ = io.WriteString(w, text)
					return
				}
			}
			http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func(path string) int { mu.Lock(); defer mu.Unlock(); return count[path] }
}

// heardWhole checks that an address brings its tone of 440 Hz, and then ends.
func heardWhole(t *testing.T, address string, client *fetch.Client) {
	t.Helper()
	in, err := input.New(address, input.Options{Fetch: client})
	if err != nil {
		t.Fatal(err)
	}
	var out sink
	if err := in.Run(t.Context(), &out); !errors.Is(err, io.EOF) {
		t.Errorf("ended with %v", err)
	}
	pcm := out.left()
	if len(pcm) < 48000 {
		t.Fatalf("%d frames", len(pcm))
	}
	if hz := pitch(pcm[12000 : len(pcm)-12000]); math.Abs(hz-440) > 5 {
		t.Errorf("%.1f Hz", hz)
	}
}

func TestAddressesAreHeardThroughTheDoorway(t *testing.T) {
	base, _ := addresses(t)
	ours := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, path := range []string{"/stream", "/moved", "/live.m3u8"} {
		t.Run(path, func(t *testing.T) {
			heardWhole(t, base+path, ours)
		})
	}
}

// Nothing of this machine or its network is reached, whatever a playlist or a redirect says.
func TestAddressesLeadNowhereElse(t *testing.T) {
	var reached atomic.Int32
	trap := httptest.NewUnstartedServer(nil)
	trap.Config.ConnState = func(net.Conn, http.ConnState) { reached.Add(1) }
	trap.Start()
	defer trap.Close()
	proxied := proxied(trap.Listener.Addr().String())
	base, asked := addresses(t, proxied)
	own := netip.MustParsePrefix("127.0.0.0/8")
	ours := fetch.New(fetch.Options{Allow: []netip.Prefix{own}, Connect: time.Second})
	for _, path := range append(slices.Sorted(maps.Keys(proxied)), "/away", "/file.m3u8", "/inside.m3u8", "/none") {
		in, _ := input.New(base+path, input.Options{Fetch: ours})
		var out sink
		if err := in.Run(t.Context(), &out); err == nil || errors.Is(err, io.EOF) || out.len() > 0 {
			t.Errorf("%s: %v, %d bytes", path, err, out.len())
		}
	}
	if reached.Load() > 0 { // by ffmpeg itself: nobody judged where to
		t.Error("a playlist led past what judges addresses")
	}
	// Without the operator's leave, not even the first request is made.
	in, _ := input.New(base+"/stream", input.Options{Fetch: fetch.New(fetch.Options{})})
	if err := in.Run(t.Context(), io.Discard); err == nil || asked("/stream") > 0 {
		t.Errorf("loopback: %v", err)
	}
	for _, address := range []string{"rtmp://127.0.0.1/live/a", "rtmp://localhost:1935/live/a", "rtmp://10.0.0.1/live/a", "rtmp://user@example.org/a", "rtmp://[::1]/a/b", "rtmp://169.254.169.254:80/a/b"} {
		in, err := input.New(address, input.Options{Fetch: fetch.New(fetch.Options{}), RTMPOwn: "rtmp://127.0.0.1:19350/"})
		if err == nil {
			err = in.Run(t.Context(), io.Discard)
		}
		var blocked *fetch.BlockedError
		if !errors.As(err, &blocked) && !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"file:///etc/passwd", "concat:a|b", "rtmps://x/y", "rtp://1.2.3.4", "-i", "subfile:x", "udp://x"} {
		if _, err := input.New(address, input.Options{Fetch: ours}); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// ffmpeg serves one RTMP player by itself, as the ingest's nginx does.
func TestRTMPOfTheOwnIngestIsHeard(t *testing.T) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(testkit.Port(t)))
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = proc.Run(ctx, proc.Spec{Name: "rtmp server", Path: "ffmpeg", Args: []string{
			"-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "sine=440:r=48000,volume=4", "-c:a", "aac", "-f", "flv", "-listen", "1", "rtmp://" + address + "/live/key",
		}}, nil)
	})
	defer all.Wait()
	defer cancel()
	var out sink
	ended := make(chan struct{})
	run, stop := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		for run.Err() == nil {
			in, _ := input.New("rtmp://"+address+"/live/key", input.Options{Fetch: fetch.New(fetch.Options{}), RTMPOwn: "rtmp://" + address})
			_ = in.Run(run, &out)
		}
	}()
	testkit.Eventually(t, "a second of sound", func() bool { return out.len() > 48000*4 })
	stop()
	<-ended
	if hz := pitch(out.left()[12000:36000]); math.Abs(hz-440) > 5 {
		t.Errorf("%.1f Hz", hz)
	}
}

func TestABedPlaysAgainAndAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a bed.wav")
	if err := os.WriteFile(path, made(t, "-t", "0.5", "-f", "wav", "pipe:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out sink
	ended := make(chan error, 1)
	go func() { ended <- (&input.Loop{Path: path}).Run(ctx, &out) }()
	testkit.Eventually(t, "more than the file has", func() bool { return out.len() > 48000*4 })
	cancel()
	<-ended
}
