package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/edge"
)

// lagging is a bus that takes its time.
type lagging struct {
	hub     *events.Hub
	desk    *desk
	queue   chan []byte
	changes signal.Changes
}

func (l *lagging) Publish(_ string, data []byte) error {
	l.queue <- data
	return nil
}

func (l *lagging) Subscribe(_ string, fn func([]byte)) (func(), error) {
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-done:
				return
			case data := <-l.queue:
				time.Sleep(rand.N(7 * time.Millisecond)) // of the four, on average, that there are for an event
				fn(data)
			}
		}
	})
	return func() { close(done); all.Wait() }, nil
}

func (l *lagging) Request(ctx context.Context, _ string, data []byte) ([]byte, error) {
	return l.hub.Sync(ctx, data, l.desk), nil
}
func (l *lagging) Changes() (<-chan struct{}, func()) { return l.changes.Subscribe() }
func (l *lagging) Up() bool                           { return true }

// busyRoom is a station whose room changes all the time. Its state is read with
// the mark, its messages later.
type busyRoom struct {
	hub *events.Hub
	mu  sync.Mutex
	n   int
}

type numbered struct {
	ID   string `json:"id,omitempty"`
	Room string `json:"room"`
	N    int    `json:"n"`
}

func (b *busyRoom) write() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	b.hub.Tell("message", numbered{fmt.Sprint("m", b.n), "cairo", b.n})
	b.hub.Tell("chat_state", numbered{"", "cairo", b.n})
}

func (b *busyRoom) Do(_ context.Context, ask edge.Ask) json.RawMessage {
	if ask.Event != "join" {
		return json.RawMessage(`{"ok":true}`)
	}
	b.mu.Lock()
	mark, state := b.hub.Mark(), b.n
	b.mu.Unlock()
	time.Sleep(rand.N(8 * time.Millisecond))
	b.mu.Lock()
	n := b.n
	b.mu.Unlock()
	time.Sleep(rand.N(4 * time.Millisecond)) // on its way
	return may("cairo", mark, fmt.Appendf(nil, `{"ok":true,"room":"cairo","n":%d,"state":%d}`, n, state))
}

// Whoever joins a room that changes all the time, by its name or without, over
// an edge in the control plane or one that lags behind, again and again: its
// answer and what it hears later have everything, and nothing comes after the
// answer that is older.
func TestWhoJoinsABusyRoomMissesNothingAndHearsNothingOld(t *testing.T) {
	for _, far := range []bool{false, true} {
		// In a bubble: an answer waits no longer than its patience for what came before it, and
		// a busy machine would use that up.
		t.Run(fmt.Sprint("mirror ", far), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { joinABusyRoom(t, far) })
		})
	}
}

func joinABusyRoom(t *testing.T, far bool) {
	t.Helper()
	d := newDesk()
	room := &busyRoom{hub: d.hub}
	var source edge.Source = d.hub
	var also []func(context.Context) error
	bus := &lagging{hub: d.hub, desk: d, queue: make(chan []byte, 10_000)}
	if far {
		f := events.NewFollower(quiet(), bus)
		source = f
		also = append(also, f.Run, func(ctx context.Context) error { d.hub.Publish(ctx, bus); return nil })
	}
	way := openVirtual(t, source, room, also...)
	room.write()
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for ctx.Err() == nil {
			room.write()
			time.Sleep(4*time.Millisecond + rand.N(8*time.Millisecond))
		}
	})
	type joined struct {
		listener
		n, state int
	}
	var all []joined
	for i := range 24 {
		l := connectOver(t, "http://edge", nil, way)
		body := map[string]string{"name": "منى", "room": "cairo"}
		if i%2 == 0 {
			delete(body, "room")
		}
		var got struct {
			OK       bool
			N, State int
		}
		if text := l.ask("join", body); json.Unmarshal(text, &got) != nil || !got.OK || strings.Contains(string(text), "mark") {
			t.Fatalf("join: %s", text)
		}
		all = append(all, joined{l, got.N, got.State})
	}
	stop()
	writing.Wait()
	for i, j := range all {
		var heard map[int]bool
		testkit.Eventually(t, "the last message", func() bool {
			heard = map[int]bool{}
			for _, text := range j.events("message") {
				var m numbered
				_ = json.Unmarshal([]byte(text), &m)
				heard[m.N] = true
			}
			return heard[room.n] || j.n == room.n
		})
		for n := j.n + 1; n <= room.n; n++ {
			if !heard[n] {
				t.Errorf("client %d was answered %d and did not hear %d of %d", i, j.n, n, room.n)
			}
		}
		testkit.Eventually(t, "the last state", func() bool {
			states := j.events("chat_state")
			return len(states) > 0 && strings.HasSuffix(states[len(states)-1], fmt.Sprintf(`"n":%d}`, room.n)) || j.state == room.n
		})
		for _, text := range j.events("chat_state") {
			var s numbered
			_ = json.Unmarshal([]byte(text), &s)
			if s.N <= j.state {
				t.Errorf("client %d was answered state %d and heard %d", i, j.state, s.N)
			}
		}
	}
}

// Who is banned is not in a room for a moment: not while it asks, not where the
// ban comes while it is let in, and no more where it has been in.
func TestWhoIsBannedIsNotInTheRoomForAMoment(t *testing.T) {
	d := newDesk()
	asked, hold := make(chan struct{}), make(chan json.RawMessage)
	srv, _ := open(t, d.hub, deskFunc(func(ctx context.Context, ask edge.Ask) json.RawMessage {
		if ask.Event == "join" {
			asked <- struct{}{}
			return <-hold
		}
		return agreed(ctx, ask)
	}))
	l, other := connect(t, srv, nil), connect(t, srv, nil)
	answer := json.RawMessage(`{"ok":true,"room":"cairo"}`)
	say := func(id string) { d.hub.Tell("message", comment{ID: id, Text: "secret", Room: "cairo"}) }
	heardAll := func() {
		d.hub.Tell("new_comment", comment{ID: "c1"})
		n := len(l.events("new_comment"))
		testkit.Eventually(t, "a comment", func() bool { return len(l.events("new_comment")) > n || n > 0 })
	}
	join := func(l listener, meanwhile func(), with func() json.RawMessage) string {
		mine := l.emit("join", map[string]string{"name": "x", "room": "cairo"})
		<-asked
		answer := with()
		meanwhile()
		hold <- answer
		return string(l.answer(mine))
	}
	if got := join(l, func() { say("m1") }, func() json.RawMessage { return refused(errors.New("banned")) }); !strings.Contains(got, "banned") {
		t.Errorf("refused: %s", got)
	}
	let := func() json.RawMessage { return may("cairo", d.hub.Mark(), answer, "device 1", "address 1") }
	banned := func(key string) func() {
		return func() { d.hub.Tell(events.Banned, events.BannedPayload{By: []string{key}}) }
	}
	if got := join(l, banned("address 1"), let); !strings.Contains(got, `"ok":false`) {
		t.Errorf("banned while it joined: %s", got)
	}
	say("m2")
	heardAll()
	if heard := l.events("message"); len(heard) > 0 {
		t.Errorf("who is not let in hears %v", heard)
	}
	if got := join(l, banned("device 2"), let); got != string(answer) {
		t.Errorf("another is banned: %s", got)
	}
	if got := join(other, func() {}, func() json.RawMessage { return may("cairo", d.hub.Mark(), answer, "device 3") }); got != string(answer) {
		t.Errorf("a neighbour: %s", got)
	}
	say("m3")
	testkit.Eventually(t, "a message in the room", func() bool { return len(l.events("message")) == 1 && len(other.events("message")) == 1 })
	banned("device 1")()
	say("m4")
	testkit.Eventually(t, "a message for who stays", func() bool { return len(other.events("message")) == 2 })
	l.ask("no such event", nil)
	if heard := l.events("message"); len(heard) != 1 {
		t.Errorf("who was banned hears %v", heard)
	}
	if heard := l.events(events.Banned); len(heard) > 0 {
		t.Errorf("clients are told who is banned: %v", heard)
	}
}

// A channel beside the main one tells those who joined it, as long as it is there.
func TestAChannelTellsThoseWhoJoinedIt(t *testing.T) {
	type status struct {
		Channel string `json:"channel"`
		State   string `json:"state"`
	}
	d := newDesk()
	d.hub.Tell("status", status{"main", "music"})
	d.hub.Tell("status", status{"fairuz", "one"})
	srv, _ := open(t, d.hub, d)
	fan, other := connect(t, srv, nil), connect(t, srv, nil)
	other.ask("join_channel", "main")
	if got := string(fan.ask("join_channel", "fairuz")); !strings.Contains(got, `"ok":true`) || len(fan.events("status")) != 1 || !strings.Contains(fan.events("status")[0], "one") {
		t.Errorf("join: %s, %v", got, fan.events("status"))
	}
	for _, none := range []any{"opera", "", "channel:fairuz", 7, nil} {
		if got := string(fan.ask("join_channel", none)); !strings.Contains(got, `"ok":false`) {
			t.Errorf("join %v: %s", none, got)
		}
	}
	d.hub.Tell("status", status{"fairuz", "two"})
	testkit.Eventually(t, "the channel's change", func() bool { return len(fan.events("status")) == 2 })
	fan.ask("leave_channel", "fairuz")
	d.hub.Tell("status", status{"fairuz", "three"})
	d.hub.Tell("status", status{"main", "live"})
	testkit.Eventually(t, "the main channel's change", func() bool { return len(fan.events("status")) == 3 && len(other.events("status")) == 2 })
	if all := strings.Join(append(fan.events("status"), other.events("status")...), ""); strings.Contains(all, "three") {
		t.Errorf("who has left hears %s", all)
	}
	fan.ask("join_channel", "fairuz")
	d.hub.Withdraw("status", status{"fairuz", "off"})
	testkit.Eventually(t, "the channel's end", func() bool { heard := fan.events("status"); return strings.Contains(heard[len(heard)-1], "off") })
	if got := string(other.ask("join_channel", "fairuz")); !strings.Contains(got, `"ok":false`) {
		t.Errorf("join what is no more: %s", got)
	}
}

// requests counts what goes over the bus.
type requests struct{ bytes int }

func (r *requests) Request(_ context.Context, _ string, data []byte) ([]byte, error) {
	r.bytes = len(data)
	return []byte(`{"ok":true}`), nil
}

// What a client may send the bus carries: "<" takes no six bytes, and what is
// too long is refused, not tried again and again.
func TestWhatAClientSendsDoesNotGrowOnTheBus(t *testing.T) {
	bus := &requests{}
	far := edge.Remote{Bus: bus, Refused: refused}
	body := fmt.Appendf(nil, `{"id":"abcdefgh","text":"%s"}`, strings.Repeat("<>&", 1<<20))
	if got := far.Do(t.Context(), edge.Ask{Event: "sendMessage", Body: body}); string(got) != `{"ok":true}` || bus.bytes > len(body)+1000 {
		t.Errorf("%d bytes of %d: %s", bus.bytes, len(body), got)
	}
	bus.bytes = 0
	if got := far.Do(t.Context(), edge.Ask{Event: "sendMessage", Body: fmt.Appendf(nil, `"%s"`, strings.Repeat("x", 9<<20))}); !strings.Contains(string(got), "too large") || bus.bytes > 0 {
		t.Errorf("%d bytes: %s", bus.bytes, got)
	}
}
