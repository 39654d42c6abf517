package webhooks_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
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

// running runs hooks until the test ends.
func running(t *testing.T, h *webhooks.Hooks) {
	t.Helper()
	testkit.Background(t, h.Run)
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

// inMemory is a receiver, and a sender that reaches nothing else, for a bubble of
// testing/synctest.
func inMemory(t *testing.T, answer func(g got, n int, w http.ResponseWriter, r *http.Request)) (*receiver, webhooks.Sender) {
	t.Helper()
	x := &receiver{answer: answer, times: map[string]int{}}
	memory := testkit.NewNetwork()
	srv := &http.Server{Handler: x, ReadHeaderTimeout: time.Hour, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(memory) }() // ended by Close
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return x, pipes{&http.Client{
		Transport:     &http.Transport{DialContext: memory.Dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// pipes sends as a *fetch.Client does, but for where to.
type pipes struct{ client *http.Client }

func (p pipes) Check(address string) (*url.URL, error) { return url.Parse(address) }

func (p pipes) Send(ctx context.Context, s fetch.Sending) (fetch.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(s.Body))
	if err != nil {
		return fetch.Answer{}, err
	}
	req.Header = s.Header
	res, err := p.client.Do(req)
	if err != nil {
		return fetch.Answer{}, err
	}
	defer res.Body.Close() //nolint:errcheck // nothing is read of it
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	return fetch.Answer{Status: res.StatusCode, RetryAfter: time.Duration(seconds) * time.Second}, nil
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

// states waits until nothing of a hook is left in the queue, and returns its
// messages, the oldest first.
func states(t *testing.T, h *webhooks.Hooks, hook string) []webhooks.Delivery {
	t.Helper()
	var out []webhooks.Delivery
	testkit.Eventually(t, "the queue is empty", func() bool {
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
