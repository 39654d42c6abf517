package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// steady is a station whose parts show one state until it is another, as the
// real ones do. ask is what happens when the node is asked.
type steady struct {
	*rig
	air   atomic.Pointer[scheduler.View]
	asked atomic.Int64
	ask   atomic.Pointer[func(context.Context)]
}

func newSteady(t *testing.T) *steady {
	t.Helper()
	s := &steady{}
	s.rig = newRigWith(t, func(o *api.Options) {
		s.air.Store(o.Air())
		lib, node := o.Library(), o.Node
		o.Air, o.Library = s.air.Load, func() *media.Snapshot { return lib }
		o.Node = func(ctx context.Context) (api.Node, error) {
			s.asked.Add(1)
			if ask := s.ask.Load(); ask != nil {
				(*ask)(ctx)
			}
			return node(ctx)
		}
	})
	return s
}

// plays puts another title on air.
func (s *steady) plays(title string) {
	next := *s.air.Load()
	next.OnAir.Track = station.Track{Path: "music/english/1.mp3", Title: title, Category: station.English}
	s.air.Store(&next)
}

func TestStatusIsMadeOnceForManyAndNewAtEveryChange(t *testing.T) {
	s := newSteady(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				s.call(t, "GET", "/api/status", "")
			}
		})
	}
	all.Wait()
	if n := s.asked.Load(); n > 100 { // 200 would be one each; how long they take is not ours to say
		t.Errorf("the node was asked %d times", n)
	}
	for _, title := range []string{"أولى", "ثانية", "ثالثة"} {
		s.plays(title)
		if got := s.json(t, "/api/status")["nowPlaying"].(map[string]any)["title"]; got != title {
			t.Errorf("%v is shown, not %s", got, title)
		}
	}
	// What is kept tells the time all the same.
	var before int64
	for range 20 {
		var is struct{ ServerTime int64 }
		earliest := time.Now().UnixMilli()
		_, _, body := s.call(t, "GET", "/api/status", "")
		if err := json.Unmarshal([]byte(body), &is); err != nil || is.ServerTime < max(earliest, before) || is.ServerTime > time.Now().UnixMilli() {
			t.Fatalf("%v: %s at %d", err, body, earliest)
		}
		before = is.ServerTime
		time.Sleep(2 * time.Millisecond)
	}
}

// A node that does not answer holds up one request, not those beside it.
func TestAHangingNodeHoldsUpOneRequest(t *testing.T) {
	s := newSteady(t)
	// By a clock of its own: what is kept cannot grow too old on a busy machine.
	synctest.Test(t, func(t *testing.T) {
		get := func() int {
			answer := httptest.NewRecorder()
			s.Config.Handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/api/status", nil))
			return answer.Code
		}
		get()
		time.Sleep(time.Second) // what is kept is not fresh any more
		freed := make(chan struct{})
		ask := func(ctx context.Context) {
			select {
			case <-freed:
			case <-ctx.Done():
			}
		}
		s.ask.Store(&ask)
		first := make(chan int, 1)
		go func() { first <- get() }()
		synctest.Wait() // it is asking
		began := time.Now()
		for range 10 {
			if code := get(); code != http.StatusOK {
				t.Errorf("a request beside it: %d", code)
			}
		}
		if held := time.Since(began); held > 0 {
			t.Errorf("those beside it were held up for %s", held)
		}
		close(freed)
		if code := <-first; code != http.StatusOK {
			t.Errorf("the one that waited: %d", code)
		}
	})
}

// Looking through the whole library costs a large one 30 ms, and the route is open: many
// requests cost what one does, those with a meaningless query too, until the library or
// the time is another.
func TestTheLibraryIsCountedOnceForManyRequests(t *testing.T) {
	var lib atomic.Pointer[media.Snapshot]
	var air *scheduler.View
	r := newRigWith(t, func(o *api.Options) {
		lib.Store(o.Library())
		air = o.Air()
		o.Air, o.Library = func() *scheduler.View { return air }, lib.Load
	})
	synctest.Test(t, func(t *testing.T) {
		ask := func(query string) {
			t.Helper()
			answer := httptest.NewRecorder()
			r.Config.Handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/api/content/status"+query, nil))
			if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"tracks":6`) {
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
		}
		for i := range 30 {
			ask("")
			ask("?" + strconv.Itoa(i))
		}
		if n := r.made.looks.Load(); n != 1 {
			t.Errorf("60 requests at one time: looked %d times", n)
		}
		other := *lib.Load()
		lib.Store(&other)
		ask("")
		if n := r.made.looks.Load(); n != 2 {
			t.Errorf("after a change of the library: looked %d times", n)
		}
		time.Sleep(time.Second)
		ask("?x")
		if n := r.made.looks.Load(); n != 3 {
			t.Errorf("a second later: looked %d times", n)
		}
	})
}

func TestWhoHasTheQueueAlreadyIsToldSo(t *testing.T) {
	s := newSteady(t)
	for _, path := range []string{"/api/upnext", "/api/schedule", "/next-tracks.json", "/api/library"} {
		_, head, body := s.call(t, "GET", path, "")
		tag := head.Get("ETag")
		if tag == "" || body == "" {
			t.Fatalf("%s: no ETag", path)
		}
		for _, sent := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag} {
			if code, head, body := s.call(t, "GET", path, "", "If-None-Match", sent); code != http.StatusNotModified || body != "" || head.Get("ETag") != tag {
				t.Errorf("%s, %s: %d %v", path, sent, code, head)
			}
		}
		if code, _, _ := s.call(t, "GET", path, "", "If-None-Match", `"other"`); code != http.StatusOK {
			t.Errorf("%s, another tag: %d", path, code)
		}
	}
	_, head, _ := s.call(t, "GET", "/api/upnext", "")
	s.send(t, "POST", "/api/upnext/votes", `{"file":"music/english/3.mp3","delta":1}`)
	if code, _, body := s.call(t, "GET", "/api/upnext", "", "If-None-Match", head.Get("ETag")); code != http.StatusOK {
		t.Errorf("after a vote: %d %s", code, body)
	}
}

// Whoever asks for metrics or health without end costs the node and the database no more
// than one who asks now and then, and a fault is not hidden by what is kept.
func TestMetricsAndHealthAreReadNowAndThenHoweverManyAsk(t *testing.T) {
	var asked, counted int
	var faults []string
	var air *scheduler.View
	r := newRigWith(t, func(o *api.Options) {
		air = o.Air()
		node := o.Node
		o.Air, o.Faults = func() *scheduler.View { return air }, func() []string { return faults }
		o.Node = func(ctx context.Context) (api.Node, error) { asked++; return node(ctx) }
		o.Metrics = []api.Metric{{Name: "rows", Help: "Of a table.", Read: func(add func(float64, string)) { counted++; add(float64(counted), "") }}}
	})
	synctest.Test(t, func(t *testing.T) {
		ask := func(path string) (int, string) {
			answer := httptest.NewRecorder()
			r.Config.Handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
			return answer.Code, answer.Body.String()
		}
		for range 4 { // four times within a second
			for range 20 {
				if code, body := ask("/metrics?x=" + strconv.Itoa(counted)); code != http.StatusOK || !strings.Contains(body, "athir_rows 1\n") {
					t.Fatalf("metrics: %d, not those of the first scrape", code)
				}
			}
			time.Sleep(240 * time.Millisecond)
		}
		if asked != 1 || counted != 1 {
			t.Errorf("80 scrapes within a second asked the node %d times, counted rows %d times", asked, counted)
		}
		time.Sleep(time.Second)
		if _, body := ask("/metrics"); !strings.Contains(body, "athir_rows 2\n") {
			t.Errorf("a second later: %s", body)
		}
		asked = 0
		for range 20 {
			if code, body := ask("/healthz"); code != http.StatusOK {
				t.Fatalf("health: %d %s", code, body)
			}
		}
		if asked != 1 {
			t.Errorf("20 looks at health asked the node %d times", asked)
		}
		faults = []string{"the database is gone"}
		if code, body := ask("/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, faults[0]) {
			t.Errorf("with a fault: %d %s", code, body)
		}
		faults = nil
		if code, body := ask("/healthz"); code != http.StatusOK {
			t.Errorf("mended: %d %s", code, body)
		}
	})
}
