package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// takesOrders gives a relay the socket that its node orders by.
func takesOrders(dir string) func(*Options) {
	return func(o *Options) {
		takesEdges(o)
		o.HookAddress, o.StatAddress = "unix:"+filepath.Join(dir, "hook"), "unix:"+filepath.Join(dir, "stat")
	}
}

// order is a node's order; it returns the next number.
func order(t *testing.T, dir, text string, want int) (next int) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "hook"))
	}}
	defer transport.CloseIdleConnections()
	r, err := (&http.Client{Transport: transport}).Post("http://relay/air", "application/json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct{ Next int }
	if r.StatusCode != want {
		t.Fatalf("%s: %s, want %d", text, r.Status, want)
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); want == 200 && (err != nil || answer.Next == 0) {
		t.Fatalf("%s: next %d, %v", text, answer.Next, err)
	}
	return answer.Next
}

// stageSaid is what a relay tells an edge.
func stageSaid(t *testing.T, s *Server) string {
	t.Helper()
	r, _ := get(t, hls(s, mediaName), client.EdgeHeader, edgeToken)
	return r.Header.Get(fenceHeader) + " " + r.Header.Get(onAirHeader)
}

// A relay says which fence it has, and goes on above the floor when it comes on the air; after
// a kill too.
func TestARelayRemembersWhoHasTheAir(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	// A list of a minute: what was played in that time goes on under new numbers, also where
	// this machine was held up for a part of it.
	s, stop := start(t, dir, func(o *Options) { takesOrders(dir)(o); o.SegmentCount = 60 })
	if said := stageSaid(t, s); said != " " {
		t.Errorf("a relay that was never told says %q", said)
	}
	order(t, dir, `{"fence":3,"onair":false}`, 200)
	if said := stageSaid(t, s); said != "3 false" {
		t.Errorf("off the air, with nothing published: %q", said)
	}
	publish(t, s, 8*time.Second)
	testkit.Eventually(t, "segments", func() bool { return s.Snapshot().Segments > 6 })
	for text, want := range map[string]int{
		`{"fence":2,"onair":true,"floor":1}`: 409, `{"fence":4,"onair":true,"floor":-1}`: 400, `{"fence":-4}`: 400, `nonsense`: 400,
	} {
		order(t, dir, text, want)
	}
	if said := stageSaid(t, s); said != "3 false" {
		t.Errorf("after what was refused: %q", said)
	}
	w := &watched{session: begin(t, s), history: newLiveValidator()}
	w.load(t, s)
	floor := s.window.next() + 10_000
	text := fmt.Sprintf(`{"fence":4,"onair":true,"floor":%d}`, floor)
	next := order(t, dir, text, 200)
	if said := stageSaid(t, s); said != "4 true" || next < floor+airTails {
		t.Errorf("on the air: %q, next %d above %d", said, next, floor)
	}
	var list playlist.Media
	if err := list.Unmarshal([]byte(w.load(t, s))); err != nil {
		t.Fatal(err)
	}
	if list.MediaSequence != floor || !list.Segments[0].Discontinuity {
		t.Errorf("it begins at %d, behind a break: %t; want %d", list.MediaSequence, list.Segments[0].Discontinuity, floor)
	}
	breaks := s.Snapshot().Discontinuities
	if order(t, dir, text, 200); s.Snapshot().Discontinuities != breaks {
		t.Error("told once more, it begins anew")
	}

	heard := s.window.next()
	stop() // nothing is left, as after a kill
	s, stop = start(t, dir, takesOrders(dir))
	if said := stageSaid(t, s); said != "4 true" || s.window.next() < heard {
		t.Errorf("after a kill: %q, next %d after %d", said, s.window.next(), heard)
	}
	if before := s.window.next(); order(t, dir, text, 200) != before {
		t.Error("told again after the kill, it goes elsewhere")
	}

	stop()
	if err := os.WriteFile(filepath.Join(dir, airFile), []byte(`{"fence":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ = start(t, dir, takesOrders(dir))
	if said := stageSaid(t, s); said != " " {
		t.Errorf("a damaged file: %q", said)
	}
	order(t, dir, text, 200)
	if said, next := stageSaid(t, s), s.window.next(); said != "4 true" || next < floor {
		t.Errorf("told again after the file was damaged: %q, next %d", said, next)
	}
}

// The program that takes its place says the same, without a break.
func TestAnotherProgramHasTheAir(t *testing.T) {
	t.Parallel()
	l := firstLife(t, func(o *Options) {
		takesOrders(strings.TrimSuffix(strings.TrimPrefix(o.PublishAddress, "unix:"), "/bridge.sock"))(o)
		o.SegmentCount = 60 // of a minute: see above
	})
	publish(t, l.relay, 4*time.Second)
	onAir(t, l.relay)
	order(t, l.dir, `{"fence":3,"onair":false}`, 200)
	order(t, l.dir, fmt.Sprintf(`{"fence":4,"onair":true,"floor":%d}`, l.relay.window.next()+1000), 200)
	if err := os.Remove(filepath.Join(l.dir, airFile)); err != nil { // the disk took no more
		t.Fatal(err)
	}
	w := &watched{session: begin(t, l.relay), history: newLiveValidator()}
	w.load(t, l.relay)
	breaks := l.relay.Snapshot().Discontinuities
	l.next(t)
	if said := stageSaid(t, l.relay); said != "4 true" || l.relay.Snapshot().Discontinuities != breaks {
		t.Errorf("another program: %q, %d breaks after %d", said, l.relay.Snapshot().Discontinuities, breaks)
	}
	w.load(t, l.relay)
}

// Coming on the air: what was played in the last seconds goes on under new numbers, what is
// from a minute ago does not; listeners of this relay itself see a playlist that is valid.
func TestAListBeginsAnewOnTheAir(t *testing.T) {
	for name, c := range map[string]struct {
		played, silent time.Duration
		tail           int
	}{
		"a minute played":     {time.Minute, 0, airTails},
		"two segments":        {5 * time.Second, 0, 2},
		"none":                {0, 0, 0},
		"silent for a minute": {time.Minute, time.Minute, 0},
	} {
		s, v := newStation(noon), newHistoryValidator()
		see := func() (list playlist.Media) {
			text, err := s.window.text("")
			if err != nil {
				t.Fatal(err)
			}
			if text == nil {
				return list
			}
			if err := v.see(text, s.now, func(name string) bool { return s.window.file(name) != nil }); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := list.Unmarshal(text); err != nil {
				t.Fatal(err)
			}
			return list
		}
		play := func(length time.Duration) {
			s.run(length)
		}
		s.connect()
		play(c.played)
		before := see()
		s.now = s.now.Add(c.silent)
		floor := s.window.next() + 77
		s.window.takeAir(floor, s.now)
		after := s.window.listed
		if len(after) != c.tail {
			t.Errorf("%s: %d segments, want %d", name, len(after), c.tail)
		}
		for i, one := range after {
			old := s.window.file(before.Segments[len(before.Segments)-c.tail+i].URI)
			if old == nil || !bytes.Equal(old, one.data[0]) {
				t.Errorf("%s: segment %d is not what was played", name, one.sequence)
			}
		}
		s.window = revived(t, s)
		play(20 * time.Second)
		see()
		at := s.window.segment(floor)
		if at == nil || !at.discontinuity || s.window.breaks == 0 {
			t.Errorf("%s: segment %d: %+v", name, floor, at)
		}
		if gone := len(s.window.byNumber) - len(s.window.listed) - len(s.window.retired); gone != 0 {
			t.Errorf("%s: %d segments are kept for ever", name, gone)
		}
	}
}

// revived is the window as another program goes on with it.
func revived(t *testing.T, s *station) *window {
	t.Helper()
	w := newWindow(three(), 2*time.Second, 8, 1000, s.now)
	w.resume(gobbed(t, s.window.estate()))
	s.path.window = w
	return w
}
