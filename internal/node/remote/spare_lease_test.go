package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

func twoPlaces() Places { return Places{Host: "a.example", Spare: "b.example"} }

// one is a node as the lease sees it, without the bus.
type one struct {
	id, host string
	alive    bool
	reaches  bool // the control plane, and the other way round
	look     *lookout
	next     int       // number of its relay's next segment
	floor    int       // as it was told
	fence    uint64    // by which it obeys
	until    time.Time // it obeys, an order under way included
}

// scene is a station of two nodes whose time is virtual.
type scene struct {
	path  string
	lease *Lease
	nodes []*one
	apart bool // the link between the two nodes is cut
	// seen is when somebody last saw each host, or was seen to look.
	seen map[string]time.Time
}

func newScene(path string) *scene {
	s := &scene{path: path, seen: map[string]time.Time{}}
	for _, n := range []*one{{id: "a", host: "a.example"}, {id: "b", host: "b.example"}} {
		n.alive, n.reaches = true, true
		n.look = &lookout{see: func(_ context.Context, host string) error { return s.see(n, host) }}
		s.nodes = append(s.nodes, n)
	}
	s.restart()
	return s
}

// restart starts the control plane anew.
func (s *scene) restart() {
	s.lease = openLease(slog.New(slog.DiscardHandler), s.path, spareTerms(), twoPlaces(), func(_ context.Context, host string) error { return s.see(nil, host) })
}

func (s *scene) at(host string) *one {
	for _, n := range s.nodes {
		if n.host == host {
			return n
		}
	}
	return nil
}

// see is a look of a node, or of the control plane.
func (s *scene) see(from *one, host string) error {
	n := s.at(host)
	switch {
	case n == nil || !n.alive, from == nil && !n.reaches, from != nil && (from == n || s.apart):
		return errors.New("nothing answers")
	}
	s.seen[host] = time.Now()
	return nil
}

// step is half a second: all look, and those who can ask.
func (s *scene) step(ctx context.Context) error {
	time.Sleep(lookEvery)
	s.lease.look.once(ctx)
	for _, n := range s.nodes {
		if !n.alive {
			continue
		}
		n.look.once(ctx)
		if !n.reaches {
			continue
		}
		asked := time.Now()
		got, err := s.lease.ask(ctx, leaseAsk{ID: n.id, Name: n.id, Host: n.host, Fences: true, Sight: n.look.sight(), Next: n.next})
		switch {
		case err != nil:
			return err
		case got.Granted:
			n.fence, n.until, n.floor = got.Fence, asked.Add(got.Held+got.Renew), got.Floor
		default:
			n.fence = 0
			n.look.at(got.Fence, got.Host)
		}
	}
	return nil
}

func (s *scene) steps(t *testing.T, n int) {
	t.Helper()
	for range n {
		must(t, s.step(t.Context()))
	}
}

// A dead node's air is the spare's within 5 s; one that is seen by anybody keeps it, for as
// long as it lasts; and one that comes back stands by, and its old markers count for nothing.
func TestTheSpareTakesTheAirOfTheDeadAlone(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(filepath.Join(dir, "holder.json"))
		a, b := s.nodes[0], s.nodes[1]
		a.next, b.next = 900, 20_000 // what the spare's relay makes is on no air
		s.steps(t, 10)
		if a.fence != 1 || b.fence != 0 {
			t.Fatalf("at first: fences %d and %d", a.fence, b.fence)
		}
		a.reaches = false // only the control plane has lost it
		s.steps(t, 200)
		if b.fence != 0 {
			t.Error("the spare took the air of a node that it sees")
		}
		a.reaches, s.apart = true, true // only the spare has lost it
		s.steps(t, 200)
		if b.fence != 0 || a.fence != 1 {
			t.Error("the spare took the air of a node that asks")
		}
		s.restart()
		s.steps(t, 100)
		if a.fence != 1 {
			t.Errorf("after a restart of the control plane: fence %d", a.fence)
		}
		s.apart, a.alive = false, false
		died := time.Now()
		for b.fence == 0 && time.Since(died) < time.Minute {
			s.steps(t, 1)
		}
		if b.fence != 2 || time.Since(died) > 4*time.Second { // of 5, which the programs need as well
			t.Errorf("the spare has fence %d after %s", b.fence, time.Since(died))
		}
		if b.floor <= 900 || b.floor > 1000 || a.floor != 0 {
			t.Errorf("segments were numbered below 900, and the spare's begin at %d", b.floor)
		}
		a.alive = true
		s.steps(t, 100)
		if a.fence != 0 || b.fence != 2 {
			t.Errorf("the first one is back: fences %d and %d", a.fence, b.fence)
		}
		for node, fences := range map[string][]uint64{"a": {0, 1, 2}, "b": {1, 3}} {
			for _, fence := range fences {
				if err := s.lease.Admit(node, fence); !errors.Is(err, station.ErrConflict) {
					t.Errorf("a marker of %s, fence %d: %v", node, fence, err)
				}
			}
		}
		must(t, s.lease.Admit("b", 2))
		if got := s.lease.Host(); got != "b.example" {
			t.Errorf("the node is at %s", got)
		}
		b.alive = false // and the other way round
		s.steps(t, 20)
		if a.fence != 3 {
			t.Errorf("the first one again: fence %d", a.fence)
		}
		if err := s.lease.Admit("a", 1); !errors.Is(err, station.ErrConflict) {
			t.Errorf("a marker of the same node, from before: %v", err)
		}
	})
}

// A control plane whose file is gone, or is an old one, gives no fence again that a node
// knows: the relays and edges would take it for one of the past.
func TestAFenceThatANodeKnowsIsNotGivenAgain(t *testing.T) {
	for _, file := range []string{"", `{"id":"a","name":"a","host":"a.example","fence":3,"fences":true}`} {
		path := filepath.Join(t.TempDir(), "holder.json")
		if file != "" {
			must(t, os.WriteFile(path, []byte(file), 0o600))
		}
		l := openLease(slog.New(slog.DiscardHandler), path, spareTerms(), twoPlaces(), nil)
		for range 2 {
			got, err := l.ask(t.Context(), leaseAsk{ID: "a", Name: "a", Host: "a.example", Fences: true, Known: 7})
			must(t, err)
			if !got.Granted || got.Fence != 8 {
				t.Errorf("file %q: %+v", file, got)
			}
		}
	}
}

// A process that slept has seen nothing, and so nothing that failed.
func TestWhoSleptHasNotLooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asleep := time.Duration(0)
		l := &lookout{see: func(context.Context, string) error {
			time.Sleep(asleep)
			return errors.New("nothing answers")
		}}
		l.at(1, "a.example")
		for range 4 {
			time.Sleep(lookEvery)
			l.once(t.Context())
		}
		if got := l.sight(); got.of(1) != 3*lookEvery || got.of(2) != 0 {
			t.Errorf("four looks: %+v", got)
		}
		time.Sleep(time.Minute)
		if got := l.sight(); got.Unseen != 0 {
			t.Errorf("after a minute asleep: %+v", got)
		}
		l.once(t.Context())
		if got := l.sight(); got.Unseen != 0 {
			t.Errorf("the first look after it: %+v", got)
		}
		asleep = time.Minute
		l.once(t.Context())
		if got := l.sight(); got.Unseen != 0 {
			t.Errorf("asleep within a look: %+v", got)
		}
	})
}

// Whatever dies, is cut off and comes back, the control plane included: no fence is given to
// two nodes or goes down, no two nodes obey at once, and no node that anybody sees loses the
// air to the other.
func TestTheAirHasOneHolder(t *testing.T) {
	dir := t.TempDir()
	happens := rapid.Custom(func(r *rapid.T) event {
		return event{rapid.IntRange(0, 24).Draw(r, "what"), rapid.IntRange(0, 1).Draw(r, "node"), time.Duration(rapid.IntRange(1, 30_000).Draw(r, "ms")) * time.Millisecond}
	})
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		events := rapid.SliceOfN(happens, 10, 150).Draw(r, "events")
		runs++
		file, wrong := fmt.Sprintf("holder-%d.json", runs), ""
		synctest.Test(t, func(t *testing.T) { wrong = play(t, filepath.Join(dir, file), events) })
		if wrong != "" {
			r.Fatal(wrong)
		}
	})
}

// event is what happens before a step.
type event struct {
	what, node int
	last       time.Duration
}

// play returns what was wrong.
func play(t *testing.T, path string, events []event) string {
	s := newScene(path)
	of, highest, had := map[uint64]string{}, uint64(0), ""
	for _, e := range events {
		n := s.nodes[e.node]
		switch e.what {
		case 0, 1:
			if n.alive = !n.alive; !n.alive {
				n.fence = 0
			}
		case 2, 3:
			n.reaches = !n.reaches
		case 4:
			s.apart = !s.apart
		case 5:
			s.restart()
		case 6:
			n.id += "'" // after a reboot
			n.fence = 0
		case 7:
			time.Sleep(e.last) // all stand still
		}
		must(t, s.step(t.Context()))
		obeying := 0
		for _, n := range s.nodes {
			if n.fence == 0 || !time.Now().Before(n.until) {
				continue
			}
			obeying++
			if other := of[n.fence]; other != "" && other != n.id {
				return fmt.Sprintf("fence %d is %s's and %s's", n.fence, other, n.id)
			}
			of[n.fence] = n.id
		}
		h := s.lease.holder
		if obeying > 1 || h.Fence < highest {
			return fmt.Sprintf("%d nodes obey; fence %d after %d", obeying, h.Fence, highest)
		}
		if highest = h.Fence; had != "" && h.Host != had && time.Since(s.seen[had]) < spareTerms().blind {
			return fmt.Sprintf("%s took the air, and %s was seen %s ago", h.Host, had, time.Since(s.seen[had]))
		}
		had = h.Host
	}
	return ""
}
