package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial(s.PublishAddr().Network(), s.PublishAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// closed waits until the relay has closed the connection.
func closed(t *testing.T, what string, conn net.Conn) {
	t.Helper()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Fatalf("%s is answered", what)
	}
}

// send writes to the relay, ends there, and waits until the relay has done with it.
func send(t *testing.T, s *Server, data []byte) {
	t.Helper()
	conn := dial(t, s)
	_, _ = conn.Write(data)
	_ = conn.(*net.UnixConn).CloseWrite()
	closed(t, "a connection that ended", conn)
}

func TestANewerPublisherTakesOverAndTheListenersStay(t *testing.T) {
	s, _ := start(t, shortDir(t), func(o *Options) { o.SegmentCount = 60 }) // so that the break is listed for long
	first := publish(t, s, 4*time.Second)
	onAir(t, s)
	w := &watched{session: begin(t, s), history: newLiveValidator()}
	w.load(t, s)
	before := s.Snapshot().Discontinuities
	publish(t, s, 4*time.Second)
	closed(t, "the older publisher", first)
	// A relay that is held up in the burst breaks once more by itself.
	testkit.Eventually(t, "a discontinuity", func() bool { return s.Snapshot().Discontinuities > before })
	if text := w.load(t, s); !strings.Contains(text, "#EXT-X-DISCONTINUITY\n") {
		t.Errorf("no discontinuity:\n%s", text)
	}
}

func TestStrayConnectionsDoNotDisturbThePublisher(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	// One where the relay was held up in the burst.
	settled := s.Snapshot().Discontinuities
	dial(t, s)                            // half open: connected and never heard of again
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	for range 30 {
		garbage := make([]byte, random.IntN(200_000))
		for i := range garbage {
			garbage[i] = byte(random.Uint32())
			if i%188 == 0 {
				garbage[i] = 0x47 // looks like MPEG-TS
			}
		}
		send(t, s, garbage)
	}
	before := s.Snapshot()
	if before.Discontinuities != settled || !before.Publishing {
		t.Fatalf("disturbed: %+v", before)
	}
	testkit.Eventually(t, "the stream to go on", func() bool { return s.Snapshot().Segments > before.Segments })
}

// MPEG-TS that is cut off, or damaged on its way, costs at most what it hit.
func TestDamagedInputIsSurvived(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	good := recorded(t)
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test
	for range 20 {
		damaged := bytes.Clone(good[:random.IntN(len(good))])
		for range random.IntN(50) {
			if len(damaged) > 0 {
				damaged[random.IntN(len(damaged))] = byte(random.Uint32())
			}
		}
		send(t, s, damaged)
	}
	before := s.Snapshot().Segments
	publish(t, s, 4*time.Second)
	testkit.Eventually(t, "segments of the next publisher", func() bool { return s.Snapshot().Segments > before+2 })
}

// recorded is MPEG-TS as a bridge sends it.
func recorded(t *testing.T) []byte {
	t.Helper()
	var sent bytes.Buffer
	writer, track := muxer(t, &sent)
	batch := frames()
	for at := time.Duration(0); at < 8*time.Second; at += samplesSpan(usual*samplesPerFrame, testRate) {
		if err := writer.WriteMPEG4Audio(track, clock90k(at), batch); err != nil {
			t.Fatal(err)
		}
	}
	return sent.Bytes()
}

// Whoever sends nothing is closed after the publisher's time-out, to the
// instant: one that never sent anything, and one that falls silent.
func TestPublisherThatFallsSilentIsClosed(t *testing.T) {
	audio := recorded(t)
	s, err := New(Options{PublishAddress: "unix:/none", StateDir: t.TempDir(), PublisherTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for what, sent := range map[string][]byte{"never sent anything": nil, "fell silent": audio} {
		synctest.Test(t, func(t *testing.T) {
			network := testkit.NewNetwork()
			ctx, stop := context.WithCancel(t.Context())
			accepting := make(chan error)
			go func() { accepting <- s.acceptPublishers(ctx, network, nil) }()
			conn, err := network.Dial(ctx, "", "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(sent); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if on := s.Snapshot().Publishing; on != (sent != nil) {
				t.Errorf("%s: publishing %v", what, on)
			}
			silent := time.Now()
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v", what, err)
			}
			if after := time.Since(silent); after != time.Hour {
				t.Errorf("one that %s is closed after %s, want %s", what, after, time.Hour)
			}
			if synctest.Wait(); s.Snapshot().Publishing {
				t.Errorf("one that %s still publishes", what)
			}
			stop()
			if err := <-accepting; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

func TestPathListHasMediaMTXsShape(t *testing.T) {
	s, _ := start(t, shortDir(t), nil)
	address := "http://" + s.PathsAddr().String() + "/v3/paths/list"
	list := func() (map[string]any, map[string]any) {
		r, body := get(t, address)
		status(t, r, 200)
		var all map[string]any
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			t.Fatal(err)
		}
		return all, all["items"].([]any)[0].(map[string]any)
	}
	all, main := list()
	if all["itemCount"] != 1.0 || all["pageCount"] != 1.0 || main["name"] != "main" || main["ready"] != false ||
		main["source"] != nil || main["lastDataTime"] != nil || len(main["readers"].([]any)) != 0 {
		t.Errorf("before anything: %v", all)
	}
	publish(t, s, 4*time.Second)
	onAir(t, s)
	session := begin(t, s)
	other := begin(t, s)
	begin(t, s) // and fetches nothing
	_, media := get(t, hls(s, mediaName), "Cookie", session)
	for range 5 { // readers are sessions, not requests
		get(t, hls(s, lastSegment(t, media)), "Cookie", session)
	}
	get(t, hls(s, lastSegment(t, media)), "Cookie", other)
	// It is not ready while its publisher, in this process, is held up.
	testkit.Eventually(t, "main to be ready", func() bool { _, main = list(); return main["ready"] == true })
	readers := main["readers"].([]any)
	if main["readyTime"] == nil || main["lastDataTime"] == nil || len(readers) != 2 ||
		main["bytesReceived"].(float64) < 100_000 || main["bytesSent"].(float64) < 1000 {
		t.Errorf("on air: %v", main)
	}
	if reader := readers[0].(map[string]any); reader["type"] != "hlsSession" || len(reader["id"].(string)) != 36 {
		t.Errorf("reader %v", reader)
	}
	if source := main["source"].(map[string]any); source["type"] != "mpegtsSource" || source["id"] == "" {
		t.Errorf("source %v", source)
	}
	for query, want := range map[string]int{"?page=1": 200, "?itemsPerPage=0": 400, "?page=-1": 400, "?itemsPerPage=x": 400} {
		if r, _ := get(t, address+query); r.StatusCode != want {
			t.Errorf("%s: status %d, want %d", query, r.StatusCode, want)
		}
	}
	if r, _ := ask(t, "POST", address, nil); r.StatusCode != 405 {
		t.Errorf("POST: status %d", r.StatusCode)
	}
}

func TestPagesOfThePathList(t *testing.T) {
	items := make([]pathItem, 5)
	for _, c := range []struct {
		page, per    string
		count, pages int
	}{{"", "", 5, 1}, {"0", "2", 2, 3}, {"2", "2", 1, 3}, {"3", "2", 0, 3}, {"2147483647", "2147483647", 0, 1}} {
		list, problem := paginate(items, c.page, c.per)
		if problem != "" || len(list.Items) != c.count || list.PageCount != c.pages || list.ItemCount != 5 {
			t.Errorf("page %q of %q: %d items of %d, %d pages, %q", c.page, c.per, len(list.Items), list.ItemCount, list.PageCount, problem)
		}
	}
}

func TestASocketThatCannotBeBoundSaysWhy(t *testing.T) {
	long := "unix:/" + strings.Repeat("x", 120)
	if _, err := New(Options{StateDir: t.TempDir(), PublishAddress: long}); err == nil || !strings.Contains(err.Error(), "107") {
		t.Errorf("too long a path: %v", err)
	}
	dir := shortDir(t)
	name := filepath.Join(dir, "s")
	l, err := listen(t.Context(), none(), "unix:"+name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), none(), "unix:"+name); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("socket in use: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close() // as a killed process leaves it
	l, err = listen(t.Context(), none(), "unix:"+name)
	if err != nil {
		t.Fatalf("stale socket: %v", err)
	}
	_ = l.Close()
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), none(), "unix:"+name); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file in the way: %v", err)
	}
}
