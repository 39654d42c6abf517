package whip_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

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
// leave a bounded number of sessions; those that never connect end by themselves, and
// then a publisher is served as ever.
func TestAFloodOfOffersIsBounded(t *testing.T) {
	const most = 12
	h := open(t, func(o *whip.Options) {
		o.Limits = whip.Limits{Sessions: most, PerAddress: 4, PerPublisher: 3, Offers: 10, OfferEvery: time.Hour, Connect: time.Second}
	})
	body := newPhone(t, h, "sara").offer(false)

	one := flood(h, 200, func(i int) (string, string) { return "203.0.113.9", fmt.Sprintf("user%d", i) }, body)
	if one[201] > 4 || one[429] < 190 || one[0] != 0 {
		t.Errorf("from one address: %v", one)
	}
	many := flood(h, 200, func(i int) (string, string) {
		return fmt.Sprintf("198.51.%d.%d", i/100, i%100+1), fmt.Sprintf("user%d", i)
	}, body)
	if many[201] > most || many[201]+many[503]+many[429] != 200 || many[0] != 0 {
		t.Errorf("from many addresses: %v", many)
	}
	if n := len(h.sessions()); n > most {
		t.Errorf("%d sessions", n)
	}
	testkit.Eventually(t, "those that never connect end", func() bool { return len(h.sessions()) == 0 })

	publisher := flood(h, 50, func(i int) (string, string) { return fmt.Sprintf("192.0.2.%d", i+1), "sara" }, body)
	if n := len(h.sessions()); n > 3 {
		t.Errorf("one publisher has %d sessions: %v", n, publisher)
	}
	testkit.Eventually(t, "hers end, too", func() bool { return len(h.sessions()) == 0 })
	for user := range strings.FieldsSeq("sara omar") {
		newPhone(t, h, user).publish().connected()
	}
}
