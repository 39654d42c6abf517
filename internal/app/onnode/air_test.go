package onnode

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/relay"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// The relay is told what its node is to the station, and again once it was restarted; while
// the node has the air the relay's next number is known, and no longer.
func TestTheRelayIsToldWhichNodeHasTheAir(t *testing.T) {
	t.Parallel()
	log, _ := testkit.Log(t)
	hook := filepath.Join(t.TempDir(), "relay.sock")
	var told atomic.Pointer[relay.Air]
	serve := func() (stop func()) {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /air", func(w http.ResponseWriter, r *http.Request) {
			var now relay.Air
			if err := json.NewDecoder(r.Body).Decode(&now); err != nil {
				t.Error(err)
			}
			told.Store(&now)
			_, _ = w.Write([]byte(`{"next":904}`))
		})
		return testkit.Background(t, func(ctx context.Context) error { return innerhttp.Serve(ctx, hook, mux, nil) })
	}
	is := func(want relay.Air) func() bool {
		return func() bool { now := told.Load(); return now != nil && *now == want }
	}
	stop := serve()
	a := newAir(log, hook)
	testkit.Background(t, func(ctx context.Context) error { a.run(ctx); return nil })
	a.tell(relay.Air{Fence: 7, OnAir: true, Floor: 900})
	testkit.Eventually(t, "the relay is told", is(relay.Air{Fence: 7, OnAir: true, Floor: 900}))
	testkit.Eventually(t, "its next number is known", func() bool { return a.next() == 904 })
	stop()
	told.Store(nil)
	serve()
	testkit.Eventually(t, "a relay that was restarted is told", is(relay.Air{Fence: 7, OnAir: true, Floor: 900}))
	a.tell(relay.Air{Fence: 8})
	testkit.Eventually(t, "another node has the air", is(relay.Air{Fence: 8}))
	if got := a.next(); got != 0 {
		t.Errorf("off the air, and the next number is %d", got)
	}
}
