package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// station is a control plane that counts a write with an id once. It ends in the midst of
// its first write, which is kept by then, and never answered.
type station struct {
	t    *testing.T
	addr string

	mu   sync.Mutex
	came int
	kept map[string]int
	srv  *http.Server
	died chan struct{}
}

func (s *station) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in struct{ ID, Text string }
	if err != nil || json.Unmarshal(body, &in) != nil || r.ContentLength != int64(len(body)) || r.Header.Get("X-Athir-Device") != "a-device" {
		s.t.Errorf("came %d: %q of %d bytes, %v", s.came, body, r.ContentLength, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came++
	if s.kept[in.Text] == 0 || in.ID == "" {
		s.kept[in.Text]++
	}
	if s.came == 1 {
		_ = s.srv.Close() // the listener and the connection
		close(s.died)
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, "taken: "+in.Text)
}

func (s *station) start() {
	var l net.Listener
	// A child that another test forks may hold the socket of before for a moment.
	wait, give := context.WithTimeout(s.t.Context(), time.Minute)
	defer give()
	if err := retry.Until(wait, func(context.Context) (err error) {
		l, err = net.Listen("tcp", s.addr)
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.addr, s.srv = l.Addr().String(), &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	srv := s.srv
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	s.t.Cleanup(func() { _ = srv.Close(); <-done })
}

// A listener that writes over HTTP while the control plane is killed hears of it as one
// that writes over a socket: it has its answer once, from the next one, and the write
// counts once.
func TestAWriteWithAnIDOutlastsTheControlPlane(t *testing.T) {
	// A port that no other test gets while it is not listened on.
	s := &station{t: t, addr: fmt.Sprint("127.0.0.1:", testkit.Port(t)), kept: map[string]int{}, died: make(chan struct{})}
	s.start()
	door := httptest.NewServer(Handler(Options{Log: slog.New(slog.DiscardHandler), Pages: http.NotFoundHandler(), Control: s.addr}))
	defer door.Close()
	post := func(path, body string) (*http.Response, string) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, door.URL+path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Athir-Device", "a-device")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return &http.Response{}, ""
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		text, _ := io.ReadAll(resp.Body)
		return resp, string(text)
	}
	type answered struct {
		status int
		text   string
	}
	first := make(chan answered, 1)
	go func() {
		resp, text := post("/api/comments", `{"id":"write-one","text":"one"}`)
		first <- answered{resp.StatusCode, text}
	}()
	<-s.died
	for path, body := range map[string]string{
		"/api/comments": `{"text":"none"}`, "/api/upnext/votes": `{"id":"write-two","text":"none"}`, // has no ids
		"/api/vibe": "nothing, but not JSON",
	} {
		if resp, _ := post(path, body); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s while it is away: %d, %v", path, body, resp.StatusCode, resp.Header)
		}
	}
	s.start()
	if got := <-first; got != (answered{http.StatusCreated, "taken: one"}) {
		t.Errorf("the write: %+v", got)
	}
	if s.kept["one"] != 1 || len(s.kept) != 1 || s.came < 2 {
		t.Errorf("%d writes came, kept %v", s.came, s.kept)
	}
	if resp, text := post("/api/comments", `{"text":"two"}`); resp.StatusCode != http.StatusCreated || text != "taken: two" {
		t.Errorf("one without an id: %d %s", resp.StatusCode, text)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// write is a POST from an address.
func write(ctx context.Context, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/comments", strings.NewReader(body))
	r.RemoteAddr = "192.0.2.1:1"
	return r
}

func TestAWriteWaitsForAsLongAsOneOverASocket(t *testing.T) {
	const text = `{"id":"write-one"}`
	away := roundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return nil, errors.New("away")
	})
	silent := roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	ends := make(chan struct{})
	close(ends)
	left, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		by   *again
		ctx  context.Context //nolint:containedctx // a test's
		body string
		want time.Duration
	}{
		"away":                     {&again{once: away}, t.Context(), text, retry.Patience},
		"silent":                   {&again{once: silent}, t.Context(), text, retry.Patience},
		"this server ends":         {&again{once: away, ends: ends}, t.Context(), text, 0},
		"the listener has left":    {&again{once: away}, left, text, 0},
		"no id":                    {&again{once: away}, t.Context(), `{"text":"x"}`, 0},
		"too long, and taken once": {&again{once: away}, t.Context(), `{"id":"write-one","text":"` + strings.Repeat("x", mostWrite) + `"}`, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if _, err := c.by.RoundTrip(write(c.ctx, c.body)); err == nil || time.Since(began) != c.want {
				t.Errorf("%s: after %s %v, want %s", name, time.Since(began), err, c.want)
			}
		})
	}
}

// One address cannot make the door hold more than its share; what is too much is still
// sent once, as it came.
func TestWhatIsHeldIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		hold := make(chan struct{})
		var came atomic.Int64
		a := &again{once: roundTrip(func(r *http.Request) (*http.Response, error) {
			if body, _ := io.ReadAll(r.Body); strings.HasPrefix(string(body), `{"id":"write-`) {
				came.Add(1)
			}
			<-hold
			return nil, errors.New("away")
		})}
		var all sync.WaitGroup
		for range mostOfOne {
			all.Go(func() { _, _ = a.RoundTrip(write(ctx, `{"id":"write-one"}`)) })
		}
		synctest.Wait()
		all.Go(func() {
			began := time.Now()
			if _, err := a.RoundTrip(write(ctx, `{"id":"write-two"}`)); err == nil || time.Since(began) != 0 {
				t.Errorf("one too many: %v after %s", err, time.Since(began))
			}
		})
		synctest.Wait()
		if n := came.Load(); n != mostOfOne+1 {
			t.Errorf("%d of %d came", n, mostOfOne+1)
		}
		close(hold)
		synctest.Wait()
		leave()
		all.Wait()
		if leave, err := a.held.Enter(1); err != nil {
			t.Errorf("afterwards: %v", err)
		} else {
			leave()
		}
	})
}
