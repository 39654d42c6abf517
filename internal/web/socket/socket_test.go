package socket_test

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"
	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// serve runs a server that setup has given its handlers, on the loopback
// interface and with all the time there is: no client can miss a time-out.
func serve(t *testing.T, opts socket.Options, setup func(*socket.Server)) (host enginetest.Host, server *socket.Server, stop func()) {
	t.Helper()
	opts.PingInterval, opts.PingTimeout, opts.ConnectTimeout = time.Hour, time.Hour, time.Hour
	opts.CloseTimeout = stdcmp.Or(opts.CloseTimeout, enginetest.Patience)
	server = socket.New(opts)
	setup(server)
	host, stop = enginetest.Serve(t, server)
	return host, server, stop
}

// virtual is serve in memory, with the time-outs of production, for a bubble of
// testing/synctest.
func virtual(t *testing.T, opts socket.Options, setup func(*socket.Server)) (host enginetest.Host, server *socket.Server, stop func()) {
	t.Helper()
	server = socket.New(opts)
	setup(server)
	host, stop = enginetest.ServeVirtual(t, server, nil)
	return host, server, stop
}

// enter opens a WebSocket and enters a namespace; it answers the socket's id.
func enter(t *testing.T, host enginetest.Host, namespace, auth string) (*enginetest.Peer, string) {
	t.Helper()
	p := enginetest.Dial(t, host, "")
	p.Next()
	prefix := ""
	if namespace != "/" {
		prefix = namespace + ","
	}
	p.Send("40" + prefix + auth)
	var hello struct{ SID string }
	text, ok := strings.CutPrefix(p.Next(), "40"+prefix)
	if err := json.Unmarshal([]byte(text), &hello); !ok || err != nil || hello.SID == "" {
		t.Fatalf("entering got %q", text)
	}
	return p, hello.SID
}

// echo answers "message" with "message-back" and acknowledges "ask".
func echo(s *socket.Server) {
	for _, name := range []string{"/", "/custom"} {
		n := s.Of(name)
		back := func(c *socket.Socket, e *socket.Event) {
			args := make([]any, len(e.Args))
			for i := range e.Args {
				args[i] = e.Args[i]
			}
			m, err := n.Attach(e.Attachments, "message-back", args...)
			if err == nil {
				err = c.Send(m)
			}
			if err == nil {
				err = e.AckAttached(e.Attachments, args...)
			}
			if err != nil {
				panic(err)
			}
		}
		n.On("message", back)
	}
}

// The sentences of the protocol's specification, over the wire.
func TestProtocol(t *testing.T) {
	host, _, _ := serve(t, socket.Options{}, echo)
	t.Run("a namespace is entered with or without a payload", func(t *testing.T) {
		enter(t, host, "/", "")
		enter(t, host, "/", `{"token":"123"}`)
		enter(t, host, "/custom", "")
		enter(t, host, "/custom", `{"token":"123"}`)
	})
	t.Run("an unknown namespace is refused", func(t *testing.T) {
		p := enginetest.Dial(t, host, "")
		p.Next()
		p.Send("40/random")
		p.Want(`44/random,{"message":"Invalid namespace"}`)
		p.Send("40/random,{}")
		p.Want(`44/random,{"message":"Invalid namespace"}`)
	})
	t.Run("one namespace is left and the other stays", func(t *testing.T) {
		p, _ := enter(t, host, "/", "")
		p.Send("40/custom,")
		p.Next()
		p.Send("41/custom,")
		p.Send(`42/custom,["message","to nobody"]`)
		p.Send(`42["message","here"]`)
		p.Want(`42["message-back","here"]`)
	})
	t.Run("events, acknowledgements and attachments", func(t *testing.T) {
		p, _ := enter(t, host, "/", "")
		p.Send(`42["message",1,"2",{"3":[true]}]`)
		p.Want(`42["message-back",1,"2",{"3":[true]}]`)
		p.Send(`42456["message","<&>"]`)
		p.Want(`42["message-back","<&>"]`, `43456["<&>"]`)
		p.Send(`42["message"]`)
		p.Want(`42["message-back"]`)
		p.Send(`452-["message",{"_placeholder":true,"num":0},{"x":{"_placeholder":true,"num":1}}]`)
		p.SendBinary([]byte{1, 2})
		p.SendBinary([]byte{3})
		p.Want(`452-["message-back",{"_placeholder":true,"num":0},{"x":{"_placeholder":true,"num":1}}]`, "\x01\x02", "\x03")
		p.Send(`451-/custom,7["message",{"_placeholder":true,"num":0}]`) // not entered
		p.SendBinary([]byte{9})
		p.Send(`451-7["message",{"_placeholder":true,"num":0}]`)
		p.SendBinary([]byte{9})
		p.Want(`451-["message-back",{"_placeholder":true,"num":0}]`, "\x09", `461-7[{"_placeholder":true,"num":0}]`, "\x09")
	})
}

func TestMalformedPacketsCostTheConnection(t *testing.T) {
	host, server, _ := serve(t, socket.Options{}, echo)
	deep := strings.Repeat("[", 101) + strings.Repeat("]", 101)
	for _, text := range []string{
		"", "abc", "9", "2", "2{}", "2[]", `2[null]`, `2[{}]`, `2"message"`, `2abc["message"]`, `2["message"`, `2["message",]`,
		`2["connect"]`, `2["disconnect"]`, `2["newListener"]`, "3[]", "31", "31{}", `4{"message":"x"}`, `1{}`, `0[]`, `0{"a":1`,
		`0/custom,nonsense`, "0", // entered already
		`2` + deep, `2["message",` + deep + `]`, `0/custom,{"a":` + deep + `}`,
		`299999999999999999999["message"]`, `511-["message"]`, `510000-["message"]`, `5-["message"]`, `5["message"]`, `5x-["message"]`, `2["message"` + strings.Repeat(",1", 65) + `]`, `31[1` + strings.Repeat(",1", 65) + `]`,
	} {
		p, _ := enter(t, host, "/", "")
		p.Send("4" + text)
		p.Closed()
	}
	for name, send := range map[string]func(p *enginetest.Peer){
		"bytes nobody announced":         func(p *enginetest.Peer) { p.SendBinary([]byte{1}) },
		"text instead of the attachment": func(p *enginetest.Peer) { p.Send(`451-["message"]`); p.Send(`42["message"]`) },
		"an event before entering":       nil,
		"half an event before entering":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.Dial(t, host, "")
			if p.Next(); send == nil {
				p.Send(map[bool]string{true: `451-["message"]`, false: `42["message"]`}[strings.HasPrefix(name, "half")])
			} else {
				p.Send("40")
				p.Next()
				send(p)
			}
			p.Closed()
		})
	}
	if s := server.Stats(); s.Ended[engine.ReasonParseError] == 0 || s.Ended[engine.ReasonFault] != 0 {
		t.Errorf("%+v", s.Ended)
	}
}

func TestEventWithItsAttachmentsIsBounded(t *testing.T) {
	host, server, _ := serve(t, socket.Options{Options: engine.Options{MaxPayload: 1000}}, echo)
	p, _ := enter(t, host, "/", "")
	p.Send(`452-["message",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]`)
	p.SendBinary(make([]byte, 500))
	p.SendBinary(make([]byte, 500))
	p.Closed()
	if n := server.Stats().Ended[engine.ReasonTooBig]; n != 1 {
		t.Errorf("ended: %+v", server.Stats().Ended)
	}
}

// What clients leave lying of events whose attachments never come is bounded for
// all of them together, and given back when they go.
func TestEventsWithoutTheirAttachmentsHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, server, _ := virtual(t, socket.Options{Options: engine.Options{MaxPayload: 10_000, MaxIncoming: 20_000}}, echo)
		var peers []*enginetest.Peer
		for range 4 {
			p, _ := enter(t, host, "/", "")
			p.Send(`452-["message",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]`)
			p.SendBinary(make([]byte, 9000))
			peers = append(peers, p)
		}
		testkit.Eventually(t, "two are put out", func() bool { return server.Stats().Ended[engine.ReasonBusy] == 2 })
		if n := server.Stats().Incoming; n < 18_000 || n > 20_000 {
			t.Errorf("%d bytes are held", n)
		}
		for _, p := range peers {
			p.Frame(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusNormalClosure, "")))
		}
		testkit.Eventually(t, "all is given back", func() bool { return server.Stats().Incoming == 0 })
	})
}

// What is kept for as long as a client stays is small, where that is what the
// application wants, however much the client may send at once.
func TestWhatAClientLeavesLyingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, server, _ := virtual(t, socket.Options{}, func(s *socket.Server) {
			echo(s)
			s.Of("/").OnConnect(func(c *socket.Socket) error { c.LimitBinary(1000); return nil })
		})
		p, _ := enter(t, host, "/", "")
		p.Send(`42["message"` + strings.Repeat(",1", 64) + `]`)
		p.Want(`42["message-back"` + strings.Repeat(",1", 64) + `]`)
		p.Send(`451-["message",{"_placeholder":true,"num":0}]`)
		p.SendBinary([]byte{7})
		p.Want(`451-["message-back",{"_placeholder":true,"num":0}]`, "\x07")
		p.Send(`452-["message",{"_placeholder":true,"num":0}]`)
		p.SendBinary(make([]byte, 1000))
		p.Closed()
		p, _ = enter(t, host, "/", "")
		p.Send(`451-["message","` + strings.Repeat("x", 1000) + `"]`)
		p.Closed()
		testkit.Eventually(t, "both are put out", func() bool { return server.Stats().Ended[engine.ReasonTooBig] == 2 })
		p = enginetest.Dial(t, host, "")
		p.Next()
		p.Send(`40{"x":"` + strings.Repeat("x", 8<<10) + `"}`)
		p.Want(`44{"message":"auth is longer than 8192 bytes"}`)
	})
}

func TestWhoEntersNoNamespaceIsPutOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// It is not the heartbeat that puts them out.
		host, server, _ := virtual(t, socket.Options{Options: engine.Options{PingTimeout: time.Hour}}, echo)
		in, _ := enter(t, host, "/", "")
		began := time.Now()
		enginetest.Poll(t, host)
		enginetest.Dial(t, host, "").Closed()
		testkit.Eventually(t, "both are gone", func() bool { s := server.Stats(); return s.WebSockets == 1 && s.Pollers == 0 })
		if after := time.Since(began); after < 45*time.Second || after > 49*time.Second {
			t.Errorf("put out after %s, want 45 s and a farewell", after)
		}
		in.Send(`42["message"]`)
		in.Want(`42["message-back"]`)
	})
}

func TestRefusalSaysOnlyWhatIsMeantForStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		var disconnects int
		host, server, stop := virtual(t, socket.Options{Options: engine.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}}, func(s *socket.Server) {
			s.Of("/").OnConnect(func(c *socket.Socket) error {
				c.Join("members")
				_ = c.Emit("too early")
				switch string(c.Handshake().Auth) {
				case `"said"`, `{"key":1}`:
					return &socket.ConnectError{Message: "not today", Data: map[string]int{"again": 5}}
				case `{"key":2}`:
					return fmt.Errorf("check: %w", &socket.ConnectError{Message: "wrapped"})
				case `{"key":3}`:
					panic("secret")
				}
				return errors.New("secret")
			})
			s.Of("/").OnDisconnect(func(*socket.Socket, socket.Reason) { disconnects++ })
		})
		p := enginetest.Dial(t, host, "")
		p.Next()
		for _, c := range [][2]string{
			{`{"key":1}`, `44{"message":"not today","data":{"again":5}}`},
			{`{"key":2}`, `44{"message":"wrapped"}`},
			{`{"key":3}`, `44{"message":"internal error"}`},
			{``, `44{"message":"connection refused"}`},
		} {
			p.Send("40" + c[0])
			p.Want(c[1])
		}
		stop() // and with it all who write the log
		if n := server.Of("/").Members("members") + server.Of("/").Len() + disconnects; n != 0 {
			t.Errorf("%d traces of those who were refused", n)
		}
		if strings.Count(log.String(), "secret") < 2 {
			t.Errorf("the log does not say why: %s", log.String())
		}
	})
}

func TestAcknowledgementsOfClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sockets := make(chan *socket.Socket, 1)
		host, _, _ := virtual(t, socket.Options{}, func(s *socket.Server) {
			s.Of("/").OnConnect(func(c *socket.Socket) error { sockets <- c; return nil })
		})
		p, _ := enter(t, host, "/", "")
		s := <-sockets
		ask := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			go func() {
				answer, err := s.EmitWithAck(ctx, "question", 1)
				if err == nil && cmp.Diff([]json.RawMessage{json.RawMessage("42")}, answer.Args) != "" {
					err = fmt.Errorf("answered %s", answer.Args)
				}
				done <- err
			}()
			return done
		}
		done := ask(t.Context())
		p.Want(`420["question",1]`)
		p.Send(`439[0]`) // of a question nobody asked
		p.Send(`430[42]`)
		p.Send(`430[43]`) // twice
		if err := <-done; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done = ask(ctx)
		p.Want(`421["question",1]`)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		done = ask(t.Context())
		p.Want(`422["question",1]`)
		p.Send("41") // leaves instead
		if err := <-done; !errors.Is(err, socket.ErrDisconnected) {
			t.Error(err)
		}
		if _, err := s.EmitWithAck(t.Context(), "question"); !errors.Is(err, socket.ErrDisconnected) {
			t.Error(err)
		}
	})
}

// A handler that waits for its own client, though told not to, is freed when
// the client goes.
func TestHandlerThatWaitsIsFreedWhenTheClientGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := make(chan error, 1)
		host, _, _ := virtual(t, socket.Options{}, func(s *socket.Server) {
			s.Of("/").On("wait", func(c *socket.Socket, _ *socket.Event) {
				_, err := c.EmitWithAck(context.Background(), "question")
				result <- err
			})
		})
		p := enginetest.Poll(t, host)
		p.Post("40")
		p.Get()
		go p.Post(`42["wait"]`)
		if _, text := p.Get(); text != `420["question"]` {
			t.Fatalf("polled %q", text)
		}
		go p.Get()
		testkit.Eventually(t, "a second poll ends the session", func() bool { status, _ := p.Get(); return status == 400 })
		if err := <-result; !errors.Is(err, socket.ErrDisconnected) {
			t.Error(err)
		}
	})
}

func TestRoomsAndWhomABroadcastReaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, server, _ := virtual(t, socket.Options{}, func(s *socket.Server) {
			s.Of("/").OnConnect(func(c *socket.Socket) error {
				var auth struct{ Rooms []string }
				_ = json.Unmarshal(c.Handshake().Auth, &auth)
				c.Join(auth.Rooms...)
				return nil
			})
		})
		n := server.Of("/")
		peers, ids := map[string]*enginetest.Peer{}, map[string]string{}
		for name, rooms := range map[string]string{"a": `["x"]`, "b": `["x","y"]`, "c": `[]`} {
			peers[name], ids[name] = enter(t, host, "/", `{"rooms":`+rooms+`}`)
		}
		a := n.Socket(ids["a"])
		for i, c := range []struct {
			to    socket.Broadcast
			reach string
		}{
			{n.All(), "abc"},
			{n.To("x"), "ab"},
			{n.To("x", "y"), "ab"},
			{n.To("y").To(ids["c"]), "bc"},
			{n.To("nowhere"), ""},
			{n.To(ids["a"]), "a"},
			{n.Except("y"), "ac"},
			{n.To("x").Except(ids["b"]), "a"},
			{a.Others(), "bc"},
			{a.To("x"), "b"},
		} {
			if err := c.to.Emit("case", i); err != nil {
				t.Fatal(err)
			}
			for name, p := range peers {
				_ = n.To(ids[name]).Emit("end")
				want := []string{`42["end"]`}
				if strings.Contains(c.reach, name) {
					want = append([]string{fmt.Sprintf(`42["case",%d]`, i)}, want...)
				}
				p.Want(want...)
			}
		}
		a.Leave("x", "never in")
		if rooms := a.Rooms(); len(rooms) != 0 || n.Members("x") != 1 {
			t.Errorf("after leaving: %v, %d", rooms, n.Members("x"))
		}
	})
}

func TestBroadcastsReachAllInOneOrder(t *testing.T) {
	host, server, _ := serve(t, socket.Options{}, func(s *socket.Server) { s.Of("/") })
	var peers []*enginetest.Peer
	for range 5 {
		p, _ := enter(t, host, "/", "")
		peers = append(peers, p)
	}
	const each = 200
	var work sync.WaitGroup
	for from := range 4 {
		work.Go(func() {
			for i := range each {
				_ = server.Of("/").Emit("n", from*each+i)
			}
		})
	}
	work.Wait()
	var first []string
	for i, p := range peers {
		var got []string
		for range 4 * each {
			got = append(got, p.Next())
		}
		if i == 0 {
			first = got
		} else if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("client %d heard another order:\n%s", i, diff)
		}
	}
}

func TestOnDisconnectIsCalledOnceWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reasons := make(chan socket.Reason, 100)
		host, server, stop := virtual(t, socket.Options{}, func(s *socket.Server) {
			n := s.Of("/")
			n.OnConnect(func(c *socket.Socket) error { c.Join("r"); return nil })
			n.OnDisconnect(func(c *socket.Socket, reason socket.Reason) {
				if rooms := c.Rooms(); len(rooms) != 1 || c.Connected() {
					t.Errorf("at the end: %v, connected %v", rooms, c.Connected())
				}
				reasons <- reason
			})
			n.On("out", func(c *socket.Socket, e *socket.Event) { c.Disconnect(string(e.Args[0]) == "true") })
		})
		check := func(want socket.Reason) {
			t.Helper()
			if got := <-reasons; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if n := server.Of("/").Len() + server.Of("/").Members("r"); n != 0 {
				t.Errorf("%d traces are left", n)
			}
		}
		p, _ := enter(t, host, "/", "")
		p.Send("41")
		check(socket.ReasonClientLeft)
		p.Send("40")
		p.Next()
		p.Send(`42["out",false]`)
		p.Want("41")
		check(socket.ReasonServerLeft)
		p.Send("40") // it may come back
		p.Next()
		p.Send(`42["out",true]`)
		p.Closed()
		check(socket.ReasonServerLeft)
		p, _ = enter(t, host, "/", "")
		_ = p.Conn.Close()
		check(engine.ReasonTransportClose)
		_, id := enter(t, host, "/", "")
		for range 10 { // from elsewhere, many times
			go func() {
				if s := server.Of("/").Socket(id); s != nil {
					s.Disconnect(true)
				}
			}()
		}
		check(socket.ReasonServerLeft)
		enter(t, host, "/", "")
		stop()
		check(engine.ReasonShutdown)
		if len(reasons) > 0 {
			t.Errorf("and then %q", <-reasons)
		}
	})
}

func TestWhatIsToBeSentIsCheckedBefore(t *testing.T) {
	server := socket.New(socket.Options{})
	n, other := server.Of("/"), server.Of("/other")
	for _, c := range []struct {
		err  error
		want error
	}{
		{n.Emit("disconnect"), socket.ErrReserved},
		{n.Emit("x", make(chan int)), nil},
		{n.Emit("x", json.RawMessage(`{"broken`)), nil},
		{n.Emit("x", []byte{}, []byte{}, []byte{}, []byte{}, []byte{}, []byte{}, []byte{}, []byte{}, []byte{}, []byte{}, []byte{}), socket.ErrAttachments},
	} {
		if c.err == nil || c.want != nil && !errors.Is(c.err, c.want) {
			t.Errorf("%v, want %v", c.err, c.want)
		}
	}
	m, err := n.Message("x")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Send(m); !errors.Is(err, socket.ErrNamespace) {
		t.Error(err)
	}
}

// Hundreds of members come and go while broadcasts run; nothing of them stays.
func TestMembersThatComeAndGoLeaveNothingBehind(t *testing.T) {
	host, server, _ := serve(t, socket.Options{Options: engine.Options{CloseTimeout: time.Millisecond}}, func(s *socket.Server) {
		echo(s)
		s.Of("/").OnConnect(func(c *socket.Socket) error { c.Join("all", "r"+c.ID()); return c.Emit("hello") })
	})
	emit := func(ctx context.Context) error {
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Millisecond):
				_ = server.Of("/").To("all").Emit("n", i, []byte{1})
			}
		}
	}
	round := func(n int) {
		stop := testkit.Background(t, emit)
		defer stop() // what it emits would be counted among what is kept
		var work sync.WaitGroup
		turns := make(chan struct{}, 16)
		for i := range n {
			turns <- struct{}{}
			work.Go(func() {
				defer func() { <-turns }()
				if i%2 == 0 {
					p := enginetest.Poll(t, host)
					p.Post("40")
					p.Get()
					p.Post("41\x1e1")
					return
				}
				p, err := enginetest.TryDial(t, host, "")
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = p.Conn.Close() }()
				p.Send("40")
				for !strings.HasPrefix(p.Next(), `42["hello"`) {
				}
			})
		}
		work.Wait()
		testkit.Eventually(t, "all are gone", func() bool { s := server.Stats(); return s.Pollers+s.WebSockets+s.Sockets == 0 })
	}
	idle := runtime.NumGoroutine()
	round(200)
	before := kept()
	round(500)
	testkit.Eventually(t, "their goroutines are gone", func() bool { return runtime.NumGoroutine() <= idle+4 })
	if grown := kept() - before; grown > 250 {
		t.Errorf("500 visits left %d objects behind", grown)
	}
}

func kept() int {
	runtime.GC()
	runtime.GC() // what pools hold outlives one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapObjects)
}
