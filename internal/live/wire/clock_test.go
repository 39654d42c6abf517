package wire_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/wire"
)

// Times of a node whose clock is an hour ahead are told by ours: a phone has not been
// connected since a time to come. They stand still while the measurement does not.
func TestTimesOfTheNodeAreToldByOurClock(t *testing.T) {
	const hour = 3_600_000
	ahead := time.Hour
	clock := &wire.Clock{Measured: func(at time.Time) time.Time { return at.Add(-ahead) }}
	node := &handled{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sessions":
			_, _ = io.WriteString(w, `[{"id":"s","since":1700000000000}]`)
		case "/carts/fire":
			_, _ = io.WriteString(w, `{"id":"c","startedAt":1700000000000}`)
		case "/recordings":
			text := `[{"name":"b","began":1700000000000,"ended":0},{"name":"a","began":1600000000000,"ended":1600000060000}]`
			if r.URL.Query().Get("name") != "" {
				if r.URL.Query().Get("began") != "1600000000000" {
					t.Errorf("the node is asked for what follows %s by another clock than its own", r.URL.RawQuery)
				}
				text = `[]`
			}
			_, _ = io.WriteString(w, text)
		}
	})}
	if all, err := (wire.Phones{RoundTripper: node, Clock: clock}).Sessions(t.Context()); err != nil || all[0].Since != 1700000000000-hour {
		t.Errorf("%+v, %v", all, err)
	}
	if p, err := (wire.Desk{RoundTripper: node, Clock: clock}).Fire(t.Context(), live.CartPress{}); err != nil || p.StartedAt != 1700000000000-hour {
		t.Errorf("%+v, %v", p, err)
	}
	all, err := wire.Recordings{RoundTripper: node, Clock: clock}.List(t.Context())
	if err != nil || all[0].Began != 1700000000000-hour || all[0].Ended != 0 || all[1].Ended != 1600000060000-hour {
		t.Errorf("%+v, %v", all, err)
	}
	for _, jitter := range []time.Duration{0, 300 * time.Millisecond, -900 * time.Millisecond} {
		ahead = time.Hour + jitter
		if got := clock.Here(1700000000000); got != 1700000000000-hour {
			t.Errorf("measured %s from before, and told %d ms from it", jitter, got-1700000000000+hour)
		}
	}
	ahead = 0
	if got := clock.Here(1700000000000); got != 1700000000000 {
		t.Errorf("the clock was set right: %d", got)
	}
	later := time.Now().Add(500 * time.Millisecond).UnixMilli()
	if got := clock.Here(later); got > time.Now().UnixMilli() {
		t.Errorf("half a second ahead: told of a time to come")
	}
	var none *wire.Clock
	if none.Here(later) != later {
		t.Error("a node on this machine")
	}
}
