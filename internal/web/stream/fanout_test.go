package stream

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func oggMount(t *testing.T) *mount { return newMount(t, "application/ogg") }

func plainMount(t *testing.T) *mount { return newMount(t, "audio/mpeg") }

// noise is audio whose every position can be told from every other.
func noise(n int) []byte {
	b := make([]byte, 0, n+16)
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%08x", i)
	}
	return b[:n]
}

func TestListenerStartsWithHeadersAndABurstOfWholePages(t *testing.T) {
	h, a := link(1, 200)
	m := oggMount(t)
	m.set(false, cat(h, a[:150]))
	f, s := onAir(t, Options{URL: m.URL, Burst: 8000})
	m.connected(t)
	testkit.Eventually(t, "all pages", func() bool { return f.Stats().BytesIn == uint64(len(cat(h, a[:150]))) })

	c := listen(t, s.URL)
	testkit.Eventually(t, "the burst", func() bool { return c.size() >= 8000 })
	m.send(cat(a[150:]))
	whole := cat(a)
	testkit.Eventually(t, "the rest", func() bool { return bytes.HasSuffix(c.bytes(), a[199]) })
	got, ok := bytes.CutPrefix(c.bytes(), h)
	first := len(whole) - len(got)
	if !ok || !bytes.HasSuffix(whole, got) || !bytes.HasPrefix(got, []byte(oggCapture)) {
		t.Fatalf("got %d bytes: headers %v", len(got), ok)
	}
	if burst := len(cat(a[:150])) - first; burst < 8000 || burst > 8000+len(a[0])+200 {
		t.Errorf("a burst of %d bytes", burst)
	}
}

func TestSlowListenerIsCutAndOthersLoseNothing(t *testing.T) {
	m := plainMount(t)
	m.set(false, []byte("begin"))
	f, s := onAir(t, Options{URL: m.URL, Burst: 1 << 10, Window: 256 << 10})
	var fast []*capture
	for range 50 {
		fast = append(fast, listen(t, s.URL))
	}
	slow := dial(t, s.URL, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := slow.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "51 listeners", func() bool { return f.Stats().Listeners == 51 })

	want, sent := append([]byte("begin"), noise(6<<20)...), 5
	for f.Stats().CutSlow == 0 && sent < len(want) {
		// No faster than the fast ones: what this shows is not their speed.
		testkit.Eventually(t, "the fast listeners", func() bool {
			return !slices.ContainsFunc(fast, func(c *capture) bool { return c.size() < sent })
		})
		n := min(32<<10, len(want)-sent)
		m.send(want[sent : sent+n])
		sent += n
	}
	for i, c := range fast {
		testkit.Eventually(t, "a fast listener", func() bool { return c.size() >= sent })
		if !bytes.Equal(c.bytes(), want[:sent]) {
			t.Fatalf("listener %d did not get what was sent", i)
		}
	}
	// It is counted as cut a moment before its place is free.
	testkit.Eventually(t, "the place of the slow listener", func() bool { return f.Stats().Listeners == 50 })
	if st := f.Stats(); st.CutSlow != 1 || st.Peak != 51 {
		t.Errorf("%+v", st)
	}
}

// A listener that stops taking anything is cut even when the stream is so thin
// that the window never passes it by.
func TestStalledListenerIsCut(t *testing.T) {
	m := plainMount(t)
	m.set(false, noise(4<<20))
	f, s := onAir(t, Options{URL: m.URL, Burst: 4 << 20, Window: 64 << 20, Stall: 100 * time.Millisecond})
	m.connected(t)
	testkit.Eventually(t, "the upstream's bytes", func() bool { return f.Stats().BytesIn == 4<<20 })
	dial(t, s.URL, "GET / HTTP/1.0\r\n\r\n")
	testkit.Eventually(t, "the cut", func() bool { return f.Stats().CutSlow == 1 && f.Stats().Listeners == 0 })
}

func TestListenersOutlastTheUpstreamsAbsence(t *testing.T) {
	h1, a1 := link(1, 30)
	h2, a2 := link(2, 30)
	m := oggMount(t)
	m.set(false, cat(h1, a1[:20]))
	f, s := onAir(t, Options{URL: m.URL, Burst: 1 << 20, Grace: time.Minute})
	c := listen(t, s.URL)
	testkit.Eventually(t, "the first part", func() bool { return c.size() == len(cat(h1, a1[:20])) })
	m.set(true, nil)
	m.hangUp()
	testkit.Eventually(t, "the upstream's absence", func() bool { return f.Stats().Upstream == Away })
	// Back, with a burst that repeats: then gone again, and back with the next link.
	m.set(false, cat(h1, a1[10:25]))
	testkit.Eventually(t, "the second part", func() bool { return c.size() == len(cat(h1, a1[:25])) })
	m.set(false, cat(h2, a2))
	m.hangUp()
	want := cat(h1, a1[:25], h2, a2)
	testkit.Eventually(t, "the third part", func() bool { return c.size() >= len(want) })
	if !bytes.Equal(c.bytes(), want) {
		t.Error("what was heard is not what was sent, once")
	}
}

// Another node has the air: who listens goes on with what that one sends, on the same
// connection, though the first still sends.
func TestListenersGoOnWhereTheUpstreamMovesTo(t *testing.T) {
	h1, a1 := link(1, 30)
	h2, a2 := link(2, 30)
	one, two := oggMount(t), oggMount(t)
	one.set(false, cat(h1, a1[:20]))
	two.set(false, cat(h2, a2))
	var at atomic.Pointer[string]
	at.Store(&one.URL)
	moves := make(chan struct{}, 1)
	_, s := onAir(t, Options{
		URL: one.URL, Burst: 1 << 20, Grace: time.Minute, At: func() string { return *at.Load() },
		Moved: func() (<-chan struct{}, func()) { return moves, func() {} },
	})
	c := listen(t, s.URL)
	testkit.Eventually(t, "the first part", func() bool { return c.size() == len(cat(h1, a1[:20])) })
	at.Store(&two.URL)
	moves <- struct{}{}
	want := cat(h1, a1[:20], h2, a2)
	testkit.Eventually(t, "the second part", func() bool { return c.size() >= len(want) })
	if !bytes.Equal(c.bytes(), want) {
		t.Error("what was heard is not what the two have sent")
	}
}

func TestListenersAreSentHomeAfterTheGrace(t *testing.T) {
	h, a := link(1, 30)
	m := oggMount(t)
	m.set(false, cat(h, a))
	f, s := onAir(t, Options{URL: m.URL, Grace: 50 * time.Millisecond, Wait: 50 * time.Millisecond})
	testkit.Eventually(t, "the upstream", func() bool { return f.Stats().Upstream == Live })
	c := listen(t, s.URL)
	testkit.Eventually(t, "the stream", func() bool { return bytes.HasSuffix(c.bytes(), a[29]) })
	m.set(true, nil)
	m.hangUp()
	<-c.done
	testkit.Eventually(t, "an empty house", func() bool { return f.Stats().Listeners == 0 })
	// The next one is not played the past.
	res := get(t, http.MethodGet, s.URL)
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %s", res.Status)
	}
	// What they missed is not kept from those who come when it is back.
	m.set(false, cat(h, a))
	testkit.Eventually(t, "the return", func() bool { return get(t, http.MethodHead, s.URL).StatusCode == http.StatusOK })
	again := listen(t, s.URL)
	testkit.Eventually(t, "the stream again", func() bool { return bytes.Equal(again.bytes(), cat(h, a)) })
}

func TestSilentUpstreamIsConnectedAgain(t *testing.T) {
	h, a := link(1, 400)
	m := oggMount(t)
	// Each connection brings one page more than the one before: with repeats alone the upstream
	// would count as away, and whoever comes then is kept waiting.
	m.opening = func() []byte { return cat(h, a[:min(m.all, len(a))]) }
	_, s := onAir(t, Options{URL: m.URL, Burst: 1 << 20, Silence: 50 * time.Millisecond, Grace: time.Hour})
	c := listen(t, s.URL)
	first := c.size()
	testkit.Eventually(t, "what three more connections bring", func() bool { return c.size() >= first+len(cat(a[:3])) })
	if got := c.bytes(); !bytes.HasPrefix(cat(h, a), got) {
		t.Errorf("%d bytes that are not what was sent, once", len(got))
	}
}

func TestChangeOfFormatEndsListeners(t *testing.T) {
	m := plainMount(t)
	m.set(false, noise(5000))
	_, s := onAir(t, Options{URL: m.URL})
	c := listen(t, s.URL)
	testkit.Eventually(t, "the first part", func() bool { return c.size() == 5000 })
	m.mu.Lock()
	m.format = "audio/aac"
	m.mu.Unlock()
	m.hangUp()
	<-c.done
	res := get(t, http.MethodHead, s.URL)
	if got := res.Header.Get("Content-Type"); got != "audio/aac" {
		t.Errorf("Content-Type %q", got)
	}
}

func TestEndOfRunEndsEveryKindOfListener(t *testing.T) {
	m := plainMount(t)
	m.set(false, noise(5000))
	f, stop := runUntil(t, Options{URL: m.URL})
	plain, secure := serve(t, f, false), serve(t, f, true)
	captures := []*capture{listen(t, plain.URL), listenSecurely(t, secure)}
	testkit.Eventually(t, "two listeners", func() bool { return f.Stats().Listeners == 2 })
	stop()
	for _, c := range captures {
		testkit.Receive(t, "the end of a listener", c.done)
	}
}

func TestICYListenerHearsTitlesOnceAndTheSameAudio(t *testing.T) {
	type now struct {
		text   string
		change uint64
	}
	var title atomic.Pointer[now]
	title.Store(&now{"فيروز - نسّم علينا الهوى", 1})
	var second atomic.Bool // the second title was asked for
	h, a := link(1, 400)
	m := oggMount(t)
	m.set(false, cat(h, a[:100]))
	// One writer serves both: what it asks for holds from then on.
	_, s := onAir(t, Options{URL: m.URL, Burst: 1 << 20, Writers: 1, Title: func() (string, uint64) {
		n := title.Load()
		if n.change == 2 {
			second.Store(true)
		}
		return n.text, n.change
	}})
	plain := listen(t, s.URL)
	icy := listen(t, s.URL, "Icy-MetaData", "1")
	if got := icy.res.Header.Get("icy-metaint"); got != "16000" {
		t.Fatalf("icy-metaint %q", got)
	}
	if plain.res.Header.Get("icy-metaint") != "" {
		t.Error("metadata for one who did not ask")
	}
	testkit.Eventually(t, "the first title", func() bool { return icy.size() > 16000+50 })
	title.Store(&now{"Umm Kulthum - It's You", 2})
	// A pass of the writer that began before may go on under the old title for as
	// long as pages come.
	for _, pg := range a[100:250] {
		m.send(pg)
	}
	testkit.Eventually(t, "a pass with the second title", second.Load)
	for _, pg := range a[250:] {
		m.send(pg)
	}
	m.set(true, nil)
	want := cat(h, a)
	testkit.Eventually(t, "all audio", func() bool { return plain.size() == len(want) && icy.size() > len(want)+len(want)/16000 })
	audio, titles, blocks := readICY(t, bytes.NewReader(icy.bytes()), icyInterval)
	testkit.Eventually(t, "all audio, with metadata", func() bool {
		audio, titles, blocks = readICY(t, bytes.NewReader(icy.bytes()), icyInterval)
		return len(audio) == len(want)
	})
	if !bytes.Equal(audio, want) || !bytes.Equal(plain.bytes(), want) {
		t.Error("audio is not what was sent")
	}
	if !slices.Equal(titles, []string{"فيروز - نسّم علينا الهوى", "Umm Kulthum - It’s You"}) || blocks != len(want)/16000 {
		t.Errorf("titles %q in %d blocks", titles, blocks)
	}
}
