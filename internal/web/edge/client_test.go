package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// listener is a client of Socket.IO, as little of it as a test needs.
type listener struct {
	t    *testing.T
	conn *websocket.Conn
	done chan struct{}

	mu     sync.Mutex
	heard  []heard
	acks   map[int]json.RawMessage
	asked  int
	refuse string // why the server did not let it in
	in     bool
}

type heard struct {
	name    string
	payload json.RawMessage
}

func connect(t *testing.T, srv *httptest.Server, auth string) *listener {
	t.Helper()
	url := strings.Replace(srv.URL, "http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
	conn, _, err := websocket.Dial(t.Context(), url, nil) //nolint:bodyclose // taken over
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	l := &listener{t: t, conn: conn, done: make(chan struct{}), acks: map[int]json.RawMessage{}}
	go l.read()
	t.Cleanup(l.close)
	l.send("40" + auth)
	eventually(t, "connected or refused", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.in || l.refuse != ""
	})
	return l
}

func (l *listener) close() { _ = l.conn.CloseNow(); <-l.done }

func (l *listener) send(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := l.conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		l.t.Errorf("send: %v", err)
	}
}

func (l *listener) read() {
	defer close(l.done)
	for {
		_, data, err := l.conn.Read(context.Background())
		if err != nil {
			return
		}
		text := string(data)
		l.mu.Lock()
		switch {
		case text == "2":
			go l.send("3")
		case strings.HasPrefix(text, "40"):
			l.in = true
		case strings.HasPrefix(text, "44"):
			l.refuse = text
		case strings.HasPrefix(text, "42"):
			var parts []json.RawMessage
			_ = json.Unmarshal(data[2:], &parts)
			var name string
			_ = json.Unmarshal(parts[0], &name)
			l.heard = append(l.heard, heard{name, parts[1]})
		case strings.HasPrefix(text, "43"):
			at := strings.IndexByte(text, '[')
			id, _ := strconv.Atoi(text[2:at])
			var parts []json.RawMessage
			_ = json.Unmarshal([]byte(text[at:]), &parts)
			l.acks[id] = parts[0]
		}
		l.mu.Unlock()
	}
}

// emit sends an event without waiting, and returns the number of its answer.
func (l *listener) emit(event string, body any) int {
	l.mu.Lock()
	l.asked++
	id := l.asked
	l.mu.Unlock()
	data, _ := json.Marshal(body)
	l.send(fmt.Sprintf(`42%d[%q,%s]`, id, event, data))
	return id
}

// ask sends an event and waits for its answer.
func (l *listener) ask(event string, body any) json.RawMessage {
	l.t.Helper()
	return l.answer(l.emit(event, body))
}

func (l *listener) answer(id int) (got json.RawMessage) {
	l.t.Helper()
	eventually(l.t, fmt.Sprint("answer ", id), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		got = l.acks[id]
		return got != nil
	})
	return got
}

// events are the payloads heard of an event.
func (l *listener) events(name string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.heard {
		if h.name == name {
			out = append(out, string(h.payload))
		}
	}
	return out
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}
