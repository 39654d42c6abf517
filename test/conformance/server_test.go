package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// generous is what a client may take for anything: only one that is gone takes it.
const generous = 30 * time.Second

// station is the server the checks talk to. It can be stopped and started
// again at the same address, and its connections broken.
type station struct {
	t    *testing.T
	addr string

	mu      sync.Mutex
	reasons map[string]socket.Reason // why sockets left
	stop    func()
	conns   map[net.Conn]bool

	diary diary
}

func newStation(t *testing.T) *station {
	s := &station{t: t, addr: fmt.Sprint("127.0.0.1:", testkit.Port(t)), reasons: map[string]socket.Reason{}, conns: map[net.Conn]bool{}, stop: func() {}}
	s.start()
	t.Cleanup(func() { s.halt() })
	return s
}

func (s *station) start() {
	// A child that another test has forked holds the socket of before until it is the program
	// that it is to be.
	wait, give := context.WithTimeout(context.Background(), generous)
	defer give()
	var listener net.Listener
	if err := retry.Until(wait, func(context.Context) (err error) {
		listener, err = net.Listen("tcp", s.addr)
		return err
	}); err != nil {
		s.t.Error(err)
		return
	}
	sockets := s.application()
	if err := s.diary.open(sockets); err != nil {
		s.t.Error(err)
	}
	web := &http.Server{Handler: sockets, ReadHeaderTimeout: generous, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	ctx, cancel := context.WithCancel(context.Background())
	var running, serving sync.WaitGroup
	running.Go(func() {
		if err := sockets.Run(ctx); err != nil {
			s.t.Error(err)
		}
	})
	serving.Go(func() {
		if err := web.Serve(recorded{listener, s}); !errors.Is(err, http.ErrServerClosed) {
			s.t.Error(err)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = func() {
		cancel()
		running.Wait() // polls are answered before their connections are taken away
		_ = web.Close()
		serving.Wait()
		if err := s.diary.close(sockets); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *station) halt() {
	s.mu.Lock()
	stop := s.stop
	s.stop = func() {}
	s.mu.Unlock()
	stop()
}

// recorded remembers connections, so that they can be broken.
type recorded struct {
	net.Listener
	station *station
}

func (r recorded) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if err == nil {
		r.station.mu.Lock()
		r.station.conns[conn] = true
		r.station.mu.Unlock()
	}
	return conn, err
}

// control does what a check asks for.
func (s *station) control(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/stop":
		s.halt()
	case "/start":
		s.start()
	case "/break":
		s.mu.Lock()
		defer s.mu.Unlock()
		for conn := range s.conns {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
		clear(s.conns)
	case "/say":
		if err := s.diary.say(); err != nil {
			s.t.Error(err)
		}
	case "/reason":
		s.mu.Lock()
		defer s.mu.Unlock()
		_, _ = w.Write([]byte(s.reasons[r.URL.Query().Get("id")]))
	default:
		http.NotFound(w, r)
	}
}

// notes is a socket's own data.
type notes struct {
	list  []json.RawMessage
	tries int
	held  *socket.Event // not acknowledged yet
}

func (s *station) application() *socket.Server {
	server := socket.New(socket.Options{
		Options: engine.Options{
			PingInterval: 700 * time.Millisecond, PingTimeout: generous, UpgradeTimeout: generous, CloseTimeout: generous,
			AllowOrigin: func(origin string) bool {
				return origin == "https://friend.example" || strings.HasPrefix(origin, "http://127.0.0.1:")
			},
			MaxPending: 4 << 20, Logger: slog.New(slog.DiscardHandler),
		},
	})
	for _, name := range []string{"/", "/custom"} {
		n := server.Of(name)
		n.OnConnect(func(c *socket.Socket) error {
			c.Data = &notes{list: []json.RawMessage{}}
			return nil
		})
		n.OnDisconnect(func(c *socket.Socket, reason socket.Reason) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.reasons[c.ID()] = reason
		})
		events(n)
		rooms(n)
	}
	server.Of("/greets").OnConnect(func(c *socket.Socket) error {
		c.Join(c.ID() + "-room")
		_ = c.Emit("one")
		_ = c.Emit("two", []byte{1})
		return c.Namespace().To(c.ID() + "-room").Emit("room")
	})
	server.Of("/private").OnConnect(func(c *socket.Socket) error {
		var auth struct{ Key string }
		_ = json.Unmarshal(c.Handshake().Auth, &auth)
		switch auth.Key {
		case "right":
			return nil
		case "oops":
			return errors.New("the password is swordfish")
		}
		return &socket.ConnectError{Message: "not with this key", Data: map[string]int{"code": 7}}
	})
	return server
}

// whole puts attachments where they were.
func whole(e *socket.Event) []any {
	out := make([]any, len(e.Args))
	for i, arg := range e.Args {
		out[i] = arg
		if data, ok := e.Bytes(i); ok {
			out[i] = data
		}
	}
	return out
}

func text(e *socket.Event, i int) (out string) {
	_ = json.Unmarshal(e.Args[i], &out)
	return out
}

func integer(e *socket.Event, i int) (out int) {
	_ = json.Unmarshal(e.Args[i], &out)
	return out
}

func events(n *socket.Namespace) {
	n.On("message", func(c *socket.Socket, e *socket.Event) { _ = c.Emit("message-back", whole(e)...) })
	n.On("whoami", func(c *socket.Socket, e *socket.Event) { _ = e.Ack(c.ID()) })
	n.On("ack-echo", func(_ *socket.Socket, e *socket.Event) { _ = e.AckAttached(e.Attachments, e.Args) })
	n.On("ack-twice", func(_ *socket.Socket, e *socket.Event) { _, _ = e.Ack(1), e.Ack(2) })
	n.On("ack-never", func(*socket.Socket, *socket.Event) {})
	n.On("ack-after-next", func(c *socket.Socket, e *socket.Event) { c.Data.(*notes).held = e })
	n.On("ack-before-last", func(c *socket.Socket, e *socket.Event) {
		_ = e.Ack(e.Args[0])
		held := c.Data.(*notes).held
		_ = held.Ack(held.Args[0])
	})
	n.On("ack-third", func(c *socket.Socket, e *socket.Event) {
		d := c.Data.(*notes)
		if d.tries++; d.tries%3 == 0 {
			_ = e.Ack(e.Args[len(e.Args)-1])
		}
	})
	n.On("ask-me", func(c *socket.Socket, e *socket.Event) { go ask(c, e, generous) })
	n.On("ask-me-briefly", func(c *socket.Socket, e *socket.Event) { go ask(c, e, 100*time.Millisecond) })
	n.On("deep-binary", func(c *socket.Socket, e *socket.Event) { _ = e.AckAttached(e.Attachments, e.Args[0]) })
	n.On("note", func(c *socket.Socket, e *socket.Event) {
		d := c.Data.(*notes)
		d.list = append(d.list, e.Args[0])
	})
	n.On("noted", func(c *socket.Socket, e *socket.Event) { _ = e.Ack(c.Data.(*notes).list) })
	n.On("count-to", func(c *socket.Socket, e *socket.Event) {
		for i := range integer(e, 0) {
			_ = c.Emit("count", i)
		}
		_ = e.Ack()
	})
	n.On("count-slowly", func(c *socket.Socket, e *socket.Event) {
		go func() {
			for i := range integer(e, 0) {
				_ = c.Emit("count", i)
				if i%5 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
		}()
	})
	n.On("handshake", func(c *socket.Socket, e *socket.Event) {
		h := c.Handshake()
		_ = e.Ack(map[string]any{"auth": h.Auth, "query": h.Query, "from": h.Header.Get("X-From")})
	})
	n.On("put-me-out", func(c *socket.Socket, e *socket.Event) {
		_ = c.Emit("farewell", "bye")
		c.Disconnect(string(e.Args[0]) == "true")
	})
	n.On("panic", func(*socket.Socket, *socket.Event) { panic("asked for") })
	n.OnOther(func(_ *socket.Socket, e *socket.Event) {
		var all any = append([]any{e.Name}, whole(e)...)
		_ = e.Ack(all) // the client's promise has the first argument only
	})
}

// ask has the client answer a question and tells it what it answered.
func ask(c *socket.Socket, e *socket.Event, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := c.EmitWithAck(ctx, text(e, 0), whole(e)[1:]...)
	switch {
	case err != nil:
		_ = e.Ack(map[string]string{"error": err.Error()})
	case len(answer.Attachments) > 0:
		_ = e.Ack(map[string]int{"attachments": len(answer.Attachments)})
	default:
		_ = e.Ack(map[string]any{"args": answer.Args})
	}
}

func rooms(n *socket.Namespace) {
	n.On("join", func(c *socket.Socket, e *socket.Event) {
		c.Join(text(e, 0))
		_ = e.Ack()
	})
	n.On("leave", func(c *socket.Socket, e *socket.Event) {
		c.Leave(text(e, 0))
		_ = e.Ack()
	})
	n.On("say-in", func(_ *socket.Socket, e *socket.Event) {
		var names []string
		_ = json.Unmarshal(e.Args[0], &names)
		_ = n.To(names...).Emit("said", whole(e)[1:]...)
		_ = e.Ack()
	})
	n.On("say-except", func(_ *socket.Socket, e *socket.Event) {
		_ = n.To(text(e, 0)).Except(text(e, 1)).Emit("said", e.Args[2])
		_ = e.Ack()
	})
	n.On("say-to-others", func(c *socket.Socket, e *socket.Event) {
		_ = c.To(text(e, 0)).Emit("said", whole(e)[1:]...)
		_ = e.Ack()
	})
}
