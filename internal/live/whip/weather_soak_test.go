//go:build soak

package whip_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live/whip"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

// weathers are networks between a phone and the station.
var weathers = []struct {
	what string
	whiptest.Weather
}{
	{"5 % of loss, 300 ms of round trip", whiptest.Weather{Loss: 0.05, Burst: 1, Delay: 150 * time.Millisecond, Jitter: 10 * time.Millisecond}},
	{"15 % of loss in bursts of three, 300 ms of round trip, 30 ms of jitter", whiptest.Weather{Loss: 0.15, Burst: 3, Delay: 150 * time.Millisecond, Jitter: 30 * time.Millisecond}},
}

// TestSoakLossOnALongWay prints how much of two minutes is concealed and what rate that
// took, for pion and for Chromium as publishers, by retransmission alone and with redundant
// audio beside. The target is 1 % at 15 % of loss.
func TestSoakLossOnALongWay(t *testing.T) {
	for _, w := range weathers {
		for _, red := range []bool{false, true} {
			how := " "
			if red {
				how = " RED "
			}
			t.Run("pion"+how+w.what, func(t *testing.T) { soakPion(t, w.Weather, red) })
			t.Run("Chromium"+how+w.what, func(t *testing.T) { soakChromium(t, w.Weather, red) })
		}
	}
}

func soakPion(t *testing.T, w whiptest.Weather, red bool) {
	t.Helper()
	h := open(t, nil).hearing()
	ofSara, _ := tones(t)
	phoneOf := newPhone
	if red {
		phoneOf = newREDPhone
	}
	p := phoneOf(t, h, "sara")
	p.proxy = whiptest.NewProxy(t, h.server.MediaUDP()[0])
	p.publish().connected().speak(ofSara)
	h.ear.hears(0)
	soak(t, h, p.proxy, w)
}

func soakChromium(t *testing.T, w whiptest.Weather, red bool) {
	t.Helper()
	s := &script{reports: make(chan browserReport, 16)}
	h := open(t, func(o *whip.Options) { o.Pages = s }).hearing()
	proxy := whiptest.NewProxy(t, h.server.MediaUDP()[0])
	page := rewriting(t, h, proxy) + "/go-live"
	if red {
		page += "?red"
	}
	s.open(t, page)
	if answered := s.hears(t, "answered", 201); strings.Contains(answered.Text, "red/48000") != red {
		t.Fatalf("redundant audio: not %v in\n%s", red, answered.Text)
	}
	s.hears(t, "connected", 200)
	h.ear.hears(0)
	soak(t, h, proxy, w)
	s.next("trickle")
	s.hears(t, "trickled", 204)
}

func soak(t *testing.T, h *house, proxy *whiptest.Proxy, w whiptest.Weather) {
	t.Helper()
	const length = 2 * time.Minute
	before := h.sessions()[0]
	proxy.Set(w)
	mark := h.ear.mark()
	sent, _ := proxy.Sent()
	time.Sleep(length)
	all, _ := proxy.Sent()
	s := h.sessions()
	if len(s) != 1 || s[0].ID != before.ID {
		t.Fatalf("the session did not last: %+v", s)
	}
	frames, concealed := s[0].Frames-before.Frames, s[0].Concealed-before.Concealed
	t.Logf("%.2f %% concealed (%d of %d frames), %d lost on the way, loss %.1f %%, round trip %.0f ms, jitter %.1f ms, %.1f s heard, %.0f kbit/s sent",
		100*float64(concealed)/float64(frames+concealed), concealed, frames+concealed, s[0].Lost-before.Lost, s[0].LossPct, s[0].RTTMS, s[0].JitterMS,
		float64(len(h.ear.since(mark)))/2/48_000, float64(all-sent)*8/1000/length.Seconds())
}

// rewriting is the server behind a door that puts the proxy's address into its answers.
func rewriting(t *testing.T, h *house, proxy *whiptest.Proxy) string {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/whip" {
			h.server.Handler().ServeHTTP(w, r)
			return
		}
		h.server.Handler().ServeHTTP(&rewriter{w, h.server.MediaUDP()[0], proxy.Addr}, r)
	}))
}

type rewriter struct {
	http.ResponseWriter
	from, to netip.AddrPort
}

func (w *rewriter) Write(b []byte) (int, error) {
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "a=candidate:") {
			if strings.Contains(line, " tcp ") {
				continue
			}
			line = through(line, w.to)
		}
		out.WriteString(line)
	}
	_, err := w.ResponseWriter.Write([]byte(out.String()))
	return len(b), err
}
