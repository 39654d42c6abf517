package edge_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// listener is a client whose failures end the test.
type listener struct {
	t *testing.T
	*sockettest.Client
}

func connect(t *testing.T, srv *httptest.Server, auth any) listener {
	t.Helper()
	return connectOver(t, srv.URL, auth, http.DefaultClient)
}

func connectOver(t *testing.T, url string, auth any, how *http.Client) listener {
	t.Helper()
	var c *sockettest.Client
	var err error
	testkit.Eventually(t, "a connection", func() bool { // the edge may not run yet: 503
		c, err = sockettest.DialAs(t.Context(), url, auth, &websocket.DialOptions{HTTPClient: how})
		return err == nil || !strings.Contains(err.Error(), "503")
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return listener{t, c}
}

func (l listener) emit(event string, body any) sockettest.Asked {
	l.t.Helper()
	a, err := l.Emit(l.t.Context(), event, body)
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

func (l listener) answer(a sockettest.Asked) json.RawMessage {
	l.t.Helper()
	got, err := a.Answer(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return got
}

func (l listener) ask(event string, body any) json.RawMessage {
	l.t.Helper()
	return l.answer(l.emit(event, body))
}

// events are the payloads heard of an event.
func (l listener) events(name string) (out []string) {
	for _, p := range l.Heard(name) {
		out = append(out, string(p))
	}
	return out
}
