package bridge_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/bridge"
)

// The bridge presents its password to MediaMTX, and to nobody who reads the arguments
// of its process.
func TestMediaMTXIsTheOnlyOneToReadThePassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tone := filepath.Join(dir, "tone.ogg")
	if _, err := proc.Output(t.Context(), proc.Spec{Name: "tone", Path: "ffmpeg", Args: []string{
		"-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=440:duration=20", "-c:a", "libvorbis", tone,
	}}, 1<<16); err != nil {
		t.Fatal(err)
	}
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, tone) }))
	t.Cleanup(source.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })

	const password = "s3cret:&=?%#pass"
	login := filepath.Join(dir, "bridge.ffpreset")
	spec, err := bridge.Prepare(bridge.Options{
		Source: source.URL, Target: bridge.RTMPTarget(l.Addr().String()), Login: login, User: "source", Password: password,
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(login); err != nil || info.Mode() != 0o600 {
		t.Errorf("the login's file: %v, %v", info, err)
	}
	spec.Stderr = t.Output()
	if all := strings.Join(spec.Args, " "); strings.Contains(all, "s3cret") {
		t.Errorf("the password is in the arguments: %s", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = proc.Run(ctx, spec, nil)
	}()
	t.Cleanup(func() { cancel(); <-ended })

	// What a client of MediaMTX's own manual sends: rtmp://HOST/main?user=USER&pass=PASSWORD.
	const want = "/main?pass=s3cret%3A%26%3D%3F%25%23pass&user=source"
	testkit.EventuallyNil(t, "the login", func() error { return connects(l, want) })
}

// connects takes an RTMP client up to its command "connect", which must hold want.
func connects(l net.Listener, want string) error {
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Second)) // EventuallyNil comes again
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // all is read
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	hello := make([]byte, 1+1536)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return err
	}
	if _, err := conn.Write(bytes.Join([][]byte{{3}, make([]byte, 1536), hello[1:]}, nil)); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, hello[1:]); err != nil {
		return err
	}
	var got []byte
	for buf := make([]byte, 4096); !bytes.Contains(got, []byte(want)); {
		n, err := conn.Read(buf)
		if got = append(got, buf[:n]...); err != nil {
			return err
		}
		// A chunk of RTMP has 128 bytes, and a header of one byte before the next.
		got = bytes.ReplaceAll(got, []byte{0xc3}, nil)
	}
	return nil
}
