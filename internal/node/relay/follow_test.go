package relay

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// edgeOf is an edge of two relays.
func edgeOf(t *testing.T, kept string, relays ...string) *mirrored {
	t.Helper()
	log, lines := testkit.Log(t)
	m := NewMirror(MirrorOptions{Relays: relays, Token: asEdge, Kept: kept, Log: log})
	m.waits = anyWait()
	srv := httptest.NewServer(m.Handler())
	t.Cleanup(srv.Close)
	return &mirrored{m, srv, lines}
}

func asEdge() string { return edgeToken }

func (m *mirrored) followed() string { host, _ := m.Followed(); return host }

// Two nodes, of which one dies, comes back, and gets the air again: an edge goes on with the
// one that has it, its listeners keep their sessions, and two edges have the same segments.
func TestAnEdgeFollowsWhoHasTheAir(t *testing.T) {
	t.Parallel()
	dirs := [2]string{shortDir(t), shortDir(t)}
	hosts := [2]string{fmt.Sprintf("127.0.0.1:%d", testkit.Port(t)), fmt.Sprintf("127.0.0.1:%d", testkit.Port(t))}
	node := func(i int) (*Server, func()) {
		return start(t, dirs[i], func(o *Options) { takesOrders(dirs[i])(o); o.HLSAddress = hosts[i] })
	}
	a, killA := node(0)
	b, _ := node(1)
	order(t, dirs[0], `{"fence":5,"onair":true}`, 200)
	order(t, dirs[1], `{"fence":5,"onair":false}`, 200)
	publish(t, a, 8*time.Second)
	publish(t, b, 8*time.Second)
	onAir(t, a)
	onAir(t, b)
	kept := filepath.Join(t.TempDir(), "kept")
	one, two := edgeOf(t, kept, hosts[0], hosts[1]), edgeOf(t, "", hosts[1], hosts[0])
	one.follow(t)
	two.follow(t)
	testkit.Eventually(t, "both edges are there", func() bool { return one.fresh() && two.fresh() })
	suffix := one.listen(t)
	v := newLiveValidator()
	load := func() (list playlist.Media) {
		t.Helper()
		asked := time.Now()
		r, text := get(t, one.file(mediaName+suffix))
		status(t, r, 200)
		err := v.see([]byte(text), asked, func(uri string) bool {
			name, _, _ := strings.Cut(uri, "?")
			return one.window.file(name) != nil
		})
		if err == nil {
			err = list.Unmarshal([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	load()
	if one.followed() != hosts[0] || two.followed() != hosts[0] {
		t.Fatalf("followed: %s, %s", one.followed(), two.followed())
	}
	goesOn := func(what, host string, floor int) {
		t.Helper()
		testkit.Eventually(t, what, func() bool {
			list := load()
			if one.followed() != host || two.followed() != host || list.MediaSequence < floor {
				return false
			}
			last := list.MediaSequence + len(list.Segments) - 1
			mine, theirs := one.window.segment(last), two.window.segment(last)
			if mine == nil || theirs == nil {
				return false
			}
			if !slices.EqualFunc(mine.data, theirs.data, bytes.Equal) || mine.era != theirs.era {
				t.Errorf("segment %d differs between the edges", last)
			}
			return true
		})
		if first := one.window.segment(one.from); first == nil || !first.discontinuity {
			t.Errorf("%s: no break before %+v", what, first)
		}
	}

	killA()
	testkit.Eventually(t, "the edge notices", func() bool { return one.log.Count("cannot fetch HLS from the relay") == 1 })
	before := load()
	if one.followed() != hosts[0] {
		t.Error("it follows one that has not the air")
	}
	floor := before.MediaSequence + len(before.Segments) + 40
	order(t, dirs[1], fmt.Sprintf(`{"fence":6,"onair":true,"floor":%d}`, floor), 200)
	goesOn("the spare is heard", hosts[1], floor)

	// The one that died is back, and knows nothing.
	a, _ = node(0)
	publish(t, a, 8*time.Second)
	onAir(t, a)
	asked := a.Snapshot().PlaylistsServed
	testkit.Eventually(t, "both edges ask it", func() bool { return a.Snapshot().PlaylistsServed > asked+6 })
	load()
	if a.Snapshot().SegmentsServed != 0 || one.followed() != hosts[1] || two.followed() != hosts[1] {
		t.Errorf("a lower fence is followed: %s, %s, %d segments", one.followed(), two.followed(), a.Snapshot().SegmentsServed)
	}
	cut := edgeOf(t, kept, hosts[0], "127.0.0.1:1")
	if err := cut.Pull(t.Context()); err == nil || !strings.Contains(err.Error(), "remove "+kept) || cut.fresh() {
		t.Errorf("an edge that begins anew before the old node alone: %v", err)
	}
	again := edgeOf(t, kept, hosts[0], hosts[1])
	if err := again.Pull(t.Context()); err != nil || again.followed() != hosts[1] {
		t.Errorf("an edge that begins anew follows %s: %v", again.followed(), err)
	}
	r, _ := get(t, again.file(mediaName+suffix))
	status(t, r, 200) // a session that began under the other node

	order(t, dirs[1], `{"fence":6,"onair":false}`, 200)
	floor = b.window.next() + 5
	order(t, dirs[0], fmt.Sprintf(`{"fence":7,"onair":true,"floor":%d}`, floor), 200)
	goesOn("the first one is heard again", hosts[0], floor)
	if one.log.Count("HLS comes from another relay") != 2 {
		t.Errorf("the log:\n%s", one.log)
	}
}

func TestWhichRelayIsFollowed(t *testing.T) {
	on := func(fence uint64) standing { return standing{true, true, Air{Fence: fence, OnAir: true}} }
	off := func(fence uint64) standing { return standing{true, true, Air{Fence: fence}} }
	silent, unasked := standing{asked: true}, standing{}
	for _, c := range []struct {
		all      []standing
		followed int
		least    uint64
		want     int
	}{
		{[]standing{on(5), unasked}, -1, 0, -1},
		{[]standing{on(5), silent}, -1, 0, 0},
		{[]standing{on(5), on(6)}, -1, 6, 1},
		{[]standing{on(5), on(6)}, 0, 6, 1},
		{[]standing{on(6), on(5)}, 0, 6, 0},
		{[]standing{off(6), on(5)}, 0, 6, -1},
		{[]standing{silent, on(5)}, -1, 6, -1},
		{[]standing{on(0), on(0)}, -1, 0, 0},
		{[]standing{on(0), on(0)}, 1, 0, 1},
		{[]standing{off(5), off(5)}, 1, 5, -1},
	} {
		if got := pick(c.all, c.followed, c.least); got != c.want {
			t.Errorf("%+v, %d followed, %d seen: %d, want %d", c.all, c.followed, c.least, got, c.want)
		}
	}
}

// node is a relay with a clock of its own, as an edge sees it.
type node struct {
	*station
	dir   string
	stage *stage
}

func newNode(t *rapid.T, dir string, now time.Time) *node {
	era, err := nextEra(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{station: newStation(now), dir: dir}
	n.window.era = era
	n.stage = newStage(dir, n.window, slog.New(slog.DiscardHandler))
	n.connect()
	return n
}

// network answers an edge for the nodes that it reaches.
type network map[string]*node

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	to := n[r.URL.Host]
	if to == nil {
		return nil, errors.New("no route")
	}
	name := strings.TrimPrefix(r.URL.Path, "/main/")
	header, body := http.Header{}, []byte(nil)
	to.stage.header(header)
	if name == mediaName {
		body, _ = to.window.text("")
	} else {
		body = to.window.file(name)
	}
	header.Set(renditionsHeader, to.window.shown().String())
	status := 200
	if body == nil {
		status = map[bool]int{true: 503, false: 404}[name == mediaName]
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// Who was given the air without a floor, and numbers below: nothing is shown until its numbers
// are above all that were shown, so that none is used twice.
func TestNumbersDoNotGoBackWithoutAFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dirs, err := os.MkdirTemp("", "air")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dirs)
		behind := rapid.IntRange(1, 30).Draw(t, "behind s")
		ahead, late := newNode(t, dirs, noon.Add(time.Duration(behind)*time.Second)), newNode(t, dirs, noon)
		late.stage = newStage(filepath.Join(dirs, "late"), late.window, slog.New(slog.DiscardHandler))
		if err := ahead.stage.take(Air{Fence: 1, OnAir: true}, ahead.now); err != nil {
			t.Fatal(err)
		}
		ahead.run(20 * time.Second)
		late.run(time.Second)
		edge := NewMirror(MirrorOptions{Relays: []string{"a:1", "b:1"}, Token: asEdge})
		edge.http.Transport = network{"a:1": ahead, "b:1": late}
		if err := edge.Pull(t.Context()); err != nil {
			t.Fatal(err)
		}
		end := edge.window.next()
		late.stage.air.Store(&Air{Fence: 2, OnAir: true})
		for range 60 {
			_ = edge.Pull(t.Context())
			if edge.from != 0 {
				break
			}
			if edge.window.next() != end {
				t.Fatal("something is shown before there is enough")
			}
			late.run(2 * time.Second)
		}
		if edge.from < end {
			t.Fatalf("it goes on at %d, and %d was shown", edge.from, end-1)
		}
	})
}

// Nodes with clocks of their own take the air from one another, restart, and are out of reach
// of one edge or the other: on no edge numbers go back, and no name has other bytes anywhere.
func TestNumbersAreUsedOnceWhoeverHasTheAir(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tmp, err := os.MkdirTemp("", "air")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(tmp)
		hosts := []string{"a:1", "b:1"}
		nodes, clocks := map[string]*node{}, map[string]time.Duration{}
		now := noon
		for _, host := range hosts {
			if err := os.Mkdir(filepath.Join(tmp, host), 0o700); err != nil {
				t.Fatal(err)
			}
			clocks[host] = time.Duration(rapid.IntRange(-5000, 5000).Draw(t, "clock ms")) * time.Millisecond
			nodes[host] = newNode(t, filepath.Join(tmp, host), now.Add(clocks[host]))
		}
		tell := func(host string, air Air) {
			if err := nodes[host].stage.take(air, nodes[host].now); err != nil {
				t.Fatal(err)
			}
		}
		fence, holder := uint64(1), "a:1"
		tell("a:1", Air{Fence: 1, OnAir: true, Floor: 1})
		tell("b:1", Air{Fence: 1})

		var edges []*Mirror
		var reach []network
		var seen []*historyValidator
		begin := func(i int) {
			edges[i] = NewMirror(MirrorOptions{Relays: hosts, Token: asEdge, Kept: filepath.Join(tmp, fmt.Sprint("edge", i))})
			reach[i], seen[i] = network{}, newHistoryValidator()
			edges[i].http.Transport = reach[i]
		}
		for i := range 2 {
			edges, reach, seen = append(edges, nil), append(reach, nil), append(seen, nil)
			begin(i)
		}
		bytesOf := map[int][sha256.Size]byte{}
		pull := func() {
			for i, edge := range edges {
				_ = edge.Pull(t.Context())
				text, err := edge.window.text("")
				if text == nil && err == nil {
					continue
				}
				if err == nil {
					err = seen[i].see(text, time.Now(), func(name string) bool { return edge.window.file(name) != nil })
				}
				if err != nil {
					t.Fatalf("edge %d: %v", i, err)
				}
				for _, s := range edge.window.listed {
					sum := sha256.Sum256(slices.Concat(s.data...))
					if former, known := bytesOf[s.sequence]; known && former != sum {
						t.Fatalf("edge %d: segment %d has other bytes", i, s.sequence)
					}
					bytesOf[s.sequence] = sum
				}
			}
		}
		for range rapid.IntRange(4, 10).Draw(t, "steps") {
			host := rapid.SampledFrom(hosts).Draw(t, "host")
			switch rapid.IntRange(0, 7).Draw(t, "event") {
			case 0: // the air goes over, or comes back to who had it
				floor := nodes[holder].window.next() + rapid.IntRange(0, 30).Draw(t, "above")
				tell(holder, Air{Fence: fence})
				fence++
				holder = host
				tell(holder, Air{Fence: fence, OnAir: true, Floor: floor})
			case 1: // a relay dies and begins anew
				n := nodes[host]
				nodes[host] = newNode(t, n.dir, n.now.Add(time.Second))
				tell(host, Air{Fence: fence, OnAir: host == holder, Floor: 1})
			case 2:
				i := rapid.IntRange(0, 1).Draw(t, "edge")
				begin(i)
			case 3:
				nodes[host].disconnect()
				nodes[host].connect()
			}
			length := time.Duration(rapid.IntRange(500, 6000).Draw(t, "play ms")) * time.Millisecond
			for _, n := range nodes {
				n.run(length)
			}
			for i := range reach {
				clear(reach[i])
				for _, host := range hosts {
					if rapid.IntRange(0, 3).Draw(t, "reached") > 0 {
						reach[i][host] = nodes[host]
					}
				}
			}
			pull()
		}
		for i := range reach { // all is well again: both edges are at the end
			reach[i]["a:1"], reach[i]["b:1"] = nodes["a:1"], nodes["b:1"]
		}
		for _, n := range nodes {
			n.run(20 * time.Second)
		}
		pull()
		for i, edge := range edges {
			if host, at := edge.Followed(); host != holder || at != fence || edge.window.next() != nodes[holder].window.next() {
				t.Fatalf("edge %d follows %s with fence %d to %d; want %s, %d, %d", i, host, at, edge.window.next(), holder, fence, nodes[holder].window.next())
			}
		}
	})
}
