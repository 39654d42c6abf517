// Package enginetest is the other end of an Engine.IO server, by hand: tests
// send what no proper client would.
package enginetest

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// Patience ends a wait for what will never come: a client's for an answer, a
// server's for the clients of a test that failed. Under a virtual clock it is
// longer than any heartbeat of the defaults takes to be missed.
const Patience = 2 * time.Minute

// Runner is a server under test.
type Runner interface {
	http.Handler
	Run(ctx context.Context) error
}

// Host is a server under test and the way to it.
type Host struct {
	Addr string // as URLs name it
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Serve runs the server on the loopback interface until the test ends. Stop ends
// it earlier and returns when it has ended.
func Serve(t testing.TB, server Runner) (h Host, stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h = Host{listener.Addr().String(), new(net.Dialer).DialContext}
	return h, serve(t, h, listener, &http.Server{Handler: server, ReadHeaderTimeout: time.Hour}, server)
}

// ServeVirtual is Serve in memory, for a bubble of testing/synctest: heartbeats
// and deadlines have their production lengths and take no time. The HTTP server's
// own time-outs are those of web, which may be nil.
func ServeVirtual(t testing.TB, server Runner, web *http.Server) (h Host, stop func()) {
	t.Helper()
	if web == nil {
		web = &http.Server{ReadHeaderTimeout: time.Hour}
	}
	web.Handler = server
	memory := testkit.NewNetwork()
	h = Host{memory.Addr().String(), memory.Dial}
	return h, serve(t, h, memory, web, server)
}

func serve(t testing.TB, h Host, listener net.Listener, web *http.Server, server Runner) (stop func()) {
	t.Helper()
	var accepting sync.WaitGroup
	accepting.Go(func() { _ = web.Serve(listener) }) // ended by Close
	end := testkit.Background(t, server.Run)
	stop = sync.OnceFunc(func() {
		end()
		_ = web.Close()
		accepting.Wait()
	})
	t.Cleanup(stop)
	testkit.Eventually(t, "the server runs", func() bool {
		status, _ := Do(t, h, http.MethodGet, "EIO=4&transport=polling&sid=none", "")
		return status != http.StatusServiceUnavailable
	})
	return stop
}

// Connect opens a connection that the test writes to by itself.
func (h Host) Connect(t testing.TB) net.Conn {
	t.Helper()
	conn, err := h.dial(t.Context(), "tcp", h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Client makes requests over connections of their own.
func (h Host) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: h.dial}, Timeout: Patience}
}

// Do makes a request over a connection of its own.
func Do(t testing.TB, h Host, method, query, body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, "http://"+h.Addr+"/?"+query, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	response, err := h.Client().Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(data)
}

// Poller is a polling client.
type Poller struct {
	T    testing.TB
	Host Host
	SID  string
}

// Poll opens a session by polling.
func Poll(t testing.TB, h Host) *Poller {
	t.Helper()
	status, answer := Do(t, h, http.MethodGet, "EIO=4&transport=polling", "")
	_, rest, ok := strings.Cut(answer, `"sid":"`)
	if status != http.StatusOK || answer[0] != '0' || !ok {
		t.Fatalf("handshake: %d %q", status, answer)
	}
	sid, _, _ := strings.Cut(rest, `"`)
	return &Poller{t, h, sid}
}

// Query is that of the client's requests.
func (p *Poller) Query() string { return "EIO=4&transport=polling&sid=" + p.SID }

// Get polls once.
func (p *Poller) Get() (int, string) { return Do(p.T, p.Host, http.MethodGet, p.Query(), "") }

// Post sends a body.
func (p *Poller) Post(body string) (int, string) {
	return Do(p.T, p.Host, http.MethodPost, p.Query(), body)
}

// Peer is a WebSocket client.
type Peer struct {
	T    testing.TB
	Conn net.Conn
	r    io.Reader
}

// Dial opens a WebSocket; with no sid, a session.
func Dial(t testing.TB, h Host, sid string) *Peer {
	t.Helper()
	p, err := TryDial(t, h, sid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Conn.Close() })
	return p
}

// TryDial is Dial where it may fail; the caller closes the connection.
func TryDial(t testing.TB, h Host, sid string) (*Peer, error) {
	url := "ws://" + h.Addr + "/?EIO=4&transport=websocket"
	if sid != "" {
		url += "&sid=" + sid
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, early, _, err := ws.Dialer{NetDial: h.dial}.Dial(ctx, url)
	if err != nil {
		return nil, err
	}
	p := &Peer{T: t, Conn: conn, r: conn}
	if early != nil {
		p.r = io.MultiReader(io.LimitReader(early, int64(early.Buffered())), conn)
	}
	return p, nil
}

// Send sends a text message.
func (p *Peer) Send(text string) { p.Frame(ws.NewTextFrame([]byte(text))) }

// SendBinary sends bytes.
func (p *Peer) SendBinary(data []byte) { p.Frame(ws.NewBinaryFrame(data)) }

// Frame sends a frame, masked as a client must.
func (p *Peer) Frame(f ws.Frame) {
	f.Payload = append([]byte{}, f.Payload...)
	p.Raw(must(ws.CompileFrame(ws.MaskFrame(f))))
}

// Raw sends bytes as they are. That the server no longer takes them is for the
// test to see elsewhere.
func (p *Peer) Raw(data []byte) {
	_ = p.Conn.SetWriteDeadline(time.Now().Add(Patience))
	_, _ = p.Conn.Write(data)
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// Read reads a frame: its kind and payload, or the error that ended the reading.
func (p *Peer) Read() (ws.OpCode, string, error) {
	_ = p.Conn.SetReadDeadline(time.Now().Add(Patience))
	h, err := ws.ReadHeader(p.r)
	if err != nil {
		return 0, "", err
	}
	payload := make([]byte, h.Length)
	_, err = io.ReadFull(p.r, payload)
	return h.OpCode, string(payload), err
}

// Next reads a message that is no heartbeat, which it answers.
func (p *Peer) Next() string {
	p.T.Helper()
	for {
		_, text, err := p.Read()
		if err != nil {
			p.T.Fatalf("read: %v", err)
		}
		if text != "2" {
			return text
		}
		p.Send("3")
	}
}

// Want reads messages and holds them against what must come.
func (p *Peer) Want(texts ...string) {
	p.T.Helper()
	for _, want := range texts {
		if got := p.Next(); got != want {
			p.T.Fatalf("got %.200q, want %.200q", got, want)
		}
	}
}

// Closed reads until the connection ends and answers the code of its close
// frame, 0 without one.
func (p *Peer) Closed() ws.StatusCode {
	p.T.Helper()
	code := ws.StatusCode(0)
	for {
		op, payload, err := p.Read()
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // as the connection answers it
			p.T.Fatal("the connection stays open")
		}
		if err != nil {
			return code
		}
		if op == ws.OpClose {
			code, _ = ws.ParseCloseFrameData([]byte(payload))
		}
	}
}
