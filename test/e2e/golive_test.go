package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// withGoLiveLinks has the studio make links that lead to the station's own WHIP server.
func withGoLiveLinks(s *station) {
	s.env = append(s.env, "ATHIR_LIVE_ADDRESS="+s.url("whip", ""))
}

// microphone is what Chromium's false microphone hears: one tone.
func microphone(t *testing.T, tone int) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "microphone.wav")
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi",
		"-i", "sine="+strconv.FormatFloat(aircheck.Fine.Frequency(tone), 'f', -1, 64)+":r=48000:d=300,volume=2",
		"-ac", "1", "-c:a", "pcm_s16le", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// The go-live page and the studio's section Live in Chromium, on a whole station: what
// their sign says is what /api/status says and what listeners hear, in this order, and
// nobody else is heard between. Two of the phones reach the station by its relay alone.
func TestPresentersAndTheStudioGoLiveInChromium(t *testing.T) {
	t.Parallel()
	inTurnOfBrowsers(t)
	s := liveStation(t, withGoLiveLinks)
	air := s.listen()
	air.rotates(s, "the rotation before")
	const spoken, encoded, rotation = freeTone, freeTone + 1, -1
	id, secret := s.publisher("ليلى", false)
	// The encoder connects when the test of the hand-over asks for it. Beside a phone that a
	// starved machine keeps silent for two seconds the desk would hand the air to it, as it
	// should, and the phone's page would wait for the air in vain.
	connect := sync.OnceFunc(func() { s.icecastSource(id, secret, "/laila", encoded) })
	encoder := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { connect() }))
	defer encoder.Close()

	from := air.Position(time.Now())
	s.pages([]string{
		"ATHIR_KEY=" + testStationKey, "ATHIR_WHIP=" + s.url("whip", ""),
		"ATHIR_MICROPHONE=" + microphone(t, spoken), "ATHIR_ENCODER=ليلى", "ATHIR_CONNECT=" + encoder.URL,
	}, "onair.spec.ts")
	if t.Failed() {
		return
	}
	air.rotates(s, "the rotation afterwards")

	all := air.PCM()
	heard := aircheck.Fine.Analyse(all.Cut(from, all.Duration()))
	var order []int
	for _, seg := range heard.Segments {
		tone := seg.ID
		if tone < freeTone {
			tone = rotation
		}
		if len(order) == 0 || order[len(order)-1] != tone {
			order = append(order, tone)
		}
	}
	want := []int{
		rotation, spoken, encoded, spoken, encoded, // handed over, handed back, and the next that is ready as the phone stops
		rotation, spoken, // disconnected by the studio
		rotation, spoken, // the studio's own microphone
		rotation, spoken, rotation, spoken, // by the relay, over UDP and over TCP
		rotation,
	}
	// A machine that is short makes holes in what Chromium sends, and the air goes to the
	// encoder beside it, or to the rotation, and back: more may be heard between, never less.
	left := want
	for _, tone := range order {
		if len(left) > 0 && tone == left[0] {
			left = left[1:]
		}
	}
	if len(left) > 0 {
		t.Errorf("on the air was %v, want in this order %v: %s", order, want, fmt.Sprint(heard.Segments))
	}
	s.eventually("nothing is left of the phones", func() bool {
		now, err := s.live()
		return err == nil && now.Active == nil && len(now.Sessions) == 0 && now.Recording == nil
	})
}
