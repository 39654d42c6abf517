package events_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
)

// followed is a follower and the station's bus, in a bubble of synctest.
func followed(t *testing.T) (f *events.Follower, w *wireless, live func(*events.Hub) (die func())) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(func() { cancel(); all.Wait() })
	w = &wireless{lose: func() bool { return false }}
	f = events.NewFollower(quiet(), w)
	all.Go(func() { _ = f.Run(ctx) })
	return f, w, func(h *events.Hub) func() {
		w.mu.Lock()
		w.serve = func(ask []byte) []byte { return h.Sync(ctx, ask, &shelf{}) }
		w.mu.Unlock()
		life, end := context.WithCancel(ctx)
		var publishing sync.WaitGroup
		publishing.Go(func() { h.Publish(life, w) })
		return func() {
			end()
			publishing.Wait()
			w.mu.Lock()
			w.serve = nil
			w.mu.Unlock()
		}
	}
}

func shown(f *events.Follower) map[string]string {
	out := map[string]string{}
	states, _ := f.Latest()
	for _, e := range states {
		out[strings.TrimSpace(e.Name+" "+e.Room+e.Channel)] = string(e.Payload)
	}
	return out
}

// An alarm that was on when the control plane died is not shown for ever: what
// the next one does not say is not true any more.
func TestStatesOfAControlPlaneThatDiedAreNotShownByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, live := followed(t)
		first := events.NewHub(quiet(), "one")
		first.Tell("alert", comment{Text: "raised"})
		first.Tell("status", comment{Text: "first"})
		first.Tell("status", map[string]string{"channel": "fairuz", "text": "a channel"})
		die := live(first)
		time.Sleep(time.Second)
		if got := shown(f); !strings.Contains(got["alert"], "raised") || !strings.Contains(got["status fairuz"], "a channel") {
			t.Fatalf("%v", got)
		}
		die()
		next := events.NewHub(quiet(), "two")
		next.Tell("status", comment{Text: "second"})
		live(next)
		time.Sleep(5 * time.Second)
		if got := shown(f); len(got) != 1 || !strings.Contains(got["status"], "second") {
			t.Errorf("%v", got)
		}
	})
}

// A follower that hears nothing of the station for long says so, and shows no
// old truth; a moment of silence is none. Who came meanwhile is told everything
// when the station is back.
func TestAFollowerThatHearsNothingSaysSoAndShowsNoOldTruth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, w, live := followed(t)
		hub := events.NewHub(quiet(), "one")
		hub.Tell("status", comment{Text: "first"})
		hub.Tell("alert", comment{Text: "raised"})
		die := live(hub)
		time.Sleep(time.Minute)
		if got := shown(f); len(got) != 2 || f.Away() {
			t.Fatalf("in step: %v", got)
		}
		w.set(true)
		time.Sleep(4 * time.Second)
		if got := shown(f); len(got) != 2 || f.Away() {
			t.Errorf("after a moment: %v", got)
		}
		time.Sleep(10 * time.Second)
		got := shown(f)
		var link events.Link
		if err := json.Unmarshal([]byte(got["link"]), &link); err != nil || link.Up || time.Since(time.UnixMilli(link.Since)) < 10*time.Second || len(got) != 1 || !f.Away() {
			t.Errorf("away: %v", got)
		}
		if _, ok := f.State("status", "", ""); ok {
			t.Error("an old state is shown")
		}
		_, from := f.Latest()
		w.set(false)
		time.Sleep(5 * time.Second)
		got = shown(f)
		if len(got) != 3 || !strings.Contains(got["link"], "true") || f.Away() {
			t.Errorf("back: %v", got)
		}
		told := map[string]int{}
		batch, _ := f.After(from)
		for _, e := range batch {
			told[e.Name]++
		}
		if told["status"] != 1 || told["alert"] != 1 || told["link"] != 1 {
			t.Errorf("told when it is back: %v", told)
		}

		die() // the bus is there, the station is not
		time.Sleep(20 * time.Second)
		if got := shown(f); len(got) != 1 || !f.Away() {
			t.Errorf("without a control plane: %v", got)
		}
		next := events.NewHub(quiet(), "two")
		next.Tell("alert", comment{Text: "cleared"})
		live(next)
		time.Sleep(5 * time.Second)
		if got := shown(f); !strings.Contains(got["alert"], "cleared") || got["status"] != "" {
			t.Errorf("the next control plane: %v", got)
		}
	})
}

// A mark of the station's hub is reached by a mirror once it holds all that was
// told up to it, and by no other epoch's.
func TestAMirrorKnowsHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, w, live := followed(t)
		hub := events.NewHub(quiet(), "one")
		hub.Tell("status", comment{Text: "first"})
		live(hub)
		time.Sleep(time.Second)
		if m := hub.Mark(); !hub.Reached(m) || !f.Reached(m) {
			t.Error("in step, and the mark is not reached")
		}
		w.mu.Lock()
		w.lose = func() bool { return true }
		w.mu.Unlock()
		_, from := f.Latest()
		before := hub.Mark()
		hub.Tell("new_comment", comment{ID: "c1"})
		m := hub.Mark()
		if f.Reached(m) || !f.Reached(before) || f.Reached(events.Mark{Epoch: "two"}) {
			t.Error("what is not here is reached")
		}
		w.mu.Lock()
		w.lose = func() bool { return false }
		w.mu.Unlock()
		time.Sleep(3 * time.Second)
		batch, _ := f.After(from)
		if !f.Reached(m) || len(batch) != 1 || batch[0].Before(before) || !batch[0].Before(m) {
			t.Errorf("after the next beat: %v", batch)
		}
	})
}

func TestAStateThatIsWithdrawnIsToldAndNotKept(t *testing.T) {
	h := events.NewHub(quiet(), "one")
	h.Tell("status", map[string]string{"channel": "main"})
	h.Tell("status", map[string]string{"channel": "fairuz"})
	h.Withdraw("status", map[string]string{"channel": "fairuz", "state": "off"})
	states, _ := h.Latest()
	batch, _ := h.After(0)
	if len(states) != 1 || states[0].Channel != "" || len(batch) != 3 || batch[2].Channel != "fairuz" {
		t.Errorf("%v, %v", states, batch)
	}
}

// What a listener writes does not grow on its way: it is bounded where it comes in.
func TestTextDoesNotGrowOnTheWire(t *testing.T) {
	text := strings.Repeat("<&>", 10_000)
	h := events.NewHub(quiet(), "one")
	h.Tell("new_comment", comment{ID: "c1", Text: text})
	batch, _ := h.After(0)
	if n := len(batch[0].Payload); n > len(text)+100 {
		t.Errorf("%d bytes of %d", n, len(text))
	}
	ask, _ := json.Marshal(map[string]any{"epoch": "one"})
	if got := h.Sync(t.Context(), ask, &shelf{}); len(got) > len(text)+300 || !json.Valid(got) {
		t.Errorf("%d bytes in the answer to a follower", len(got))
	}
}
