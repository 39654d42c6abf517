package output

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/deadair"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// mount is a streaming server on a network in memory that sends a page of audio every
// tenth of a second, as long as its switch is on.
func mount(t *testing.T, handler http.HandlerFunc) *Ear {
	t.Helper()
	network := testkit.NewNetwork()
	server := &http.Server{Handler: handler} //nolint:gosec // in memory
	go func() { _ = server.Serve(network) }()
	t.Cleanup(func() { _ = server.Close() })
	log, _ := testkit.Log(t)
	e := New(Options{Log: log, URL: "http://mount/main", Standby: "ATHIR=standby", Listening: func() bool { return true }, Level: -50})
	e.dial = network.Dial
	return e
}

// vorbis is a stream as a mount sends it: an identification header at a rate, comments, and
// pages of a tenth of a second from a position on.
type vorbis struct {
	rate, number int
	position     uint64
}

func (v *vorbis) head(comment string) []byte {
	identity := append([]byte("\x01vorbis\x00\x00\x00\x00\x02"), byte(v.rate), byte(v.rate>>8), byte(v.rate>>16), 0)
	identity = append(identity, make([]byte, 14)...)
	return append(page(0, identity), page(1, []byte("\x03vorbis"+comment+strings.Repeat(".", 40)))...)
}

func (v *vorbis) tenth() []byte {
	v.position += uint64(v.rate / 10) //nolint:gosec // positive
	p := page(2, make([]byte, 400))
	for i := range 8 {
		p[6+i] = byte(v.position >> (8 * i))
	}
	return p
}

// send writes and flushes.
func send(w http.ResponseWriter, b []byte) bool {
	_, err := w.Write(b)
	return err == nil && http.NewResponseController(w).Flush() == nil
}

// after waits; false when the listener has gone.
func after(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// pacing returns a mount's handler: a burst of the past, then audio at a pace.
func pacing(pace float64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &vorbis{rate: 44100, position: 9_000_000}
		ok := send(w, v.head(""))
		for i := 0; ok && i < 25; i++ {
			ok = send(w, v.tenth())
		}
		for ok && after(r, time.Duration(float64(100*time.Millisecond)/pace)) {
			ok = send(w, v.tenth())
		}
	}
}

// deafDecoder reads and makes nothing of it, slowly enough to fall behind.
func deafDecoder(ctx context.Context, stream io.Reader, _ io.Writer) error {
	<-ctx.Done()
	return ctx.Err()
}

// A decoder without a processor makes the ear deaf, not the station silent: audio is
// counted as it arrives, from an engine that does not keep time too.
func TestAudioIsCountedThoughNothingIsDecoded(t *testing.T) {
	for _, pace := range []float64{1, 0.5} {
		synctest.Test(t, func(t *testing.T) {
			e := mount(t, pacing(pace))
			e.decode = deafDecoder
			stop := testkit.Background(t, e.Run)
			time.Sleep(13 * time.Second)
			h := e.Hearing()
			if h.Arrived < 0 || h.Arrived > time.Second || h.Decoded != never {
				t.Errorf("at pace %g: arrived %s ago, decoded %s ago", pace, h.Arrived, h.Decoded)
			}
			stop()
		})
	}
}

// A decoder that cannot be started, or ends, takes no audio from the count: nothing that
// works is killed for it. It is tried again, on a connection of its own, and heard again
// once it works.
func TestAudioIsCountedThoughTheDecoderEnds(t *testing.T) {
	for name, lives := range map[string]time.Duration{"at once": 0, "after a while": 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			const broken = 4 // decoders
			connections, decoders := make(chan struct{}, 100), 0
			sending := pacing(1)
			e := mount(t, func(w http.ResponseWriter, r *http.Request) {
				connections <- struct{}{}
				sending(w, r)
			})
			e.decode = func(ctx context.Context, stream io.Reader, samples io.Writer) error {
				if decoders++; decoders <= broken {
					if lives > 0 {
						ctx, cancel := context.WithTimeout(ctx, lives)
						defer cancel()
						go func() { _, _ = io.Copy(samples, stream) }()
						<-ctx.Done()
					}
					return errors.New("fork: resource temporarily unavailable")
				}
				_, err := io.Copy(samples, stream)
				return err
			}
			stop := testkit.Background(t, e.Run)
			time.Sleep(time.Second)
			for range 10 * 60 * 3 {
				time.Sleep(100 * time.Millisecond)
				if h := e.Hearing(); h.Arrived < 0 || h.Arrived > time.Second {
					t.Fatalf("a decoder that ends %s: audio arrived %s ago", name, h.Arrived)
				}
			}
			stop()
			if len(connections) != broken+1 || decoders != broken+1 {
				t.Errorf("a decoder that ends %s: %d connections and %d decoders, want %d", name, len(connections), decoders, broken+1)
			}
			if h := e.Hearing(); h.Decoded < 0 || h.Decoded > time.Second {
				t.Errorf("a decoder that ends %s: decoded %s ago", name, h.Decoded)
			}
		})
	}
}

// A mount that is connected and sends nothing now still sends its past to each new
// listener: that is no audio of now.
func TestTheBurstOfTheStalledIsNoAudio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := make(chan time.Time, 100)
		e := mount(t, func(w http.ResponseWriter, r *http.Request) {
			connections <- time.Now()
			v := &vorbis{rate: 44100}
			send(w, append(v.head(""), v.tenth()...))
			send(w, v.tenth())
			<-r.Context().Done()
		})
		e.decode = func(ctx context.Context, stream io.Reader, _ io.Writer) error {
			_, err := io.Copy(io.Discard, stream)
			return err
		}
		stop := testkit.Background(t, e.Run)
		time.Sleep(20 * time.Second)
		if h := e.Hearing(); h.Arrived != never || !strings.Contains(h.Cause+errStill.Error(), "sent nothing") {
			t.Errorf("heard %+v", h)
		}
		stop()
		if first, second := <-connections, <-connections; second.Sub(first) < still || second.Sub(first) > still+time.Second {
			t.Errorf("connected again after %s", second.Sub(first))
		}
	})
}

// A server without another place, one that ends the stream, and one with standby audio
// are told apart.
func TestWhatTheServerAnswersIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    func(Hearing) bool
	}{
		"full":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, func(h Hearing) bool { return h.Full && h.Arrived == never }},
		"gone":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, func(h Hearing) bool { return !h.Full && strings.Contains(h.Cause, "404") }},
		"ended": {func(http.ResponseWriter, *http.Request) {}, func(h Hearing) bool { return h.Cause == errEnded.Error() }},
		"standby": {func(w http.ResponseWriter, r *http.Request) {
			v := &vorbis{rate: 44100}
			for ok := send(w, v.head("ATHIR=standby")); ok && after(r, 100*time.Millisecond); {
				ok = send(w, v.tenth())
			}
		}, func(h Hearing) bool { return h.Standby > 4*time.Second && h.Cuts == 1 && h.Arrived < time.Second }},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := mount(t, c.handler)
			e.decode = deafDecoder
			stop := testkit.Background(t, e.Run)
			time.Sleep(5 * time.Second)
			if h := e.Hearing(); !c.want(h) {
				t.Errorf("%s: %+v", name, h)
			}
			stop()
		})
	}
}

// What the decoder makes of the mount's chained Ogg is judged as it was sent: links with
// sound, and one in which the sound ends. Its pages tell how long it is.
func TestTheEarHearsWhatTheMountSends(t *testing.T) {
	var stream bytes.Buffer
	for _, source := range []string{
		"aevalsrc=0.3*sin(2*PI*(300+200*sin(t))*t):s=44100:d=2", "aevalsrc=0.3*sin(2*PI*(500+200*sin(t))*t):s=44100:d=2", "anullsrc=r=48000:d=4",
	} {
		_, err := proc.Run(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stdout: &stream, Args: []string{
			"-v", "quiet", "-nostdin", "-f", "lavfi", "-i", source, "-ac", "2", "-c:a", "libvorbis", "-b:a", "128k", "-page_duration", "100000", "-f", "ogg", "pipe:1",
		}}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	e := New(Options{Level: -50})
	e.heard(stream.Bytes())
	if d := e.pages.audio - 8*time.Second; d < -600*time.Millisecond || d > 100*time.Millisecond {
		t.Errorf("the pages hold %s, want 8 s less the first page of each link", e.pages.audio)
	}
	_ = decodeOgg(t.Context(), &stream, e)
	h := e.Hearing()
	if h.Sounding || h.Silent < 3800*time.Millisecond || h.Silent > 4200*time.Millisecond || h.Level > -60 {
		t.Errorf("after 4 s of silence: %+v", h.Verdict)
	}
	if e.judge.Verdict() == (deadair.Verdict{}) {
		t.Error("nothing was judged")
	}
}
