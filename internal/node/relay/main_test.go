package relay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts/codecs"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// TestMain doubles as the process that fills a disk of its own, and as the relay that is
// replaced.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(dir) })
	}
	if where := os.Getenv(replacedEnv); where != "" {
		testkit.Told(func() error { return replacedStory(where) })
	}
	testkit.Main(m)
}

// shortDir is a directory whose sockets' paths are short enough.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "relay")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// start runs a relay and returns it with the function that ends it.
func start(t *testing.T, dir string, change func(*Options)) (*Server, func()) {
	t.Helper()
	opts := Options{
		HLSAddress: "127.0.0.1:0", PathsAddress: "127.0.0.1:0",
		PublishAddress: "unix:" + filepath.Join(dir, "bridge.sock"), StateDir: dir,
		SegmentDuration: time.Second, SegmentCount: 6, Log: testLog(t),
		PublisherTimeout: time.Hour, // the test's own publisher may be held up
	}
	if change != nil {
		change(&opts)
	}
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("relay ended with %v", err)
		}
	}
	t.Cleanup(stop)
	select {
	case <-s.Ready():
	case err := <-done:
		t.Fatalf("relay did not start: %v", err)
	}
	return s, stop
}

// publish is a bridge in Go: a burst of seconds, then audio in real time until
// the connection or the test ends. It returns the connection.
func publish(t *testing.T, s *Server, burst time.Duration) net.Conn {
	t.Helper()
	return publishMany(t, s, burst, frames())
}

// publishMany is a bridge with a rendition for each batch of frames.
func publishMany(t *testing.T, s *Server, burst time.Duration, batches ...[][]byte) net.Conn {
	t.Helper()
	addr := s.PublishAddr()
	conn, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	writer, tracks := muxerOf(t, conn, len(batches))
	length := samplesSpan(usual*samplesPerFrame, testRate)
	done := make(chan struct{})
	go func() {
		defer close(done)
		begin := time.Now().Add(-burst)
		for sent := time.Duration(0); ; sent += length {
			if wait := time.Until(begin.Add(sent)); wait > 0 {
				time.Sleep(wait)
			}
			for i, batch := range batches {
				if writer.WriteMPEG4Audio(tracks[i], clock90k(sent), batch) != nil {
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return conn
}

// muxer writes MPEG-TS with one AAC track.
func muxer(t *testing.T, to io.Writer) (*mpegts.Writer, *mpegts.Track) {
	t.Helper()
	writer, tracks := muxerOf(t, to, 1)
	return writer, tracks[0]
}

func muxerOf(t *testing.T, to io.Writer, n int) (*mpegts.Writer, []*mpegts.Track) {
	t.Helper()
	var tracks []*mpegts.Track
	for range n {
		tracks = append(tracks, &mpegts.Track{Codec: &codecs.MPEG4Audio{Config: stereo}})
	}
	writer := &mpegts.Writer{W: to, Tracks: tracks}
	if err := writer.Initialize(); err != nil {
		t.Fatal(err)
	}
	return writer, tracks
}

// frames are as many as ffmpeg packs together, silent.
func frames() [][]byte {
	batch := make([][]byte, usual)
	for i := range batch {
		batch[i] = make([]byte, 700)
	}
	return batch
}

// clock90k is a time on the clock of MPEG-TS.
func clock90k(at time.Duration) int64 { return int64(at) * 9 / 100_000 }

// onAir waits until the relay has segments to serve.
func onAir(t *testing.T, s *Server) {
	t.Helper()
	testkit.Eventually(t, "a segment", func() bool { return s.Snapshot().Segments > 2 })
}

// ask sends one request without following redirects.
func ask(t *testing.T, method, address string, header http.Header) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func get(t *testing.T, address string, header ...string) (*http.Response, string) {
	t.Helper()
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return ask(t, http.MethodGet, address, h)
}

func hls(s *Server, name string) string {
	return fmt.Sprintf("http://%s/main/%s", s.HLSAddr(), name)
}

func testLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }
