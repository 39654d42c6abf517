package stream

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// listener of a hand-over: it reads from the moment that it is told to.
type hearer struct {
	icy  bool
	conn net.Conn
	read sync.Once
	done chan struct{}

	mu   sync.Mutex
	data []byte
}

func (h *hearer) begin() {
	h.read.Do(func() {
		go func() {
			defer close(h.done)
			buf := make([]byte, 4<<10)
			for {
				n, err := h.conn.Read(buf)
				h.mu.Lock()
				h.data = append(h.data, buf[:n]...)
				h.mu.Unlock()
				if err != nil {
					return
				}
			}
		}()
	})
}

// audio is what it heard, without the response's head and titles.
func (h *hearer) audio(t *testing.T) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, body, _ := bytes.Cut(h.data, []byte("\r\n\r\n"))
	if h.icy {
		body, _, _ = readICY(t, bytes.NewReader(body), icyInterval)
	}
	return bytes.Clone(body)
}

// Fails where a listener of any kind loses, or hears twice, a byte of audio or of a title's
// block over a hand-over, is disconnected by one, or is not counted after it.
func TestListenersHearNothingOfAHandover(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		header, audio := link(1, 220)
		format := "application/ogg"
		// Only Ogg tells what an upstream repeats.
		if rapid.Bool().Draw(rt, "plain") {
			format, header = "audio/mpeg", nil
		}
		m := newMount(t, format)
		defer m.Close()
		defer m.hangUp() // which Close waits for
		var front atomic.Pointer[Fanout]
		var seated atomic.Int64 // the handlers that have given their listener to a writer
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			front.Load().ServeHTTP(w, r)
			seated.Add(1)
		}))
		defer s.Close()
		title := strings.Repeat("a long title ", 300)
		way := testkit.NewHandover(t)
		begin := func() (*Fanout, func()) {
			f, stop := runUntil(t, Options{
				URL: m.URL, Name: "main", Handover: way, Burst: 8 << 20, Batch: time.Microsecond, SendBuffer: 16 << 10, Stall: time.Hour, Grace: time.Hour,
				MaxPerClient: 4, Title: func() (string, uint64) { return title, 1 },
			})
			front.Store(f)
			return f, stop
		}
		sent, reached := 1, 1 // pages; connections that the upstream should see
		m.set(false, cat(header, audio[:sent]))
		f, stop := begin()
		var hearers []*hearer
		for i := range 4 {
			h := &hearer{icy: i%2 == 0, done: make(chan struct{})}
			request := "GET / HTTP/1.0\r\n\r\n"
			if h.icy {
				request = "GET / HTTP/1.0\r\nIcy-MetaData: 1\r\n\r\n"
			}
			h.conn = dial(t, s.URL, request)
			_ = h.conn.(*net.TCPConn).SetReadBuffer(16 << 10)
			hearers = append(hearers, h)
			if i < 2 {
				h.begin()
			}
		}
		// A program stops its server before its streams: no handler is under way then.
		testkit.Eventually(t, "four listeners", func() bool { return f.Stats().Listeners == 4 && seated.Load() == 4 })
		anew := true // the connection: a hand-over keeps one that was answered
		for sent < len(audio) {
			n := min(len(audio)-sent, rapid.IntRange(1, 90).Draw(rt, "pages"))
			m.connected(t)
			in := f.Stats().BytesIn
			m.send(cat(audio[sent : sent+n]))
			sent += n
			if anew {
				testkit.Eventually(t, "the first of its bytes", func() bool { return f.Stats().BytesIn > in })
				anew = false
			}
			switch rapid.IntRange(0, 5).Draw(rt, "then") {
			case 0:
				hearers[rapid.IntRange(0, 3).Draw(rt, "who wakes")].begin()
			case 1, 2: // the upstream's connection goes on, with what came meanwhile
				before := f.Stats()
				rest := cat(audio[sent:min(sent+rapid.IntRange(0, 20).Draw(rt, "pages meanwhile"), len(audio))])
				sent = min(len(audio), sent+len(pagesOf(rest)))
				cut := rapid.IntRange(0, len(rest)).Draw(rt, "cut") // in the midst of a page, mostly
				m.send(rest[:cut])
				way.Order()
				stop()
				m.send(rest[cut:])
				way = way.Next()
				f, stop = begin()
				testkit.Eventually(t, "the listeners", func() bool { return f.Stats().Listeners == 4 })
				if now := f.Stats(); now.Served != 4 || now.CutSlow != 0 || now.Peak != before.Peak {
					rt.Fatalf("%+v, before %+v", now, before)
				}
				way.Settle()
			case 3, 4: // it is lost
				reached, anew = reached+1, true
				if format != "application/ogg" { // nothing is repeated, so nothing may be on its way
					testkit.Eventually(t, "what was sent", func() bool { in = f.Stats().BytesIn; return in == uint64(len(cat(audio[:sent]))) })
					m.set(false, nil)
				} else {
					m.set(false, cat(header, audio[:sent]))
				}
				way.Order()
				stop()
				m.hangUp()
				before := f.Stats()
				way = way.Next()
				f, stop = begin()
				testkit.Eventually(t, "the return", func() bool { return f.Stats().Listeners == 4 })
				if now := f.Stats(); now.Served != 4 || now.Peak != before.Peak || now.BytesIn < before.BytesIn || now.BytesOut < before.BytesOut || now.CutSlow != 0 {
					rt.Fatalf("%+v, before %+v", now, before)
				}
				m.connected(t)
				way.Settle()
				if res := get(t, http.MethodGet, s.URL); res.StatusCode != http.StatusServiceUnavailable {
					rt.Fatalf("a fifth listener of one address is answered %s", res.Status)
				}
			}
		}
		want := cat(header, audio)
		for i, h := range hearers {
			h.begin()
			testkit.Eventually(t, fmt.Sprintf("listener %d", i), func() bool { return len(h.audio(t)) >= len(want) })
			if !bytes.Equal(h.audio(t), want) {
				rt.Errorf("listener %d heard %d bytes, want %d", i, len(h.audio(t)), len(want))
			}
		}
		if got := m.served(); got != reached {
			rt.Errorf("the upstream has seen %d connections, want %d", got, reached)
		}
		stop()
		for _, h := range hearers {
			<-h.done
			_ = h.conn.Close()
		}
	})
}
