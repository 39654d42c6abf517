package whip_test

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

func tones(t testing.TB) (ofSara, ofOmar [][]byte) {
	t.Helper()
	encoder := []string{"-application", "audio", "-b:a", "64k", "-ac", "1"}
	return whiptest.Packets(t, "sine=440:d=3", encoder...), whiptest.Packets(t, "sine=1000:d=3", encoder...)
}

func TestAPhoneIsHeardInThePipe(t *testing.T) {
	for _, tcp := range []bool{false, true} {
		asks, arrives := "&push=0", "arrived sara Morning"
		if tcp {
			asks, arrives = "&push=1", "arrived sara Morning, listeners are to be told"
		}
		h := open(t, nil).hearing()
		ofSara, _ := tones(t)
		p := newPhone(t, h, "sara")
		p.tcp, p.asks = tcp, asks
		p.publish().connected().speak(ofSara)
		h.ear.hears(0)
		testkit.Eventually(t, "the registry has it", func() bool { return h.control.told(arrives) == 1 })
		testkit.Eventually(t, "it is live", h.live) // it is not for a moment where the phone stands still
		if _, err := os.Lstat(h.pipe); err != nil {
			t.Error(err)
		}
		p.close()
		// Over TCP the connection may be closed before its last words are through.
		testkit.Eventually(t, "the end is told", func() bool {
			return h.control.told("left sara: the publisher closed the connection")+h.control.told("left sara: the network is gone") == 1
		})
		testkit.Eventually(t, "it is not live any more", func() bool { return !h.live() })
		h.stop()
		if _, err := os.Lstat(h.pipe); err == nil {
			t.Error("the pipe is left behind")
		}
		if h.ear.odd != 0 {
			t.Errorf("%d reads of no whole samples", h.ear.odd)
		}
	}
}

// A page that was reloaded is a new session of the same publisher: nobody else is let in
// between, and the registry hears of each track.
func TestAPageThatIsReloadedGoesOn(t *testing.T) {
	h := open(t, func(o *whip.Options) { o.Limits.Return = time.Hour }).hearing()
	ofSara, ofOmar := tones(t)
	first := newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	other := newPhone(t, h, "omar").publish().connected().speak(ofOmar)
	testkit.Eventually(t, "omar's audio came", func() bool { return h.control.told("arrived omar Morning") == 1 })
	mark := h.ear.mark()
	first.close()
	testkit.Eventually(t, "its end is told", func() bool { return h.control.told("left sara: the publisher closed the connection") == 1 })
	if h.holder() != "" {
		t.Errorf("%s was let in", h.holder())
	}
	newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	if n := h.control.told("arrived sara Morning"); n != 2 {
		t.Errorf("the registry heard of %d tracks", n)
	}
	for _, tick := range h.ear.ticks(mark) {
		if tick == 1 {
			t.Fatal("omar was heard")
		}
	}
	// He holds it once she ends on purpose.
	for _, s := range h.sessions() {
		if s.Publisher == "sara" {
			h.do(http.MethodDelete, h.inner.URL+"/sessions/"+s.ID+"?why=enough", nil, "")
		}
	}
	h.ear.hears(1)
	_ = other
}

// A page that stops closes its connection as well, and that word may come before its DELETE:
// it is a stop all the same, and the pipe is not kept for it.
func TestAStopWhoseConnectionClosedFirstIsAStop(t *testing.T) {
	h := open(t, func(o *whip.Options) { o.Limits.Return = time.Hour }).hearing()
	ofSara, ofOmar := tones(t)
	p := newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	newPhone(t, h, "omar").publish().connected().speak(ofOmar)
	testkit.Eventually(t, "omar's audio came", func() bool { return h.control.told("arrived omar Morning") == 1 })
	p.close()
	testkit.Eventually(t, "the closed connection is told", func() bool { return h.control.told("left sara: the publisher closed the connection") == 1 })
	for _, want := range []int{http.StatusOK, http.StatusNotFound} { // once
		if resp := h.do(http.MethodDelete, p.url, p.header(""), ""); resp.StatusCode != want {
			t.Errorf("DELETE is answered %s, want %d", resp.Status, want)
		}
	}
	h.ear.hears(1)
	testkit.Eventually(t, "the stop is told", func() bool { return h.control.told("left sara: ended by the publisher") == 1 })
}

// A browser that is killed says nothing: its packets stop, ICE is disconnected, and the
// session ends; the pipe goes to who waits.
func TestABrowserThatIsKilledMakesWay(t *testing.T) {
	h := open(t, func(o *whip.Options) { o.Limits.Lost, o.Limits.Return = time.Second, time.Second }).hearing()
	ofSara, ofOmar := tones(t)
	p := newPhone(t, h, "sara")
	p.proxy = whiptest.NewProxy(t, h.server.MediaUDP()[0])
	p.publish().connected().speak(ofSara)
	h.ear.hears(0)
	newPhone(t, h, "omar").publish().connected().speak(ofOmar)
	p.proxy.Set(whiptest.Weather{Loss: 1})
	h.ear.hears(1)
	testkit.Eventually(t, "her end is told", func() bool { return h.control.told("left sara: the network is gone") == 1 })
}

// One that falls silent keeps its session and the pipe, and is heard when it speaks again.
func TestAPublisherThatFallsSilentKeepsThePipe(t *testing.T) {
	h := open(t, func(o *whip.Options) { o.Limits.Lost = time.Second }).hearing()
	ofSara, _ := tones(t)
	p := newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	p.hush(true)
	testkit.Eventually(t, "it is not live", func() bool { return !h.live() })
	if s := h.sessions(); len(s) != 1 || s[0].State != "silent" || !s[0].Holds {
		t.Errorf("%+v", s)
	}
	p.hush(false)
	h.ear.hears(0)
	// A mute is told to the desk.
	resp := h.do(http.MethodPost, p.url+"/state", p.header("application/json"), `{"muted":true}`)
	if resp.StatusCode != http.StatusNoContent {
		t.Error(resp.Status)
	}
	for _, want := range []bool{false, true} { // false: as it began to hold the pipe
		if got := testkit.Receive(t, "a note for the desk", h.mutes); got != want {
			t.Errorf("the desk was told %v", got)
		}
	}
}

// The second phone with the same key replaces the first, whose page is told.
func TestASecondPhoneOfTheSamePublisherReplacesTheFirst(t *testing.T) {
	h := open(t, nil).hearing()
	ofSara, ofOmar := tones(t)
	first := newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	told := first.follow()
	mark := h.ear.mark() - 20*2*960                            // a little before
	newPhone(t, h, "sara").publish().connected().speak(ofOmar) // her second phone hums another tone
	if word := last(t, told); word.Ended != "replaced" || word.Holds {
		t.Errorf("the first page was told %+v", word)
	}
	h.ear.hears(1)
	handover(t, h, mark)
	testkit.Eventually(t, "the first's end is told", func() bool { return h.control.told("left sara: another device of the same publisher") == 1 })
	if resp := h.do(http.MethodDelete, first.url, first.header(""), ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("its resource answers %s", resp.Status)
	}
}

// handover checks the order of what is heard: one tone, then the other, and never back.
// That there is no click is tested where no load can make one (seat_test.go).
func handover(t *testing.T, h *house, mark int) {
	t.Helper()
	ticks := h.ear.ticks(max(0, mark))
	turned, neither, before := 0, 0, ticks[0]
	for _, one := range ticks {
		switch {
		case one < 0:
			neither++
		case one != before && before >= 0:
			turned++
			before = one
		default:
			before = one
		}
	}
	t.Logf("%d of %d ticks hold neither tone", neither, len(ticks))
	if turned != 1 {
		t.Errorf("turned %d times: %v", turned, ticks)
	}
}

// Another publisher's phone waits, connected, until the studio hands over.
func TestAnotherPublisherWaitsForTheStudio(t *testing.T) {
	h := open(t, nil).hearing()
	ofSara, ofOmar := tones(t)
	newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	second := newPhone(t, h, "omar").publish().connected().speak(ofOmar)
	told := second.follow()
	id := h.waits("omar")
	h.ear.hears(0)
	mark := h.ear.mark() - 20*2*960 // a little before
	if resp := h.do(http.MethodPost, h.inner.URL+"/sessions/"+id+"/hold", nil, ""); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	h.ear.hears(1)
	handover(t, h, mark)
	testkit.Eventually(t, "his page knows", func() bool {
		for {
			select {
			case one := <-told:
				if one.Holds {
					return true
				}
			default:
				return false
			}
		}
	})
	// The registry's one entry is his from now on.
	testkit.Eventually(t, "the registry knows", func() bool { return h.control.told("arrived omar Morning") == 2 })
	if h.holder() != "omar" {
		t.Errorf("%q holds the pipe", h.holder())
	}
}

// A key that is revoked while it is on the air ends its session within a poll, and the
// page is told why before it closes. So does the studio, and the end of this process.
func TestAnEndThatTheStationGivesIsToldToThePage(t *testing.T) {
	h := open(t, nil).hearing()
	ofSara, _ := tones(t)
	p := newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	told := p.follow()
	h.control.mu.Lock()
	h.control.gone["sara"] = "revoked"
	h.control.mu.Unlock()
	if word := last(t, told); word.Ended != "revoked" || word.Why != "the key is revoked" {
		t.Errorf("%+v", word)
	}
	testkit.Eventually(t, "the phone is closed", func() bool { return p.pc.ConnectionState() == webrtc.PeerConnectionStateClosed })
	// Who looks again a little later learns it, too.
	if word := last(t, p.follow()); word.Ended != "revoked" {
		t.Errorf("later: %+v", word)
	}
	h.control.mu.Lock()
	h.control.gone["sara"] = ""
	h.control.mu.Unlock()

	p = newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	told = p.follow()
	h.do(http.MethodDelete, h.inner.URL+"/sessions/"+h.sessions()[0].ID+"?why=enough", nil, "")
	if word := last(t, told); word.Ended != "kicked" || word.Why != "enough" {
		t.Errorf("%+v", word)
	}

	p = newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	told = p.follow()
	h.stop()
	if word := last(t, told); word.Ended != "server" {
		t.Errorf("%+v", word)
	}
	if n := h.control.told("left sara: the server restarts"); n != 1 {
		t.Errorf("the control plane was told %d times", n)
	}
}

// A control plane that restarts cuts nobody, and hears of what arrived meanwhile.
func TestAControlPlaneThatIsAwayCutsNobody(t *testing.T) {
	h := open(t, nil).hearing()
	ofSara, _ := tones(t)
	p := newPhone(t, h, "sara").publish().connected()
	h.control.mu.Lock()
	h.control.down = true
	h.control.mu.Unlock()
	p.speak(ofSara)
	h.ear.hears(0)
	resp := h.do(http.MethodPost, h.public.URL+"/whip", newPhone(t, h, "omar").header("application/sdp"), newPhone(t, h, "omar").offer(false))
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("another is answered %s", resp.Status)
	}
	h.control.mu.Lock()
	h.control.down = false
	h.control.mu.Unlock()
	testkit.Eventually(t, "the registry hears of it", func() bool { return h.control.told("arrived sara Morning") == 1 })
}

// An ICE restart moves the session to new credentials; it is the same session, heard on.
func TestAnICERestartKeepsTheSession(t *testing.T) {
	h := open(t, nil).hearing()
	ofSara, _ := tones(t)
	p := newREDPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	before := h.sessions()[0].ID
	for range 3 {
		offer := p.offer(true)
		header := p.header("application/trickle-ice-sdpfrag")
		header["If-Match"] = []string{"*"}
		resp := h.ask(http.MethodPatch, p.url, header, fragment(offer))
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("ETag") == p.etag || resp.Header.Get("ETag") == "" {
			t.Fatalf("%s, ETag %q: %s", resp.Status, resp.Header.Get("ETag"), body)
		}
		p.etag = resp.Header.Get("ETag")
		p.accept(restarted(p.answer, string(body)))
		p.connected()
		h.ear.hears(0)
	}
	if s := h.sessions(); len(s) != 1 || s[0].ID != before {
		t.Errorf("%+v", s)
	}
	if n := h.control.told("arrived sara Morning"); n != 1 {
		t.Errorf("the registry heard of %d tracks", n)
	}
}

// fragment is what of an offer a PATCH holds.
func fragment(offer string) string {
	var b strings.Builder
	for line := range strings.Lines(offer) {
		for _, prefix := range []string{"a=ice-ufrag:", "a=ice-pwd:", "m=audio", "a=mid:", "a=candidate:"} {
			if strings.HasPrefix(line, prefix) {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// restarted is an answer with the credentials of a fragment.
func restarted(answer, fragment string) string {
	for _, name := range []string{"a=ice-ufrag:", "a=ice-pwd:"} {
		var is string
		for line := range strings.Lines(fragment) {
			if strings.HasPrefix(line, name) {
				is = line
			}
		}
		var b strings.Builder
		for line := range strings.Lines(answer) {
			if strings.HasPrefix(line, name) {
				line = is
			}
			b.WriteString(line)
		}
		answer = b.String()
	}
	return answer
}

// While the control plane does not take another phone's beginning, the desk is told of a
// mute all the same: else it would take silence for a fault.
func TestAMuteDoesNotWaitForTheControlPlane(t *testing.T) {
	h := open(t, nil).hearing()
	ofSara, ofOmar := tones(t)
	p := newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	other := newPhone(t, h, "omar").publish().connected()
	h.control.mu.Lock()
	h.control.down = true
	h.control.mu.Unlock()
	other.speak(ofOmar)
	testkit.Eventually(t, "the other's audio", func() bool {
		return slices.ContainsFunc(h.sessions(), func(s live.Session) bool { return s.Publisher == "omar" && s.State == "flowing" })
	})
	h.do(http.MethodPost, p.url+"/state", p.header("application/json"), `{"muted":true}`)
	for _, want := range []bool{false, true} {
		if got := testkit.Receive(t, "a note for the desk", h.mutes); got != want {
			t.Errorf("the desk was told %v", got)
		}
	}
}

// Who may not take the air without the studio is not heard when who is on the air hangs up,
// also while nobody is there to take it away again.
func TestWhoMustWaitIsNotHeardWithoutTheStudio(t *testing.T) {
	h := open(t, nil).hearing()
	h.control.waits = map[string]bool{"omar": true}
	ofSara, ofOmar := tones(t)
	p := newPhone(t, h, "sara").publish().connected().speak(ofSara)
	h.ear.hears(0)
	newPhone(t, h, "omar").publish().connected().speak(ofOmar)
	id := h.waits("omar")
	h.control.mu.Lock()
	h.control.down = true
	h.control.mu.Unlock()
	mark := h.ear.mark()
	h.do(http.MethodDelete, p.url, p.header(""), "")
	testkit.Eventually(t, "the end is told", func() bool { return h.control.told("left sara: ended by the publisher") == 1 })
	if who := h.holder(); who != "" {
		t.Errorf("%s feeds the pipe", who)
	}
	if slices.Contains(h.ear.ticks(mark), 1) {
		t.Error("omar is heard")
	}
	h.do(http.MethodPost, h.inner.URL+"/sessions/"+id+"/hold", nil, "")
	h.ear.hears(1)
}
