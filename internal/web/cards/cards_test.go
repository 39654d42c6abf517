package cards

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// studio draws cards as their own text.
type studio struct {
	drawn  atomic.Int32
	within atomic.Int32
	most   atomic.Int32
	takes  time.Duration
	title  atomic.Pointer[string]
	fails  bool
}

func (s *studio) cards() *Cards {
	s.play("first")
	return New(Options{
		Draw: func(sc Scene, logo, cover image.Image) ([]byte, error) {
			s.drawn.Add(1)
			s.most.Store(max(s.most.Load(), s.within.Add(1)))
			defer s.within.Add(-1)
			time.Sleep(s.takes)
			if s.fails {
				return nil, errors.New("no paint")
			}
			return fmt.Appendf(nil, "%s %v", sc.Title, logo != nil), nil
		},
		Now: func() Scene { return Scene{Title: *s.title.Load()} },
		Track: func(_ context.Context, id string) (Scene, bool) {
			return Scene{Title: id, Pictures: func() (image.Image, image.Image) { return image.White, nil }}, !strings.HasPrefix(id, "zz")
		},
		Instead: func() string { return "/face/icon-512.png?v=1" },
	})
}

func (s *studio) play(title string) { s.title.Store(&title) }

func ask(h http.Handler, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(r *http.Response) string {
	out, _ := io.ReadAll(r.Body)
	return string(out)
}

// A card is drawn once for all who ask, and again when something else plays.
func TestACardIsDrawnOnce(t *testing.T) {
	s := &studio{}
	c := s.cards()
	first := ask(c, "/card/now.png?v=7-a")
	if body(first) != "first false" || first.Header.Get("Content-Type") != "image/png" || first.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("%d %v", first.StatusCode, first.Header)
	}
	if got := ask(c, "/card/now.png", "If-None-Match", first.Header.Get("ETag")); got.StatusCode != 304 {
		t.Errorf("asked for again: %d", got.StatusCode)
	}
	s.play("second")
	if got := body(ask(c, "/card/now.png")); got != "second false" || s.drawn.Load() != 2 {
		t.Errorf("%q, drawn %d times", got, s.drawn.Load())
	}
	id := station.TrackID("a.mp3")
	if got := body(ask(c, "/card/"+id+".png")); got != id+" true" {
		t.Errorf("%q", got)
	}
	for path, want := range map[string]int{"/card/": 404, "/card/x.png": 404, "/card/" + id: 404, "/card/" + id + ".jpg": 404, "/card/../now.png": 404, "/card/zz" + id[2:] + ".png": 404} {
		if got := ask(c, path).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	s.fails = true
	s.play("third")
	if got := ask(c, "/card/now.png"); got.StatusCode != 307 || got.Header.Get("Location") != "/face/icon-512.png?v=1" || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("what cannot be drawn: %d %v", got.StatusCode, got.Header)
	}
}

// Whoever asks for the cards of a hundred thousand tracks gets few: one is drawn at a time, few
// wait, and after the first the rest come slowly. What plays is not held up by that.
func TestNobodyHasCardsDrawnWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &studio{takes: 50 * time.Millisecond}
		c := s.cards()
		var all sync.WaitGroup
		var refused, without atomic.Int32
		for i := range 200 {
			all.Go(func() {
				got := ask(c, "/card/"+station.TrackID(fmt.Sprint(i))+".png")
				if got.StatusCode == http.StatusServiceUnavailable {
					refused.Add(1)
					if got.Header.Get("Retry-After") == "" {
						without.Add(1)
					}
				}
			})
		}
		all.Wait()
		if s.most.Load() != 1 || s.drawn.Load() > mostWaiting+1 || refused.Load() < 200-mostWaiting-1 || without.Load() > 0 {
			t.Errorf("%d at once, %d drawn, %d refused, %d without Retry-After", s.most.Load(), s.drawn.Load(), refused.Load(), without.Load())
		}
		began := time.Now()
		for i := range 1000 { // one after another, for 100 s
			ask(c, "/card/"+station.TrackID(fmt.Sprint("later", i))+".png")
			time.Sleep(100 * time.Millisecond)
		}
		if n := int(s.drawn.Load()); n > burst+int(time.Since(began)/every)+2 {
			t.Errorf("%d were drawn", n)
		}
		if got := body(ask(c, "/card/now.png")); got != "first false" {
			t.Errorf("what plays: %q", got)
		}
		if len(c.kept.all) > mostKept || c.kept.order.Len() > mostKept {
			t.Errorf("%d are kept", len(c.kept.all))
		}
	})
}

func TestTheShelfIsBounded(t *testing.T) {
	var s shelf
	for i := range 100 {
		s.put(fmt.Sprint(i), make([]byte, 1<<20))
		s.get("0") // is asked for again and again
	}
	if s.bytes > mostBytes || len(s.all) > mostKept || s.bytes != s.order.Len()<<20 || s.get("0") == nil || s.get("99") == nil || s.get("50") != nil {
		t.Errorf("%d bytes in %d", s.bytes, s.order.Len())
	}
}

// A front asks once for many, and shows what it had while the control plane is away.
func TestAFrontKeepsTheLastCards(t *testing.T) {
	var asked atomic.Int32
	away := false
	p := NewPassed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if away {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, r.URL.Path)
	}), func() string { return "/face/icon-512.png?v=1" })
	now := time.Unix(0, 0)
	p.clock = func() time.Time { return now }
	for range 3 {
		if got := body(ask(p, "/card/now.png?v=1")); got != "/card/now.png" {
			t.Errorf("%q", got)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	now, away = now.Add(time.Hour), true
	if got := ask(p, "/card/now.png"); got.StatusCode != 200 || body(got) != "/card/now.png" {
		t.Errorf("while the control plane is away: %d", got.StatusCode)
	}
	if got := ask(p, "/card/"+station.TrackID("x")+".png"); got.StatusCode != 307 {
		t.Errorf("one that it never had: %d", got.StatusCode)
	}
	n := asked.Load()
	for _, path := range []string{"/card/", "/card/../api/status", "/card/x.png", "/card/now.png/x"} {
		if got := ask(p, path); got.StatusCode != 404 || asked.Load() != n {
			t.Errorf("%s: %d, and the control plane was asked", path, got.StatusCode)
		}
	}
}
