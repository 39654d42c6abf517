package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

type auth map[string]any

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func refused(err error) json.RawMessage {
	data, _ := json.Marshal(map[string]any{"ok": false, "error": err.Error()})
	return data
}

// desk is a station that a test sets: it counts what carries an id once.
type desk struct {
	mu   sync.Mutex
	hub  *events.Hub
	asks []edge.Ask
	kept []string // texts, in the order they were said
	ids  map[string]bool
	who  []string // keys of everybody who joins
}

// may is a desk's leave to join a room.
func may(room string, mark events.Mark, answer json.RawMessage, who ...string) json.RawMessage {
	data, _ := json.Marshal(struct {
		OK bool `json:"ok"`
		edge.Joined
	}{true, edge.Joined{Room: room, Mark: mark, Who: who, Answer: answer}})
	return data
}

type comment struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Room string `json:"room,omitempty"`
}

func (d *desk) Do(_ context.Context, ask edge.Ask) json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = append(d.asks, ask)
	var in struct {
		ID, Text, Room string
	}
	_ = json.Unmarshal(ask.Body, &in)
	switch ask.Event {
	case "join":
		if in.Room != "cairo" {
			return refused(errors.New("no such room"))
		}
		return may("cairo", d.hub.Mark(), json.RawMessage(`{"ok":true,"room":"cairo","history":[]}`), d.who...)
	case "send_comment", "sendMessage":
		if in.ID != "" && d.ids[in.ID] {
			return json.RawMessage(`{"ok":true}`)
		}
		d.ids[in.ID] = true
		d.kept = append(d.kept, in.Text)
		name := map[string]string{"send_comment": "new_comment", "sendMessage": "message"}[ask.Event]
		d.hub.Tell(name, comment{ID: fmt.Sprint("c", len(d.kept)-1), Text: in.Text, Room: in.Room})
	}
	return json.RawMessage(`{"ok":true}`)
}

func (d *desk) Newest(context.Context) (map[string]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return map[string]string{"new_comment": fmt.Sprint("c", len(d.kept)-1)}, nil
}

func (d *desk) Since(_ context.Context, _, after string) (out []any, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var last int
	if _, err := fmt.Sscanf(after, "c%d", &last); err != nil {
		return nil, err
	}
	for i := last + 1; i < len(d.kept); i++ {
		out = append(out, comment{ID: fmt.Sprint("c", i), Text: d.kept[i]})
	}
	return out, nil
}

func newDesk() *desk { return &desk{hub: events.NewHub(quiet(), "one"), ids: map[string]bool{}} }

// open starts an edge that ends with the test, or with its end.
func open(t *testing.T, source edge.Source, d edge.Desk, also ...func(context.Context) error) (*httptest.Server, func()) {
	t.Helper()
	e := newEdge(source, d)
	srv := httptest.NewServer(e.Handler())
	ended := running(t, append(also, e.Run)...)
	end := sync.OnceFunc(func() { ended(); srv.CloseClientConnections(); srv.Close() })
	t.Cleanup(end)
	return srv, end
}

func newEdge(source edge.Source, d edge.Desk) *edge.Edge {
	return edge.New(edge.Options{
		Log: quiet(), Source: source, Desk: d, Refused: refused, Present: func(edge.Presence) {},
		Staff: keyed,
	})
}

// running runs them until the end, which it returns, and which waits for them.
func running(t *testing.T, runs ...func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, run := range runs {
		all.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// openVirtual is open for a bubble of testing/synctest; the way in is that of an HTTP client.
func openVirtual(t *testing.T, source edge.Source, d edge.Desk, also ...func(context.Context) error) *http.Client {
	t.Helper()
	e := newEdge(source, d)
	memory := testkit.NewNetwork()
	srv := &http.Server{Handler: e.Handler(), ReadHeaderTimeout: time.Hour}
	var accepting sync.WaitGroup
	accepting.Go(func() { _ = srv.Serve(memory) }) // ended by Close
	end := running(t, append(also, e.Run)...)
	t.Cleanup(func() { end(); _ = srv.Close(); accepting.Wait() })
	return &http.Client{Transport: &http.Transport{DialContext: memory.Dial}}
}

func TestListenersAreCurrentAtOnceAndHearOnlyTheirRooms(t *testing.T) {
	d := newDesk()
	d.hub.Tell("status", comment{Text: "before"})
	srv, _ := open(t, d.hub, d)
	a, b := connect(t, srv, nil), connect(t, srv, auth{"device": "abcdefgh", "key": "the key"})

	if got := string(a.ask("join_channel", "main")); !strings.Contains(got, `"ok":true`) || len(a.events("status")) != 1 {
		t.Errorf("join: %s, %v", got, a.events("status"))
	}
	if got := string(a.ask("join_channel", "opera")); !strings.Contains(got, `"ok":false`) {
		t.Errorf("another channel: %s", got)
	}
	d.hub.Tell("status", comment{Text: "after"})
	testkit.Eventually(t, "a change for everybody, joined or not", func() bool { return len(a.events("status")) == 2 && len(b.events("status")) == 1 })

	if got := string(a.ask("join", map[string]string{"name": "منى", "room": "cairo"})); !strings.Contains(got, `"room":"cairo"`) {
		t.Errorf("join a room: %s", got)
	}
	if got := string(b.ask("join", map[string]string{"name": "x", "room": "none"})); !strings.Contains(got, `"ok":false`) {
		t.Errorf("join what is not there: %s", got)
	}
	b.ask("sendMessage", comment{Text: "for none", Room: "none"})
	b.ask("sendMessage", comment{Text: "first", Room: "cairo"})
	testkit.Eventually(t, "a message in the room", func() bool { return len(a.events("message")) == 1 })
	a.ask("leave", map[string]string{"room": "cairo"})
	b.ask("sendMessage", comment{Text: "second", Room: "cairo"})
	d.hub.Tell("new_comment", comment{ID: "c9", Text: "last"})
	testkit.Eventually(t, "what came after", func() bool { return len(a.events("new_comment")) == 1 && len(b.events("new_comment")) == 1 })
	if len(a.events("message")) != 1 || len(b.events("message")) != 0 {
		t.Errorf("in the room: %v, outside: %v", a.events("message"), b.events("message"))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if from := d.asks[1].From; from.Device != "abcdefgh" || !from.Staff || from.Socket == "" {
		t.Errorf("who asks: %+v", from)
	}
}

func TestOnlyTheDeskMaySendAudioAndNobodyWhoShowsAWrongKey(t *testing.T) {
	d := newDesk()
	srv, _ := open(t, d.hub, d)
	listener, staff := connect(t, srv, auth{"device": "<script>"}), connect(t, srv, auth{"key": "the key"})
	for word, wrong := range map[string]auth{"station key": {"key": "a guess"}, "auth": {"device": 7}} {
		if _, err := sockettest.Dial(t.Context(), srv.URL, wrong); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for _, event := range []string{"start_stream", "stop_stream", "no such event"} {
		if got := string(listener.ask(event, nil)); !strings.Contains(got, `"ok":false`) {
			t.Errorf("%s of a listener: %s", event, got)
		}
	}
	if got := string(staff.ask("start_stream", nil)); !strings.Contains(got, `"ok":true`) {
		t.Errorf("start_stream of the desk: %s", got)
	}
	if got := string(staff.ask("audio_data", "text")); !strings.Contains(got, "binary") {
		t.Errorf("audio that is none: %s", got)
	}
	staff.Close()
	testkit.Eventually(t, "the end of what a desk that is gone has begun", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.asks) == 2 && d.asks[1].Event == "stop_stream" && d.asks[1].From.Socket == d.asks[0].From.Socket
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asks[0].From.Device != "" {
		t.Error("an impossible device is believed")
	}
}

// A client that does not wait for answers is carried out in its order, within
// bounds; what it sends too fast is refused, not lost in silence.
func TestAsksOfOneClientKeepTheirOrderWithinBounds(t *testing.T) {
	d := newDesk()
	srv, _ := open(t, d.hub, d)
	l := connect(t, srv, nil)
	d.mu.Lock() // the station is slow
	var asks []sockettest.Asked
	for i := range 100 {
		asks = append(asks, l.emit("send_comment", comment{Text: fmt.Sprint(i)}))
	}
	l.answer(asks[99])
	d.mu.Unlock()
	accepted := 0
	for _, a := range asks[:99] {
		if strings.Contains(string(l.answer(a)), `"ok":true`) {
			accepted++
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if accepted < 10 || accepted > 40 || len(d.kept) != accepted {
		t.Errorf("%d accepted, %d kept", accepted, len(d.kept))
	}
	for i, text := range d.kept {
		if text != fmt.Sprint(i) {
			t.Fatalf("%v", d.kept)
		}
	}
}

// Two edges behind a bus that dies, and one that dies itself: every client hears
// every comment once and in order, and every comment that was accepted is kept
// once.
func TestEveryClientOfEveryEdgeHearsEverythingOnce(t *testing.T) {
	d := newDesk()
	d.hub.Tell("status", comment{Text: "on"})
	port := testkit.Port(t)
	embed := func() *bus.Embedded {
		e, err := bus.Embed(bus.EmbedOptions{Log: quiet(), Host: "127.0.0.1", Port: port, Admit: bustest.Admit("t")})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	server := embed()
	join := func() *bus.Bus {
		b, err := bus.Connect(bus.Options{Log: quiet(), URL: fmt.Sprint("nats://127.0.0.1:", port), Name: "test", Login: bus.Login{Token: "t"}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	control := join()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	serve := func(subject string, fn func(context.Context, []byte) []byte) {
		all.Go(func() { _ = control.Serve(ctx, subject, 8, fn) })
	}
	serve(edge.SubjectAsk, func(ctx context.Context, data []byte) []byte { return edge.Answer(ctx, d, data) })
	serve(events.SubjectSync, func(ctx context.Context, data []byte) []byte { return d.hub.Sync(ctx, data, d) })
	all.Go(func() { d.hub.Publish(ctx, control) })
	t.Cleanup(func() { cancel(); all.Wait(); control.Close(); server.Close() })

	start := func() (*httptest.Server, func()) {
		b := join()
		f := events.NewFollower(quiet(), b)
		srv, end := open(t, f, edge.Remote{Bus: b, Refused: refused}, f.Run)
		testkit.Eventually(t, "an edge that follows", func() bool { _, ok := f.State("status", "", ""); return ok })
		t.Cleanup(b.Close)
		return srv, end
	}
	one, _ := start()
	two, endTwo := start()
	listeners := []listener{connect(t, one, nil), connect(t, one, nil), connect(t, two, nil)}
	lost := connect(t, two, nil)
	said := 0
	say := func(l listener) {
		got := l.ask("send_comment", comment{ID: fmt.Sprint("my own id ", said), Text: fmt.Sprint(said)})
		if !strings.Contains(string(got), `"ok":true`) {
			t.Fatalf("comment %d: %s", said, got)
		}
		said++
	}
	for range 20 {
		say(listeners[said%3])
	}
	for range 2 { // the bus dies, and what is said meanwhile waits
		server.Close()
		waiting := listeners[2].emit("send_comment", comment{ID: fmt.Sprint("my own id ", said), Text: fmt.Sprint(said)})
		server = embed()
		if got := listeners[2].answer(waiting); !strings.Contains(string(got), `"ok":true`) {
			t.Fatalf("comment %d: %s", said, got)
		}
		said++
		for range 5 {
			say(listeners[said%3])
		}
	}
	testkit.Eventually(t, "everything heard at the other edge", func() bool { return len(lost.events("new_comment")) >= said })
	endTwo() // an edge dies; its clients go to the other and ask what they missed
	for range 5 {
		say(listeners[0])
	}
	testkit.Eventually(t, "everything heard", func() bool {
		return len(listeners[0].events("new_comment")) >= said && len(listeners[1].events("new_comment")) >= said
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, l := range listeners[:2] {
		var texts []string
		for _, e := range l.events("new_comment") {
			var c comment
			_ = json.Unmarshal([]byte(e), &c)
			texts = append(texts, c.Text)
		}
		if !slices.Equal(texts, d.kept) || len(texts) != said {
			t.Errorf("listener %d heard %v; said was %v", i, texts, d.kept)
		}
	}
	if heard := lost.events("new_comment"); len(heard) != said-5 {
		t.Errorf("a client of the edge that died had heard %d of %d", len(heard), said-5)
	}
}

// keyed lets the holder of "the key" do all.
func keyed(key, _ string, _ bool) (c people.Caller, err error) {
	if key == "the key" {
		c.Rights = people.All
	}
	return c, nil
}
