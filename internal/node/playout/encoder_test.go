package playout_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/test/aircheck"
)

// The mounts of the live harbor, and the types of MP3 that it decodes by MAD and by
// ffmpeg.
const (
	liveMount = "channel_live"
	overMount = "channel_over"
	quickMIME = "audio/MPA"
	slowMIME  = "audio/mpeg"
)

// connect sends so much of a tone to the live harbor at once, as an encoder does
// over a while, and keeps the connection until it is closed.
func (o *offline) connect(id int, long time.Duration) net.Conn {
	o.t.Helper()
	return o.send(liveMount, o.tone(aircheck.Track{ID: id, Duration: long}))
}

// tone makes a track as an MP3 stream.
func (r *rig) tone(track aircheck.Track) string {
	r.t.Helper()
	file := filepath.Join(r.dir, fmt.Sprintf("live%d-%s.wav", track.ID, track.Duration))
	r.write(file, track)
	return r.encode(file, "-b:a", "192k")
}

// stream is connect for a file of any sound.
func (o *offline) stream(file string) net.Conn {
	o.t.Helper()
	return o.send(liveMount, o.encode(file, "-b:a", "320k"))
}

// encode makes an MP3 of a file as the desk does: no header frame, as a stream has none.
func (r *rig) encode(file string, args ...string) string {
	r.t.Helper()
	encoded := file + ".mp3"
	args = append(append([]string{"-v", "error", "-y", "-i", file}, args...), "-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0", encoded)
	if _, err := proc.Output(r.t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: args}, 64<<10); err != nil {
		r.t.Fatal(err)
	}
	return encoded
}

// send connects to a mount and sends a file at once.
func (o *offline) send(mount, file string) net.Conn {
	o.t.Helper()
	conn := o.begin(mount, file)
	o.connected(mount)
	return conn
}

// begin is send, and does not wait until the engine has taken the encoder in.
func (o *offline) begin(mount, file string) net.Conn {
	o.t.Helper()
	conn, answer := o.dial(mount, quickMIME)
	if !strings.Contains(answer, " 200 ") {
		o.t.Fatalf("the harbor answers %q", answer)
	}
	o.rig.pour(conn, file)
	return conn
}

// connected waits until the engine has taken the encoder of a mount in.
func (o *offline) connected(mount string) {
	o.t.Helper()
	testkit.Eventually(o.t, "the encoder connected", func() bool {
		s := o.status()
		return mount == liveMount && s.LiveConnected || mount == overMount && s.OverConnected
	})
	o.fed()
}

// pour sends a file on a connection at once.
func (o *offline) pour(conn net.Conn, file string) {
	o.t.Helper()
	o.rig.pour(conn, file)
	o.fed()
}

// fed waits until a second of what was sent has been decoded, where the engine would go
// on without, and plays one frame.
func (o *offline) fed() {
	o.t.Helper()
	if o.hungry.CompareAndSwap(true, false) {
		o.play(frame)
		o.hungry.Store(true)
	}
}

func (r *rig) pour(conn net.Conn, file string) {
	r.t.Helper()
	audio, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := conn.Write(audio); err != nil {
		r.t.Fatal(err)
	}
}

// dial asks for a mount as an encoder and returns what the harbor answers.
func (r *rig) dial(mount, mime string) (conn net.Conn, answer string) {
	r.t.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.o.HarborPort)))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	login := base64.StdEncoding.EncodeToString([]byte("source:" + r.o.Password))
	if _, err := fmt.Fprintf(conn, "SOURCE /%s HTTP/1.0\r\nAuthorization: Basic %s\r\nContent-Type: %s\r\n\r\n", mount, login, mime); err != nil {
		r.t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := conn.Read(b)
	if err != nil {
		r.t.Fatalf("the harbor answers %q, %v", b[:n], err)
	}
	return conn, string(b[:n])
}

// entitle tells a title as the desk does, and returns the status of the answer.
func (r *rig) entitle(password string, args url.Values) int {
	r.t.Helper()
	address := fmt.Sprintf("http://127.0.0.1:%d/admin/metadata?%s", r.o.HarborPort, args.Encode())
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	req.SetBasicAuth("source", password)
	resp, err := httpClient(r.t).Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode
}

// gone waits until the engine has noticed that nobody is connected.
func (o *offline) gone() {
	o.t.Helper()
	testkit.Eventually(o.t, "the encoders gone", func() bool {
		s := o.status()
		return !s.LiveConnected && !s.OverConnected
	})
}
