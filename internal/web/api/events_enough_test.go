package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/channels"
	deadair "github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// toss is a station to which anything may happen.
type toss struct {
	*rand.Rand
	view    atomic.Pointer[scheduler.View]
	lib     atomic.Pointer[media.Snapshot]
	copies  atomic.Pointer[Mastering]
	node    atomic.Pointer[Node]
	nodeErr atomic.Pointer[error]
	guard   atomic.Pointer[deadair.Standing]
	votes   atomic.Pointer[map[string]int]
	changed signal.Changes
}

func (s *toss) Counts() map[string]int                                { return maps.Clone(*s.votes.Load()) }
func (s *toss) Status() deadair.Standing                              { return *s.guard.Load() }
func (s *toss) Totals() deadair.Totals                                { return deadair.Totals{} }
func (s *toss) History(context.Context, int) ([]deadair.Alarm, error) { return nil, nil }

type tossedVotes struct {
	noVotes
	*toss
}

func (v tossedVotes) Counts() map[string]int { return v.toss.Counts() }

func newToss(seed uint64) *toss {
	s := &toss{Rand: rand.New(rand.NewPCG(seed, 7))} //nolint:gosec // a test's
	s.view.Store(&scheduler.View{})
	s.lib.Store(&media.Snapshot{})
	s.copies.Store(&Mastering{})
	s.node.Store(&Node{Sounding: true})
	var fine error
	s.nodeErr.Store(&fine)
	s.guard.Store(&deadair.Standing{State: "watching", Reachable: true})
	s.votes.Store(&map[string]int{})
	return s
}

func (s *toss) track() station.Track {
	n := s.IntN(40)
	t := station.Track{Path: fmt.Sprintf("music/english/%d\xff.mp3", n), Title: fmt.Sprint("<أغنية> ", n), Artist: []string{"", "فنان"}[s.IntN(2)], Category: station.English, Duration: time.Duration(60+n) * time.Second}
	if s.IntN(4) == 0 {
		t.Category = station.Jingles
	}
	return t
}

func (s *toss) coin() bool { return s.IntN(2) == 0 }

// happens changes one thing.
func (s *toss) happens() {
	v := *s.view.Load()
	switch s.IntN(11) {
	case 0: // a rotation is built
		v.Rotation = rotation.Rotation{BuiltAt: time.Now()}
		for range s.IntN(60) {
			v.Rotation.Entries = append(v.Rotation.Entries, rotation.Entry{Track: s.track(), Type: "music", Cross: 2 * time.Second})
		}
		v.Consumed = 0
	case 1, 2, 3: // the next one begins
		if !v.OnAir.StartedAt.IsZero() {
			v.Past = append([]scheduler.OnAir{v.OnAir}, v.Past...)
		}
		v.OnAir = scheduler.OnAir{Kind: []scheduler.Kind{scheduler.Rotation, scheduler.Rotation, scheduler.Live, scheduler.Emergency}[s.IntN(4)], Track: s.track(), Type: "music", StartedAt: time.Now(), Index: v.Consumed}
		v.Consumed = min(v.Consumed+1, len(v.Rotation.Entries))
	case 4: // times shift
		v.OnAir.StartedAt = v.OnAir.StartedAt.Add(time.Duration(s.IntN(5000)) * time.Millisecond)
	case 5:
		v.Problem, v.Waiting, v.Beginning = []string{"", "full"}[s.IntN(2)], s.coin(), s.coin()
	case 6:
		s.node.Store(&Node{Sounding: s.coin(), DiskFull: s.coin()})
	case 7:
		var err error
		if s.coin() {
			err = errors.New("away")
		}
		s.nodeErr.Store(&err)
	case 8:
		s.guard.Store(&deadair.Standing{State: []string{"off", "starting", "watching", "alarm"}[s.IntN(4)], Kind: []deadair.Kind{deadair.None, deadair.Starved}[s.IntN(2)], Reachable: s.coin(), Arriving: s.coin(), Short: s.coin(), DiskFull: s.coin()})
	case 9:
		s.copies.Store(&Mastering{Ready: s.IntN(9), Silent: s.IntN(9), Problem: []string{"", "no room"}[s.IntN(2)]})
		s.lib.Store(&media.Snapshot{Problem: []string{"", "", "gone"}[s.IntN(3)]})
	case 10:
		counts := s.Counts()
		counts[s.track().Path]++
		s.votes.Store(&counts)
	}
	s.view.Store(&v)
	if s.coin() {
		s.changed.Tell() // otherwise the next look finds it
	}
}

// told is what a page knows that heard every event, as web/src/station/told.ts takes them.
type told struct{ status, queue any }

func (p *told) hear(t *testing.T, batch []events.Event) {
	t.Helper()
	for _, e := range batch {
		var payload any
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		switch e.Name {
		case "status":
			p.status = payload
		case "timeline_update":
			p.queue = payload
		}
	}
}

// A page that has heard the events knows what one would that has just asked, field by field,
// whatever has happened.
func TestEventsTellAllThatPagesShow(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { tellsAll(t, newToss(seed)) }) })
	}
}

func tellsAll(t *testing.T, at *toss) {
	t.Helper()
	s := New(Options{
		Log: slog.New(slog.DiscardHandler), Name: "إذاعة النيل", Language: "ar", Zone: time.UTC, Renditions: []int{256, 64}, DeadAir: at,
		Air: at.view.Load, Library: at.lib.Load, Mastering: func() Mastering { return *at.copies.Load() },
		Node:  func(context.Context) (Node, error) { return *at.node.Load(), *at.nodeErr.Load() },
		Count: func() telemetry.Count { return telemetry.Count{} },
		Votes: tossedVotes{noVotes{}, at}, Pages: http.NotFoundHandler(), HLS: http.NotFoundHandler(), HLSPrefix: "/hls/",
	})
	h := s.Handler()
	ask := func(path string) map[string]any {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		out := map[string]any{}
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %v %s", path, w.Code, err, w.Body)
		}
		return out
	}
	hub := events.NewHub(slog.New(slog.DiscardHandler), "one")
	var beside signal.Changes
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Tell(ctx, hub, &at.changed, &beside, func() []channels.Channel { return nil })
	}()
	defer func() {
		cancel()
		<-done
	}()
	var page told
	var seen uint64
	for step := range 60 {
		at.happens()
		time.Sleep(airEvery + time.Millisecond)
		synctest.Wait()
		batch, ok := hub.After(seen)
		if !ok {
			t.Fatal("events are lost")
		}
		_, seen = hub.Latest()
		page.hear(t, batch)
		heard, asked := page.status.(map[string]any), ask("/api/status")
		for _, field := range []string{"station", "hls", "onAir", "state", "reason", "nowPlaying", "track"} {
			if diff := cmp.Diff(asked[field], heard[field]); diff != "" {
				t.Fatalf("step %d, %s: asked, told:\n%s", step, field, diff)
			}
		}
		before := asked["history"].([]any)
		after, _ := heard["history"].([]any)
		for _, e := range after {
			delete(e.(map[string]any), "at")
		}
		if len(before)+len(after) > 0 && !cmp.Equal(before, after) {
			t.Fatalf("step %d, history: %s", step, cmp.Diff(before, after))
		}
		if asked["reason"] == "beginning" {
			lib := asked["library"].(map[string]any)
			if want := map[string]any{"ready": lib["ready"], "unready": lib["unready"]}; !cmp.Equal(want, heard["library"]) {
				t.Fatalf("step %d, library: %v, want %v", step, heard["library"], want)
			}
		}
		queue := ask("/api/upnext")["queue"]
		told, _ := page.queue.([]any)
		if asked, _ := queue.([]any); len(asked)+len(told) > 0 && !cmp.Equal(asked, told) {
			t.Fatalf("step %d, queue: %s", step, cmp.Diff(asked, told))
		}
	}
}
