// Package enginetest is the other end of an Engine.IO server, by hand: tests
// send what no proper client would.
package enginetest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

// Patience is how long a test waits for what must come.
const Patience = 20 * time.Second

// Runner is a server under test.
type Runner interface {
	http.Handler
	Run(ctx context.Context) error
}

// Serve runs the server for the test and answers its address, and a function
// that ends it and returns when it has ended.
func Serve(t testing.TB, server Runner) (addr string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	web := httptest.NewServer(server)
	stop = sync.OnceFunc(func() {
		cancel()
		work.Wait()
		web.CloseClientConnections()
		web.Close()
	})
	t.Cleanup(stop)
	addr = web.Listener.Addr().String()
	Until(t, "the server runs", func() bool {
		status, _ := Do(t, http.MethodGet, addr, "EIO=4&transport=polling&sid=none", "")
		return status != http.StatusServiceUnavailable
	})
	return addr, stop
}

// Until waits for a condition.
func Until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// Do makes a request over a connection of its own.
func Do(t testing.TB, method, addr, query, body string) (status int, answer string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: Patience}
	request, err := http.NewRequestWithContext(context.Background(), method, "http://"+addr+"/?"+query, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	response, err := client.Do(request)
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
	Addr string
	SID  string
}

// Poll opens a session by polling.
func Poll(t testing.TB, addr string) *Poller {
	t.Helper()
	status, answer := Do(t, http.MethodGet, addr, "EIO=4&transport=polling", "")
	_, rest, ok := strings.Cut(answer, `"sid":"`)
	if status != http.StatusOK || answer[0] != '0' || !ok {
		t.Fatalf("handshake: %d %q", status, answer)
	}
	sid, _, _ := strings.Cut(rest, `"`)
	return &Poller{t, addr, sid}
}

// Query is that of the client's requests.
func (p *Poller) Query() string { return "EIO=4&transport=polling&sid=" + p.SID }

// Get polls once.
func (p *Poller) Get() (int, string) { return Do(p.T, http.MethodGet, p.Addr, p.Query(), "") }

// Post sends a body.
func (p *Poller) Post(body string) (int, string) {
	return Do(p.T, http.MethodPost, p.Addr, p.Query(), body)
}

// Peer is a WebSocket client.
type Peer struct {
	T    testing.TB
	Conn net.Conn
	r    io.Reader
}

// Dial opens a WebSocket; with no sid, a session.
func Dial(t testing.TB, addr, sid string) *Peer {
	t.Helper()
	p, err := TryDial(t, addr, sid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Conn.Close() })
	return p
}

// TryDial is Dial where it may fail; the caller closes the connection.
func TryDial(t testing.TB, addr, sid string) (*Peer, error) {
	url := "ws://" + addr + "/?EIO=4&transport=websocket"
	if sid != "" {
		url += "&sid=" + sid
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, early, _, err := ws.Dial(ctx, url)
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
