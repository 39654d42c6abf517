package relay

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// gobbed is a value as another program reads it.
func gobbed[T any](t interface{ Fatal(...any) }, value T) (out T) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&b).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// replace goes on with another path and window, as another program does.
func (s *station) replace(t *rapid.T) {
	path, window := gobbed(t, s.path.estate()), gobbed(t, s.window.estate())
	s.window = newWindow(three(), 2*time.Second, 8, 1000, s.now)
	s.path = newPath(s.window, 2*time.Second, s.now, slog.New(slog.DiscardHandler))
	if s.bridge != nil {
		s.bridge = &publisher{id: s.bridge.id}
	}
	s.path.resume(path, s.bridge)
	s.window.resume(window)
}

// Two stations hear the same bridges; one is another program now and then. Their playlists
// are the same to the byte, and so is the audio of each segment, with its times.
func TestTheStreamIsTheSameWhateverProgramMakesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		same, replaced := newStation(noon), newStation(noon)
		both := func(do func(s *station)) {
			t.Helper()
			for _, s := range []*station{same, replaced} {
				do(s)
			}
		}
		next := same.window.sequence
		check := func() {
			want, err := same.window.text("")
			if err != nil {
				t.Fatal(err)
			}
			got, err := replaced.window.text("")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
			for _, segment := range replaced.window.listed {
				if segment.sequence < next {
					continue
				}
				next = segment.sequence + 1
				sameAudio(t, segment, same.window.segment(segment.sequence))
			}
		}
		both((*station).connect)
		for range rapid.IntRange(5, 20).Draw(t, "steps") {
			frames, length := rapid.IntRange(1, 12).Draw(t, "frames"), time.Duration(rapid.IntRange(0, 2500).Draw(t, "play ms"))*time.Millisecond
			away := time.Duration(rapid.IntRange(0, 4000).Draw(t, "away ms")) * time.Millisecond
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				both(func(s *station) { s.disconnect(); s.bridge = nil; s.now = s.now.Add(away) })
				replaced.replace(t)
				both(func(s *station) { s.connect(); s.play(60) })
			case 1:
				both(func(s *station) { s.now = s.now.Add(away) })
			default:
				both(func(s *station) { s.run(length); s.play(frames) })
			}
			check()
			replaced.replace(t)
			check()
		}
		if got, want := replaced.window.estate(), same.window.estate(); got.Sequence != want.Sequence || got.Era != want.Era ||
			got.Total != want.Total || got.Breaks != want.Breaks || len(got.Retired) != len(want.Retired) {
			t.Fatalf("%d, era %d, %d segments, %d breaks, %d retired; want %d, %d, %d, %d, %d", got.Sequence, got.Era, got.Total, got.Breaks,
				len(got.Retired), want.Sequence, want.Era, want.Total, want.Breaks, len(want.Retired))
		}
	})
}

// sameAudio compares what a player takes from two segments.
func sameAudio(t *rapid.T, got, want *segment) {
	t.Helper()
	if !slices.EqualFunc(got.data, want.data, bytes.Equal) {
		t.Fatalf("segment %d is not the same", got.sequence)
	}
}

// lives are programs of one relay, one after another.
type lives struct {
	dir      string
	change   func(*Options)
	handover *testkit.Handover
	relay    *Server
	stop     func()
}

func firstLife(t *testing.T, change func(*Options)) *lives {
	t.Helper()
	dir := shortDir(t)
	hls, paths := testkit.Port(t), testkit.Port(t)
	l := &lives{dir: dir, handover: testkit.NewHandover(t), change: func(o *Options) {
		o.HLSAddress, o.PathsAddress = fmt.Sprintf("127.0.0.1:%d", hls), fmt.Sprintf("127.0.0.1:%d", paths)
		if change != nil {
			change(o)
		}
	}}
	l.begin(t)
	return l
}

func (l *lives) begin(t *testing.T) {
	t.Helper()
	l.relay, l.stop = start(t, l.dir, func(o *Options) {
		l.change(o)
		o.Handover = l.handover
	})
}

// end has the program leave what it has to the next.
func (l *lives) end() {
	l.handover.Order()
	l.stop()
}

func (l *lives) next(t *testing.T) {
	t.Helper()
	l.end()
	l.handover = l.handover.Next()
	l.begin(t)
}

// watched is a listener who loads the playlist and holds it against RFC 8216.
type watched struct {
	session string
	history *historyValidator
}

func (w *watched) load(t *testing.T, s *Server) string {
	t.Helper()
	asked := time.Now()
	r, text := get(t, hls(s, mediaName), "Cookie", w.session)
	status(t, r, http.StatusOK)
	there := func(name string) bool {
		r, _ := get(t, hls(s, name), "Cookie", w.session)
		return r.StatusCode == http.StatusOK
	}
	if err := w.history.see([]byte(text), asked, there); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAnotherProgramGoesOnWithTheStream(t *testing.T) {
	t.Parallel()
	l := firstLife(t, nil)
	publish(t, l.relay, 4*time.Second)
	onAir(t, l.relay)
	w := &watched{session: begin(t, l.relay), history: newLiveValidator()}
	w.load(t, l.relay)
	begin(t, l.relay) // and fetches nothing
	breaks := l.relay.Snapshot().Discontinuities
	source := l.relay.path.state().source
	// As it is listed at its last data: a while later, on a busy machine, it is not ready.
	listed := func(s *Server) pathItem { return s.mainItem(s.path.state().lastData) }
	for range 3 {
		l.end()
		before, item := l.relay.Snapshot(), listed(l.relay)
		l.handover = l.handover.Next()
		l.begin(t)
		after, then := l.relay.Snapshot(), listed(l.relay)
		if after.Segments < before.Segments || after.SessionsTotal != before.SessionsTotal || after.Sessions != 1 || !after.Publishing ||
			after.SegmentsServed != before.SegmentsServed || after.BytesSent != before.BytesSent || after.BytesReceived < before.BytesReceived {
			t.Errorf("before %+v, after %+v", before, after)
		}
		if then.Source.ID != source.id || !then.ReadyTime.Equal(*item.ReadyTime) || !slices.Equal(then.Readers, item.Readers) {
			t.Errorf("before %+v, after %+v", item, then)
		}
		w.load(t, l.relay) // each segment of the playlist from before is there
		seen := after.Segments
		testkit.Eventually(t, "two more segments", func() bool { return l.relay.Snapshot().Segments >= seen+2 })
		w.load(t, l.relay)
	}
	if got := l.relay.Snapshot(); got.Discontinuities != breaks || got.SessionsTotal != 2 {
		t.Errorf("%d breaks after %d, %d sessions", got.Discontinuities, breaks, got.SessionsTotal)
	}
}

// Bytes that are in the socket, or were read of half a frame, are counted once.
func TestBytesOfTheBridgeAreCountedOnce(t *testing.T) {
	t.Parallel()
	l := firstLife(t, nil)
	audio := recorded(t)
	conn := dial(t, l.relay)
	sent := 0
	write := func(n int) {
		if _, err := conn.Write(audio[sent : sent+n]); err != nil {
			t.Fatal(err)
		}
		sent += n
	}
	for range 20 {
		write(1000)
		testkit.Eventually(t, "the bytes", func() bool { return l.relay.Snapshot().BytesReceived == uint64(sent) })
		l.end()
		write(777) // nobody reads now
		l.handover = l.handover.Next()
		l.begin(t)
		testkit.Eventually(t, "the bytes from between", func() bool { return l.relay.Snapshot().BytesReceived == uint64(sent) })
	}
}

// A connection that has not shown audio yet, and one in the queue, are left as well.
func TestABridgeThatIsJustConnectingIsNotTurnedAway(t *testing.T) {
	t.Parallel()
	l := firstLife(t, nil)
	conn := dial(t, l.relay)
	if _, err := conn.Write(recorded(t)[:100]); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the first bytes", func() bool { return l.relay.Snapshot().BytesReceived == 100 })
	l.end()
	queued := dial(t, l.relay)
	l.handover = l.handover.Next()
	l.begin(t)
	if _, err := conn.Write(recorded(t)[100:]); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it publishes", func() bool { return l.relay.Snapshot().Publishing })
	if _, err := queued.Write(recorded(t)); err != nil {
		t.Fatal(err)
	}
	closed(t, "the bridge that another took over from", conn)
}

// What cannot be gone on with begins anew, with the bridge that is connected and the
// listeners that are there.
func TestAStreamThatCannotBeTakenOverBeginsAnew(t *testing.T) {
	t.Parallel()
	l := firstLife(t, nil)
	publish(t, l.relay, 4*time.Second)
	onAir(t, l.relay)
	session := begin(t, l.relay)
	l.end()
	l.handover = l.handover.Next()
	last := l.relay.window.sequence
	settings := l.change
	log, lines := testkit.Log(t)
	l.change = func(o *Options) {
		settings(o)
		o.SegmentDuration, o.Log = 2*time.Second, log
	}
	l.begin(t)
	if lines.Count("begins anew", "segments of 2s are set and were 1s") != 1 {
		t.Errorf("not said why: %s", lines)
	}
	onAir(t, l.relay)
	_, text := get(t, hls(l.relay, mediaName), "Cookie", session)
	if lines.Count("publisher connected") != 1 || l.relay.window.estate().Listed[0].Sequence < last || !strings.Contains(text, "#EXT-X-TARGETDURATION:2") {
		t.Errorf("before segment %d:\n%s", last, text)
	}
}

// A new program that fails gives way to the one before, which is begun again with what it
// had left. What the new one made of it has been heard: no number is used twice.
func TestAProgramThatIsBegunAgainUsesNoNumberTwice(t *testing.T) {
	t.Parallel()
	l := firstLife(t, nil)
	publish(t, l.relay, 4*time.Second)
	onAir(t, l.relay)
	w := &watched{session: begin(t, l.relay), history: newLiveValidator()}
	w.load(t, l.relay)
	l.end()
	first := l.handover
	l.handover = first.Next()
	l.begin(t)
	before := l.relay.Snapshot().Segments
	testkit.Eventually(t, "segments of the new program", func() bool { return l.relay.Snapshot().Segments > before+1 })
	w.load(t, l.relay)
	l.stop() // it fails, and leaves nothing
	heard := l.relay.window.listed
	l.handover = first.Next()
	l.begin(t)
	onAir(t, l.relay)
	for _, segment := range l.relay.window.estate().Listed {
		if segment.Sequence <= heard[len(heard)-1].sequence {
			t.Errorf("segment %d after %d", segment.Sequence, heard[len(heard)-1].sequence)
		}
	}
	r, _ := get(t, hls(l.relay, mediaName), "Cookie", w.session)
	status(t, r, http.StatusOK)
}

// The sockets are the same: one that is used by another relay, or that a killed one left
// behind, is told from one that was handed over.
func TestASocketIsHandedOver(t *testing.T) {
	name := "unix:" + filepath.Join(shortDir(t), "s")
	first := testkit.NewHandover(t)
	l, err := listen(t.Context(), first, name)
	if err != nil {
		t.Fatal(err)
	}
	first.Order()
	_ = l.Close()
	network, where, _ := splitAddress(name)
	waiting, err := net.Dial(network, where)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if _, err := listen(t.Context(), none(), name); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a socket that waits for the next program: %v", err)
	}
	l, err = listen(t.Context(), first.Next(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

// Sessions that another program ended stay ended, those that it has go on, and who has
// fetched nothing is no listener.
func TestSessionsGoOnInAnotherProgram(t *testing.T) {
	before := newSessions(limits, []byte("key"), noon)
	at := noon.Add(time.Second)
	evicted, _ := before.begin(at, nil)
	for range 3 {
		_, _ = before.begin(at, nil)
	}
	heard, _ := before.begin(at, nil)
	before.hear(heard, at)
	fresh, _ := before.begin(at, nil)

	after := newSessions(limits, []byte("made anew, for the disk is full"), at.Add(time.Second))
	after.resume(gobbed(t, before.estate()))
	at = at.Add(2 * time.Second)
	if n, begun := after.counts(at); n != 1 || begun != 6 {
		t.Errorf("%d listeners of %d sessions", n, begun)
	}
	if after.touch(evicted, at, nil) || !after.touch(heard, at, nil) || !after.touch(fresh, at, nil) {
		t.Error("the evicted is taken up, or another is not")
	}
	if after.touch(heard, at.Add(limits.back+time.Second), nil) {
		t.Error("an ended session was taken up")
	}
}
