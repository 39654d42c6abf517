package icecast_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
)

// listenFrom takes the stream from an address of this machine, by a name.
func listenFrom(t *testing.T, o icecast.Options, address, agent string) io.Reader {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}
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
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", agent, resp.Status)
	}
	return resp.Body
}

// On a server that is nearly full, one address with many connections loses its newest; its
// older ones, all others and our own parts hear the stream on.
func TestOneAddressCannotTakeAllPlaces(t *testing.T) {
	t.Parallel()
	o := serve(t, icecast.Options{Dir: t.TempDir(), Password: "secret", MaxClients: 9})
	c := client(t)
	feed(t, o, "main", "song")
	testkit.EventuallyNil(t, "a source", func() error { return icecast.OnAir(t.Context(), c, o) })
	var want []string
	stay := func(address, agent string) {
		listenFrom(t, o, address, agent)
		want = append(want, agent)
	}
	stay("127.0.0.1", "athir-bridge")
	stay("127.0.0.2", "flood 1")
	stay("127.0.0.3", "listener 1")
	stay("127.0.0.2", "flood 2")
	lost := []io.Reader{listenFrom(t, o, "127.0.0.2", "flood 3"), listenFrom(t, o, "127.0.0.2", "flood 4")}
	listening := func() ([]string, error) {
		list, err := icecast.Listeners(t.Context(), c, o)
		var agents []string
		for _, l := range list {
			agents = append(agents, l.UserAgent)
		}
		slices.Sort(agents)
		return agents, err
	}
	counted := func(n int) {
		t.Helper()
		testkit.EventuallyNil(t, fmt.Sprintf("%d listeners counted", n), func() error {
			s, err := icecast.ReadStatus(t.Context(), c, o)
			if err == nil && s.Listeners() != n {
				err = fmt.Errorf("%d listeners", s.Listeners())
			}
			return err
		})
	}
	counted(6)
	if n, err := icecast.TrimBy(t.Context(), c, o, 2); n != 0 || err != nil {
		t.Errorf("ended %d with a third of the places free: %v", n, err)
	}
	stay("127.0.0.3", "listener 2")
	stay("127.0.0.1", "a proxy's")
	counted(8)
	if n, err := icecast.Trim(t.Context(), c, o, 2); n != 0 || err != nil {
		t.Errorf("ended %d of this machine's: %v", n, err)
	}
	if n, err := icecast.TrimBy(t.Context(), c, o, 2); n != 2 || err != nil {
		t.Fatalf("ended %d: %v", n, err)
	}
	slices.Sort(want)
	testkit.EventuallyNil(t, "those who stay", func() error {
		got, err := listening()
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("%q listen, want %q", got, want)
		}
		return err
	})
	for _, body := range lost {
		_, _ = io.Copy(io.Discard, body) // until it is ended
	}
}

// crowdedPage answers as a server whose five places are all taken, four by one address.
func crowdedPage(req *http.Request) *http.Response {
	body := "<icestats><source>"
	switch req.URL.Path {
	case "/status-json.xsl":
		body = `{"icestats":{"source":{"listenurl":"http://node/main","server_type":"application/ogg","listeners":5}}}`
	case "/admin/listclients":
		for id, address := range []string{"203.0.113.9", "203.0.113.1", "203.0.113.9", "203.0.113.9", "203.0.113.9"} {
			body += fmt.Sprintf("<listener><ID>%d</ID><IP>%s</IP></listener>", id+1, address)
		}
		body += "</source></icestats>"
	default:
		body = "<iceresponse/>"
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

// A nearly full server is looked at again and again; whom it is asked to end is named to
// it, as the administrator.
func TestPlacesAreKeptAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan string, 100)
		c := &http.Client{Transport: server(func(req *http.Request) (*http.Response, error) {
			if req.URL.Path == "/admin/killclient" {
				user, password, _ := req.BasicAuth()
				if user != "admin" || password == "" {
					return nil, errors.New("not the administrator")
				}
				ended <- req.URL.Query().Get("mount") + " " + req.URL.Query().Get("id")
			}
			return crowdedPage(req), nil
		})}
		log, lines := testkit.Log(t)
		o := far
		o.MaxClients = 5
		stop := testkit.Background(t, func(ctx context.Context) error { return icecast.KeepPlaces(ctx, log, c, o, 2) })
		time.Sleep(11 * time.Second)
		stop()
		close(ended)
		var got []string
		for l := range ended {
			got = append(got, l)
		}
		if want := []string{"/main 5", "/main 4", "/main 5", "/main 4"}; !slices.Equal(got, want) {
			t.Errorf("ended %q, want %q", got, want)
		}
		if lines.Count("nearly full", "ended=2", "stream.max_per_address") != 2 {
			t.Errorf("log:\n%s", lines)
		}
	})
}
