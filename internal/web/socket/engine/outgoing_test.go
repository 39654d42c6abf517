package engine_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

// Who sends pongs and reads nothing keeps no queue beyond a heartbeat.
func TestAPongForAPingThatWasNotTakenIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, open := range map[string]func(enginetest.Host) (pong func()){
			"polling": func(h enginetest.Host) func() {
				p := enginetest.Poll(t, h)
				return func() { p.Post("3") }
			},
			"websocket": func(h enginetest.Host) func() {
				p := enginetest.Dial(t, h, "")
				return func() { p.Send("3") }
			},
		} {
			host, log, _, _ := virtual(t, engine.Options{})
			pong := open(host)
			for range 4 { // the ping comes after 25 s
				time.Sleep(11 * time.Second)
				pong()
			}
			if ended := log.ended(); len(ended) > 0 {
				t.Errorf("%s: ended after 44 s, %s", name, ended)
			}
			time.Sleep(2 * time.Second)
			if diff := cmp.Diff([]engine.Reason{engine.ReasonPingTimeout}, log.ended()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

// What one address lets wait has a budget, and does not cost others their answers.
// A broadcast takes its memory once.
func TestMessagesThatAreNotFetchedHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		var who atomic.Value
		host, log, server, _ := virtual(t, engine.Options{
			MaxPending: size, MaxOutgoing: 8 * size,
			ClientKey: func(*http.Request) string { return who.Load().(string) },
			Wider:     func(key string) string { site, _, _ := strings.Cut(key, "/"); return site },
		})
		open := func(as string) (*enginetest.Poller, *engine.Session) {
			who.Store(as)
			p := enginetest.Poll(t, host)
			return p, log.sessions[len(log.sessions)-1]
		}
		news := engine.Text(make([]byte, size/4)).Shared()
		for i := range 20 {
			_, s := open(fmt.Sprintf("attacker/%d", i))
			s.Send(news)
			for range 1000 {
				s.Send(engine.Text(bytes.Repeat([]byte("x"), 400)))
			}
		}
		if held := server.Stats().Outgoing; held == 0 || held > 2*size {
			t.Errorf("%d bytes are held, want at most %d", held, 2*size)
		}
		if n := server.Stats().Ended[engine.ReasonSlow]; n < 14 || n > 16 {
			t.Errorf("%d of 20 were cut, want those beyond four and a half", n)
		}

		p, s := open("another")
		answer := strings.Repeat("y", size-100)
		s.Send(engine.Text([]byte(answer)))
		if held := server.Stats().Outgoing; held < size {
			t.Errorf("%d bytes are held", held)
		}
		if status, got := p.Get(); status != http.StatusOK || got != "4"+answer {
			t.Errorf("another's answer: %d, %d bytes", status, len(got))
		}
		testkit.Eventually(t, "all is given back", func() bool { return server.Stats().Outgoing == 0 })
	})
}

// What a poll's answer holds counts as long as nobody reads it, and a further poll gets no
// second answer meanwhile.
func TestAnswersThatAreNotReadHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		host, log, server, _ := virtual(t, engine.Options{
			MaxPending: size, MaxOutgoing: 8 * size, ClientKey: func(*http.Request) string { return "attacker" },
		})
		p := enginetest.Poll(t, host)
		s := log.sessions[0]
		fill := func() {
			for range 3 {
				s.Send(engine.Text(bytes.Repeat([]byte("x"), size/4)))
			}
		}
		fill()
		polls := make([]net.Conn, 2)
		for i := range polls {
			polls[i] = host.Connect(t)
			if _, err := fmt.Fprintf(polls[i], "GET /?%s HTTP/1.1\r\nHost: %s\r\n\r\n", p.Query(), host.Addr); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if i == 0 {
				fill()
			}
		}
		if held := server.Stats().Outgoing; held < size {
			t.Errorf("%d bytes are held by an answer that nobody reads and what waits behind it", held)
		}
		// Whoever reads gets the rest by the poll that waits.
		for _, conn := range polls {
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, response.Body); n < 3*size/4 || err != nil {
				t.Errorf("an answer of %d bytes, %v", n, err)
			}
			_ = response.Body.Close()
		}
		testkit.Eventually(t, "all is given back", func() bool { return server.Stats().Outgoing == 0 })
	})
}
