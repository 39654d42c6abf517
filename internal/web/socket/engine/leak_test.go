package engine_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/socket/engine/enginetest"
)

// A thousand clients come and go: by both transports, politely, abruptly, half
// way up. Once the first have warmed things up, nothing more is kept.
func TestClientsThatComeAndGoLeaveNothingBehind(t *testing.T) {
	addr, log, server, _ := serve(t, engine.Options{MaxSessions: 5000})
	round := func(n int) {
		var work sync.WaitGroup
		turns := make(chan struct{}, 32)
		for i := range n {
			turns <- struct{}{}
			work.Go(func() {
				defer func() { <-turns }()
				visit(t, addr, i)
			})
		}
		work.Wait()
		enginetest.Until(t, "all are gone", func() bool { s := server.Stats(); return s.Pollers == 0 && s.WebSockets == 0 })
		log.mu.Lock()
		log.sessions, log.reasons = nil, nil
		log.mu.Unlock()
	}
	idle := runtime.NumGoroutine()
	round(300)
	before := kept()
	round(1000)
	enginetest.Until(t, "their goroutines are gone", func() bool { return runtime.NumGoroutine() <= idle+4 })
	// In objects, for buffers that are used again come and go as they like. One
	// kept of every other visit would show.
	if grown := kept() - before; grown > 500 {
		t.Errorf("1,000 visits left %d objects behind", grown)
	}
}

func kept() int {
	runtime.GC()
	runtime.GC() // what pools hold outlives one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapObjects)
}

func visit(t *testing.T, addr string, i int) {
	switch i % 5 {
	case 0: // leaves without a word
		w := dial(t, addr, "")
		defer w.Conn.Close()
		w.Next()
		_ = w.Conn.Close()
	case 1: // says goodbye
		w := dial(t, addr, "")
		defer w.Conn.Close()
		w.Next()
		w.Send("4hello")
		w.Want("4hello")
		w.Send("1")
		w.Closed()
	case 2:
		p := enginetest.Poll(t, addr)
		p.Post("4hello")
		p.Get()
		p.Post("1")
	case 3: // goes up, and leaves
		p := enginetest.Poll(t, addr)
		w := dial(t, addr, p.SID)
		defer w.Conn.Close()
		w.Send("2probe")
		w.Want("3probe")
		w.Send("5")
		w.Send("4hello")
		w.Want("4hello")
		_ = w.Conn.Close()
	case 4: // is cut for what it sends, half way up
		p := enginetest.Poll(t, addr)
		w := dial(t, addr, p.SID)
		defer w.Conn.Close()
		w.Send("2probe")
		p.Post("nonsense")
		w.Closed()
	}
}

// dial is enginetest.Dial without the test remembering it.
func dial(t *testing.T, addr, sid string) *enginetest.Peer {
	w, err := enginetest.TryDial(t, addr, sid)
	if err != nil {
		t.Error(err)
		runtime.Goexit()
	}
	return w
}
