package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// newLine is a bus of its own, and a connection to it.
func newLine(t *testing.T) *bus.Bus {
	t.Helper()
	log, _ := testkit.Log(t)
	inside, err := bus.Embed(bus.EmbedOptions{Log: log, Host: "127.0.0.1", Port: -1, Admit: bustest.Admit("sesame")})
	must(t, err)
	t.Cleanup(inside.Close)
	line, err := bus.Connect(bus.Options{Log: log, URL: inside.URL(), Name: "test", Login: bus.Login{Token: "sesame"}})
	must(t, err)
	t.Cleanup(line.Close)
	return line
}

// The node's clock is ahead by what the quickest answer says, whatever slow ones
// say.
func TestTheNodesClockIsReadFromTheQuickestAnswer(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	const ahead = 90 * time.Second
	c := &Clock{log: slog.New(slog.DiscardHandler)}
	c.add(at, at.Add(ahead+4*time.Second), at.Add(4*time.Second)) // the answer took all of the time
	c.add(at, at.Add(ahead+time.Millisecond), at.Add(2*time.Millisecond))
	c.add(at, at.Add(ahead), at.Add(6*time.Second))
	if got := c.Here(at.Add(ahead)); !got.Equal(at) {
		t.Errorf("came at %v, want %v", got, at)
	}
	if (&Clock{}).ahead() != 0 {
		t.Error("a difference that nobody has measured")
	}
}

// Once either clock was set, measurements from before count no more, however quick they
// were; one that is only slow outdates none.
func TestAClockThatWasSetIsFollowedAtOnce(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	c := &Clock{log: slog.New(slog.DiscardHandler)}
	measure := func(ahead, there, back time.Duration) {
		at = at.Add(clockEvery)
		c.add(at, at.Add(there+ahead), at.Add(there+back))
	}
	for range clockKept {
		measure(90*time.Second, time.Millisecond, time.Millisecond)
	}
	measure(90*time.Second, 8*time.Second, time.Millisecond)
	if got := c.ahead(); got != 90*time.Second {
		t.Errorf("after a slow answer %s ahead, want 1m30s", got)
	}
	for _, set := range []time.Duration{-time.Hour, time.Hour} {
		measure(set, 20*time.Millisecond, 20*time.Millisecond)
		if got := c.ahead(); got != set {
			t.Errorf("a clock was set, and %s counts, want %s", got, set)
		}
	}
}

func TestMain(m *testing.M) { testkit.Main(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fakePlayer is an engine whose answers a test sets.
type fakePlayer struct {
	playout.Engine
	status playout.Status
	on     []bool
}

func (f *fakePlayer) Status(context.Context) (playout.Status, error) { return f.status, nil }
func (f *fakePlayer) Skip(context.Context) error {
	return errors.Join(errors.New("athir.skip: live is on air"), station.ErrConflict)
}
func (f *fakePlayer) Emergency(_ context.Context, on bool) error {
	f.on = append(f.on, on)
	return nil
}

// What the engine says comes over the bus with every byte of its paths, in names
// of this machine; a refusal keeps its kind; without a node it is unavailable.
func TestEngineOverTheBusIsTheEngine(t *testing.T) {
	b := newLine(t)
	testkit.Eventually(t, "the bus", b.Up)
	far := &fakePlayer{status: playout.Status{
		Engine: "e1", OnAir: playout.KindRotation, Remaining: 1500 * time.Millisecond, Edition: 3, Prepared: []string{"/air/v/b\xff.mp3"},
		Last: &playout.Marker{Engine: "e1", Seq: 7, File: "/air/v/a\xfe.mp3", Title: "أغنية", Kind: playout.KindRotation, StartedAt: 5},
	}}
	e := &Engine{bus: b, to: delivery.Plainly, here: func(path string) string { return "/media" + path }}
	if _, err := e.Status(t.Context()); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("no node: %v", err)
	}
	testkit.Background(t, func(ctx context.Context) error {
		return b.Serve(ctx, subjectEngine, 2, bus.Answering(func(ctx context.Context, in engineAsk) (engineAnswer, error) { return obeyEngine(ctx, far, in) }))
	})
	testkit.Eventually(t, "the node", func() bool { _, err := e.Status(t.Context()); return err == nil })
	got, err := e.Status(t.Context())
	must(t, err)
	want := far.status
	if !slices.Equal(got.Prepared, []string{"/media/air/v/b\xff.mp3"}) || got.Last == nil || got.Last.File != "/media/air/v/a\xfe.mp3" ||
		got.Last.Title != want.Last.Title || got.Last.Seq != 7 || got.Engine != want.Engine || got.OnAir != want.OnAir || got.Remaining != want.Remaining || got.Edition != 3 {
		t.Errorf("%+v, %+v", got, got.Last)
	}
	if err := e.Skip(t.Context()); !errors.Is(err, station.ErrConflict) {
		t.Errorf("a refusal: %v", err)
	}
	must(t, e.Emergency(t.Context(), true))
	must(t, e.Emergency(t.Context(), false))
	if !slices.Equal(far.on, []bool{true, false}) {
		t.Errorf("emergency %v", far.on)
	}
}

// A process of the node is asked over the bus as over its socket: answers come whole with
// their status, pieces of long ones by range; what is too long or away says so.
func TestProcessesOfTheNodeAreAskedOverTheBus(t *testing.T) {
	line := newLine(t)

	long := bytes.Repeat([]byte("0123456789"), 100_000)
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /order", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.Copy(w, r.Body)
	})
	mux.HandleFunc("GET /long", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "long.mp3", time.Time{}, bytes.NewReader(long))
	})
	socket := filepath.Join(t.TempDir(), "desk.sock")
	local := innerhttp.Transport(socket)
	defer local.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	defer run.Wait()
	defer cancel()
	run.Go(func() { _ = innerhttp.Serve(ctx, socket, mux, nil) })
	run.Go(func() { _ = serveInner(ctx, line, map[string]http.RoundTripper{"desk": local}, delivery.Plainly) })
	ask := func(part, method, path, body, within string) (int, string, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://node"+path, strings.NewReader(body))
		must(t, err)
		if within != "" {
			req.Header.Set("Range", within)
		}
		resp, err := Inner{Bus: line, To: delivery.Plainly, Part: part}.RoundTrip(req)
		if err != nil {
			return 0, "", err
		}
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp.StatusCode, string(text), nil
	}
	testkit.Eventually(t, "the order is answered", func() bool {
		code, text, err := ask("desk", http.MethodPut, "/order", `{"number":7}`, "")
		return err == nil && code == http.StatusConflict && text == `{"number":7}`
	})
	testkit.EventuallyNil(t, "a range", func() error { // questions come by another way than orders
		code, text, err := ask("desk", http.MethodGet, "/long", "", "bytes=20-29")
		if err == nil && (code != http.StatusPartialContent || text != "0123456789") {
			err = fmt.Errorf("%d %q", code, text)
		}
		return err
	})
	if _, _, err := ask("desk", http.MethodGet, "/long", "", ""); !errors.Is(err, station.ErrTooLarge) {
		t.Errorf("a long answer: %v", err)
	}
	if _, _, err := ask("desk", http.MethodPut, "/order", string(long), ""); !errors.Is(err, station.ErrTooLarge) {
		t.Errorf("a long request: %v", err)
	}
	if _, _, err := ask("tape", http.MethodGet, "/", "", ""); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a part that is none: %v", err)
	}
	cancel()
	run.Wait()
	if _, _, err := ask("desk", http.MethodGet, "/long", "", ""); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("a node that is away: %v", err)
	}
}

// However many questions of the studio's pages are held, an order is carried out, and the
// takeover's own question is answered: the desk would otherwise go on with a broadcast that
// the studio has stopped, or be taken for one that nothing is heard of.
func TestAnOrderDoesNotWaitBehindQuestionsForNews(t *testing.T) {
	line := newLine(t)
	const held = 3 * ordersAtOnce
	asked := make(chan struct{}, held)
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	defer run.Wait()
	defer cancel()
	desk := roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && r.URL.Path != "/report" {
			asked <- struct{}{}
			<-ctx.Done()
		}
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	})
	run.Go(func() { _ = serveInner(ctx, line, map[string]http.RoundTripper{"desk": desk}, delivery.Plainly) })
	ask := func(method, path string, news bool) error {
		req, err := http.NewRequestWithContext(ctx, method, "http://node"+path, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := (Inner{Bus: line, To: delivery.Plainly, Part: "desk", News: news}).RoundTrip(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	do := func(method string) error { return ask(method, "/x", false) }
	testkit.EventuallyNil(t, "the node takes orders", func() error { return do(http.MethodPut) })
	for _, news := range []bool{false, true} { // each comes by a way of its own
		testkit.EventuallyNil(t, "the node answers", func() error { return ask(http.MethodGet, "/report", news) })
	}
	for range held {
		run.Go(func() { _ = do(http.MethodGet) })
	}
	for range ordersAtOnce {
		testkit.Receive(t, "a question that is held", asked)
	}
	for _, method := range []string{http.MethodPut, http.MethodPost, http.MethodDelete} {
		must(t, do(method))
	}
	_, err := wire.Desk{RoundTripper: Inner{Bus: line, To: delivery.Plainly, Part: "desk"}, News: Inner{Bus: line, To: delivery.Plainly, Part: "desk", News: true}}.Report(t.Context(), 7)
	must(t, err)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
