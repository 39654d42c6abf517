package whip_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/whip"
)

// flood makes offers and returns how each was answered, by status.
func flood(h *house, offers int, who func(i int) (address, user string), body string) map[int]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	out := map[int]int{}
	slots := make(chan struct{}, 50)
	for i := range offers {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			address, user := who(i)
			resp := h.do(http.MethodPost, h.public.URL+"/whip", http.Header{
				"Authorization": {"Bearer " + user + ".secret"}, "Content-Type": {"application/sdp"}, "X-Forwarded-For": {address},
			}, body)
			mu.Lock()
			defer mu.Unlock()
			out[resp.StatusCode]++
			if (resp.StatusCode == 429 || resp.StatusCode == 503) && resp.Header.Get("Retry-After") == "" {
				out[0]++
			}
		})
	}
	wg.Wait()
	return out
}

// Offers without end, from one address and from many, by one publisher and by many,
// leave a bounded number of sessions.
func TestAFloodOfOffersIsBounded(t *testing.T) {
	const most = 12
	limits := whip.Limits{Sessions: most, PerAddress: 4, PerPublisher: 3, Offers: 10, OfferEvery: time.Hour, Connect: time.Hour, Track: time.Hour}
	h := open(t, func(o *whip.Options) { o.Limits = limits })
	body := newPhone(t, h, "sara").offer(false)
	one := flood(h, 200, func(i int) (string, string) { return "203.0.113.9", fmt.Sprintf("user%d", i) }, body)
	if one[201] > 4 || one[429] < 190 || one[0] != 0 {
		t.Errorf("from one address: %v", one)
	}
	many := flood(h, 200, func(i int) (string, string) {
		return fmt.Sprintf("198.51.%d.%d", i/100, i%100+1), fmt.Sprintf("user%d", i)
	}, body)
	if many[201] > most-one[201] || many[201]+many[503]+many[429] != 200 || many[0] != 0 {
		t.Errorf("from many addresses: %v after %v", many, one)
	}
	if n := len(h.sessions()); n > most {
		t.Errorf("%d sessions", n)
	}

	h = open(t, func(o *whip.Options) { o.Limits = limits })
	publisher := flood(h, 50, func(i int) (string, string) { return fmt.Sprintf("192.0.2.%d", i+1), "sara" }, body)
	if n := len(h.sessions()); n > 3 || publisher[201] == 0 {
		t.Errorf("one publisher has %d sessions: %v", n, publisher)
	}
}

// Sessions that never connect end by themselves, and then a publisher is served as ever.
func TestSessionsThatNeverConnectEnd(t *testing.T) {
	h := open(t, func(o *whip.Options) { o.Limits = whip.Limits{Sessions: 3, Connect: time.Second} })
	body := newPhone(t, h, "sara").offer(false)
	user := func(i int) (string, string) { return fmt.Sprintf("192.0.2.%d", i+1), fmt.Sprintf("user%d", i) }
	if first := flood(h, 20, user, body); first[201] < 3 {
		t.Errorf("%v", first)
	}
	testkit.Eventually(t, "they end", func() bool { return len(h.sessions()) == 0 })
	testkit.Eventually(t, "another is served", func() bool { return flood(h, 1, user, body)[201] == 1 })
	if h.control.told("arrived user0 ") != 0 {
		t.Error("one without audio was registered")
	}
}

// A publisher who sends a new stream with each packet does not make this process grow, nor
// keeps others from being told of, whether the offer names a stream or none.
func TestStreamsOfOneSessionAreBounded(t *testing.T) {
	h := open(t, nil)
	sound := [][]byte{{0x78, 1, 2, 3, 4, 5, 6, 7, 8, 9}}
	for _, named := range []bool{false, true} {
		p := newPhone(t, h, "mallory")
		p.many = !named
		p.publish().connected()
		p.many = true
		told := p.follow()
		p.speak(sound)
		if end := last(t, told); end.Ended != "server" || !strings.Contains(end.Why, "streams") {
			t.Errorf("an offer that names its stream (%t): ended %+v", named, end)
		}
		testkit.Eventually(t, "the session is gone", func() bool { return len(h.sessions()) == 0 })
	}
	if n := h.control.told("arrived mallory Morning"); n > 70 {
		t.Errorf("%d streams were told of", n)
	}
	other := newPhone(t, h, "sara").publish().connected().speak(sound)
	defer other.close()
	testkit.Eventually(t, "another is told of", func() bool { return h.control.told("arrived sara Morning") > 0 })
}

// A publisher whose checks come from thousands of ports does not keep this process busy.
func TestPlacesOfOneSessionAreBounded(t *testing.T) {
	h := open(t, nil)
	p := newPhone(t, h, "mallory").publish().connected()
	told := p.follow()
	line := func(text, key string) string {
		_, rest, _ := strings.Cut(text, key)
		value, _, _ := strings.Cut(rest, "\r\n")
		return value
	}
	var to string
	for one := range strings.Lines(p.answer) {
		if f := strings.Fields(one); strings.HasPrefix(one, "a=candidate:") && f[2] == "udp" {
			to = net.JoinHostPort(f[4], f[5])
		}
	}
	user := line(p.answer, "a=ice-ufrag:") + ":" + line(p.pc.LocalDescription().SDP, "a=ice-ufrag:")
	check, err := stun.Build(stun.TransactionID, stun.BindingRequest, stun.NewUsername(user),
		stun.RawAttribute{Type: stun.AttrICEControlling, Value: make([]byte, 8)}, stun.RawAttribute{Type: stun.AttrPriority, Value: []byte{0, 0, 1, 0}},
		stun.NewShortTermIntegrity(line(p.answer, "a=ice-pwd:")), stun.Fingerprint)
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 { // some may be lost
		conn, err := net.Dial("udp", to)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(check.Raw)
		_ = conn.Close()
	}
	if end := last(t, told); end.Ended != "server" || !strings.Contains(end.Why, "addresses") {
		t.Errorf("ended %+v", end)
	}
}
