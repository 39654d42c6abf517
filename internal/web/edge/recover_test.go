package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// studio is a station whose process may be replaced: its hub and its edge go on in
// the next one.
type studio struct {
	t *testing.T
	d *desk
	// source is what the edge reads; nil is the hub.
	source edge.Source
	edge   *edge.Edge
	srv    *httptest.Server
	end    func()
}

func newStudio(t *testing.T) *studio {
	s := &studio{t: t, d: newDesk()}
	s.start(nil)
	t.Cleanup(func() { s.end() })
	return s
}

func (s *studio) start(saved []byte) {
	s.t.Helper()
	source := s.source
	if source == nil {
		source = s.d.hub
	}
	s.edge = edge.New(edge.Options{
		Log: quiet(), Source: source, Desk: s.d, Refused: refused, Present: func(edge.Presence) {}, Saved: saved,
		Staff: keyed,
	})
	e := s.edge
	srv := httptest.NewServer(e.Handler())
	stop := testkit.Background(s.t, e.Run)
	s.srv, s.end = srv, sync.OnceFunc(func() { stop(); srv.CloseClientConnections(); srv.Close() })
}

// replace ends the process and starts the next one with what this one saved.
func (s *studio) replace() {
	s.t.Helper()
	s.end()
	sockets, err := s.edge.Save()
	if err != nil {
		s.t.Fatal(err)
	}
	hub, err := s.d.hub.Save()
	if err != nil {
		s.t.Fatal(err)
	}
	next := events.NewHub(quiet(), "never")
	if err := next.Load(hub); err != nil {
		s.t.Fatal(err)
	}
	s.d.mu.Lock()
	s.d.hub = next
	s.d.mu.Unlock()
	s.start(sockets)
}

// fan is a listener that comes back as socket.io-client does, and notes all that it
// hears over all its connections.
type fan struct {
	s       *studio
	device  string
	c       *sockettest.Client
	pid, at string // as the library remembers them
	past    []sockettest.Event
	same    int // times it was recovered
	asNew   int
}

// connect comes back over a new connection; the old one may still be there.
func (f *fan) connect() {
	f.s.t.Helper()
	auth := map[string]any{"device": f.device, "recover": true}
	if f.pid != "" {
		auth["pid"] = f.pid
	}
	if f.at != "" {
		auth["offset"] = f.at
	}
	f.c = connect(f.s.t, f.s.srv, auth).Client
	if f.c.PID == f.pid {
		f.same++
	} else {
		f.asNew++
	}
	f.pid = f.c.PID
}

// drop breaks the connection; what had not arrived by then is lost.
func (f *fan) drop() {
	f.c.Close()
	f.note()
}

func (f *fan) note() {
	for _, e := range f.c.All() {
		if f.past = append(f.past, e); e.Offset != "" {
			f.at = e.Offset
		}
	}
}

func (f *fan) ask(event string, body any) {
	f.s.t.Helper()
	got, err := f.c.Ask(f.s.t.Context(), event, body)
	if err != nil || !strings.Contains(string(got), `"ok":true`) {
		f.s.t.Fatalf("%s: %s, %v", event, got, err)
	}
}

// heard returns the texts of all events so far but the states of a join.
func (f *fan) heard() (out []string) {
	for _, e := range append(f.past, f.c.All()...) {
		var c comment
		_ = json.Unmarshal(e.Payload, &c)
		out = append(out, c.Text)
	}
	return out
}

// Connections break at any moment, sometimes unseen by the server, clients join and leave
// rooms, and the server's process is replaced: whoever comes back is the same as before and
// has every event of its rooms once and in order.
func TestWhoComesBackHasEverythingOnceAndInOrder(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			s := newStudio(t)
			fans, want, in := make([]*fan, 4), make([][]string, 4), make([]bool, 4)
			for i := range fans {
				fans[i] = &fan{s: s, device: fmt.Sprint("device-of-fan-", i)}
				fans[i].connect()
			}
			away := make([]bool, 4)
			for n := range 120 {
				i := r.IntN(len(fans))
				f := fans[i]
				switch step := r.IntN(12); {
				case step < 6:
					name := []string{"new_comment", "status", "stream_error", "message"}[r.IntN(4)]
					c := comment{ID: fmt.Sprint("c", n), Text: fmt.Sprint(name, " ", n)}
					if name == "message" {
						c.Room = "cairo"
					}
					for j := range fans {
						if c.Room == "" || in[j] {
							want[j] = append(want[j], c.Text)
						}
					}
					s.d.hub.Tell(name, c)
				case step == 6 && !away[i]:
					f.drop()
					away[i] = true
				case step == 7 && away[i], step == 8 && away[i]:
					f.connect()
					away[i] = false
				case step == 8: // the server has not seen that the connection broke
					old := f.c
					f.note()
					f.connect() // what comes to the old one from here on is lost
					<-old.Done()
				case step == 9 && !away[i] && !in[i]:
					f.ask("join", map[string]string{"name": "منى", "room": "cairo"})
					in[i] = true
				case step == 10 && !away[i] && in[i]:
					f.ask("leave", map[string]string{"room": "cairo"})
					in[i] = false
				case step == 11 && r.IntN(3) == 0:
					s.replace()
					for j, f := range fans {
						if !away[j] {
							<-f.c.Done()
							f.note()
							f.connect()
						}
					}
				}
			}
			for i, f := range fans {
				if away[i] {
					f.connect()
				}
				f.ask("join_channel", "main") // whatever was on its way has come
				testkit.Eventually(t, "everything", func() bool { return len(f.heard()) >= len(want[i]) })
				got := f.heard()
				if diff := cmp.Diff(want[i], got[:len(want[i])]); diff != "" {
					t.Errorf("fan %d:\n%s", i, diff)
				}
				if f.asNew != 1 {
					t.Errorf("fan %d was new %d times, the same %d times", i, f.asNew, f.same)
				}
			}
		})
	}
}

// What a client shows that is not its own, or of no sense, makes it a new one and
// costs nobody else anything.
func TestWhoShowsWhatIsNotItsOwnIsNew(t *testing.T) {
	s := newStudio(t)
	first := &fan{s: s, device: "device-of-one"}
	first.connect()
	s.d.hub.Tell("new_comment", comment{ID: "c1", Text: "one"})
	testkit.Eventually(t, "the event", func() bool { return len(first.heard()) == 1 })
	first.note()
	good := first.at
	for name, shown := range map[string]map[string]any{
		"forged":          {"pid": strings.Repeat("A", 27), "offset": good},
		"another device":  {"pid": first.pid, "offset": good, "device": "device-of-two"},
		"without device":  {"pid": first.pid, "offset": good, "device": ""},
		"staff":           {"pid": first.pid, "offset": good, "key": "the key"},
		"not text":        {"pid": 7, "offset": good},
		"offset no text":  {"pid": first.pid, "offset": 7},
		"switched off":    {"pid": first.pid, "offset": good, "recover": false},
		"an empty string": {"pid": "", "offset": ""},
	} {
		auth := map[string]any{"device": first.device, "recover": true}
		for k, v := range shown {
			auth[k] = v
		}
		c := connect(t, s.srv, auth)
		if c.PID == first.pid || c.ID == first.c.ID || len(c.All()) > 0 {
			t.Errorf("%s: is %s, %s and heard %v", name, c.ID, c.PID, c.All())
		}
		select {
		case <-first.c.Done():
			t.Fatalf("%s: the one whose pid it is was disconnected", name)
		default:
		}
	}
	first.past = nil
	for _, offset := range []string{"nonsense", "one.zzz", "one.", "other.1", good + "0", strings.Repeat("x", 5000)} { // of its own pid: it has begun anew
		f := &fan{s: s, device: "device-of-three"}
		f.connect()
		pid, id := f.pid, f.c.ID
		f.c.Close()
		f.at = offset
		f.connect()
		if f.pid == pid || f.c.ID == id || f.pid == "" {
			t.Errorf("%q: came back as itself", offset)
		}
	}
}

// An offset that a client has from an earlier life says nothing about this one.
func TestAClientThatHasHeardNothingYetMissesNothing(t *testing.T) {
	s := newStudio(t)
	f := &fan{s: s, device: "device-of-one", pid: "of an earlier start", at: "earlier.z"}
	f.connect()
	pid := f.pid
	for i := range 3 { // and none of its connections lasts until it has heard something
		f.c.Close()
		s.d.hub.Tell("new_comment", comment{ID: fmt.Sprint("c", i), Text: fmt.Sprint(i)})
		f.connect()
	}
	testkit.Eventually(t, "all three", func() bool { return len(f.heard()) == 3 })
	if got := f.heard(); f.pid != pid || strings.Join(got, " ") != "0 1 2" {
		t.Errorf("heard %v, recovered %v", got, f.pid == pid)
	}
}

// Only who is known to use offsets gets them; all get the same payload.
func TestOffsetsGoOnlyToThoseWhoUseThem(t *testing.T) {
	s := newStudio(t)
	plain, uses := connect(t, s.srv, nil), connect(t, s.srv, auth{"recover": true})
	s.d.hub.Tell("new_comment", comment{ID: "c1", Text: "one"})
	testkit.Eventually(t, "the event", func() bool { return len(plain.All()) == 1 && len(uses.All()) == 1 })
	if a, b := plain.All()[0], uses.All()[0]; plain.PID != "" || a.Offset != "" || b.Offset == "" || string(a.Payload) != string(b.Payload) {
		t.Errorf("heard %+v as %q and %+v as %q", a, plain.PID, b, uses.PID)
	}
}

// The headers are those that the libraries send, as seen at a server.
func TestAClientIsKnownToUseOffsets(t *testing.T) {
	yes, no := true, false
	const deflate = "permessage-deflate; client_max_window_bits"
	for name, c := range map[string]struct {
		agent, extensions, pid string
		says                   *bool
		want                   bool
	}{
		"a browser":                      {agent: "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0", extensions: deflate, want: true},
		"Node, polling":                  {agent: "node-XMLHttpRequest", want: true},
		"Node, WebSocket":                {extensions: deflate, want: true},
		"Python, requests":               {agent: "python-requests/2.32.3"},
		"Python, aiohttp":                {agent: "Python/3.12 aiohttp/3.10.5", extensions: deflate},
		"Python, websocket-client":       {},
		"Dart":                           {agent: "Dart/3.5 (dart:io)", extensions: "permessage-deflate; client_max_window_bits"},
		"Java":                           {agent: "okhttp/4.12.0", extensions: "permessage-deflate"},
		"who says so":                    {agent: "okhttp/4.12.0", says: &yes, want: true},
		"a browser that says no":         {agent: "Mozilla/5.0", says: &no},
		"who was offered it before":      {agent: "anything", pid: "a pid", want: true},
		"who was offered it and says no": {pid: "a pid", says: &no},
	} {
		header := http.Header{}
		for key, value := range map[string]string{"User-Agent": c.agent, "Sec-WebSocket-Extensions": c.extensions} {
			if value != "" {
				header.Set(key, value)
			}
		}
		if got := edge.Offers(header, c.says, c.pid); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Who was banned while away comes back outside, and without what was said there since.
func TestABanReachesThoseWhoAreAway(t *testing.T) {
	s := newStudio(t)
	s.d.who = []string{"d:one"}
	f := &fan{s: s, device: "device-of-one"}
	f.connect()
	f.ask("join", map[string]string{"name": "x", "room": "cairo"})
	f.drop()
	testkit.Eventually(t, "it is away", func() bool { return s.edge.Stats().Kept == 1 })
	s.d.hub.Tell("message", comment{ID: "m1", Text: "before", Room: "cairo"})
	s.d.hub.Tell(events.Banned, events.BannedPayload{ID: "b1", By: []string{"d:one"}})
	s.d.hub.Tell("message", comment{ID: "m2", Text: "secret", Room: "cairo"})
	s.replace()
	f.connect()
	s.d.hub.Tell("message", comment{ID: "m3", Text: "secret too", Room: "cairo"})
	s.d.hub.Tell("new_comment", comment{ID: "c1", Text: "for all"})
	testkit.Eventually(t, "what is for all", func() bool { return strings.Contains(strings.Join(f.heard(), " "), "for all") })
	if got := strings.Join(f.heard(), " "); got != "before for all" || f.same != 1 {
		t.Errorf("heard %q, recovered %d times", got, f.same)
	}
}

// A rush of those who come back costs the server one encoding of each event, not one
// for each of them; and no limit of an address is in their way.
func TestFiveHundredWhoComeBackCostOneEncodingOfEachEvent(t *testing.T) {
	const many, missed = 500, 20
	s := newStudio(t)
	fans := make([]*fan, many)
	for i := range fans {
		fans[i] = &fan{s: s, device: fmt.Sprint("device-of-fan-", i)}
		fans[i].connect()
	}
	s.end()
	for i := range missed {
		s.d.hub.Tell("new_comment", comment{ID: fmt.Sprint("c", i), Text: fmt.Sprint(i)})
	}
	s.replace()
	began := time.Now()
	var all sync.WaitGroup
	for _, f := range fans {
		all.Go(f.connect)
	}
	all.Wait()
	t.Logf("%d came back at once, and were let in within %v", many, time.Since(began).Round(time.Millisecond))
	for _, f := range fans {
		testkit.Eventually(t, "what was missed", func() bool { return len(f.heard()) >= missed })
		if got := f.heard(); f.same != 1 || len(got) != missed || got[0] != "0" || got[missed-1] != fmt.Sprint(missed-1) {
			t.Fatalf("recovered %d times, heard %v", f.same, got)
		}
	}
	if n := s.edge.Encoded(); n != missed {
		t.Errorf("%d events were encoded, %d were missed", n, missed)
	}
	if got := s.edge.Stats(); got.Recovered != many || got.Kept != 0 {
		t.Errorf("%d recovered, %d still kept", got.Recovered, got.Kept)
	}
}

// The control plane's process is replaced, and once that of the edge, which has its own
// numbers: the edge's clients hear every event once, moments included, and are told nothing
// again.
func TestClientsOfAnotherEdgeDoNotNoticeThatTheStationIsReplaced(t *testing.T) {
	d := newDesk()
	port := testkit.Port(t)
	server, err := bus.Embed(bus.EmbedOptions{Log: quiet(), Host: "127.0.0.1", Port: port, Admit: bustest.Admit("t")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	line, err := bus.Connect(bus.Options{Log: quiet(), URL: fmt.Sprint("nats://127.0.0.1:", port), Name: "test", Login: bus.Login{Token: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	serve := func() func() {
		return testkit.Background(t, func(ctx context.Context) error {
			return edge.Server{Log: quiet(), Bus: line, Hub: d.hub, Desk: d, Records: d, Present: edge.NewAttendance(func(string, any) {}), Refused: refused}.Run(ctx)
		})
	}
	stop := serve()
	d.hub.Tell("status", comment{Text: "begin"})
	mirror := events.NewFollower(quiet(), line)
	unfollow := testkit.Background(t, mirror.Run)
	testkit.Eventually(t, "the mirror follows", func() bool { return mirror.Reached(d.hub.Mark()) })
	s := &studio{t: t, d: d, source: mirror}
	s.start(nil)
	t.Cleanup(func() { s.end() })
	fans := []*fan{{s: s, device: "device-of-one"}, {s: s, device: "device-of-two"}}
	var want []string
	for _, f := range fans {
		f.connect()
	}
	tell := func() {
		for _, name := range []string{"status", "stream_error", "new_comment"} {
			want = append(want, fmt.Sprint(name, " ", len(want)))
			d.hub.Tell(name, comment{ID: fmt.Sprint("c", len(want)), Text: want[len(want)-1]})
		}
	}
	for i := range 4 {
		tell()
		testkit.Eventually(t, "the edge is in step", func() bool { return mirror.Reached(d.hub.Mark()) })
		stop()
		data, err := d.hub.Save()
		if err != nil {
			t.Fatal(err)
		}
		d.hub = events.NewHub(quiet(), "never")
		if err := d.hub.Load(data); err != nil {
			t.Fatal(err)
		}
		tell() // before the bus is there
		stop = serve()
		if i != 2 {
			continue
		}
		s.end()
		unfollow()
		sockets, err := s.edge.Save()
		if err != nil {
			t.Fatal(err)
		}
		if data, err = mirror.Save(); err != nil {
			t.Fatal(err)
		}
		mirror = events.NewFollower(quiet(), line)
		if err := mirror.Load(data); err != nil {
			t.Fatal(err)
		}
		tell() // while nobody follows
		unfollow = testkit.Background(t, mirror.Run)
		s.source = mirror
		s.start(sockets)
		for _, f := range fans {
			<-f.c.Done()
			f.note()
			f.connect()
		}
	}
	tell()
	for i, f := range fans {
		testkit.Eventually(t, "everything", func() bool { return len(f.heard()) >= len(want) })
		if diff := cmp.Diff(want, f.heard()); diff != "" || f.same > 1 || f.asNew != 1 {
			t.Errorf("fan %d, new %d times:\n%s", i, f.asNew, diff)
		}
	}
	stop()
	unfollow()
}
