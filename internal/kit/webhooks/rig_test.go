package webhooks_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
)

func sender() *fetch.Client {
	return fetch.New(fetch.Options{
		Version: "test", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []fetch.PortRange{{From: 1, To: 65535}},
	})
}

func database(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func options(db *store.DB) webhooks.Options {
	ms := time.Millisecond
	return webhooks.Options{
		Log: slog.New(slog.DiscardHandler), DB: db, Sender: sender(), Station: "أثير", Pauses: []time.Duration{5 * ms, 10 * ms, 20 * ms},
		Events: []webhooks.Event{{Name: "door.open", Doc: "A door opens"}, {Name: "door.shut", Doc: "A door shuts"}},
	}
}

func open(t *testing.T, o webhooks.Options) *webhooks.Hooks {
	t.Helper()
	h, err := webhooks.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// running runs hooks until the test ends or stop is called.
func running(t *testing.T, h *webhooks.Hooks) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func add(t *testing.T, h *webhooks.Hooks, url string, events ...string) webhooks.Hook {
	t.Helper()
	k, err := h.Add(t.Context(), webhooks.Order{URL: url, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func queue(t *testing.T, h *webhooks.Hooks, m webhooks.Message) {
	t.Helper()
	if err := h.Queue(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// got is one message as a receiver sees it.
type got struct {
	path, id, signature, timestamp, body string
	Type, Timestamp, Station             string
	Data                                 json.RawMessage
}

// signedBy checks a message as the specification says, from the specification:
// nothing of the package under test is used.
func (g got) signedBy(secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(g.id + "." + g.timestamp + "." + g.body))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for one := range strings.SplitSeq(g.signature, " ") {
		if hmac.Equal([]byte(one), []byte(want)) {
			return true
		}
	}
	return false
}

// receiver takes messages; answer says how, 204 when nil.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	all    []got
	answer func(g got, n int, w http.ResponseWriter, r *http.Request) // n counts from 1 for each message
	times  map[string]int
}

func receive(t *testing.T, answer func(g got, n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	x := &receiver{answer: answer, times: map[string]int{}}
	x.Server = httptest.NewServer(x)
	t.Cleanup(x.Close)
	return x
}

func (x *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g := got{
		path: r.URL.Path, id: r.Header.Get("webhook-id"), signature: r.Header.Get("webhook-signature"),
		timestamp: r.Header.Get("webhook-timestamp"), body: string(body),
	}
	_ = json.Unmarshal(body, &g)
	x.mu.Lock()
	x.all = append(x.all, g)
	x.times[g.id]++
	n := x.times[g.id]
	x.mu.Unlock()
	if x.answer != nil {
		x.answer(g, n, w, r)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (x *receiver) got() []got {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]got{}, x.all...)
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// states waits until nothing of a hook is left in the queue, and returns its
// messages, the oldest first.
func states(t *testing.T, h *webhooks.Hooks, hook string) []webhooks.Delivery {
	t.Helper()
	var out []webhooks.Delivery
	eventually(t, "the queue is empty", func() bool {
		all, err := h.Deliveries(t.Context(), hook, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		out = out[:0]
		for i := len(all) - 1; i >= 0; i-- {
			out = append(out, all[i])
			if all[i].State == "waiting" {
				return false
			}
		}
		return true
	})
	return out
}
