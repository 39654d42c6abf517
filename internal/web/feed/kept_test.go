package feed

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

// books is one show with many episodes.
type books struct {
	show  atomic.Pointer[podcast.Show]
	heard []podcast.Episode
}

func (b *books) Show(string) (*podcast.Show, error)      { return b.show.Load(), nil }
func (b *books) Heard(string) ([]podcast.Episode, error) { return b.heard, nil }
func (b *books) Cover(context.Context, string) ([]byte, string, error) {
	return nil, "", station.ErrUnavailable
}

func (b *books) Sound(string, string) (string, podcast.Episode, error) {
	return "", podcast.Episode{}, station.ErrNotFound
}
func (b *books) Count(string, string) {}

func newBooks(episodes int) *books {
	b := &books{}
	b.show.Store(&podcast.Show{Own: podcast.Own{Slug: "nile", On: true, Title: "Nile"}, Changed: 1})
	for i := range episodes {
		b.heard = append(b.heard, podcast.Episode{ID: fmt.Sprint("e", i), Title: strings.Repeat("t", 200), Summary: fmt.Sprint(strings.Repeat("s", 3000), i), Published: int64(episodes - i)})
	}
	return b
}

func ask(h *Handler, host string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	h.Mount(mux)
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/podcasts/nile/feed.xml", nil)
	r.Host = host
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// A host is whatever a client writes: feeds of a thousand of them are not kept, nor is one whose
// name alone would fill a feed made.
func TestFeedsOfManyHostsAreNotKept(t *testing.T) {
	for episodes, hosts := range map[int]int{1: 2 * mostKept, 300: 16} {
		h := New(Options{Shows: newBooks(episodes), Station: func() string { return "Nile" }})
		for i := range hosts {
			if w := ask(h, fmt.Sprintf("h%d.example", i)); w.Code != 200 || !strings.Contains(w.Body.String(), fmt.Sprintf("http://h%d.example/podcasts/nile", i)) {
				t.Fatalf("host %d: %d", i, w.Code)
			}
			held := 0
			for e := h.kept.order.Front(); e != nil; e = e.Next() {
				held += e.Value.(*document).size() //nolint:forcetypeassert // nothing else is on it
			}
			if n := h.kept.order.Len(); n > mostKept || n != len(h.kept.all) || held != h.kept.bytes || held > mostKeptBytes {
				t.Fatalf("%d feeds, %d by their names, of %d bytes, which are taken for %d", n, len(h.kept.all), held, h.kept.bytes)
			}
		}
		if w := ask(h, strings.Repeat("h", longestHost+1)); w.Code != http.StatusBadRequest {
			t.Errorf("a host of %d bytes: %d", longestHost+1, w.Code)
		}
	}
}

// Many who ask at once share one making, and nobody gets what was before a change.
func TestAFeedIsMadeOnceForAllWhoAsk(t *testing.T) {
	b := newBooks(50)
	h := New(Options{Shows: b, Station: func() string { return "Nile" }})
	var first sync.Map
	for round := range 10 {
		next := *b.show.Load()
		next.Title, next.Changed = fmt.Sprint("title ", round), int64(round+1)*1000
		b.show.Store(&next)
		var g sync.WaitGroup
		for range 16 {
			g.Go(func() {
				w := ask(h, "radio.example")
				if w.Code != 200 || !strings.Contains(w.Body.String(), "<title>"+next.Title+"</title>") {
					t.Errorf("round %d: %d, or another title", round, w.Code)
				}
				if tag, had := first.LoadOrStore(round, w.Header().Get("ETag")); had && tag != w.Header().Get("ETag") {
					t.Errorf("round %d: two tags", round)
				}
			})
		}
		g.Wait()
	}
	if h.kept.waiting != 0 || len(h.kept.turns) != 0 {
		t.Errorf("%d wait, %d turns are taken", h.kept.waiting, len(h.kept.turns))
	}
}

// More than can be made at once are told to come again, and not held.
func TestTooManyMakingsAreRefused(t *testing.T) {
	h := New(Options{Shows: newBooks(1), Station: func() string { return "" }})
	h.kept.waiting = mostWaiting
	if w := ask(h, "a.example"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	h.kept.waiting = 0
	if w := ask(h, "a.example"); w.Code != 200 {
		t.Errorf("%d", w.Code)
	}
}

// Listeners are forgotten before they fill the memory.
func TestListenersInMemoryAreBounded(t *testing.T) {
	d := &downloads{now: func() time.Time { return time.Unix(1e9, 0) }}
	for i := range 3 * mostListeners {
		d.add(fmt.Sprint(i), "App", "nile/e", 1, 1)
		if len(d.got) > mostListeners || len(d.before) > mostListeners {
			t.Fatalf("%d and %d listeners", len(d.got), len(d.before))
		}
	}
	if _, first := d.add(fmt.Sprint(3*mostListeners-1), "App", "nile/e", 1, 1); first {
		t.Error("the last one is counted twice")
	}
}
