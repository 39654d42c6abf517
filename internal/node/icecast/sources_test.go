package icecast_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	shoutcast "github.com/athir-radio/athir/internal/kit/shout"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
)

// A server that an earlier version started, with the one password of its configuration, is
// made to ask, while it has a source and a listener, who both stay. From then on old and new
// are good, until the old one's time; the engine's own is good for its mount alone; and the
// administrator is who has the newest.
func TestTwoSourcePasswordsHoldSideBySide(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	begin := time.Now()
	held := secret.New("first-password", func() time.Time { return begin.Add(time.Duration(ahead.Load())) })
	o := serve(t, icecast.Options{Dir: t.TempDir(), Valid: held.Valid, Station: "أثير"})
	c := client(t)
	enter := func(mount, password string) error {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", o.Port))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // a test's
		return shoutcast.Enter(t.Context(), conn, time.Minute, "/"+mount, password, http.Header{"Content-Type": {"audio/mpeg"}})
	}
	check := func(when string, want map[string]bool) {
		t.Helper()
		for login, ok := range want {
			mount, password, _ := strings.Cut(login, " ")
			// A mount is taken until the server has seen that its source is gone.
			testkit.EventuallyNil(t, when+": "+login, func() error {
				if err := enter(mount, password); (err == nil) != ok {
					return fmt.Errorf("let in: %v, %w", err == nil, err)
				}
				return nil
			})
		}
	}
	check("as it was", map[string]bool{"guest first-password": true, "guest second-password": false})

	asked := httptest.NewServer(icecast.Sources{Valid: held.Valid, Engine: func() string { return "engine-password" }, Mount: "main"})
	t.Cleanup(asked.Close)
	o.Password = held.Current()
	feed(t, o, "main", "on air")
	testkit.EventuallyNil(t, "a source", func() error { return icecast.OnAir(t.Context(), c, o) })
	heard := make(chan int64, 1)
	listening, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(listening, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/main", o.Port), nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var bytes atomic.Int64
	go func() {
		n, _ := io.Copy(counting{&bytes}, listener.Body)
		_ = listener.Body.Close()
		heard <- n
	}()
	more := func(when string) {
		t.Helper()
		before := bytes.Load()
		testkit.EventuallyNil(t, when+": the listener hears more", func() error {
			if len(heard) > 0 {
				t.Fatalf("%s: the listener was disconnected", when)
			}
			if bytes.Load() < before+8<<10 {
				return fmt.Errorf("%d bytes", bytes.Load()-before)
			}
			return nil
		})
	}
	more("before")

	if icecast.Asks(o) {
		t.Error("it asks nobody yet")
	}
	o.Auth = asked.URL + "/"
	if err := icecast.Reconfigure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if !icecast.Asks(o) {
		t.Error("it does not ask")
	}
	held.Take("second-password", secret.Old{Text: "first-password", Until: begin.Add(time.Hour)})
	if err := icecast.Reconfigure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	check("replaced", map[string]bool{"guest first-password": true, "guest second-password": true, "guest engine-password": false, "guest third": false})
	all, err := icecast.Listeners(t.Context(), c, o)
	if err != nil || len(all) != 1 {
		t.Errorf("as the administrator: %+v, %v", all, err)
	}
	behind := o // the control plane of another machine, which has not been given the new one
	behind.Valid = func() []string { return []string{"none", "second-password"} }
	if all, err := icecast.Listeners(t.Context(), c, behind); err != nil || len(all) != 1 {
		t.Errorf("with the older of two: %+v, %v", all, err)
	}
	behind.Valid = func() []string { return []string{"first-password"} }
	if _, err := icecast.Listeners(t.Context(), c, behind); err == nil || !strings.Contains(err.Error(), "another source password") {
		t.Errorf("with the old one alone: %v", err)
	}
	more("replaced")
	ahead.Store(int64(time.Hour))
	check("after its time", map[string]bool{"guest first-password": false, "guest second-password": true})
	more("after its time")
}

type counting struct{ n *atomic.Int64 }

func (c counting) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// The engine's password is for its mount, from this machine.
func TestTheEnginesPasswordIsForItsMount(t *testing.T) {
	t.Parallel()
	h := icecast.Sources{Valid: secret.Of("station").Valid, Engine: func() string { return "engine" }, Mount: "main"}
	for form, want := range map[string]bool{
		"user=source&pass=station&mount=/x&ip=192.0.2.1":  true,
		"user=admin&pass=station&mount=/x&ip=127.0.0.1":   false,
		"user=source&pass=engine&mount=/main&ip=::1":      true,
		"user=source&pass=engine&mount=/main&ip=10.0.0.1": false,
		"user=source&pass=engine&mount=/x&ip=127.0.0.1":   false,
		"user=source&pass=&mount=/main&ip=127.0.0.1":      false,
		"":  false,
		"%": false,
	} {
		rec := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(form))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		h.ServeHTTP(rec, req)
		if got := rec.Header().Get("icecast-auth-user") == "1"; got != want {
			t.Errorf("%q: let in: %v", form, got)
		}
	}
	h.Engine = func() string { return "" } // no engine was started yet
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("user=source&pass=&mount=/main&ip=127.0.0.1"))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if h.ServeHTTP(rec, req); rec.Header().Get("icecast-auth-user") != "" {
		t.Error("an empty password is let in")
	}
}
