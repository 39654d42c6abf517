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

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// door is a server on a network in memory, and what it passed on.
type door struct {
	*Server
	t   *testing.T
	net *addressed

	mu    sync.Mutex
	got   map[string]string
	ends  []error
	names []string
	code  string
	away  bool
}

// serving runs a test with a door that serves, in virtual time.
func serving(t *testing.T, test func(t *testing.T, d *door)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() { _ = d.Serve(ctx, d.net) })
		defer func() { cancel(); all.Wait() }()
		test(t, d)
	})
}

func newDoor(t *testing.T) *door {
	log, _ := testkit.Log(t)
	d := &door{t: t, net: &addressed{Network: testkit.NewNetwork()}, got: map[string]string{}}
	d.Server = New(Options{
		Log: log, Studio: secret.Of("studio"),
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

// knock connects and says nothing.
func (d *door) knock() net.Conn {
	d.t.Helper()
	conn, err := d.net.Dial(context.Background(), "tcp", "")
	if err != nil {
		d.t.Fatal(err)
	}
	return conn
}

// say sends a request and returns the first line of the answer.
func (d *door) say(request string) (net.Conn, *bufio.Reader, string) {
	d.t.Helper()
	conn := d.knock()
	go func() { _, _ = io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")) }()
	in := bufio.NewReader(conn)
	line, _ := in.ReadString('\n')
	return conn, in, strings.TrimSpace(line)
}

// ask sends a request that is answered with want.
func (d *door) ask(what, request, want string) net.Conn {
	d.t.Helper()
	conn, _, got := d.say(request)
	if got != "HTTP/1.0 "+want {
		d.t.Errorf("%s: answered %q, want %q", what, got, want)
	}
	return conn
}

// try is ask of one that leaves at once.
func (d *door) try(what, request, want string) {
	d.t.Helper()
	_ = d.ask(what, request, want).Close()
}

// send sends audio, and returns once it was passed on.
func (d *door) send(conn net.Conn, sound string) {
	d.t.Helper()
	if _, err := io.WriteString(conn, sound); err != nil {
		d.t.Error(err)
	}
	synctest.Wait()
}

// source is how an encoder asks for a mount, title how it names what it sends to one.
func source(mount, login string) string {
	return "SOURCE " + mount + " HTTP/1.0\n" + login + audio + "\n"
}

func title(login, query string) string {
	return "GET /admin/metadata?" + query + " HTTP/1.0\n" + login + "\n"
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
		{"a title of nobody", title(host, "mode=updinfo&mount=/sara&song=x"), "HTTP/1.0 404 Not Found"},
		{"a title of whoever knows nothing", title(login, "mode=updinfo&mount=/sara&song=x"), "HTTP/1.0 401 Unauthorized"},
		{"the studio's mount", source("/studio", login), "HTTP/1.0 403 this mount is the studio's own: use another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			serving(t, func(t *testing.T, d *door) {
				conn, _, got := d.say(c.request)
				if got != c.want {
					t.Errorf("answered %q, want %q", got, c.want)
				}
				_ = conn.Close()
			})
		})
	}
}

func TestAudioIsPassedOnAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct{ head, send string }{
		"as it comes": {source("/sara", login), "sound sound"},
		"in chunks":   {"PUT /sara HTTP/1.1\nTransfer-Encoding: chunked\nExpect: 100-continue\n" + login + audio + "\n", "6\r\nsound \r\n5\r\nsound\r\n0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, d *door) {
				conn, _, _ := d.say(c.head)
				go io.Copy(io.Discard, conn) //nolint:errcheck // its end
				d.send(conn, c.send)
				if name == "as it comes" {
					_ = conn.Close()
				}
				synctest.Wait()
				if d.got["/sara"] != "sound sound" || len(d.ends) != 1 || !errors.Is(d.ends[0], io.EOF) {
					t.Errorf("got %q, ended %v", d.got, d.ends)
				}
				_ = conn.Close()
			})
		})
	}
}

// A connection that says nothing, and an encoder that falls silent, end after exactly as
// long as they may.
func TestWhoSendsNothingIsClosed(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		begun := time.Now()
		_, _ = io.ReadAll(d.knock())
		if took := time.Since(begun); took != headWait {
			t.Errorf("a connection that says nothing: %s", took)
		}
		conn, in, _ := d.say(source("/sara", login))
		d.send(conn, "sound")
		begun = time.Now()
		_, _ = io.ReadAll(in)
		if took := time.Since(begun); took != idleWait || d.got["/sara"] != "sound" {
			t.Errorf("an encoder that falls silent: %s", took)
		}
		synctest.Wait()
		if why, broke := Ending(d.ends[len(d.ends)-1]); !broke || why != "no audio came for 10s" {
			t.Errorf("ended with %q, broken: %v", why, broke)
		}
	})
}

func TestAMountHasOneEncoder(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		first := d.ask("sara", source("/sara", login), "200 OK")
		d.send(first, "first")
		d.try("a second one", source("/sara", login), "403 Mountpoint in use")
		time.Sleep(stale + time.Second) // the first has lost its network
		d.try("one of another user", source("/sara", host), "403 Mountpoint in use")
		again := d.ask("the same one again", source("/sara", login), "200 OK")
		d.send(again, " second")
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
		for _, err := range d.ends { // not as a connection that broke, with its addresses
			if why, broke := Ending(err); broke || why != "sent away, or replaced by a newer connection" {
				t.Errorf("ended with %q, broken: %v", why, broke)
			}
		}
		_, _ = first.Close(), again.Close()
	})
}

// An encoder whose connection broke may still be on the air: nobody else comes by its mount
// meanwhile and has that.
func TestAMountIsKeptForWhoLostTheConnection(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		sara, thief := source("/sara", login), source("/sara", "Authorization: Basic bWFsbG9yeTpzM2NyZXQ=\n") // mallory:s3cret
		first := d.ask("sara", sara, "200 OK")
		time.Sleep(idleWait) // her network is gone
		synctest.Wait()
		d.try("another at once", thief, "403 Mountpoint in use")
		again := d.ask("sara again", sara, "200 OK")
		time.Sleep(idleWait)
		synctest.Wait()
		time.Sleep(keep)
		d.try("another later", thief, "200 OK") // ended, not broken
		synctest.Wait()
		d.try("sara after another has ended", sara, "200 OK")
		synctest.Wait()
		_, _ = first.Close(), again.Close()
		if len(d.kept) > 0 {
			t.Errorf("%d mounts are kept", len(d.kept))
		}
	})
}

// Connections of many addresses that say nothing take no place from encoders.
func TestConnectionsThatSayNothingKeepNobodyOut(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		sara := d.ask("sara", source("/sara", login), "200 OK")
		var silent []net.Conn
		for range 3 * mostConnections {
			silent = append(silent, d.knock())
			synctest.Wait()
		}
		other := d.ask("one more encoder", source("/other", login), "200 OK")
		synctest.Wait()
		if d.all > mostConnections || len(d.waiting) > mostConnections-2 {
			t.Errorf("%d connections, %d wait", d.all, len(d.waiting))
		}
		d.send(sara, "sound")
		if d.got["/sara"] != "sound" {
			t.Errorf("who was let in is not heard: %q", d.got)
		}
		for _, conn := range append(silent, sara, other) {
			_ = conn.Close()
		}
		synctest.Wait()
		if len(d.waiting) > 0 || d.all > 0 {
			t.Errorf("%d wait, %d are counted", len(d.waiting), d.all)
		}
	})
}

func TestTitlesNeedTheEncodersOwnLogin(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		conn := d.ask("sara", source("/sara", login), "200 OK")
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
			d.try(c.query, title(c.login, c.query), c.want)
		}
		want := "[/sara|Fairuz|Nassam /sara|Fairuz|Nassam /sara||News /sara||café /sara||evil]"
		if got := fmt.Sprint(d.names); got != want {
			t.Errorf("named %s", got)
		}
		_ = conn.Close()
	})
}

// By a tunnel, which has no limit of its own, nobody guesses fast, nor holds up who knows.
func TestGuessingByATunnelIsSlow(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		for _, c := range []struct {
			request, want string
			took          time.Duration
		}{
			{source("/sara", login), "200 OK", 0},
			{source("/other", wrong), "401 Unauthorized", wrongPause},
			{title(wrong, "mode=updinfo&mount=/sara&song=x"), "401 Unauthorized", wrongPause},
		} {
			begun := time.Now()
			conn := d.ask(c.request, c.request, c.want)
			if took := time.Since(begun); took != c.took {
				t.Errorf("%s after %s", c.request, took)
			}
			defer conn.Close() //nolint:errcheck // sara sends while others guess
		}
	})
}

// All listeners are told of each title: an encoder cannot tell them a thousand.
func TestTitlesAreFew(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		sara := d.ask("sara", source("/sara", login), "200 OK")
		tell := func(n int) (taken int) {
			for i := range n {
				conn, _, got := d.say(title(login, fmt.Sprint("mode=updinfo&mount=/sara&song=", i)))
				if got == "HTTP/1.0 200 OK" {
					taken++
				} else if got != "HTTP/1.0 429 Too Many Requests" {
					t.Error(got)
				}
				_ = conn.Close()
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
		_ = sara.Close()
	})
}

func TestTheControlPlanesWordHolds(t *testing.T) {
	serving(t, func(_ *testing.T, d *door) {
		for code, want := range map[string]string{"early": "403 not before 20:00", "revoked": "403 not before 20:00", "limited": "429 Too Many Requests"} {
			d.code = code
			d.try(code, source("/sara", login), want)
		}
		d.away = true
		d.try("away", source("/sara", login), "503 Service Unavailable")
	})
}

// Connections of one address, and its wrong passwords, are bounded; others go in, and so does
// who knows the password: a guesser behind the same router would keep a presenter out.
func TestOneAddressIsBounded(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		d.net.set(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1})
		for range 5 {
			d.try("wrong", source("/sara", wrong), "401 Unauthorized")
		}
		d.try("a sixth try", source("/sara", wrong), "429 Too Many Requests")
		d.try("a right one after it", source("/shared", login), "200 OK")
		synctest.Wait()
		d.net.set(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 1})
		open := []net.Conn{d.ask("another address", source("/sara", login), "200 OK")}
		for range mostOfOne - 1 {
			open = append(open, d.knock())
		}
		synctest.Wait()
		late := d.knock()
		if _, err := late.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("one connection too many: %v", err)
		}
		for _, c := range append(open, late) {
			_ = c.Close()
		}
	})
}

// addressed gives connections the address of a client once one is set.
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
	if err != nil || a.next == nil {
		return c, err
	}
	return from{c, a.next}, nil
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

// Who is asked about again is told apart from who comes: the control plane would otherwise
// log each, and count a password that was changed meanwhile as guesses.
func TestAnEncoderIsAskedAboutAgainAsOneThatSends(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		var asked []live.Credentials
		admit := d.opt.Admit
		d.opt.Admit = func(ctx context.Context, who live.Credentials) (live.Admission, error) {
			asked = append(asked, who)
			return admit(ctx, who)
		}
		d.opt.Carry = func(ctx context.Context, p Push) error {
			for range 2 {
				if a, err := p.Again(ctx); err != nil || !a.Allowed {
					t.Errorf("%+v, %v", a, err)
				}
			}
			return io.EOF
		}
		d.try("an encoder", source("/sara", login), "200 OK")
		synctest.Wait()
		if len(asked) != 3 || asked[0].Again || !asked[1].Again || !asked[2].Again || asked[2].User != "sara" || asked[2].Secret != "s3cret" {
			t.Errorf("asked %+v", asked)
		}
	})
}
