package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// idlers opens connections that send nothing.
func idlers(t *testing.T, address string, n int) (all []net.Conn) {
	t.Helper()
	for range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		all = append(all, conn)
	}
	return all
}

// closedByPeer reports whether the other end has closed a connection that sends nothing.
func closedByPeer(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// 520 connections that do nothing, as many as nginx takes and more, keep no encoder out,
// and none of them cuts one that is on.
func TestAnEncoderGetsInPastACrowdThatDoesNothing(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMP(t, dir)
	s, _ := start(t, dir, r.relay)
	r.nginx(t, nil)
	_, first := r.encoder(t, "first?password=s3cret")
	testkit.Eventually(t, "the first encoder", func() bool { return live(t, s, "live/first") != nil })
	// nginx says to all that it publishes before the door has read that: until then it waits too.
	settled := func(n int) { testkit.Eventually(t, "settled", func() bool { return r.door.Settled() == n }) }
	settled(1)
	idlers(t, r.address, 520)
	_, second := r.encoder(t, "second?password=s3cret")
	testkit.Eventually(t, "the second encoder, past the crowd", func() bool { return live(t, s, "live/second") != nil })
	settled(2)
	idlers(t, r.address, 520)
	var before float64
	testkit.Eventually(t, "audio of the first goes on", func() bool {
		item := live(t, s, "live/first")
		if item == nil {
			return false
		}
		now := item["bytesReceived"].(float64)
		if before == 0 {
			before = now
		}
		return now > before
	})
	for name, ended := range map[string]<-chan error{"first": first, "second": second} {
		select {
		case err := <-ended:
			t.Errorf("the %s encoder was cut: %v", name, err)
		default:
		}
	}
}

// brokenListener has no file for a connection for a while.
type brokenListener struct {
	net.Listener
	failures int
}

func (l *brokenListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// A connection that cannot be taken, for want of files, ends neither the door nor, with
// it, the station: the next is taken.
func TestTheDoorOutlastsAConnectionThatCannotBeTaken(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close() //nolint:errcheck // a test's
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log, lines := testkit.Log(t)
	d := Door{Inner: inner.Addr().String(), Log: log, limits: usualDoor()}
	testkit.Background(t, func(ctx context.Context) error { return d.serve(ctx, &brokenListener{l, 3}) })
	idlers(t, l.Addr().String(), 1)
	conn, err := inner.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a test's
	if lines.Count("cannot take an RTMP connection", "too many open files") != 1 {
		t.Errorf("the log:\n%s", lines)
	}
}

// Who does nothing is let go, and whoever sends only a handshake.
func TestTheDoorLetsGoOfWhoSendsNothing(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	limits := usualDoor()
	limits.begin = 300 * time.Millisecond
	r := newRTMPWithin(t, dir, limits)
	start(t, dir, r.relay)
	r.nginx(t, nil)
	silent := idlers(t, r.address, 1)
	// On a busy machine a handshake may take longer than the door waits for more.
	testkit.EventuallyNil(t, "a handshake", func() error {
		conn := idlers(t, r.address, 1)[0]
		if _, err := conn.Write(append([]byte{3}, make([]byte, 1536)...)); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, make([]byte, handshake)); err != nil {
			return err
		}
		silent = append(silent, conn)
		return nil
	})
	for i, conn := range silent {
		testkit.Eventually(t, fmt.Sprintf("connection %d is closed", i), func() bool { return closedByPeer(conn) })
	}
}

// nginx echoes an old handshake (its version is 0), and the words in it settle nobody: such a
// connection makes way like any other that waits. Two hundred of them kept all encoders out.
func TestAnEchoedHandshakeSettlesNobody(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMPWithin(t, dir, doorLimits{places: 1, perAddress: 1, begin: time.Hour, idle: time.Hour})
	start(t, dir, r.relay)
	r.nginx(t, nil)
	hello := append([]byte{3}, make([]byte, 1536)...)
	copy(hello[100:], settling[0])
	copy(hello[1000:], settling[1])
	conn := idlers(t, r.address, 1)[0]
	if _, err := conn.Write(hello); err != nil {
		t.Fatal(err)
	}
	echoed := make([]byte, handshake)
	if _, err := io.ReadFull(conn, echoed); err != nil || !bytes.Contains(echoed, settling[0]) || !bytes.Contains(echoed, settling[1]) {
		t.Fatalf("no echo: %v", err)
	}
	newcomer := idlers(t, r.address, 1)[0]
	testkit.Eventually(t, "the end of one", func() bool { return closedByPeer(conn) || closedByPeer(newcomer) })
	if closedByPeer(newcomer) {
		t.Error("who has published nothing keeps its place")
	}
}

// Where nginx's words come after a handshake, they settle, in whatever pieces they come.
func TestWordsAfterTheHandshakeSettle(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 7, 3000, handshake, 8192} {
		h := &hall{limits: usualDoor(), log: slog.New(slog.DiscardHandler), of: map[string]int{}, settled: new(atomic.Int64)}
		v, there := pair(t)
		v.hall = h
		h.enter(v)
		said := append(make([]byte, handshake), "....NetStream.Publish.Start...."...)
		copy(said[handshake-23:], settling[0]) // up to its last byte
		echoes, rest := said[:handshake], said[handshake:]
		inner, nginx := net.Pipe()
		heard := make(chan struct{})
		go func() { defer close(heard); _, _ = io.Copy(io.Discard, there) }()
		done := make(chan struct{})
		go func() { defer close(done); v.down(inner) }()
		say := func(words []byte) {
			for len(words) > 0 {
				n := min(size, len(words))
				if _, err := nginx.Write(words[:n]); err != nil {
					t.Error(err)
				}
				words = words[n:]
			}
		}
		say(echoes)
		say(rest[:1]) // is read once the echoes have been looked at
		if v.on.Load() {
			t.Errorf("in pieces of %d: an echo settles", size)
		}
		say(rest[1:])
		_ = nginx.Close()
		<-done
		if !v.on.Load() {
			t.Errorf("in pieces of %d: not settled", size)
		}
		_, _ = v.outer.Close(), there.Close()
		<-heard
	}
}

// pair is a connection at the door, and its other end.
func pair(t *testing.T) (*visit, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test's own
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = there.Close(), here.Close() })
	return &visit{outer: here.(*net.TCPConn)}, there
}

// One who has a /48 has 65,536 addresses, and the places of eight: the rest stay others'. At
// the door that is full the /48 as a whole is the crowd.
func TestAWideNetworkAtTheDoor(t *testing.T) {
	h := &hall{limits: doorLimits{places: 12, perAddress: 1}, log: slog.New(slog.DiscardHandler), of: map[string]int{}, settled: new(atomic.Int64)}
	come := func(address string) (*visit, bool) {
		v, _ := pair(t)
		v.address, v.hall = address, h
		return v, h.enter(v)
	}
	var others []*visit
	for i := range 4 {
		v, ok := come(fmt.Sprintf("192.0.2.%d", i))
		if !ok {
			t.Fatal("not let in")
		}
		others = append(others, v)
	}
	in := 0
	for i := range 100 {
		if _, ok := come(fmt.Sprintf("2001:db8:1:%x::/64", i)); ok {
			in++
		}
	}
	if in != wideFactor {
		t.Errorf("a /48 has %d places", in)
	}
	if _, ok := come("2001:db8:2::/64"); !ok {
		t.Error("a newcomer is not let in")
	}
	for i, v := range others {
		if errors.Is(v.outer.SetDeadline(time.Time{}), net.ErrClosed) {
			t.Errorf("%d had to go for the crowd", i)
		}
	}
	for _, v := range slices.Clone(h.waiting) {
		h.leave(v)
	}
	if h.all != 0 || len(h.of) != 0 {
		t.Errorf("%d places, %v", h.all, h.of)
	}
}

// The door's own rules, without nginx: an address has so many places, and a newcomer
// gets the one of the oldest that waits, of the address that has the most.
func TestPlacesAtTheDoor(t *testing.T) {
	h := &hall{limits: doorLimits{places: 6, perAddress: 4}, log: slog.New(slog.DiscardHandler), of: map[string]int{}, settled: new(atomic.Int64)}
	come := func(address string) (*visit, bool) {
		v, _ := pair(t)
		v.address, v.hall = address, h
		return v, h.enter(v)
	}
	in := func(address string) *visit {
		t.Helper()
		v, ok := come(address)
		if !ok {
			t.Fatalf("%q is not let in", address)
		}
		return v
	}
	closed := func(v *visit) bool { return errors.Is(v.outer.SetDeadline(time.Time{}), net.ErrClosed) }

	quiet := in("quiet")
	crowd := []*visit{in("crowd"), in("crowd"), in("crowd"), in("crowd")}
	if _, ok := come("crowd"); ok {
		t.Error("one address has five places of four")
	}
	h.settle(crowd[0])
	settled := in("encoder")
	h.settle(settled)
	in("newcomer") // takes the place of the oldest of the crowd that waits
	for i, want := range []bool{false, true, false, false} {
		if closed(crowd[i]) != want {
			t.Errorf("connection %d of the crowd: closed %v", i, !want)
		}
	}
	if closed(quiet) || closed(settled) {
		t.Error("others had to go for the crowd")
	}
	h.leave(crowd[1]) // it went already
	h.leave(crowd[2])
	h.leave(crowd[2])
	if h.all != 5 || h.of["crowd"] != 2 || len(h.waiting) != 3 {
		t.Errorf("%d places, %v, %d wait", h.all, h.of, len(h.waiting))
	}
	for len(h.waiting) > 0 {
		h.settle(h.waiting[0])
	}
	h.settle(in("another"))
	if _, ok := come("late"); ok {
		t.Error("one that is settled had to go")
	}
}

// nginx is told whose connection it is: from elsewhere what is published cannot be played,
// and guesses count for the address.
func TestNginxSeesTheAddressBehindTheDoor(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMP(t, dir)
	s, _ := start(t, dir, r.relay)
	r.nginx(t, nil)
	r.encoder(t, "studio?password=s3cret")
	testkit.Eventually(t, "the encoder", func() bool { return live(t, s, "live/studio") != nil })
	// A door that says that its visitors come from elsewhere.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			inner, err := net.Dial("tcp", r.rtmp.Address)
			if err != nil {
				_ = conn.Close()
				return
			}
			_, _ = inner.Write(proxyHeader(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 5}, conn.LocalAddr()))
			go func() { _, _ = io.Copy(conn, inner); _ = conn.Close() }()
			go func() { _, _ = io.Copy(inner, conn); _ = inner.Close() }()
		}
	}()
	play := func(address string, within time.Duration) error {
		_, err := proc.Output(t.Context(), proc.Spec{Name: "listener", Path: "ffmpeg", Args: []string{
			"-hide_banner", "-nostdin", "-loglevel", "error", "-rw_timeout", fmt.Sprint(within.Microseconds()), "-i", "rtmp://" + address + "/live/studio", "-t", "0.5", "-f", "s16le", "-",
		}}, 1<<20)
		return err
	}
	if err := play(r.address, time.Minute); err != nil {
		t.Errorf("on this machine: %v", err)
	}
	if play(l.Addr().String(), 3*time.Second) == nil {
		t.Error("what was published is played from elsewhere")
	}
	if got := string(proxyHeader(&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 5}, &net.TCPAddr{IP: net.ParseIP("::1"), Port: 6})); !strings.HasPrefix(got, "PROXY TCP6 2001:db8::1 ::1 5 6\r\n") {
		t.Errorf("%q", got)
	}
}
