package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// door is a server on a network in memory, and what it passed on.
type door struct {
	*Server
	t     *testing.T
	net   *testkit.Network
	lines *testkit.Lines

	mu    sync.Mutex
	got   map[string]string
	ends  []error
	names []string
	code  string
	away  bool
}

func newDoor(t *testing.T) *door {
	log, lines := testkit.Log(t)
	d := &door{t: t, net: testkit.NewNetwork(), lines: lines, got: map[string]string{}}
	d.Server = New(Options{
		Log: log, Studio: "studio",
		Admit: func(_ context.Context, who live.Credentials) (live.Admission, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			switch {
			case d.away:
				return live.Admission{}, errors.New("refused")
			case who.Secret != "s3cret":
				return live.Admission{Code: "unknown"}, nil
			case d.code != "":
				return live.Admission{Code: d.code, Detail: "not before 20:00"}, nil
			}
			return live.Admission{Allowed: true, Publisher: live.Presenter{ID: who.User}}, nil
		},
		Accepts: func(kind string) error {
			if kind != "audio/mpeg" {
				return errors.New("content-type: not live audio")
			}
			return nil
		},
		Carry: func(_ context.Context, p Push) error {
			buf := make([]byte, 100)
			for {
				n, err := p.Body.Read(buf)
				d.mu.Lock()
				d.got[p.Mount] += string(buf[:n])
				if err != nil {
					d.ends = append(d.ends, err)
				}
				d.mu.Unlock()
				if err != nil {
					return err
				}
			}
		},
		Named: func(mount, title, creator string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.names = append(d.names, mount+"|"+creator+"|"+title)
		},
	})
	return d
}

func (d *door) serve() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = d.Serve(ctx, d.net) })
	return func() { cancel(); all.Wait() }
}

// say sends a request and returns the first line of the answer.
func (d *door) say(request string) (net.Conn, *bufio.Reader, string) {
	d.t.Helper()
	conn, err := d.net.Dial(context.Background(), "tcp", "")
	if err != nil {
		d.t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")) }()
	in := bufio.NewReader(conn)
	line, _ := in.ReadString('\n')
	return conn, in, strings.TrimSpace(line)
}

const (
	login = "Authorization: Basic c2FyYTpzM2NyZXQ=\n"     // sara:s3cret
	wrong = "Authorization: Basic c2FyYTp3cm9uZw==\n"     // sara:wrong
	host  = "Authorization: Basic c291cmNlOnN0dWRpbw==\n" // source:studio
	audio = "Content-Type: audio/mpeg\n"
)

// Each as a client in the field sends it.
func TestEncodersAreAnsweredAsTheyExpect(t *testing.T) {
	for _, c := range []struct{ name, request, want string }{
		{"ffmpeg, libshout", "PUT /sara HTTP/1.1\nHost: x\nExpect: 100-continue\n" + login + audio + "\n", "HTTP/1.1 100 Continue"},
		{"PUT without Expect", "PUT /sara HTTP/1.1\n" + login + audio + "\n", "HTTP/1.0 200 OK"},
		{"Liquidsoap, BUTT", "SOURCE /sara HTTP/1.0\n" + login + audio + "\n", "HTTP/1.0 200 OK"},
		{"ices, darkice", "SOURCE /sara ICE/1.0\n" + login + "content-type: audio/mpeg\nice-name: A show\n\n", "HTTP/1.0 200 OK"},
		{"no version", "SOURCE /sara\n" + login + "\n", "HTTP/1.0 200 OK"},
		{"no slash", "SOURCE sara HTTP/1.0\n" + login + "\n", "HTTP/1.0 200 OK"},
		{"the station itself", "PUT /studio HTTP/1.1\n" + host + audio + "\n", "HTTP/1.0 200 OK"},
		{"no password", "PUT /sara HTTP/1.1\n" + audio + "\n", "HTTP/1.0 401 Unauthorized"},
		{"a wrong one", "SOURCE /sara ICE/1.0\n" + wrong + audio + "\n", "HTTP/1.0 401 Unauthorized"},
		{"a probe of libshout", "GET /admin/!POKE HTTP/1.1\n\n", "HTTP/1.0 401 Unauthorized"},
		{"a question for what can be done", "OPTIONS * HTTP/1.1\n\n", "HTTP/1.0 204 No Content"},
		{"another type", "PUT /sara HTTP/1.1\n" + login + "Content-Type: text/html\n\n", "HTTP/1.0 415 Unsupported Media Type"},
		{"no type", "PUT /sara HTTP/1.1\n" + login + "\n", "HTTP/1.0 415 Unsupported Media Type"},
		{"a path as a mount", "PUT /../etc/passwd HTTP/1.1\n" + login + audio + "\n", "HTTP/1.0 404 Not Found"},
		{"the root", "SOURCE / HTTP/1.0\n" + login + audio + "\n", "HTTP/1.0 404 Not Found"},
		{"a listener", "GET /sara HTTP/1.1\n\n", "HTTP/1.0 404 Not Found"},
		{"another method", "POST /sara HTTP/1.1\n\n", "HTTP/1.0 405 Method Not Allowed"},
		{"no request", "hello\n\n", "HTTP/1.0 400 Bad Request"},
		{"TLS", "\x16\x03\x01\x02\n\n", "HTTP/1.0 400 Bad Request"},
		{"a long head", "PUT /sara HTTP/1.1\nX: " + strings.Repeat("x", 9000) + "\n\n", "HTTP/1.0 431 Request Header Fields Too Large"},
		{"a title of nobody", "GET /admin/metadata?mode=updinfo&mount=/sara&song=x HTTP/1.0\n" + login + "\n", "HTTP/1.0 404 Not Found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDoor(t)
				stop := d.serve()
				conn, _, got := d.say(c.request)
				if got != c.want {
					t.Errorf("answered %q, want %q", got, c.want)
				}
				_ = conn.Close()
				stop()
			})
		})
	}
}

func TestAudioIsPassedOnAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct{ head, send string }{
		"as it comes": {"SOURCE /sara HTTP/1.0\n" + login + audio + "\n", "sound sound"},
		"in chunks":   {"PUT /sara HTTP/1.1\nTransfer-Encoding: chunked\nExpect: 100-continue\n" + login + audio + "\n", "6\r\nsound \r\n5\r\nsound\r\n0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDoor(t)
				stop := d.serve()
				conn, _, _ := d.say(c.head)
				go io.Copy(io.Discard, conn) //nolint:errcheck // its end
				_, _ = io.WriteString(conn, c.send)
				synctest.Wait()
				if name == "as it comes" {
					_ = conn.Close()
				}
				synctest.Wait()
				if d.got["/sara"] != "sound sound" || len(d.ends) != 1 || !errors.Is(d.ends[0], io.EOF) {
					t.Errorf("got %q, ended %v", d.got, d.ends)
				}
				_ = conn.Close()
				stop()
			})
		})
	}
}

// A connection that says nothing, and an encoder that falls silent, end after exactly as
// long as they may.
func TestWhoSendsNothingIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		begun := time.Now()
		conn, _ := d.net.Dial(context.Background(), "tcp", "")
		_, _ = io.ReadAll(conn)
		if took := time.Since(begun); took != headWait {
			t.Errorf("a connection that says nothing: %s", took)
		}
		conn, in, _ := d.say("SOURCE /sara HTTP/1.0\n" + login + audio + "\n")
		_, _ = io.WriteString(conn, "sound")
		synctest.Wait()
		begun = time.Now()
		_, _ = io.ReadAll(in)
		if took := time.Since(begun); took != idleWait || d.got["/sara"] != "sound" {
			t.Errorf("an encoder that falls silent: %s", took)
		}
		stop()
	})
}

func TestAMountHasOneEncoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		put := "SOURCE /sara HTTP/1.0\n" + login + audio + "\n"
		first, _, _ := d.say(put)
		_, _ = io.WriteString(first, "first")
		synctest.Wait()
		second, _, got := d.say(put)
		if got != "HTTP/1.0 403 Mountpoint in use" {
			t.Errorf("a second one: %s", got)
		}
		_ = second.Close()
		time.Sleep(stale + time.Second) // the first has lost its network
		other, _, got := d.say(strings.Replace(put, login, host, 1))
		if got != "HTTP/1.0 403 Mountpoint in use" {
			t.Errorf("one of another user: %s", got)
		}
		_ = other.Close()
		again, _, got := d.say(put)
		if got != "HTTP/1.0 200 OK" {
			t.Errorf("the same one again: %s", got)
		}
		_, _ = io.WriteString(again, " second")
		synctest.Wait()
		if d.got["/sara"] != "first second" {
			t.Errorf("got %q", d.got)
		}
		if d.Kick("/other") || !d.Kick("/sara") {
			t.Error("kicked the wrong one")
		}
		synctest.Wait()
		if len(d.ends) != 2 {
			t.Errorf("ended %v", d.ends)
		}
		_, _ = first.Close(), again.Close()
		stop()
	})
}

// An encoder whose connection broke may still be on the air: nobody else comes by its mount
// meanwhile and has that.
func TestAMountIsKeptForWhoLostTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		put := "SOURCE /sara HTTP/1.0\n" + login + audio + "\n"
		thief := strings.Replace(put, login, "Authorization: Basic bWFsbG9yeTpzM2NyZXQ=\n", 1) // mallory:s3cret
		try := func(what, request, want string) net.Conn {
			t.Helper()
			conn, _, got := d.say(request)
			if got != "HTTP/1.0 "+want {
				t.Errorf("%s: %s", what, got)
			}
			return conn
		}
		first := try("sara", put, "200 OK")
		time.Sleep(idleWait) // her network is gone
		synctest.Wait()
		_ = try("another at once", thief, "403 Mountpoint in use").Close()
		again := try("sara again", put, "200 OK")
		time.Sleep(idleWait)
		synctest.Wait()
		time.Sleep(keep)
		_ = try("another later", thief, "200 OK").Close() // ended, not broken
		synctest.Wait()
		_ = try("sara after another has ended", put, "200 OK").Close()
		synctest.Wait()
		_, _ = first.Close(), again.Close()
		if len(d.kept) > 0 {
			t.Errorf("%d mounts are kept", len(d.kept))
		}
		stop()
	})
}

// Connections of many addresses that say nothing take no place from encoders.
func TestConnectionsThatSayNothingKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		sara, _, got := d.say("SOURCE /sara HTTP/1.0\n" + login + audio + "\n")
		if got != "HTTP/1.0 200 OK" {
			t.Fatal(got)
		}
		var silent []net.Conn
		for range 3 * mostConnections {
			conn, err := d.net.Dial(t.Context(), "tcp", "")
			if err != nil {
				t.Fatal(err)
			}
			silent = append(silent, conn)
			synctest.Wait()
		}
		other, _, got := d.say("SOURCE /other HTTP/1.0\n" + login + audio + "\n")
		if got != "HTTP/1.0 200 OK" {
			t.Errorf("one more encoder: %q", got)
		}
		synctest.Wait()
		if d.all > mostConnections || len(d.waiting) > mostConnections-2 {
			t.Errorf("%d connections, %d wait", d.all, len(d.waiting))
		}
		if _, err := io.WriteString(sara, "sound"); err != nil {
			t.Errorf("who was let in: %v", err)
		}
		synctest.Wait()
		if d.got["/sara"] != "sound" {
			t.Errorf("who was let in is not heard: %q", d.got)
		}
		for _, conn := range append(silent, sara, other) {
			_ = conn.Close()
		}
		stop()
		if len(d.waiting) > 0 || d.all > 0 {
			t.Errorf("%d wait, %d are counted", len(d.waiting), d.all)
		}
	})
}

func TestTitlesNeedTheEncodersOwnLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		conn, _, _ := d.say("SOURCE /sara HTTP/1.0\n" + login + audio + "\n")
		for _, c := range []struct{ login, query, want string }{
			{login, "mode=updinfo&mount=/sara&song=Fairuz+-+Nassam", "200 OK"},
			{host, "mode=updinfo&mount=/sara&title=Nassam&artist=Fairuz", "200 OK"},
			{login, "mode=updinfo&song=News", "200 OK"}, // the mount of this login
			{login, "mode=updinfo&mount=/sara&song=caf%E9", "200 OK"},
			{login, "mode=updinfo&mount=/sara&song=%0A%07%E2%80%AEevil%00", "200 OK"},
			{wrong, "mode=updinfo&mount=/sara&song=x", "401 Unauthorized"},
			{"", "mode=updinfo&mount=/sara&song=x", "401 Unauthorized"},
			{login, "mode=killsource&mount=/sara", "400 Bad Request"},
		} {
			c2, _, got := d.say("GET /admin/metadata?" + c.query + " HTTP/1.0\n" + c.login + "\n")
			if got != "HTTP/1.0 "+c.want {
				t.Errorf("%s: %s", c.query, got)
			}
			_ = c2.Close()
		}
		want := "[/sara|Fairuz|Nassam /sara|Fairuz|Nassam /sara||News /sara||café /sara||evil]"
		if got := fmt.Sprint(d.names); got != want {
			t.Errorf("named %s", got)
		}
		_ = conn.Close()
		stop()
	})
}

// By a tunnel, which has no limit of its own, nobody guesses fast, nor holds up who knows.
func TestGuessingByATunnelIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		begun := time.Now()
		conn, _, _ := d.say("SOURCE /sara HTTP/1.0\n" + login + audio + "\n")
		if took := time.Since(begun); took > 0 {
			t.Errorf("who knows the password waits for %s", took)
		}
		for _, request := range []string{
			"SOURCE /other HTTP/1.0\n" + wrong + audio + "\n", "GET /admin/metadata?mode=updinfo&mount=/sara&song=x HTTP/1.0\n" + wrong + "\n",
		} {
			begun = time.Now()
			c, _, got := d.say(request)
			if took := time.Since(begun); got != "HTTP/1.0 401 Unauthorized" || took != wrongPause {
				t.Errorf("%s after %s", got, took)
			}
			_ = c.Close()
		}
		_ = conn.Close()
		stop()
	})
}

// All listeners are told of each title: an encoder cannot tell them a thousand.
func TestTitlesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		conn, _, _ := d.say("SOURCE /sara HTTP/1.0\n" + login + audio + "\n")
		tell := func(n int) (taken int) {
			for i := range n {
				c, _, got := d.say(fmt.Sprintf("GET /admin/metadata?mode=updinfo&mount=/sara&song=%d HTTP/1.0\n%s\n", i, login))
				if got == "HTTP/1.0 200 OK" {
					taken++
				} else if got != "HTTP/1.0 429 Too Many Requests" {
					t.Error(got)
				}
				_ = c.Close()
			}
			return taken
		}
		if n := tell(100); n != titlesAtOnce {
			t.Errorf("%d titles at once", n)
		}
		time.Sleep(3 * titleEvery)
		if n := tell(100); n != 3 || len(d.names) != titlesAtOnce+3 {
			t.Errorf("%d titles later, %d passed on", n, len(d.names))
		}
		_ = conn.Close()
		stop()
	})
}

func TestTheControlPlanesWordHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		stop := d.serve()
		put := "SOURCE /sara HTTP/1.0\n" + login + audio + "\n"
		for code, want := range map[string]string{"early": "403 not before 20:00", "revoked": "403 not before 20:00", "limited": "429 Too Many Requests"} {
			d.code = code
			conn, _, got := d.say(put)
			if got != "HTTP/1.0 "+want {
				t.Errorf("%s: %s", code, got)
			}
			_ = conn.Close()
		}
		d.away = true
		conn, _, got := d.say(put)
		if got != "HTTP/1.0 503 Service Unavailable" {
			t.Errorf("away: %s", got)
		}
		_ = conn.Close()
		stop()
	})
}

// Connections of one address, and its wrong passwords, are bounded; others go in.
func TestOneAddressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		a, b := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 1}
		from := &addressed{Network: d.net, next: a}
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() { _ = d.Serve(ctx, from) })
		for range 5 {
			conn, _, got := d.say("SOURCE /sara HTTP/1.0\n" + wrong + audio + "\n")
			if got != "HTTP/1.0 401 Unauthorized" {
				t.Errorf("wrong: %s", got)
			}
			_ = conn.Close()
		}
		right := "SOURCE /sara HTTP/1.0\n" + login + audio + "\n"
		conn, _, got := d.say(right)
		if got != "HTTP/1.0 429 Too Many Requests" {
			t.Errorf("a sixth try: %s", got)
		}
		_ = conn.Close()
		from.set(b)
		conn, _, got = d.say(right)
		if got != "HTTP/1.0 200 OK" {
			t.Errorf("another address: %s", got)
		}
		var open []net.Conn
		for range mostOfOne - 1 {
			c, _ := d.net.Dial(ctx, "tcp", "")
			open = append(open, c)
		}
		synctest.Wait()
		late, _ := d.net.Dial(ctx, "tcp", "")
		if _, err := late.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("one connection too many: %v", err)
		}
		for _, c := range append(open, conn, late) {
			_ = c.Close()
		}
		cancel()
		all.Wait()
	})
}

// addressed gives connections the address of a client.
type addressed struct {
	*testkit.Network
	mu   sync.Mutex
	next net.Addr
}

func (a *addressed) set(to net.Addr) { a.mu.Lock(); a.next = to; a.mu.Unlock() }

func (a *addressed) Accept() (net.Conn, error) {
	c, err := a.Network.Accept()
	a.mu.Lock()
	defer a.mu.Unlock()
	return from{c, a.next}, err
}

type from struct {
	net.Conn
	addr net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.addr }

func FuzzRequest(f *testing.F) {
	f.Add([]byte("PUT /sara HTTP/1.1\r\nExpect: 100-continue\r\n\r\n"))
	f.Add([]byte("SOURCE sara ICE/1.0\nAuthorization: Basic c2FyYTpzM2NyZXQ=\n\n"))
	f.Add([]byte("GET http://x/admin/metadata?song=%zz%00 HTTP/1.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRequest(bufio.NewReaderSize(strings.NewReader(string(data)), 64))
		if err != nil {
			return
		}
		if r.path == "" || len(r.user)+len(r.secret) > mostHead {
			t.Errorf("%+v", r)
		}
		title, creator := songOf(r.query)
		for _, text := range []string{title, creator} {
			if len([]rune(text)) > mostText || strings.ContainsAny(text, "\r\n\x00\u202e") {
				t.Errorf("title %q", text)
			}
		}
		if mountName(r.path) && strings.ContainsAny(r.path[1:], "/\\ %?\"<") {
			t.Errorf("mount %q", r.path)
		}
	})
}
