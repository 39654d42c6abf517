// Package sockettest is a client of Socket.IO over WebSocket, as little of it as
// tests in Go need. Whoever wants a real one takes socket.io-client.
package sockettest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// Event is one event that was heard.
type Event struct {
	Name    string
	Payload json.RawMessage // its first argument
	Offset  string          // its last, if that is one
}

// ErrGone is the answer of a connection that has ended.
var ErrGone = errors.New("the connection has ended")

// Client is one connection to the namespace "/". Its methods may be called from
// any goroutine.
type Client struct {
	conn *websocket.Conn
	done chan struct{}

	// ID and PID are what the server named the client.
	ID, PID string

	mu    sync.Mutex
	heard []Event
	waits map[int]chan json.RawMessage
	asked int
}

// Dial connects to a server, http://host:port, and joins. The auth is marshalled;
// nil is none. A refusal is an error with what the server said.
func Dial(ctx context.Context, server string, auth any) (*Client, error) {
	return DialAs(ctx, server, auth, nil)
}

// DialAs is Dial with an HTTP client and headers of one's own. The client must not speak
// HTTP/2, over which there is no WebSocket here.
func DialAs(ctx context.Context, server string, auth any, how *websocket.DialOptions) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	u.Scheme, u.Path, u.RawQuery = strings.Replace(u.Scheme, "http", "ws", 1), "/socket.io/", "EIO=4&transport=websocket"
	conn, _, err := websocket.Dial(ctx, u.String(), how) //nolint:bodyclose // taken over
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(16 << 20)
	c := &Client{conn: conn, done: make(chan struct{}), waits: map[int]chan json.RawMessage{}}
	if err := c.join(ctx, auth); err != nil {
		_ = conn.CloseNow()
		return nil, err
	}
	go c.read() //nolint:gosec // lives as long as the connection
	return c, nil
}

func (c *Client) join(ctx context.Context, auth any) error {
	hello := "40"
	if auth != nil {
		data, err := json.Marshal(auth)
		if err != nil {
			return err
		}
		hello += string(data)
	}
	if err := c.send(ctx, hello); err != nil {
		return err
	}
	for {
		_, data, err := c.conn.Read(ctx)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(string(data), "44"):
			return fmt.Errorf("refused: %s", data[2:])
		case strings.HasPrefix(string(data), "40"):
			return json.Unmarshal(data[2:], &struct{ SID, PID *string }{&c.ID, &c.PID})
		}
	}
}

func (c *Client) send(ctx context.Context, text string) error {
	return c.conn.Write(ctx, websocket.MessageText, []byte(text))
}

// Close ends the connection.
func (c *Client) Close() {
	_ = c.conn.CloseNow()
	<-c.done
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

func (c *Client) read() {
	defer close(c.done)
	for {
		kind, data, err := c.conn.Read(context.Background())
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			continue
		}
		if string(data) == "2" {
			if c.send(context.Background(), "3") != nil {
				return
			}
			continue
		}
		c.take(string(data))
	}
}

func (c *Client) take(text string) {
	at := strings.IndexByte(text, '[')
	if len(text) < 2 || at < 0 {
		return
	}
	var parts []json.RawMessage
	if json.Unmarshal([]byte(text[at:]), &parts) != nil || len(parts) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch text[:2] {
	case "42":
		var e Event
		_ = json.Unmarshal(parts[0], &e.Name)
		if len(parts) > 1 {
			e.Payload = parts[1]
		}
		if len(parts) > 2 {
			_ = json.Unmarshal(parts[len(parts)-1], &e.Offset)
		}
		c.heard = append(c.heard, e)
	case "43":
		id, _ := strconv.Atoi(text[2:at])
		if wait := c.waits[id]; wait != nil {
			wait <- parts[0]
			delete(c.waits, id)
		}
	}
}

// Asked is an event that was sent and has no answer yet.
type Asked struct {
	c    *Client
	wait chan json.RawMessage
}

// Answer waits for the acknowledgement's first argument.
func (a Asked) Answer(ctx context.Context) (json.RawMessage, error) {
	select {
	case got := <-a.wait:
		return got, nil
	case <-a.c.done:
		select {
		case got := <-a.wait:
			return got, nil
		default:
			return nil, ErrGone
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Emit sends an event with one argument and asks for an acknowledgement. A
// []byte goes as an attachment.
func (c *Client) Emit(ctx context.Context, event string, arg any) (Asked, error) {
	a := Asked{c, make(chan json.RawMessage, 1)}
	blob, binary := arg.([]byte)
	if binary {
		arg = map[string]any{"_placeholder": true, "num": 0}
	}
	data, err := json.Marshal([]any{event, arg})
	if err != nil {
		return a, err
	}
	c.mu.Lock()
	defer c.mu.Unlock() // an attachment follows its event at once
	c.asked++
	c.waits[c.asked] = a.wait
	if !binary {
		return a, c.send(ctx, fmt.Sprintf("42%d%s", c.asked, data))
	}
	if err := c.send(ctx, fmt.Sprintf("451-%d%s", c.asked, data)); err != nil {
		return a, err
	}
	return a, c.conn.Write(ctx, websocket.MessageBinary, blob)
}

// Ask sends an event and waits for its answer.
func (c *Client) Ask(ctx context.Context, event string, arg any) (json.RawMessage, error) {
	a, err := c.Emit(ctx, event, arg)
	if err != nil {
		return nil, err
	}
	return a.Answer(ctx)
}

// All returns the events heard so far, in their order.
func (c *Client) All() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.heard)
}

// Heard returns the payloads of an event so far, in their order.
func (c *Client) Heard(event string) (out []json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.heard {
		if e.Name == event {
			out = append(out, e.Payload)
		}
	}
	return out
}
