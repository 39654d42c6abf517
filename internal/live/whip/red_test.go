package whip_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A phone that prefers redundant audio is answered so, and of every second packet that is
// lost nothing is missing, though its phone has none of them to send again. Without the
// copies half of the time is filled in, and all of it asked for.
func TestRedundantAudioFillsEverySecondPacket(t *testing.T) {
	h := open(t, nil).hearing()
	ofSara, _ := tones(t)
	p := newREDPhone(t, h, "sara")
	p.thin = true
	p.publish().connected().speak(ofSara)
	for _, want := range []string{"m=audio 9 UDP/TLS/RTP/SAVPF 63 111\r\n", "a=rtpmap:63 red/48000/2\r\n", "a=fmtp:63 111/111\r\n", "a=rtcp-fb:63 nack"} {
		if !strings.Contains(p.answer, want) {
			t.Errorf("%q is missing in\n%s", want, p.answer)
		}
	}
	h.ear.hears(0)
	testkit.EventuallyNil(t, "two seconds without a hole", func() error {
		if s := h.sessions(); len(s) != 1 || s[0].Frames < 100 || s[0].Lost < 40 || s[0].Concealed*10 > s[0].Frames {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	// One that the kernel dropped, too, may be asked for, a few times in a row.
	if s := h.sessions()[0]; p.asked.Load() > int64(s.Lost)/4 {
		t.Errorf("%d requests for %d packets", p.asked.Load(), s.Lost)
	}
}

// Whoever only can send redundant audio, as browsers can, is answered without it.
func TestRedundantAudioThatIsNotPreferredIsNotAnswered(t *testing.T) {
	h := open(t, nil)
	p := newREDPhone(t, h, "sara")
	offer := strings.Replace(p.offer(false), "SAVPF 63 111", "SAVPF 111 63", 1)
	if !strings.Contains(offer, "SAVPF 111 63") {
		t.Fatalf("no order to change in\n%s", offer)
	}
	resp := h.ask(http.MethodPost, h.public.URL+"/whip", p.header("application/sdp"), offer)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "SAVPF 111\r\n") || strings.Contains(string(answer), "red/") {
		t.Errorf("%s, %v:\n%s", resp.Status, err, answer)
	}
}
