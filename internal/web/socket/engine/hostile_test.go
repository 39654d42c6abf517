package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

func TestFramesAgainstTheRulesEndTheConnectionWithTheirCode(t *testing.T) {
	masked := func(f ws.Frame) []byte { return ws.MustCompileFrame(ws.MaskFrame(f)) }
	huge := []byte{0x81, 0xff}
	for name, c := range map[string]struct {
		raw    []byte
		code   ws.StatusCode
		reason engine.Reason
	}{
		"not masked":              {ws.MustCompileFrame(ws.NewTextFrame([]byte("4a"))), ws.StatusProtocolError, engine.ReasonTransportError},
		"reserved bits":           {masked(ws.Frame{Header: ws.Header{Fin: true, Rsv: 4, OpCode: ws.OpText, Length: 2}, Payload: []byte("4a")}), ws.StatusProtocolError, engine.ReasonTransportError},
		"unknown kind":            {masked(ws.NewFrame(0x3, true, nil)), ws.StatusProtocolError, engine.ReasonTransportError},
		"continuation of nothing": {masked(ws.NewFrame(ws.OpContinuation, true, nil)), ws.StatusProtocolError, engine.ReasonTransportError},
		"message within another":  {append(masked(ws.NewFrame(ws.OpText, false, []byte("4"))), masked(ws.NewTextFrame([]byte("4a")))...), ws.StatusProtocolError, engine.ReasonTransportError},
		"ping in pieces":          {masked(ws.NewFrame(ws.OpPing, false, nil)), ws.StatusProtocolError, engine.ReasonTransportError},
		"long ping":               {masked(ws.NewPingFrame(make([]byte, 126))), ws.StatusProtocolError, engine.ReasonTransportError},
		"not UTF-8":               {masked(ws.NewTextFrame([]byte("4\xc3\x28"))), ws.StatusInvalidFramePayloadData, engine.ReasonParseError},
		"half a character":        {masked(ws.NewTextFrame([]byte("4\xd8"))), ws.StatusInvalidFramePayloadData, engine.ReasonParseError},
		"too big":                 {append(binary.BigEndian.AppendUint64(huge, 1001), 0, 0, 0, 0), ws.StatusMessageTooBig, engine.ReasonTooBig},
		"bigger than there is":    {append(binary.BigEndian.AppendUint64(huge, 1<<62), 0, 0, 0, 0), ws.StatusMessageTooBig, engine.ReasonTooBig},
		"too big in pieces":       {append(masked(ws.NewFrame(ws.OpText, false, make([]byte, 600))), masked(ws.NewFrame(ws.OpContinuation, true, make([]byte, 600)))...), ws.StatusMessageTooBig, engine.ReasonTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			host, log, _, _ := serve(t, engine.Options{MaxPayload: 1000})
			p := enginetest.Dial(t, host, "")
			p.Raw(c.raw)
			if code := p.Closed(); code != c.code {
				t.Errorf("closed with %d, want %d", code, c.code)
			}
			wantReason(t, log, c.reason)
		})
	}
}

// What a client announces costs nothing until it comes.
func TestAnnouncedLengthsCostNoMemory(t *testing.T) {
	host, _, _, _ := serve(t, engine.Options{MaxPayload: 64 << 20})
	before := heap()
	for range 100 {
		p := enginetest.Dial(t, host, "")
		p.Next()
		p.Raw(append(binary.BigEndian.AppendUint64([]byte{0x82, 0xff}, 60<<20), 1, 2, 3, 4, 5))
	}
	if grown := int64(heap()) - int64(before); grown > 16<<20 {
		t.Errorf("100 announcements of 60 MB took %d bytes", grown)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func TestHalfAFrameEndsWithTheHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, _, _ := virtual(t, engine.Options{})
		began := time.Now()
		p := enginetest.Dial(t, host, "")
		p.Raw([]byte{0x81, 0x85, 1, 2})
		p.Closed()
		if after := time.Since(began); after != 45*time.Second {
			t.Errorf("closed after %s", after)
		}
		wantReason(t, log, engine.ReasonPingTimeout)
	})
}

func TestWhoDoesNotReadIsCutAndCostsNobodyElse(t *testing.T) {
	host, log, server, _ := serve(t, engine.Options{MaxPending: 64 << 10, CloseTimeout: time.Millisecond})
	slow, quick, poller := enginetest.Dial(t, host, ""), enginetest.Dial(t, host, ""), enginetest.Poll(t, host)
	quick.Next()
	_ = slow.Conn.(*net.TCPConn).SetReadBuffer(4096)
	log.mu.Lock()
	sessions := append([]*engine.Session{}, log.sessions...)
	log.mu.Unlock()
	message := engine.Text(bytes.Repeat([]byte("x"), 8000)).Shared()
	for sent := 0; len(log.ended()) < 2; sent++ {
		if sent > 4000 {
			t.Fatalf("nobody was cut: %+v", server.Stats())
		}
		var batch engine.Batch
		for _, s := range sessions {
			batch.Send(s, []*engine.Packet{message})
		}
		batch.Flush()
		if got := quick.Next(); len(got) != 8001 {
			t.Fatalf("the quick one got %d bytes", len(got))
		}
	}
	testkit.Eventually(t, "both are gone", func() bool { s := server.Stats(); return s.WebSockets == 1 && s.Pollers == 0 })
	if n := server.Stats().Ended[engine.ReasonSlow]; n != 2 {
		t.Errorf("%d were cut as slow", n)
	}
	if status, _ := poller.Get(); status != 400 {
		t.Errorf("a poll after it: %d", status)
	}
	quick.Send("4still here")
	quick.Want("4still here")
}

// A connection that takes only a part of a write is written to by a goroutine
// of its own; nothing is lost or mixed up.
func TestSlowReaderWithinItsBoundGetsEverything(t *testing.T) {
	host, log, _, _ := serve(t, engine.Options{MaxPending: 64 << 20})
	p := enginetest.Dial(t, host, "")
	p.Next()
	testkit.Eventually(t, "it is open", func() bool { log.mu.Lock(); defer log.mu.Unlock(); return len(log.sessions) == 1 })
	const n = 3000
	for i := range n {
		log.sessions[0].Send(engine.Text(fmt.Appendf(nil, "%05d%s", i, strings.Repeat("x", i*2))))
	}
	for i := range n {
		if got, want := p.Next(), fmt.Sprintf("4%05d", i); len(got) != 6+i*2 || got[:6] != want {
			t.Fatalf("message %d: %d bytes, %.10q", i, len(got), got)
		}
	}
}

func TestPollingBodiesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := engine.Options{MaxPayload: 2000, MaxPackets: 10}
		for name, c := range map[string]struct {
			body   string
			status int
		}{
			"as much as is allowed": {"4" + strings.Repeat("x", 1999), 200},
			"one byte more":         {"4" + strings.Repeat("x", 2000), 413},
			"as many packets":       {strings.Repeat("4\x1e", 9) + "4", 200},
			"one packet more":       {strings.Repeat("4\x1e", 10) + "4", 413},
		} {
			host, log, _, _ := virtual(t, opts)
			p := enginetest.Poll(t, host)
			if status, _ := p.Post(c.body); status != c.status {
				t.Errorf("%s: %d, want %d", name, status, c.status)
			}
			if c.status == 413 {
				wantReason(t, log, engine.ReasonTooBig)
			}
		}
		// Without a length in its header.
		host, log, _, _ := virtual(t, opts)
		p := enginetest.Poll(t, host)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+host.Addr+"/?"+p.Query(), io.MultiReader(strings.NewReader("4"), strings.NewReader(strings.Repeat("x", 1<<20))))
		if err != nil {
			t.Fatal(err)
		}
		if response, err := host.Client().Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode != 413 {
				t.Errorf("chunked: %d", response.StatusCode)
			}
		}
		wantReason(t, log, engine.ReasonTooBig)
	})
}

func TestBodyThatDoesNotComeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, _, _ := virtual(t, engine.Options{PingInterval: time.Hour}) // it is not the heartbeat that ends it
		p, began := enginetest.Poll(t, host), time.Now()
		conn := host.Connect(t)
		_, _ = fmt.Fprintf(conn, "POST /?%s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n4hel", p.Query())
		wantReason(t, log, engine.ReasonTransportError)
		if after := time.Since(began); after < 20*time.Second || after > 21*time.Second {
			t.Errorf("given up after %s, want the 20 s of an answer to a heartbeat", after)
		}
	})
}

func TestPollThatIsGivenUpEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, server, _ := virtual(t, engine.Options{})
		p := enginetest.Poll(t, host)
		conn := host.Connect(t)
		_, _ = fmt.Fprintf(conn, "GET /?%s HTTP/1.1\r\nHost: x\r\n\r\n", p.Query())
		testkit.Eventually(t, "the poll is open", func() bool { return log.sessions[0].Idle() })
		_ = conn.Close()
		wantReason(t, log, engine.ReasonTransportClose)
		testkit.Eventually(t, "it is gone", func() bool { return server.Stats().Pollers == 0 })
	})
}

func TestLimitsOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, _, server, _ := virtual(t, engine.Options{
			MaxSessions: 4, MaxPerClient: 2,
			ClientKey: func(r *http.Request) string { return r.URL.Query().Get("who") },
		})
		open := func(who string) int {
			status, _ := enginetest.Do(t, host, http.MethodGet, "EIO=4&transport=polling&who="+who, "")
			return status
		}
		for i, c := range []struct {
			who  string
			want int
		}{{"a", 200}, {"a", 200}, {"a", 429}, {"b", 200}, {"", 200}, {"c", 503}} {
			if got := open(c.who); got != c.want {
				t.Errorf("session %d, of %q: %d, want %d", i, c.who, got, c.want)
			}
		}
		if _, err := enginetest.TryDial(t, host, ""); err == nil {
			t.Error("a WebSocket got in")
		}
		if n := server.Stats().Refused; n != 3 {
			t.Errorf("%d were refused", n)
		}
	})
}

// The networks of one site: what one client has eight can have together, and what
// one may have on its way all of them.
func TestAWiderNetworkHasEightTimesThePlacesOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		var who atomic.Value
		host, _, server, _ := virtual(t, engine.Options{
			MaxPerClient: 2, MaxPayload: size, MaxIncoming: 4 * size,
			ClientKey: func(*http.Request) string { return who.Load().(string) },
			Wider:     func(key string) string { site, _, _ := strings.Cut(key, "/"); return site },
		})
		open := func(as string) int {
			who.Store(as)
			status, _ := enginetest.Do(t, host, http.MethodGet, "EIO=4&transport=polling", "")
			return status
		}
		for i := range 16 {
			if got := open(fmt.Sprintf("a/%d", i)); got != 200 {
				t.Fatalf("session %d: %d", i, got)
			}
		}
		if got := open("a/17"); got != 429 {
			t.Errorf("session 17: %d", got)
		}
		half := append(binary.BigEndian.AppendUint64([]byte{0x82, 0xff}, size-1), make([]byte, 4+size/2)...)
		for i := range 10 {
			who.Store(fmt.Sprintf("b/%d", i))
			p := enginetest.Dial(t, host, "")
			p.Next()
			p.Raw(half)
		}
		testkit.Eventually(t, "most are put out", func() bool { return server.Stats().Ended[engine.ReasonBusy] >= 8 })
		if held := server.Stats().Incoming; held > size {
			t.Errorf("one site holds %d bytes", held)
		}
	})
}

func TestPlacesAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, _, server, _ := virtual(t, engine.Options{MaxSessions: 1, MaxPerClient: 1, ClientKey: func(*http.Request) string { return "one" }})
		for range 5 {
			w := enginetest.Dial(t, host, "")
			w.Next()
			_ = w.Conn.Close()
			testkit.Eventually(t, "it is gone", func() bool { return server.Stats().WebSockets == 0 })
			p := enginetest.Poll(t, host)
			p.Post("1")
			testkit.Eventually(t, "it is gone", func() bool { return server.Stats().Pollers == 0 })
		}
	})
}

func TestTooManyPacketsEndTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := engine.Options{PacketRate: 1, PacketBurst: 20}
		flood := map[string]func(p *enginetest.Peer){
			"messages": func(p *enginetest.Peer) { p.Send("4x") },
			"pings":    func(p *enginetest.Peer) { p.Frame(ws.NewPingFrame(nil)) },
			"fragments": func(p *enginetest.Peer) {
				p.Frame(ws.NewFrame(ws.OpBinary, false, nil))
				p.Frame(ws.NewFrame(ws.OpContinuation, true, nil))
			},
		}
		for name, send := range flood {
			host, log, _, _ := virtual(t, opts)
			p := enginetest.Dial(t, host, "")
			for range 40 {
				send(p)
			}
			if code := p.Closed(); code != ws.StatusPolicyViolation {
				t.Errorf("%s: closed with %d", name, code)
			}
			wantReason(t, log, engine.ReasonRate)
		}
		host, log, _, _ := virtual(t, opts)
		p := enginetest.Poll(t, host)
		if status, _ := p.Post("4x" + strings.Repeat("\x1e4x", 39)); status != 429 {
			t.Errorf("polling: %d", status)
		}
		wantReason(t, log, engine.ReasonRate)
	})
}

func TestOriginsAreHeldForBothTransports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, _, _, _ := virtual(t, engine.Options{AllowOrigin: func(origin string) bool { return origin == "https://friend.example" }})
		for origin, want := range map[string]int{"": 200, "http://" + host.Addr: 200, "https://friend.example": 200, "https://stranger.example": 403, "null": 403} {
			for _, transport := range []string{"polling", "websocket"} {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host.Addr+"/?EIO=4&transport="+transport, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				if origin != "" {
					request.Header.Set("Origin", origin)
				}
				wanted := want
				if transport == "websocket" {
					for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
						request.Header.Set(k, v)
					}
					if want == 200 {
						wanted = 101
					}
				}
				response, err := host.Client().Do(request)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				if response.StatusCode != wanted {
					t.Errorf("%s from %q: %d, want %d", transport, origin, response.StatusCode, wanted)
				}
			}
		}
	})
}

// One address with many messages that never end takes its part of the memory and
// no more. Another's large message comes through, over either transport, and what
// ended is given back.
func TestMessagesThatNeverEndHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		var who atomic.Value
		who.Store("attacker")
		host, _, server, _ := virtual(t, engine.Options{
			MaxPayload: size, MaxIncoming: 8 * size,
			ClientKey: func(*http.Request) string { return who.Load().(string) },
		})
		half := append(binary.BigEndian.AppendUint64([]byte{0x82, 0xff}, size-1), make([]byte, 4+size/2)...)
		attackers := make([]*enginetest.Peer, 20)
		for i := range attackers {
			attackers[i] = enginetest.Dial(t, host, "")
			attackers[i].Next()
			attackers[i].Raw(half)
		}
		testkit.Eventually(t, "most are put out", func() bool { return server.Stats().Ended[engine.ReasonBusy] >= 15 })
		if held := server.Stats().Incoming; held == 0 || held > 2*size {
			t.Errorf("%d bytes are held, want at most %d", held, 2*size)
		}
		poller := enginetest.Poll(t, host) // still the attacker's
		if status, body := poller.Post("4" + strings.Repeat("x", size-1)); status != http.StatusServiceUnavailable {
			t.Errorf("its long polling body is answered %d %s", status, body)
		}

		who.Store("another")
		p := enginetest.Dial(t, host, "")
		p.Next()
		long := "4" + strings.Repeat("y", size-1)
		p.Send(long)
		p.Want(long)
		poller = enginetest.Poll(t, host)
		if status, body := poller.Post(long); status != http.StatusOK {
			t.Errorf("another's polling body is answered %d %s", status, body)
		}
		for _, p := range attackers {
			_ = p.Conn.Close()
		}
		testkit.Eventually(t, "all is given back", func() bool { return server.Stats().Incoming == 0 })
	})
}
