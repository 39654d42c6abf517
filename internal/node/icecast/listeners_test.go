package icecast_test

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/node/icecast"
)

// Whoever listens is listed by a number of his own; our own parts can be told
// from others, but not from elsewhere.
func TestListenersAreListedAndOurOwnAreTold(t *testing.T) {
	o := serve(t, icecast.Options{Dir: t.TempDir(), Password: "sec&ret"})
	c := client(t)
	if _, err := icecast.Listeners(t.Context(), c, o); err == nil {
		t.Error("listeners of a mount without a source")
	}
	feed(t, o, "main", "x")
	eventually(t, func() error { return icecast.OnAir(t.Context(), c, o) })
	if list, err := icecast.Listeners(t.Context(), c, o); err != nil || len(list) != 0 {
		t.Fatalf("nobody: %v %v", list, err)
	}
	for _, agent := range []string{"athir-bridge", "VLC/3.0 <&>", "athir-stream", "محمد", ""} {
		listen(t, o, agent)
	}
	// What no XML may hold: one listener does not hide all the others.
	shout(t, o, "\xff\xc3\x28 \x01\x0b &#1; <listener>")
	var list []icecast.Listener
	eventually(t, func() (err error) {
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
	wrong := o
	wrong.Password = "other"
	if _, err := icecast.Listeners(t.Context(), c, wrong); err == nil {
		t.Error("listed with a wrong password")
	}
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
