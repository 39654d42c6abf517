package app

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/contract"
)

const (
	// siegeRequests is how many requests and events are sent where
	// ATHIR_FUZZ_REQUESTS does not say.
	siegeRequests = 1_200
	// besiegers send at once: what they write is committed together.
	besiegers = 32
	// eventShare is how many of a hundred are events.
	eventShare = 20
	// mostGrowth is what the heap may grow by after the first tenth, in bytes:
	// what is remembered is bounded, and some of it is not full by then.
	mostGrowth = 64 << 20
)

func siegeLength(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ATHIR_FUZZ_REQUESTS")
	if text == "" {
		return siegeRequests
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("ATHIR_FUZZ_REQUESTS=%q: want a number of requests", text)
	}
	return n
}

// A station under hostile requests and events answers each as its document says,
// never with a fault of its own, and is afterwards as it was before.
func TestSiege(t *testing.T) { laySiege(t, siegeLength(t)) }

func laySiege(t *testing.T, total int) {
	t.Helper()
	b := besiege(t)
	srv := httptest.NewServer(b)
	t.Cleanup(srv.Close)
	s := &siege{besieged: b, doc: ownDocument(t, b), url: srv.URL, seen: map[string]map[int]int{}}
	s.client = &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.hints = s.known(t)

	s.round(t, total/10, 1)
	before := settledSize(t, 0)
	s.round(t, total-total/10, 2)
	s.client.CloseIdleConnections()
	srv.CloseClientConnections()
	after := settledSize(t, before.goroutines)
	t.Logf("goroutines %d, then %d; heap %d KiB, then %d KiB", before.goroutines, after.goroutines, before.heap>>10, after.heap>>10)
	if after.goroutines > before.goroutines {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines more:\n%s", after.goroutines-before.goroutines, buf[:runtime.Stack(buf, true)])
	}
	if after.heap > before.heap+mostGrowth {
		t.Errorf("the heap has grown by %d MiB", (after.heap-before.heap)>>20)
	}
	for _, line := range b.alarms.all() {
		t.Errorf("logged as an error: %s", line)
	}
	for _, wrong := range s.wrong {
		t.Error(wrong)
	}
	if rec := s.serve(t, "GET", "/api/status"); rec.Code != http.StatusOK {
		t.Errorf("afterwards /api/status: %d %s", rec.Code, rec.Body)
	}
	t.Logf("%d requests and events\n%s", total, s.table()) // last, as it is long: what is wrong is read first
}

type siege struct {
	*besieged
	doc   *contract.Document
	url   string
	hints contract.Hints
	// client takes a redirect for the answer that it is.
	client *http.Client

	mu    sync.Mutex
	seen  map[string]map[int]int // by row or event, and status
	wrong []string
}

func ownDocument(t *testing.T, h http.Handler) *contract.Document {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil))
	doc, err := contract.Read(rec.Body.Bytes())
	must(t, err)
	return doc
}

func (s *siege) serve(t *testing.T, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	req.RemoteAddr = "127.0.0.1:1"
	s.ServeHTTP(rec, req)
	return rec
}

// known makes what requests can be about.
func (s *siege) known(t *testing.T) contract.Hints {
	t.Helper()
	hooks := []string{"none"}
	for range 3 {
		h, err := s.hooks.Add(t.Context(), hookOrder())
		must(t, err)
		hooks = append(hooks, h.ID)
	}
	ids := slices.Concat([]string{"c1", "c2", "m1", "m2", "m3", "c999999"}, hooks, s.episodes)
	return contract.Hints{
		"show": {besiegedShow, besiegedShow, "none"}, "key": {broadcastKey(3), broadcastKey(4), "none.mp3"},
		"token": {besiegedToken, besiegedToken, "guess"}, "rel": {"music/a.mp3", "music/none.mp3"}, "channelId": {"main"}, "room": {"main"}, "id": ids,
		"bytes": {"1", "4096"}, "wait": {"false", "true"}, "category": {"english", "arabic_hits"}, "msgId": {"m1", "m2", "m3"},
		"file": {"english/0.mp3", "english/1.mp3", "arabic_hits/3.mp3", "none.mp3"}, "emoji": {"❤️", "🔥", "👍🏽"}, "engine": {"boot-1"}, "channel": {"main"}, "kind": {"rotation"},
		"endpoint": {"https://push.example/a", "https://push.example/b"}, "url": {"https://hook.example/a"},
	}
}

// round sends n requests and events, and returns when all have been answered.
func (s *siege) round(t *testing.T, n int, seed uint64) {
	t.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute+time.Duration(n)*10*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for i := range besiegers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			if i*100 < besiegers*eventShare {
				s.events(ctx, r, &left)
				return
			}
			ops := s.doc.Operations()
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				op := ops[r.IntN(len(ops))]
				if r.IntN(5) == 0 { // what others do goes on meanwhile
					s.request(ctx, r, op.Valid(r, s.hints))
					continue
				}
				s.request(ctx, r, op.Hostile(r, s.hints))
			}
		})
	}
	all.Wait()
	for _, c := range s.others.List() { // each has goroutines and memory of its own
		must(t, s.others.Remove(t.Context(), c.ID))
	}
	if ctx.Err() != nil {
		t.Error("the siege did not end in time")
	}
}

// request sends one and looks at the answer. One in twenty goes over the wire.
func (s *siege) request(ctx context.Context, r *rand.Rand, q contract.Request) {
	if r.IntN(8) > 0 {
		q.Header.Set("X-Station-Key", besiegedKey)
	}
	req, err := q.HTTP(ctx, s.url)
	if err != nil {
		s.note("no request at all", 0, "")
		return
	}
	row := "elsewhere"
	if op := s.doc.Find(req); op != nil {
		row = op.Row()
	}
	status, head, body, way := 0, http.Header(nil), []byte(nil), "in the process"
	if r.IntN(20) == 0 {
		way = "over the wire"
		if status, head, body, err = s.overTheWire(req); err != nil {
			s.note("broke off", 0, "")
			return
		}
	} else {
		rec := httptest.NewRecorder()
		req.RemoteAddr, req.RequestURI = "127.0.0.1:1", q.Target
		s.ServeHTTP(rec, req)
		if status, head = rec.Code, rec.Header(); q.Method != http.MethodHead { // the server sends none
			body = rec.Body.Bytes()
		}
	}
	var wrong string
	switch err := s.doc.Check(req, status, head, body); {
	case status >= http.StatusInternalServerError:
		wrong = fmt.Sprintf("%s %.300s (%s): %d\nsent %q %.300q\n got %.300s", q.Method, q.Target, way, status, q.Header, q.Body, body)
	case err != nil:
		wrong = fmt.Sprintf("%.2000v\nsent (%s) %q %.300q", err, way, q.Header, q.Body)
	}
	s.note(row, status, wrong)
}

func (s *siege) overTheWire(req *http.Request) (int, http.Header, []byte, error) {
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	var body bytes.Buffer
	_, err = body.ReadFrom(res.Body)
	return res.StatusCode, res.Header, body.Bytes(), err
}

const mostWrong = 20

func (s *siege) note(row string, status int, wrong string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[row] == nil {
		s.seen[row] = map[int]int{}
	}
	s.seen[row][status]++
	if wrong != "" && len(s.wrong) < mostWrong {
		s.wrong = append(s.wrong, wrong)
	}
}

func (s *siege) table() string {
	var out strings.Builder
	for _, row := range slices.Sorted(maps.Keys(s.seen)) {
		fmt.Fprintf(&out, "%-66s", row)
		for _, status := range slices.Sorted(maps.Keys(s.seen[row])) {
			fmt.Fprintf(&out, " %d×%d", status, s.seen[row][status])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

type size struct {
	goroutines int
	heap       uint64
}

// settledSize is what a station takes once what was under way has ended: at most
// so many goroutines, where that is known.
func settledSize(t *testing.T, goroutines int) size {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		n := runtime.NumGoroutine()
		time.Sleep(200 * time.Millisecond)
		if now := runtime.NumGoroutine(); now <= goroutines || goroutines == 0 && now == n {
			break
		}
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return size{runtime.NumGoroutine(), m.HeapAlloc}
}
