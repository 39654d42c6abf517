package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const icecastConfig = `<icecast>
 <limits><clients>200</clients><sources>2</sources><burst-size>65535</burst-size><source-timeout>60</source-timeout></limits>
 <authentication><source-password>secret</source-password><admin-user>admin</admin-user><admin-password>secret</admin-password></authentication>
 <hostname>localhost</hostname>
 <listen-socket><port>%d</port><bind-address>127.0.0.1</bind-address></listen-socket>
 <paths><logdir>/tmp</logdir><webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot></paths>
 <logging><accesslog>-</accesslog><errorlog>-</errorlog><loglevel>2</loglevel></logging>
 %s
</icecast>`

// icecast runs a real server until kill is called, or the test ends.
func icecast(t *testing.T, number int) (kill func()) {
	t.Helper()
	security := ""
	if os.Geteuid() == 0 { // which Icecast refuses to be
		security = "<security><changeowner><user>nobody</user><group>nogroup</group></changeowner></security>"
	}
	config := filepath.Join(t.TempDir(), "icecast.xml")
	if err := os.WriteFile(config, fmt.Appendf(nil, icecastConfig, number, security), 0o600); err != nil {
		t.Fatal(err)
	}
	kill = testkit.Supervised(t, proc.Spec{Name: "icecast", Path: "icecast2", Args: []string{"-c", config}, Stop: syscall.SIGKILL, Stdout: t.Output(), Stderr: t.Output()})
	testkit.Eventually(t, "Icecast", func() bool { return port.Listening(number) })
	return kill
}

// source logs in as an encoder does and returns the connection to send audio on.
func source(t *testing.T, number int) net.Conn {
	t.Helper()
	var conn net.Conn
	testkit.EventuallyNil(t, "a place for the source", func() (err error) {
		if !port.Listening(number) {
			return errors.New("Icecast does not listen")
		}
		if conn, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", number)); err != nil {
			return err // it has crashed on one before: see Supervised
		}
		_, _ = io.WriteString(conn, "SOURCE /main HTTP/1.0\r\nContent-Type: application/ogg\r\nAuthorization: Basic "+
			base64.StdEncoding.EncodeToString([]byte("source:secret"))+"\r\n\r\n")
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if !strings.Contains(line, " 200 ") {
			return errors.Join(fmt.Errorf("answered %q", line), conn.Close())
		}
		return nil
	})
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// play sends a physical stream page by page, faster times as fast as it sounds,
// and calls before ahead of each page.
func play(conn net.Conn, ogg []byte, faster int, before func(pg page)) error {
	begin, sounded, last := time.Now(), time.Duration(0), int64(0)
	for _, b := range pagesOf(ogg) {
		pg := page(b)
		before(pg)
		if g := pg.granule(); g > 0 {
			sounded += time.Duration(max(0, g-last)) * time.Second / 44100
			last = g
		} else {
			last = 0
		}
		if wait := time.Until(begin.Add(sounded / time.Duration(faster))); wait > 0 {
			time.Sleep(wait)
		} else {
			begin = begin.Add(-wait) // what is late stays late: nothing is sent all at once
		}
		if _, err := conn.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// sounds is how long a capture's pages say it sounds, without what the first
// page of each link may need to get the decoder going.
func sounds(ogg []byte) (seconds float64, links int) {
	first, last := int64(-1), int64(-1)
	add := func() {
		if first >= 0 {
			seconds += float64(last-first) / 44100
		}
	}
	for _, b := range pagesOf(ogg) {
		pg := page(b)
		if pg.begins() {
			add()
			first, last = -1, -1
			links++
			continue
		}
		if g := pg.granule(); g > 0 {
			if first < 0 {
				first = g
			}
			last = g
		}
	}
	add()
	return seconds, links
}

// ends is the granule position a capture ends at. Icecast makes its own pages
// of a Vorbis stream, so that bytes cannot be compared across it.
func ends(ogg []byte) int64 {
	pages := pagesOf(ogg)
	return page(pages[len(pages)-1]).granule()
}

// Listeners join a real chain behind a real Icecast at random moments, and just
// before, within and just after the header pages between two tracks. What each
// of them heard decodes without a word from ffmpeg, and whole.
func TestJoinAtAnyMomentOfARealChainDecodesClean(t *testing.T) {
	t.Parallel()
	port := testkit.Port(t)
	icecast(t, port)
	conn := source(t, port)
	f, s := onAir(t, Options{URL: fmt.Sprintf("http://127.0.0.1:%d/main", port), Grace: 200 * time.Millisecond})

	var mu sync.Mutex
	var wg sync.WaitGroup
	captures := map[string]*capture{}
	join := func(name string) {
		wg.Go(func() {
			c := listen(t, s.URL)
			mu.Lock()
			defer mu.Unlock()
			captures[name] = c
		})
	}
	chain := bytes.Join(tracks(t, 3, 8), nil)
	pages := len(pagesOf(chain))
	moments := map[int]bool{}
	for len(moments) < 8 {
		moments[rand.IntN(pages*9/10)] = true
	}
	n, link := 0, 0
	err := play(conn, chain, 5, func(pg page) {
		if moments[n] {
			join(fmt.Sprintf("at page %d of %d", n, pages))
		}
		if pg.begins() {
			link++
		}
		if seq := pg.sequence(); link > 1 && seq < 3 {
			join(fmt.Sprintf("link %d, before page %d", link, seq))
		}
		n++
	})
	if err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	_ = conn.Close()
	if len(captures) < 14 {
		t.Fatalf("%d listeners", len(captures))
	}
	for name, c := range captures {
		<-c.done
		want, links := sounds(c.bytes())
		if got := decode(t, c.bytes()); got < want-0.05 || want == 0 || links == 0 {
			t.Errorf("%s: %.2f s decoded of %.2f s in %d links", name, got, want, links)
		}
		if ends(c.bytes()) != ends(chain) {
			t.Errorf("%s: the end is missing", name)
		}
	}
	// A connection is closed before its listener is no longer counted.
	testkit.Eventually(t, "an empty house", func() bool { return f.Stats().Listeners == 0 })
	if st := f.Stats(); st.CutSlow != 0 {
		t.Errorf("%+v", st)
	}
}

func TestListenersContinueAcrossAnIcecastRestart(t *testing.T) {
	t.Parallel()
	music := tracks(t, 2, 6)
	port := testkit.Port(t)
	kill := icecast(t, port)
	f, s := onAir(t, Options{URL: fmt.Sprintf("http://127.0.0.1:%d/main", port), Grace: time.Minute})

	conn := source(t, port)
	go func() { _ = play(conn, music[0], 3, func(page) {}) }()
	c := listen(t, s.URL)
	testkit.Eventually(t, "the first track", func() bool { return c.size() > 40_000 })
	kill()
	testkit.Eventually(t, "the loss", func() bool { return f.Stats().Upstream == Away })

	kill = icecast(t, port)
	conn = source(t, port)
	if err := play(conn, music[1], 4, func(page) {}); err != nil {
		t.Fatal(err)
	}
	// Only a connection from before the source leaves hears its end.
	testkit.Eventually(t, "the return", func() bool { return f.Stats().Upstream == Live })
	_ = conn.Close() // Icecast keeps a page back until then
	testkit.Eventually(t, "the second track", func() bool {
		_, links := sounds(c.bytes())
		return links == 2 && ends(c.bytes()) == ends(music[1])
	})
	kill()

	heard := c.bytes()
	want, links := sounds(heard)
	if got := decode(t, heard); got < want-0.05 || links != 2 {
		t.Errorf("%.2f s decoded of %.2f s in %d links", got, want, links)
	}
	if st := f.Stats(); st.Served != 1 || st.Listeners != 1 {
		t.Errorf("%+v", st)
	}
}

// A reconnection to Icecast gets headers and a burst of what was sent before:
// listeners hear every page once, in order.
func TestBrokenConnectionToIcecastIsNotHeard(t *testing.T) {
	t.Parallel()
	music := tracks(t, 1, 10)
	port := testkit.Port(t)
	icecast(t, port)
	wire := newWire(t, port)
	f, s := onAir(t, Options{URL: wire.url + "/main", Grace: time.Minute})
	conn := source(t, port)
	played := make(chan error, 1)
	go func() {
		wire.awaitConnection(t.Context()) // it hears the beginning as well
		played <- play(conn, music[0], 3, func(pg page) {
			// The next page waits for the next connection: what Icecast keeps for those who
			// join covers the cut, however late this machine is.
			if n := pg.sequence(); n > 10 && n%10 == 0 && wire.cut() {
				wire.awaitConnection(t.Context())
			}
		})
	}()
	c := listen(t, s.URL)
	if err := <-played; err != nil {
		t.Fatal(err)
	}
	// Only a connection from before the source leaves hears its end.
	testkit.Eventually(t, "the return after the last cut", func() bool { return wire.connected() && f.Stats().Upstream == Live })
	_ = conn.Close()
	testkit.Eventually(t, "the end", func() bool { return len(c.bytes()) > 0 && ends(c.bytes()) == ends(music[0]) })
	if wire.cuts < 2 {
		t.Fatalf("cut %d times", wire.cuts)
	}
	for i, b := range pagesOf(c.bytes()) {
		if got := page(b).sequence(); int(got) != i {
			t.Fatalf("page %d comes at place %d", got, i)
		}
	}
	decode(t, c.bytes())
	if st := f.Stats(); st.Served != 1 || st.Listeners != 1 {
		t.Errorf("%+v", st)
	}
}

// wire is a TCP connection to a port that can be cut.
type wire struct {
	url string

	mu     sync.Mutex
	ends   []net.Conn
	cuts   int
	joined chan struct{} // holds one since Icecast sends on a connection that was not cut
}

func newWire(t *testing.T, port int) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{url: "http://" + l.Addr().String(), joined: make(chan struct{}, 1)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				_ = near.Close()
				continue
			}
			w.mu.Lock()
			w.ends = append(w.ends, near, far)
			w.mu.Unlock()
			wg.Go(func() {
				defer near.Close() //nolint:errcheck // a test
				r := bufio.NewReader(far)
				status, _ := r.ReadString('\n')
				if strings.Contains(status, " 200 ") {
					w.answered(far) // before that Icecast may not have taken note of it
				}
				_, _ = io.WriteString(near, status)
				_, _ = io.Copy(near, r)
			})
			wg.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); w.cut(); wg.Wait() })
	return w
}

func (w *wire) connected() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ends) > 0
}

// answered notes that Icecast sends on a connection, unless it is cut by now.
func (w *wire) answered(far net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.ends, far) {
		return
	}
	select {
	case w.joined <- struct{}{}:
	default:
	}
}

// awaitConnection returns once Icecast sends on a new connection, or when ctx ends.
func (w *wire) awaitConnection(ctx context.Context) {
	select {
	case <-w.joined:
	case <-ctx.Done():
	}
}

// cut reports whether there was a connection to cut.
func (w *wire) cut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.ends {
		_ = c.Close()
	}
	was := len(w.ends) > 0
	if was {
		w.cuts++
	}
	w.ends = nil
	select {
	case <-w.joined: // the connection that was cut
	default:
	}
	return was
}
