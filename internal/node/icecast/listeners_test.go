package icecast_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
)

// Whoever listens is listed by a number of his own; our own parts can be told
// from others, but not from elsewhere.
func TestListenersAreListedAndOurOwnAreTold(t *testing.T) {
	t.Parallel()
	o := serve(t, icecast.Options{Dir: t.TempDir(), Password: "secret"})
	c := client(t)
	if _, err := icecast.Listeners(t.Context(), c, o); err == nil {
		t.Error("listeners of a mount without a source")
	}
	stop := source(t, o)
	testkit.EventuallyNil(t, "the wanted state", func() error { return icecast.OnAir(t.Context(), c, o) })
	if list, err := icecast.Listeners(t.Context(), c, o); err != nil || len(list) != 0 {
		t.Fatalf("nobody: %v %v", list, err)
	}
	for _, agent := range []string{"athir-bridge", "VLC/3.0 <&>", "athir-stream", "محمد", ""} {
		listen(t, o, agent)
	}
	// What no XML may hold: one listener does not hide all the others.
	shout(t, o, "\xff\xc3\x28 \x01\x0b &#1; <listener>")
	var list []icecast.Listener
	testkit.EventuallyNil(t, "the wanted state", func() (err error) {
		if list, err = icecast.Listeners(t.Context(), c, o); err == nil && len(list) != 6 {
			err = fmt.Errorf("%d listeners", len(list))
		}
		return err
	})
	ids, ours := map[string]bool{}, 0
	for _, l := range list {
		ids[l.ID] = true
		if l.Ours() {
			ours++
		}
		if l.Address != "127.0.0.1" {
			t.Errorf("%+v", l)
		}
	}
	if len(ids) != 6 || ours != 2 {
		t.Errorf("%d ids, %d are ours: %+v", len(ids), ours, list)
	}
	if l := (icecast.Listener{Address: "198.51.100.1", UserAgent: "athir-bridge"}); l.Ours() {
		t.Error("someone elsewhere is not counted by calling himself ours")
	}
	// Those who hear the standby audio are listeners as well, each of them once.
	feed(t, o, "main-standby", "x")
	standby := o
	standby.Mount = "main-standby"
	testkit.EventuallyNil(t, "the wanted state", func() error { // hidden from the public status
		_, err := icecast.Listeners(t.Context(), c, standby)
		return err
	})
	if list, err := icecast.Listeners(t.Context(), c, o); err != nil || len(list) != 6 {
		t.Errorf("beside the standby audio: %d listeners, %v", len(list), err)
	}
	stop()
	testkit.EventuallyNil(t, "the wanted state", func() error {
		if err := icecast.OnAir(t.Context(), c, o); !errors.Is(err, icecast.ErrNoSource) {
			return fmt.Errorf("the source is still there: %w", err)
		}
		return nil
	})
	testkit.EventuallyNil(t, "the wanted state", func() error { // they are turned over one after another
		list, err := icecast.Listeners(t.Context(), c, o)
		if err == nil && len(list) != 6 {
			err = fmt.Errorf("on the standby audio: %d listeners", len(list))
		}
		return err
	})
	wrong := o
	wrong.Password = "other"
	if _, err := icecast.Listeners(t.Context(), c, wrong); err == nil {
		t.Error("listed with a wrong password")
	}
}

// source sends a tone to the mount until stop is called.
func source(t *testing.T, o icecast.Options) (stop func()) {
	t.Helper()
	return testkit.Program(t, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stderr: t.Output(), Args: []string{
		"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "sine=440", "-ac", "2", "-c:a", "libvorbis", "-content_type", "application/ogg",
		"-f", "ogg", fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/main", o.Password, o.Port),
	}})
}

// shout takes the stream by a name that a client library would refuse.
func shout(t *testing.T, o icecast.Options, agent string) {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", o.Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET /main HTTP/1.0\r\nUser-Agent: %s\r\n\r\n", agent); err != nil {
		t.Fatal(err)
	}
}

// listen takes the stream until the test ends.
func listen(t *testing.T, o icecast.Options, agent string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/main", o.Port), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", agent)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
}
