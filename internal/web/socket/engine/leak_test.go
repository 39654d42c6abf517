package engine_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

// Hundreds of clients come and go: by both transports, politely, abruptly, half
// way up. Once the first have warmed things up, nothing more is kept.
func TestClientsThatComeAndGoLeaveNothingBehind(t *testing.T) {
	host, log, server, _ := serve(t, engine.Options{CloseTimeout: time.Millisecond})
	round := func(n int) {
		var work sync.WaitGroup
		turns := make(chan struct{}, 32)
		for i := range n {
			turns <- struct{}{}
			work.Go(func() {
				defer func() { <-turns }()
				visit(t, host, i)
			})
		}
		work.Wait()
		testkit.Eventually(t, "all are gone", func() bool { s := server.Stats(); return s.Pollers == 0 && s.WebSockets == 0 })
		log.mu.Lock()
		log.sessions, log.reasons = nil, nil
		log.mu.Unlock()
	}
	idle := runtime.NumGoroutine()
	round(200)
	before := kept()
	round(500)
	testkit.Eventually(t, "their goroutines are gone", func() bool { return runtime.NumGoroutine() <= idle+4 })
	// In objects, for buffers that are used again come and go as they like. One
	// kept of every other visit would show.
	if grown := kept() - before; grown > 250 {
		t.Errorf("500 visits left %d objects behind", grown)
	}
}

func kept() int {
	runtime.GC()
	runtime.GC() // what pools hold outlives one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapObjects)
}

func visit(t *testing.T, host enginetest.Host, i int) {
	switch i % 5 {
	case 0: // leaves without a word
		w := dial(t, host, "")
		defer w.Conn.Close()
		w.Next()
		_ = w.Conn.Close()
	case 1: // says goodbye
		w := dial(t, host, "")
		defer w.Conn.Close()
		w.Next()
		w.Send("4hello")
		w.Want("4hello")
		w.Send("1")
		w.Closed()
	case 2:
		p := enginetest.Poll(t, host)
		p.Post("4hello")
		p.Get()
		p.Post("1")
	case 3: // goes up, and leaves
		p := enginetest.Poll(t, host)
		w := dial(t, host, p.SID)
		defer w.Conn.Close()
		w.Send("2probe")
		w.Want("3probe")
		w.Send("5")
		w.Send("4hello")
		w.Want("4hello")
		_ = w.Conn.Close()
	case 4: // is cut for what it sends, half way up
		p := enginetest.Poll(t, host)
		w := dial(t, host, p.SID)
		defer w.Conn.Close()
		w.Send("2probe")
		p.Post("nonsense")
		w.Closed()
	}
}

// dial is enginetest.Dial without the test remembering it.
func dial(t *testing.T, host enginetest.Host, sid string) *enginetest.Peer {
	w, err := enginetest.TryDial(t, host, sid)
	if err != nil {
		t.Error(err)
		runtime.Goexit()
	}
	return w
}
