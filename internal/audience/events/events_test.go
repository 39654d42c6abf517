package events_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

type comment struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type said struct {
	ID   string `json:"id"`
	Room string `json:"room"`
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestHubNumbersKeepsStatesAndForgetsTheOld(t *testing.T) {
	h := events.NewHub(quiet(), "one")
	told, cancel := h.Subscribe()
	defer cancel()
	h.Tell("status", comment{Text: "first"})
	h.Tell("chat_state", said{Room: "a"})
	h.Tell("chat_state", said{Room: "b"})
	h.Tell("status", comment{Text: "second"})
	h.Tell("new_comment", comment{ID: "c1"})
	h.Tell("not in the table", 1)
	h.Tell("message", comment{ID: "m1"}) // names no room
	h.Tell("stats_update", func() {})    // cannot be written
	<-told
	states, seq := h.Latest()
	if seq != 5 || len(states) != 3 || !strings.Contains(string(states[2].Payload), "second") {
		t.Errorf("%d states, %d events", len(states), seq)
	}
	if e, ok := h.State("chat_state", "b", ""); !ok || e.Room != "b" {
		t.Errorf("state of a room: %v %v", e, ok)
	}
	for i := range 20_000 {
		h.Tell("new_comment", comment{ID: fmt.Sprint("c", i)})
	}
	_, seq = h.Latest()
	batch, ok := h.After(seq - 1000)
	if !ok || len(batch) != 1000 || batch[999].Seq != seq || batch[0].Seq != seq-999 {
		t.Errorf("%d events after 1000 before the last", len(batch))
	}
	for _, from := range []uint64{0, seq - 10_000, seq + 1} {
		if _, ok := h.After(from); ok {
			t.Errorf("events after %d of %d", from, seq)
		}
	}
	if batch, ok := h.After(seq); !ok || len(batch) != 0 {
		t.Error("nothing after the last")
	}
}

// What is remembered is bounded in bytes too: a queue of long titles is not kept
// thousands of times.
func TestHubRemembersABoundedNumberOfBytes(t *testing.T) {
	h := events.NewHub(quiet(), "one")
	long := comment{Text: strings.Repeat("x", 100_000)}
	const most = 32 << 20
	for range 400 {
		h.Tell("timeline_update", long)
	}
	_, seq := h.Latest()
	if _, ok := h.After(seq - 100); !ok {
		t.Error("not even 10 MB are remembered")
	}
	if _, ok := h.After(seq - most/100_000 - 1); ok {
		t.Error("more is remembered than there is room for")
	}
}

// wireless is a bus whose messages a test may lose, and whose other end it may
// replace.
type wireless struct {
	mu      sync.Mutex
	fn      func([]byte)
	serve   func([]byte) []byte
	lose    func() bool
	down    bool
	changes signal.Changes
}

func (w *wireless) Subscribe(_ string, fn func([]byte)) (func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fn = fn
	return func() {}, nil
}

func (w *wireless) Request(_ context.Context, _ string, data []byte) ([]byte, error) {
	w.mu.Lock()
	serve, down := w.serve, w.down
	w.mu.Unlock()
	if down || serve == nil {
		return nil, errors.New("away")
	}
	return serve(data), nil
}

func (w *wireless) Changes() (<-chan struct{}, func()) { return w.changes.Subscribe() }

func (w *wireless) Up() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.down
}

func (w *wireless) Publish(_ string, data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fn != nil && !w.down && !w.lose() {
		w.fn(slices.Clone(data))
	}
	return nil
}

func (w *wireless) set(down bool) {
	w.mu.Lock()
	w.down = down
	w.mu.Unlock()
	w.changes.Tell()
}

// shelf is what the station keeps on its disk, over its restarts.
type shelf struct {
	mu  sync.Mutex
	all []comment
}

func (s *shelf) put(c comment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, c)
}

func (s *shelf) Newest(context.Context) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return map[string]string{"new_comment": "c-1"}, nil
	}
	return map[string]string{"new_comment": s.all[len(s.all)-1].ID}, nil
}

func (s *shelf) Since(_ context.Context, _, after string) (out []any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last int
	if _, err := fmt.Sscanf(after, "c%d", &last); err != nil {
		return nil, err
	}
	for _, c := range s.all[last+1:] {
		out = append(out, c)
	}
	return out, nil
}

// Whatever the bus loses, and however often the station's control plane dies
// between its disk and the bus: a follower that was there has every record once,
// in order, and the latest state.
func TestFollowerMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, followerMissesNothing) // a bubble has no deadline that rapid could ask for
	})
}

func followerMissesNothing(rt *rapid.T) {
	w := &wireless{}
	lossy := rapid.IntRange(0, 100).Draw(rt, "percent lost")
	dice := rapid.Uint64().Draw(rt, "seed")
	w.lose = func() bool { dice = dice*6364136223846793005 + 1442695040888963407; return int(dice>>33%100) < lossy }
	kept := &shelf{}

	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	f := events.NewFollower(quiet(), w)
	leave := run(ctx, &all, f)
	replaced := func() { // the process of the edge, by a newer one
		leave()
		data, err := f.Save()
		if f = events.NewFollower(quiet(), w); err == nil {
			err = f.Load(data)
		}
		if err != nil {
			rt.Fatal(err)
		}
		leave = run(ctx, &all, f)
	}

	var hub *events.Hub
	epoch := 0
	stop := func() {}
	begin := func(next *events.Hub) {
		hub = next
		one := hub
		w.mu.Lock()
		w.serve = func(ask []byte) []byte { return one.Sync(ctx, ask, kept) }
		w.mu.Unlock()
		life, end := context.WithCancel(ctx)
		var gone sync.WaitGroup
		gone.Go(func() { one.Publish(life, w) })
		stop = func() { end(); gone.Wait() }
	}
	restart := func() {
		stop()
		epoch++
		begin(events.NewHub(quiet(), fmt.Sprint("epoch ", epoch)))
	}
	handOver := func() {
		stop()
		data, err := hub.Save()
		next := events.NewHub(quiet(), "never")
		if err == nil {
			err = next.Load(data)
		}
		if err != nil {
			rt.Fatal(err)
		}
		begin(next)
	}
	restart()
	hub.Tell("status", comment{Text: "begin"})
	await(rt, func() bool { _, ok := f.State("status", "", ""); return ok })

	n := 0
	for range rapid.IntRange(1, 60).Draw(rt, "steps") {
		switch rapid.IntRange(0, 11).Draw(rt, "step") {
		default:
			c := comment{ID: fmt.Sprint("c", n)}
			n++
			kept.put(c)
			if rapid.IntRange(0, 9).Draw(rt, "killed before it is told") == 0 {
				restart()
			} else {
				hub.Tell("new_comment", c)
			}
		case 0:
			hub.Tell("status", comment{Text: fmt.Sprint("at ", n)})
		case 1:
			restart()
		case 10:
			handOver()
		case 11:
			replaced()
		case 2:
			w.set(true)
			w.set(rapid.Bool().Draw(rt, "stays away"))
		}
	}
	hub.Tell("status", comment{Text: "end"})
	w.mu.Lock()
	w.lose = func() bool { return false }
	w.mu.Unlock()
	w.set(false)
	await(rt, func() bool { e, _ := f.State("status", "", ""); return strings.Contains(string(e.Payload), "end") })
	got, ok := f.After(0)
	if !ok {
		rt.Fatal("not everything is remembered")
	}
	next := 0
	for _, e := range got {
		if e.Name != "new_comment" {
			continue
		}
		if want := fmt.Sprintf(`"c%d"`, next); !strings.Contains(string(e.Payload), want) {
			rt.Fatalf("%s where %s should be", e.Payload, want)
		}
		next++
	}
	if next != n {
		rt.Fatalf("%d of %d records", next, n)
	}
	stop()
}

// run runs a follower until leave is called or ctx ends.
func run(ctx context.Context, all *sync.WaitGroup, f *events.Follower) (leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	all.Go(func() { defer close(done); _ = f.Run(ctx) })
	return func() { cancel(); <-done }
}

func await(t *rapid.T, ok func() bool) {
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) { // of a bubble
		if time.Now().After(end) {
			t.Fatal("the follower is not in step")
		}
	}
}

// A follower that was away for longer than one message of the bus can tell has
// everything all the same: from the hub, and where that has died from the disk,
// which may answer in parts and fail at first.
func TestFollowerCatchesUpWithMoreThanAMessageHolds(t *testing.T) {
	synctest.Test(t, catchesUp)
}

func catchesUp(t *testing.T) {
	long := strings.Repeat("x", 1000)
	w := &wireless{lose: func() bool { return false }}
	disk := &busyShelf{}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	hub := events.NewHub(quiet(), "one")
	serve := func(h *events.Hub) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.serve = func(ask []byte) []byte { return h.Sync(ctx, ask, disk) }
	}
	serve(hub)
	all.Go(func() { hub.Publish(ctx, w) })
	n := 0
	say := func(h *events.Hub) {
		c := comment{ID: fmt.Sprint("c", n), Text: long}
		n++
		disk.put(c)
		h.Tell("new_comment", c)
	}
	f := events.NewFollower(quiet(), w)
	hub.Tell("status", comment{Text: "begin"})
	say(hub)
	heard := 0
	all.Go(func() { _ = f.Run(ctx) })
	inStep := func(text string) {
		t.Helper()
		testkit.Eventually(t, "the follower is in step", func() bool {
			e, _ := f.State("status", "", "")
			return strings.Contains(string(e.Payload), text)
		})
	}
	inStep("begin")
	_, from := f.Latest()

	w.set(true)
	for range 1500 {
		say(hub)
	}
	hub.Tell("message_deleted", comment{ID: "c1"}) // nobody keeps it: only the hub can tell
	hub.Tell("status", comment{Text: "back"})
	w.set(false)
	inStep("back")
	batch, ok := f.After(from)
	for _, e := range batch {
		if e.Name == "new_comment" || e.Name == "message_deleted" {
			heard++
		}
	}
	if !ok || heard != 1501 {
		t.Errorf("%d of 1501 events of a hub that remembers them", heard)
	}

	_, from = f.Latest()
	heard = 0
	w.set(true)
	next := events.NewHub(quiet(), "two")
	for range 3000 {
		say(next)
	}
	next.Tell("status", comment{Text: "again"})
	disk.fail(3)
	serve(next)
	all.Go(func() { next.Publish(ctx, w) })
	w.set(false)
	inStep("again")
	batch, ok = f.After(from)
	for _, e := range batch {
		if e.Name == "new_comment" {
			if want := fmt.Sprintf(`"c%d"`, 1501+heard); !strings.Contains(string(e.Payload), want) {
				t.Fatalf("%.30s where %s should be", e.Payload, want)
			}
			heard++
		}
	}
	if !ok || heard != 3000 {
		t.Errorf("%d of 3000 records of a disk", heard)
	}
}

// busyShelf answers in parts, and not always.
type busyShelf struct {
	shelf
	failing atomic.Int32
}

func (s *busyShelf) fail(times int32) { s.failing.Store(times) }

func (s *busyShelf) Newest(ctx context.Context) (map[string]string, error) {
	if s.failing.Add(-1) >= 0 {
		return nil, errors.New("busy")
	}
	return s.shelf.Newest(ctx)
}

func (s *busyShelf) Since(ctx context.Context, name, after string) ([]any, error) {
	if s.failing.Add(-1) >= 0 {
		return nil, errors.New("busy")
	}
	all, err := s.shelf.Since(ctx, name, after)
	return all[:min(len(all), 500)], err
}
