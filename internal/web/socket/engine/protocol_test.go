package engine_test

import (
	stdcmp "cmp"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"
	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// echo sends back what it receives, and remembers why sessions ended.
type echo struct {
	session *engine.Session
	log     *record
}

type record struct {
	mu       sync.Mutex
	sessions []*engine.Session
	reasons  []engine.Reason
}

func (r *record) ended() []engine.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]engine.Reason{}, r.reasons...)
}

func (e echo) Message(data []byte, binary bool) {
	switch {
	case binary:
		e.session.Send(engine.Binary(data))
	case string(data) == "panic":
		panic("asked for")
	case string(data) == "end":
		e.session.Send(engine.Text([]byte("last words")))
		e.session.End(engine.ReasonForced)
	default:
		e.session.Send(engine.Text(data))
	}
}

func (e echo) Closed(reason engine.Reason) {
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	e.log.reasons = append(e.log.reasons, reason)
}

// serve runs an echo on the loopback interface, where the kernel is part of the
// subject. It has all the time there is: no client can miss a time-out.
func serve(t *testing.T, opts engine.Options) (enginetest.Host, *record, *engine.Server, func()) {
	t.Helper()
	opts.PingInterval, opts.PingTimeout, opts.UpgradeTimeout = time.Hour, time.Hour, time.Hour
	opts.CloseTimeout = stdcmp.Or(opts.CloseTimeout, enginetest.Patience)
	server, log := newEcho(opts)
	host, stop := enginetest.Serve(t, server)
	return host, log, server, stop
}

// virtual runs an echo in memory, with the time-outs of production where opts
// says nothing else, for a bubble of testing/synctest.
func virtual(t *testing.T, opts engine.Options) (enginetest.Host, *record, *engine.Server, func()) {
	t.Helper()
	server, log := newEcho(opts)
	host, stop := enginetest.ServeVirtual(t, server, nil)
	return host, log, server, stop
}

func newEcho(opts engine.Options) (*engine.Server, *record) {
	log := new(record)
	return engine.New(opts, func(s *engine.Session, _ *http.Request) engine.Receiver {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.sessions = append(log.sessions, s)
		return echo{s, log}
	}), log
}

func wantReason(t *testing.T, log *record, want engine.Reason) {
	t.Helper()
	testkit.Eventually(t, "a session ends", func() bool { return len(log.ended()) > 0 })
	if diff := cmp.Diff([]engine.Reason{want}, log.ended()); diff != "" {
		t.Error(diff)
	}
}

func TestHandshakeSaysWhatTheProtocolAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, _, _, _ := virtual(t, engine.Options{PingInterval: 7 * time.Second, PingTimeout: 9 * time.Second, MaxPayload: 1234})
		_, polled := enginetest.Do(t, host, http.MethodGet, "EIO=4&transport=polling", "")
		_, dialled, err := enginetest.Dial(t, host, "").Read()
		if err != nil {
			t.Fatal(err)
		}
		for text, upgrades := range map[string][]any{polled: {"websocket"}, dialled: {}} {
			var got map[string]any
			if err := json.Unmarshal([]byte(text[1:]), &got); err != nil || text[0] != '0' {
				t.Fatalf("%v in %q", err, text)
			}
			if sid, _ := got["sid"].(string); len(sid) != 20 {
				t.Errorf("sid %q", sid)
			}
			delete(got, "sid")
			want := map[string]any{"upgrades": upgrades, "pingInterval": 7000.0, "pingTimeout": 9000.0, "maxPayload": 1234.0}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func TestRequestsThatAreNoneAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, _, server, _ := virtual(t, engine.Options{})
		for _, c := range []struct {
			method, query string
			status        int
		}{
			{"GET", "transport=polling", 400},
			{"GET", "EIO=abc&transport=polling", 400},
			{"GET", "EIO=3&transport=polling", 400},
			{"GET", "EIO=4", 400},
			{"GET", "EIO=4&transport=abc", 400},
			{"GET", "EIO=4&transport=websocket", 400},
			{"POST", "EIO=4&transport=polling", 400},
			{"PUT", "EIO=4&transport=polling", 400},
			{"GET", "EIO=4&transport=polling&sid=unknown", 400},
			{"POST", "EIO=4&transport=polling&sid=unknown", 400},
		} {
			if status, answer := enginetest.Do(t, host, c.method, c.query, ""); status != c.status || !json.Valid([]byte(answer)) {
				t.Errorf("%s ?%s: %d %s, want %d", c.method, c.query, status, answer, c.status)
			}
		}
		if n := server.Stats().Opened; n != 0 {
			t.Errorf("%d sessions were opened", n)
		}
	})
}

func TestPollingCarriesTextAndBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, _, _, _ := virtual(t, engine.Options{})
		for _, body := range []string{"4hello", "4a\x1e4ب\x1e4c", "4hello\x1ebAQIDBA==", "b", "4"} {
			p := enginetest.Poll(t, host)
			if status, answer := p.Post(body); status != 200 || answer != "ok" {
				t.Fatalf("post: %d %q", status, answer)
			}
			if status, answer := p.Get(); status != 200 || answer != body {
				t.Errorf("got %d %q, want %q", status, answer, body)
			}
		}
	})
}

func TestWebSocketCarriesTextBytesAndFragments(t *testing.T) {
	host, _, _, _ := serve(t, engine.Options{})
	p := enginetest.Dial(t, host, "")
	p.Next()
	p.Send("4hello")
	p.Want("4hello")
	p.SendBinary([]byte{1, 2, 3})
	p.Want("\x01\x02\x03")
	long := "4" + strings.Repeat("ش", 100_000) // longer than any buffer, and 64-bit lengths
	p.Send(long)
	p.Want(long)
	// In pieces, cut within a character, with a ping between.
	p.Frame(ws.NewFrame(ws.OpText, false, []byte("4\xd8")))
	p.Frame(ws.NewPingFrame([]byte("still there?")))
	p.Frame(ws.NewFrame(ws.OpContinuation, false, []byte("\xb4")))
	p.Frame(ws.NewFrame(ws.OpContinuation, true, nil))
	p.Want("still there?", "4ش")
}

func TestInvalidPacketEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, body := range []string{"abc", "4ok\x1e", "", "b!!!!", "2", "0", "4\xff"} {
			host, log, _, _ := virtual(t, engine.Options{})
			p := enginetest.Poll(t, host)
			if status, answer := p.Post(body); status != 400 && body != "abc" && body != "2" && body != "0" {
				t.Errorf("post of %q: %d %q", body, status, answer)
			}
			wantReason(t, log, engine.ReasonParseError)
			if status, _ := p.Get(); status != 400 {
				t.Errorf("poll after %q: %d", body, status)
			}
		}
		host, log, _, _ := virtual(t, engine.Options{})
		p := enginetest.Dial(t, host, "")
		p.Send("abc")
		if code := p.Closed(); code != ws.StatusProtocolError {
			t.Errorf("code %d", code)
		}
		wantReason(t, log, engine.ReasonParseError)
	})
}

func TestTwoPollsAtOnceEndTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, _, _ := virtual(t, engine.Options{})
		p := enginetest.Poll(t, host)
		first := make(chan string, 1)
		go func() {
			_, answer := p.Get()
			first <- answer
		}()
		// Whichever comes second, one of the two is answered with the end.
		testkit.Eventually(t, "the first poll is open", func() bool {
			log.mu.Lock()
			defer log.mu.Unlock()
			return log.sessions[0].Idle()
		})
		if status, _ := p.Get(); status != 400 {
			t.Errorf("the second poll: %d", status)
		}
		if answer := <-first; answer != "1" {
			t.Errorf("the first poll: %q", answer)
		}
		wantReason(t, log, engine.ReasonParseError)
		synctest.Wait() // an answer that was read is not yet one that was written to its end
		if status, _ := p.Get(); status != 400 {
			t.Errorf("a poll after it: %d", status)
		}
	})
}

func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, server, _ := virtual(t, engine.Options{})
		p, w := enginetest.Poll(t, host), enginetest.Dial(t, host, "")
		w.Next()
		for range 3 {
			began := time.Now()
			if _, answer := p.Get(); answer != "2" {
				t.Fatalf("polled %q", answer)
			}
			if after := time.Since(began); after != 25*time.Second {
				t.Errorf("a heartbeat %s after the last", after)
			}
			p.Post("3")
			if _, text, err := w.Read(); text != "2" {
				t.Fatalf("read %q, %v", text, err)
			}
			w.Send("3")
		}
		if s := server.Stats(); s.Pollers != 1 || s.WebSockets != 1 || len(log.ended()) != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestUnansweredHeartbeatEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, server, _ := virtual(t, engine.Options{})
		began := time.Now()
		w, p := enginetest.Dial(t, host, ""), enginetest.Poll(t, host)
		w.Closed()
		if after := time.Since(began); after != 45*time.Second {
			t.Errorf("closed after %s, want the 25 s to a heartbeat and the 20 s for its answer", after)
		}
		synctest.Wait()
		if diff := cmp.Diff([]engine.Reason{engine.ReasonPingTimeout, engine.ReasonPingTimeout}, log.ended()); diff != "" {
			t.Error(diff)
		}
		if status, _ := p.Get(); status != 400 {
			t.Errorf("a poll after it: %d", status)
		}
		if s := server.Stats(); s.Pollers+s.WebSockets != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestClientSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, _, _ := virtual(t, engine.Options{})
		p := enginetest.Poll(t, host)
		answer := make(chan string, 1)
		go func() {
			_, text := p.Get()
			answer <- text
		}()
		p.Post("1") // before the poll or after it: the poll is answered either way
		if text := <-answer; text != "6" {
			t.Errorf("the open poll got %q", text)
		}
		synctest.Wait() // an answer that was read is not yet one that was written to its end
		if status, _ := p.Get(); status != 400 {
			t.Errorf("a poll after it: %d", status)
		}
		wantReason(t, log, engine.ReasonTransportClose)
		w := enginetest.Dial(t, host, "")
		w.Send("1")
		if code := w.Closed(); code != ws.StatusNormalClosure {
			t.Errorf("code %d", code)
		}
		w = enginetest.Dial(t, host, "")
		w.Frame(ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusGoingAway, "")))
		if code := w.Closed(); code != ws.StatusNormalClosure {
			t.Errorf("code %d", code)
		}
	})
}

func TestServerSaysGoodbyeAfterItsLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, server, _ := virtual(t, engine.Options{})
		w := enginetest.Dial(t, host, "")
		w.Next()
		w.Send("4end")
		w.Want("4last words")
		if code := w.Closed(); code != ws.StatusNormalClosure {
			t.Errorf("code %d", code)
		}
		wantReason(t, log, engine.ReasonForced)
		p := enginetest.Poll(t, host)
		p.Post("4end")
		// Not in one answer: the client would drop the words with the connection.
		for _, want := range []string{"4last words", "1"} {
			if _, answer := p.Get(); answer != want {
				t.Errorf("polled %q, want %q", answer, want)
			}
		}
		testkit.Eventually(t, "the session is gone", func() bool { return server.Stats().Pollers == 0 })
		if status, _ := p.Get(); status != 400 {
			t.Errorf("a poll after it: %d", status)
		}
	})
}

func TestUpgradeLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, server, _ := virtual(t, engine.Options{PingInterval: time.Hour}) // a lost packet is not waited for with heartbeats
		p := enginetest.Poll(t, host)
		open := make(chan string, 1)
		go func() {
			_, answer := p.Get()
			open <- answer
		}()
		testkit.Eventually(t, "the poll is open", func() bool {
			log.mu.Lock()
			defer log.mu.Unlock()
			return log.sessions[0].Idle()
		})
		w := enginetest.Dial(t, host, p.SID)
		w.Send("2probe")
		w.Want("3probe")
		if answer := <-open; answer != "6" {
			t.Errorf("the open poll got %q", answer)
		}
		// What is sent now goes the new way, not to a poll.
		p.Post("4between")
		if _, answer := p.Get(); answer != "6" {
			t.Errorf("a poll during the upgrade got %q", answer)
		}
		w.Send("5")
		w.Want("4between")
		w.Send("4after")
		w.Want("4after")
		if status, _ := p.Get(); status != 400 {
			t.Errorf("a poll after it: %d", status)
		}
		second := enginetest.Dial(t, host, p.SID)
		if code := second.Closed(); code != ws.StatusPolicyViolation {
			t.Errorf("a second WebSocket was closed with %d", code)
		}
		w.Send("4still")
		w.Want("4still")
		if s := server.Stats(); s.WebSockets != 1 || s.Pollers != 0 || s.Upgraded != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestProbeThatComesToNothingLeavesPollingAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, _, _ := virtual(t, engine.Options{PingInterval: time.Hour})
		p := enginetest.Poll(t, host)
		for _, said := range [][]string{{}, {"2probe"}, {"hello"}, {"2probe", "4not yet"}} {
			w := enginetest.Dial(t, host, p.SID)
			for _, text := range said {
				if w.Send(text); text == "2probe" {
					w.Want("3probe")
				}
			}
			began, broken := time.Now(), len(said) > 0 && said[len(said)-1] != "2probe"
			w.Closed()
			if after := time.Since(began); broken && after != 0 || !broken && after != 10*time.Second {
				t.Errorf("a probe that said %q was let go after %s", said, after)
			}
			p.Post("4hello")
			testkit.Eventually(t, "polling goes on", func() bool {
				_, answer := p.Get()
				return answer == "4hello"
			})
		}
		if ended := log.ended(); len(ended) > 0 {
			t.Errorf("the session ended: %v", ended)
		}
	})
}

func TestRunEndsWithEverybodyTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, _, stop := virtual(t, engine.Options{})
		w, p := enginetest.Dial(t, host, ""), enginetest.Poll(t, host)
		idle := enginetest.Poll(t, host) // never polls again
		probe := enginetest.Dial(t, host, idle.SID)
		answer := make(chan string, 1)
		go func() {
			_, text := p.Get()
			answer <- text
		}()
		testkit.Eventually(t, "the poll is open", func() bool {
			log.mu.Lock()
			defer log.mu.Unlock()
			for _, s := range log.sessions {
				if s.ID() == p.SID {
					return s.Idle()
				}
			}
			return false
		})
		ended := make(chan struct{})
		go func() { stop(); close(ended) }()
		if text := <-answer; text != "1" {
			t.Errorf("the open poll got %q", text)
		}
		if code := w.Closed(); code != ws.StatusGoingAway {
			t.Errorf("the WebSocket was closed with %d", code)
		}
		probe.Closed()
		<-ended
		if n := len(log.ended()); n != 3 {
			t.Errorf("%d receivers were told", n)
		}
	})
}

func TestReceiverThatPanicsCostsItsOwnSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, log, _, _ := virtual(t, engine.Options{})
		w, other := enginetest.Dial(t, host, ""), enginetest.Dial(t, host, "")
		w.Send("4panic")
		if code := w.Closed(); code != ws.StatusInternalServerError {
			t.Errorf("code %d", code)
		}
		wantReason(t, log, engine.ReasonFault)
		other.Next()
		other.Send("4here")
		other.Want("4here")
	})
}
