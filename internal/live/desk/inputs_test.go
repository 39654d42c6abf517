package desk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/station"
)

// A phone clicks with its very first sample, each time it comes: the click is in what the
// engine gets and in the recording, and nothing before it is missing.
func TestAPhonesFirstClickIsHeardWhole(t *testing.T) {
	r := newRig(t)
	p := r.phone()
	phone := src("LIVEphone", "pipe:"+p.path)
	const length = 480 // a knock of 10 ms at 1 kHz
	for n := range 20 {
		if n%2 == 0 { // it was there before the order, or comes after it
			r.order(&phone)
		} else {
			r.order(nil, phone)
		}
		p.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		var sending sync.WaitGroup
		sending.Go(func() {
			p.send(ctx, func(i int) int16 {
				if i < length && i/24%2 == 0 {
					return 12000
				}
				if i < length {
					return -12000
				}
				return 0
			})
		})
		if n%2 == 1 {
			r.state("LIVEphone", live.Ready)
			r.order(&phone)
		}
		r.state("LIVEphone", live.OnAir)
		// On a machine that is short the bus begins with a second of silence, to have as much
		// in hand: a stop before the knock would fade it out.
		testkit.EventuallyNil(t, fmt.Sprintf("knock %d recorded", n+1), func() error {
			if loud := r.recorder.loud(); loud < (n+1)*length {
				return fmt.Errorf("%d of %d samples", loud, (n+1)*length)
			}
			return nil
		})
		r.order(nil)
		testkit.Eventually(t, "the harbor free", func() bool { _, open := r.engine.state(); return open == 0 })
		cancel()
		sending.Wait()
	}
	r.stop()
	// Each knock was 480 samples beyond 6000, in the recording exactly.
	if loud := r.recorder.loud(); loud != 20*length {
		t.Errorf("%d of %d samples recorded", loud, 20*length)
	}
	knocks, quiet := 0, 48000
	for _, v := range r.engine.audio(t, "/channel_live") { // one broadcast after another
		if v > 6000 || v < -6000 {
			if quiet > 4800 {
				knocks++
			}
			quiet = 0
		} else {
			quiet++
		}
	}
	if knocks != 20 {
		t.Errorf("%d knocks at the engine", knocks)
	}
	// Nobody reads the pipe any longer.
	if f, err := os.OpenFile(p.path, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
		_ = f.Close()
		t.Error("the pipe is still read")
	}
}

// The studio gives the word to another phone: from then on its name is what listeners read,
// and what it says has a recording of its own.
func TestThePipePassesToAnotherPhone(t *testing.T) {
	r := newRig(t)
	p := r.phone()
	omar := src("LIVEphone", "pipe:"+p.path)
	omar.Title, omar.Creator = "Night", "Omar"
	r.order(&omar)
	p.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	sending.Go(func() { p.send(ctx, func(i int) int16 { return int16(i%100*200 - 10000) }) })
	r.told("/channel_live: Night by Omar") // the newest alone is told where two come at once
	sara := omar
	sara.Creator = "Sara"
	r.order(&sara)
	r.told("/channel_live: Night by Omar", "/channel_live: Night by Sara")
	r.order(nil)
	want := []string{"begin LIVEphone by Omar", "end handed over", "begin LIVEphone by Sara", "end stopped by the studio"}
	testkit.EventuallyNil(t, "two recordings", func() error {
		if got := r.recorder.done(); !slices.Equal(got, want) {
			return fmt.Errorf("%q", got)
		}
		return nil
	})
	cancel()
	sending.Wait()
}

// A connection that breaks is a hole, which the encoder's next one ends; a stop is an end.
func TestAnEncoderThatComesBackGoesOn(t *testing.T) {
	r := newRig(t)
	send := func() net.Conn {
		conn, err := net.Dial("tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "PUT /sara HTTP/1.1\r\nTransfer-Encoding: chunked\r\nAuthorization: Basic c2FyYTpzM2NyZXQ=\r\nContent-Type: audio/wav\r\n\r\n")
		return conn
	}
	wav := run(t, nil, "-f", "lavfi", "-i", "sine=440:d=2:r=48000,volume=2", "-ac", "2", "-f", "wav", "pipe:1")
	feed := func(conn net.Conn, stop <-chan struct{}) {
		for i := 0; ; i++ {
			from, to := i*3840, (i+1)*3840
			if to > len(wav) {
				i, from, to = 1, 3840, 2*3840
			}
			_, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", to-from, wav[from:to])
			select {
			case <-stop:
				return
			case <-time.After(live.Tick):
			}
			if err != nil {
				return
			}
		}
	}
	start := func() (cut func()) {
		conn := send()
		stop := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { feed(conn, stop) })
		return sync.OnceFunc(func() { close(stop); all.Wait(); _ = conn.Close() })
	}
	cut := start()
	r.state("LIVEsara", live.Ready)
	sara := src("LIVEsara", "source:/sara")
	r.order(&sara)
	r.state("LIVEsara", live.OnAir)
	cut() // without the last chunk
	r.state("LIVEsara", live.Grace)
	cut = start()
	defer cut()
	r.state("LIVEsara", live.OnAir)
	if takes, open := r.engine.state(); takes != 1 || open != 1 || r.Report().Ended != nil {
		t.Errorf("%d connections, %d open: %+v", takes, open, r.Report())
	}
}

func TestAnHTTPAddressIsASource(t *testing.T) {
	mp3 := run(t, nil, "-f", "lavfi", "-i", "sine=440:d=30:r=48000,volume=2", "-c:a", "libmp3lame", "-b:a", "128k", "-f", "mp3", "pipe:1")
	var mu sync.Mutex
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		asked++
		n := asked
		mu.Unlock()
		w.Header().Set("Content-Type", "audio/mpeg")
		part := mp3
		if n < 4 { // it breaks off at first
			part = mp3[:20_000]
		}
		_, _ = w.Write(part)
	}))
	t.Cleanup(s.Close)
	r := newRig(t)
	x := src("LIVEx", s.URL+"/radio")
	r.order(&x)
	r.state("LIVEx", live.OnAir)
	testkit.Eventually(t, "five seconds", func() bool { return r.engine.seconds("/channel_live") > 5 })
	r.engine.hears(t, "/channel_live", 440)
	r.order(nil)
	// An address that is refused is told why, and never opened.
	y := src("LIVEy", "http://10.0.0.1/x")
	r.order(&y)
	testkit.EventuallyNil(t, "why", func() error {
		if s := r.source("LIVEy"); !strings.Contains(s.Why, "private network") {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
}

// Candidates: the first that works is kept warm, and the ones after it cost nothing.
func TestTheFirstThatWorksIsKeptWarm(t *testing.T) {
	r := newRig(t)
	b, c := r.phone(), r.phone()
	r.encoder(440, "/a")
	r.state("LIVEa", live.Ready)
	a := src("LIVEa", "source:/a")
	broken := src("LIVEbroken", "http://127.0.0.1:1/none")
	r.order(&a, broken, src("LIVEb", "pipe:"+b.path), src("LIVEc", "pipe:"+c.path))
	b.open(t) // it is opened once the first has failed
	_ = b.f.Close()
	if f, err := os.OpenFile(c.path, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
		_ = f.Close()
		t.Error("the third is opened")
	}
}

func TestTheNodeAsksByHTTP(t *testing.T) {
	r := newRig(t)
	s := httptest.NewServer(r.Handler())
	t.Cleanup(s.Close)
	ask := func(method, path, body string, into any) int {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() //nolint:errcheck // a test's
		data, _ := io.ReadAll(resp.Body)
		if into != nil {
			if err := json.Unmarshal(data, into); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
		}
		return resp.StatusCode
	}
	defer http.DefaultClient.CloseIdleConnections()
	for body, want := range map[string]int{
		`{`: 422, `{"number":1}`: 422, `{"epoch":"e","mode":"loud"}`: 422, `{"epoch":"e","air":{"id":""}}`: 422, `{"epoch":"e","number":1}`: 200,
	} {
		if got := ask("PUT", "/order", body, nil); got != want {
			t.Errorf("%s: %d", body, got)
		}
	}
	var rep live.Report
	ask("GET", "/report", "", &rep)
	// A question for news is answered once there are some.
	answered := make(chan live.Report, 1)
	go func() {
		var rep2 live.Report
		ask("GET", fmt.Sprintf("/report?after=%d&wait=10000", rep.Version), "", &rep2)
		answered <- rep2
	}()
	pid := r.encoder(440, "/sara")
	if got := testkit.Receive(t, "news", answered); got.Version <= rep.Version {
		t.Errorf("%d after %d", got.Version, rep.Version)
	}
	r.state("LIVEsara", live.Ready)
	if got := ask("POST", "/note", `{"url":"source:/sara","muted":true}`, nil); got != 200 {
		t.Errorf("note: %d", got)
	}
	if got := ask("POST", "/note", `{"url":"source:/none","muted":true}`, nil); got != 404 {
		t.Errorf("note of nobody: %d", got)
	}
	if got := ask("GET", "/sources/LIVEnone/listen", "", nil); got != 404 {
		t.Errorf("listen to nobody: %d", got)
	}
	// Pre-listen, off the air.
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"/sources/LIVEsara/listen", nil)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	heard := make([]byte, 44+2*48000*4)
	if _, err := io.ReadFull(resp.Body, heard); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = resp.Body.Close()
	whole := func(how string, heard []byte) {
		t.Helper()
		pcm := decoded(t, bytes.Clone(heard), "wav")        // a header whose end is not known is read to the end
		if hz := pitch(pcm[:48000]); hz < 430 || hz > 450 { // a tape has no holes
			t.Errorf("%s: %.1f Hz", how, hz)
		}
	}
	whole("as it comes", heard)
	// The same over a way that bounds answers: nothing is left out between two pieces.
	inPieces, cancel := context.WithCancel(t.Context())
	defer cancel()
	far := wire.Desk{RoundTripper: toServer{http.DefaultTransport, s.URL}, Pieces: true}
	if _, err := far.Listen(inPieces, src("LIVEnone", "source:/none")); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("listen to nobody in pieces: %v", err)
	}
	resp, err = far.Listen(inPieces, src("LIVEsara", "source:/sara"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, heard); err != nil {
		t.Fatal(err)
	}
	whole("in pieces", heard)
	// A phone that no order names, as there is none of the others while nothing is live.
	p := r.phone()
	idle, err := wire.Desk{RoundTripper: far.RoundTripper}.Listen(inPieces, src("LIVEphone", "pipe:"+p.path))
	if err != nil {
		t.Fatal(err)
	}
	p.open(t)
	r.state("LIVEphone", live.Connecting)
	_ = idle.Body.Close()
	testkit.Eventually(t, "what nobody listens to is closed", func() bool { return r.source("LIVEphone").ID == "" || r.source("LIVEphone").State == live.Gone })
	testkit.Eventually(t, "an end to who listens", func() bool { // all within the two seconds of a place
		full := 0
		for n := range mostListen + 1 {
			if ask("GET", fmt.Sprintf("/sources/LIVEsara/listen?ear=%d", n), "", nil) == 507 {
				full++
			}
		}
		return full > 0
	})
	testkit.Eventually(t, "who asks no more has a place no more", func() bool { return ask("GET", "/sources/LIVEsara/listen?ear=9", "", nil) == 200 })
	// Titles are the encoder's.
	req, _ = http.NewRequestWithContext(t.Context(), "GET", "http://"+r.address+"/admin/metadata?mode=updinfo&mount=/sara&song=Fairuz+-+Nassam", nil)
	req.SetBasicAuth("sara", "s3cret")
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 200 {
		t.Errorf("metadata: %v %v", resp, err)
	}
	if s := r.source("LIVEsara"); s.Title != "Nassam" || s.Creator != "Fairuz" {
		t.Errorf("%+v", s)
	}
	r.control.mu.Lock()
	session := r.control.arrived[0].Session
	r.control.mu.Unlock()
	if got := ask("DELETE", "/encoders/none", "", nil); got != 404 {
		t.Errorf("nobody sent away: %d", got)
	}
	if got := ask("DELETE", "/encoders/"+session, "", nil); got != 200 {
		t.Errorf("sent away: %d", got)
	}
	testkit.Eventually(t, "gone", func() bool { return r.source("LIVEsara").ID == "" })
	_ = syscall.Kill(pid, syscall.SIGKILL)
	testkit.Eventually(t, "the control plane told", func() bool { return r.control.partings() == 1 })
	if n := r.control.arrivals(); n != 1 {
		t.Errorf("arrived %d times", n)
	}
}

// mostListen is how many listen in at once (docs/live.md).
const mostListen = 8

// toServer sends what is for the node to a test's server.
type toServer struct {
	http.RoundTripper
	url string
}

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Host = strings.TrimPrefix(s.url, "http://")
	return s.RoundTripper.RoundTrip(r)
}

// Every client's way in, with the real encoder where there is one here.
func TestFormsOfEncoders(t *testing.T) {
	r := newRig(t)
	r.encoder(440, "/ogg", "-c:a", "libvorbis", "-content_type", "application/ogg", "-f", "ogg")
	r.encoder(440, "/opus", "-c:a", "libopus", "-content_type", "audio/ogg", "-f", "ogg", "-page_duration", "20000")
	r.encoder(440, "/aac", "-c:a", "aac", "-content_type", "audio/aac", "-f", "adts")
	r.encoder(440, "/flac", "-c:a", "flac", "-content_type", "audio/flac", "-f", "flac")
	r.encoder(440, "/webm", "-c:a", "libopus", "-content_type", "audio/webm", "-f", "webm", "-cluster_time_limit", "100")
	r.encoder(440, "/old", "-c:a", "libmp3lame", "-legacy_icecast", "1", "-content_type", "audio/mpeg", "-f", "mp3")
	for _, id := range []string{"LIVEogg", "LIVEopus", "LIVEaac", "LIVEflac", "LIVEwebm", "LIVEold"} {
		r.state(id, live.Ready)
	}
}

// Liquidsoap's own client logs in, sends and tells titles.
func TestLiquidsoapIsTakenIn(t *testing.T) {
	r := newRig(t)
	host, port, _ := net.SplitHostPort(r.address)
	script := filepath.Join(t.TempDir(), "encoder.liq")
	text := fmt.Sprintf(`
settings.init.allow_root.set(true)
settings.server.telnet.set(false)
s = insert_metadata(sine(440.))
thread.run(delay=0.2, every=0.2, {s.insert_metadata([("artist", "Fairuz"), ("title", "Nassam")])})
output.icecast(%%mp3(bitrate=128, samplerate=48000), host=%q, port=%s, user="sara", password="s3cret", mount="/liq", name="Evening", s)
`, host, port)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, proc.Spec{Name: "liquidsoap", Path: "liquidsoap", Args: []string{script}})
	r.state("LIVEliq", live.Ready)
	testkit.EventuallyNil(t, "its title", func() error {
		if s := r.source("LIVEliq"); s.Title != "Nassam" || s.Creator != "Fairuz" {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
}
