package socket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

// diary is an application that resumes its sockets from a log of numbered events.
type diary struct {
	mu  sync.Mutex
	n   *socket.Namespace
	log []string
	// gone has why sockets have left, in order.
	gone []socket.Reason
}

func (d *diary) set(s *socket.Server) {
	d.n = s.Of("/")
	d.n.OnConnect(func(c *socket.Socket) error {
		var auth struct{ Who string }
		_ = json.Unmarshal(c.Handshake().Auth, &auth)
		c.Offer(auth.Who)
		return nil
	})
	d.n.On("leave me alone", func(c *socket.Socket, _ *socket.Event) { c.Disconnect(false) })
	d.n.OnDisconnect(func(_ *socket.Socket, r socket.Reason) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.gone = append(d.gone, r)
	})
	d.n.Recover(socket.Recovery{
		Keep: func(*socket.Socket) []byte { return []byte(`{"my":"memory"}`) },
		Resume: func(c *socket.Socket, was socket.Kept, admit func() bool) bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			from := 0
			if was.Offset != "" {
				if _, err := fmt.Sscanf(was.Offset, "at %d", &from); err != nil {
					return false
				}
			}
			if string(was.Memory) != `{"my":"memory"}` {
				return false
			}
			for i, text := range d.log[from:] {
				m, err := d.n.At(fmt.Sprint("at ", from+i+1), "said", text)
				if err != nil {
					return false
				}
				_ = c.Send(m)
			}
			return admit()
		},
	})
}

func (d *diary) say(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, text)
	m, err := d.n.At(fmt.Sprint("at ", len(d.log)), "said", text)
	if err == nil {
		err = d.n.Send(m)
	}
	if err != nil {
		panic(err)
	}
}

func (d *diary) reasons() []socket.Reason {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone
}

type names struct{ SID, PID string }

// arrive connects and answers what the server named the client.
func arrive(t *testing.T, host enginetest.Host, auth string) (*enginetest.Peer, names) {
	t.Helper()
	p := enginetest.Dial(t, host, "")
	p.Next()
	p.Send("40" + auth)
	var got names
	if text := p.Next(); json.Unmarshal([]byte(strings.TrimPrefix(text, "40")), &got) != nil {
		t.Fatalf("connected with %q", text)
	}
	return p, got
}

func back(n names, offset string) string {
	return fmt.Sprintf(`{"who":"me","pid":%q,"offset":%q}`, n.PID, offset)
}

func TestAClientTakesUpWhereItsConnectionBroke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		host, server, _ := virtual(t, socket.Options{}, d.set)
		p, me := arrive(t, host, `{"who":"me"}`)
		other, _ := arrive(t, host, `{"who":"other"}`)
		if len(me.PID) < 22 { // 128 bits
			t.Fatalf("the pid is %q", me.PID)
		}
		d.say("one")
		p.Want(`42["said","one","at 1"]`)
		_ = p.Conn.Close()
		testkit.Eventually(t, "the break", func() bool { return server.Stats().Kept == 1 && len(d.reasons()) == 1 })
		d.say("two")
		p, again := arrive(t, host, back(me, "at 1"))
		if again != me {
			t.Errorf("came back as %v, was %v", again, me)
		}
		d.say("three")
		p.Want(`42["said","two","at 2"]`, `42["said","three","at 3"]`)
		other.Want(`42["said","one","at 1"]`, `42["said","two","at 2"]`, `42["said","three","at 3"]`)

		// The break is not seen: the old connection ends first.
		old := p
		p, again = arrive(t, host, back(me, "at 2"))
		if again != me {
			t.Errorf("came back as %v, was %v", again, me)
		}
		p.Want(`42["said","three","at 3"]`)
		testkit.Eventually(t, "the end of the old one", func() bool { return len(d.reasons()) == 2 })
		if r := d.reasons()[1]; r != engine.ReasonReplaced {
			t.Errorf("the old one ended by %q", r)
		}
		_ = old.Conn.Close()
		if got := server.Stats(); got.Recovered != 2 || got.Kept != 0 || got.Sockets != 2 {
			t.Errorf("%d recovered, %d kept, %d connected", got.Recovered, got.Kept, got.Sockets)
		}

		// Who leaves does not come back, nor who was put out.
		for _, farewell := range []string{"41", `42["leave me alone"]`, "42["} {
			p.Send(farewell)
			testkit.Eventually(t, "it has left", func() bool { return server.Stats().Sockets == 1 })
			_ = p.Conn.Close()
			before := me
			if p, me = arrive(t, host, back(me, "at 3")); me.PID == before.PID || me.SID == before.SID {
				t.Errorf("after %s: came back as itself", farewell)
			}
		}
	})
}

func TestAClientThatStaysAwayTooLongIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		host, server, _ := virtual(t, socket.Options{}, d.set)
		for _, c := range []struct {
			away time.Duration
			same bool
		}{{2*time.Minute - time.Second, true}, {2 * time.Minute, false}} {
			p, me := arrive(t, host, `{"who":"me"}`)
			_ = p.Conn.Close()
			testkit.Eventually(t, "the break", func() bool { return server.Stats().Kept == 1 })
			time.Sleep(c.away) // of the bubble
			p, again := arrive(t, host, back(me, ""))
			if (again == me) != c.same {
				t.Errorf("after %v: %v, was %v", c.away, again, me)
			}
			p.Send("41")
			testkit.Eventually(t, "it has left", func() bool { return server.Stats().Sockets == 0 })
			if n := server.Stats().Kept; n != 0 {
				t.Errorf("%d are kept", n)
			}
		}
	})
}

// A storm from one address costs that address its own; one from everywhere costs those
// who have been away the longest.
func TestWhatIsKeptIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		var who atomic.Value
		host, server, _ := virtual(t, socket.Options{
			MostKept: 6, MostKeptPerClient: 2, Options: engine.Options{ClientKey: func(*http.Request) string { return who.Load().(string) }},
		}, d.set)
		come := func(as, auth string) (*enginetest.Peer, names) { who.Store(as); return arrive(t, host, auth) }
		var all []names
		for i, address := range []string{"a", "b", "b", "b", "c", "d", "e", "f"} { // the third b has no place
			p, me := come(address, `{"who":"me"}`)
			all = append(all, me)
			_ = p.Conn.Close()
			testkit.Eventually(t, "the break", func() bool { return len(d.reasons()) == i+1 })
		}
		if n := server.Stats().Kept; n != 6 {
			t.Errorf("%d are kept", n)
		}
		for i, want := range []bool{false, true, true, false, true, true, true, true} {
			if _, again := come("z", back(all[i], "")); (again == all[i]) != want {
				t.Errorf("%d is the same: %v", i, !want)
			}
		}
		if n := server.Stats().Kept; n != 0 {
			t.Errorf("%d are kept", n)
		}
	})
}

// The places of one address are all taken, by connections that have broken unseen: who
// comes back takes its own place, and who is new gets none.
func TestWhoComesBackNeedsNoPlaceOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		host, server, _ := virtual(t, socket.Options{Options: engine.Options{
			MaxSessions: 4, MaxPerClient: 3, Guests: 8, ClientKey: func(*http.Request) string { return "one" },
		}}, d.set)
		var all []names
		for range 3 {
			_, me := arrive(t, host, `{"who":"me"}`)
			all = append(all, me)
		}
		stranger := enginetest.Dial(t, host, "")
		stranger.Next()
		stranger.Send(`40{"who":"me"}`)
		testkit.Eventually(t, "the stranger's end", func() bool { return server.Stats().Ended[engine.ReasonBusy] == 1 })
		testkit.Eventually(t, "its place is free", func() bool { return server.Stats().WebSockets == 3 })
		for _, me := range all {
			if _, again := arrive(t, host, back(me, "")); again != me {
				t.Errorf("%v came back as %v", me, again)
			}
			testkit.Eventually(t, "the place of the old one is free", func() bool { return server.Stats().WebSockets == 3 })
		}
		if got := server.Stats(); got.Sockets != 3 || got.Refused != 0 {
			t.Errorf("%d connected, %d refused", got.Sockets, got.Refused)
		}
	})
}

func TestTheNextProcessKnowsTheClientsOfThisOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		host, server, stop := virtual(t, socket.Options{}, d.set)
		p, away := arrive(t, host, `{"who":"me"}`)
		_ = p.Conn.Close()
		testkit.Eventually(t, "the break", func() bool { return server.Stats().Kept == 1 })
		_, here := arrive(t, host, `{"who":"me"}`)
		alive, err := server.Save() // while one is connected
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(alive), `"pid"`); n != 2 {
			t.Errorf("%d are saved", n)
		}
		stop()
		ended, err := server.Save()
		if err != nil {
			t.Fatal(err)
		}
		for name, saved := range map[string][]byte{"alive": alive, "ended": ended} {
			next := &diary{log: []string{"one"}}
			host, server, stop := virtual(t, socket.Options{}, func(s *socket.Server) {
				next.set(s)
				for _, bad := range []string{"", "{", `{"version":2}`, strings.Replace(string(saved), `"namespace":"/"`, `"namespace":"/x"`, 1)} {
					if s.Load([]byte(bad)) == nil {
						t.Errorf("%s: %.40q is taken", name, bad)
					}
				}
				if err := s.Load(saved); err != nil {
					t.Error(err)
				}
			})
			if n := server.Stats().Kept; n != 2 {
				t.Errorf("%s: %d are kept", name, n)
			}
			for _, me := range []names{away, here} {
				p, again := arrive(t, host, back(me, ""))
				if again != me {
					t.Errorf("%s: %v came back as %v", name, me, again)
				}
				p.Want(`42["said","one","at 1"]`)
			}
			stop()
		}
	})
}
