package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// A cart of the wall is heard by listeners over whoever is live, and both together; a stop ends
// the cart and leaves the voice. Nothing of it is possible while the rotation is on.
func TestACartIsHeardOverALiveSource(t *testing.T) {
	t.Parallel()
	const voice, cart = freeTone, freeTone + 6
	const file = "sfx/tone 66 تصفيق.mp3"
	s := liveStation(t, func(s *station) {
		place(t, filepath.Join(s.media, filepath.FromSlash(file)), time.Now().Add(-time.Hour), aircheck.Track{
			ID: cart, Scale: aircheck.Fine, Duration: 30 * time.Second, Title: "تصفيق", Artist: "تصفيق",
		})
	})
	air := s.listen()
	air.rotates(s, "the rotation before")
	s.setWall(file)
	if code, text := s.fireCart(); code != http.StatusConflict {
		t.Errorf("a cart over the rotation: %d %s", code, text)
	}
	id, key := s.publisher("نور", false)
	s.icecastSource(id, key, "/nour", voice)
	if code, text := s.liveOrder("start", `{"id":"`+s.streamOf("نور")+`"}`); code != http.StatusOK {
		t.Fatalf("start: %d %s", code, text)
	}
	air.airs(s, "the voice", voice)
	s.firesOver(air, voice, cart)
	if code, text := s.liveOrder("stop", ""); code != http.StatusOK {
		t.Errorf("stop: %d %s", code, text)
	}
	air.rotates(s, "the rotation after")
	if code, text := s.fireCart(); code != http.StatusConflict {
		t.Errorf("a cart after the broadcast: %d %s", code, text)
	}
}

// setWall sets the cart wall: one file, again and again, so that no slow machine misses its end.
func (s *station) setWall(file string) {
	s.t.Helper()
	body := `{"version":0,"pages":[{"name":"سهرة","carts":[{"slot":7,"file":"` + file + `","label":"تصفيق","colour":"teal","gainDb":-6,"key":"1","loop":true}]}]}`
	if code, text := s.operate(http.MethodPut, "/api/station/carts", body); code != http.StatusOK {
		s.t.Fatalf("set the wall: %d %s", code, text)
	}
}

func (s *station) fireCart() (code int, text string) {
	return s.call(http.MethodPost, "control", "/api/station/carts/fire", testStationKey, `{"page":0,"slot":7}`)
}

// firesOver fires the cart of the wall over a voice that is on the air: both are heard, and after
// its stop the voice alone.
func (s *station) firesOver(air *ear, voice, cart int) {
	s.t.Helper()
	code, text := s.fireCart()
	var fired struct {
		ID         string
		DurationMS int64 `json:"durationMs"`
	}
	if err := json.Unmarshal([]byte(text), &fired); err != nil || code != http.StatusOK || fired.ID == "" || fired.DurationMS < 19_000 || fired.DurationMS > 31_000 {
		s.t.Fatalf("fire: %d %s", code, text)
	}
	heard := func(tone int) bool {
		all := air.PCM()
		now := aircheck.Fine.Analyse(all.Cut(max(0, all.Duration()-2*time.Second), all.Duration())).Segments
		return slices.ContainsFunc(now, func(seg aircheck.Segment) bool { return seg.ID == tone && seg.Length() > time.Second })
	}
	s.eventually("voice and cart together", func() bool { return heard(voice) && heard(cart) })
	if code, text := s.operate(http.MethodPost, "/api/station/carts/stop", `{"id":"`+fired.ID+`"}`); code != http.StatusOK || text != "{\"stopped\":1}\n" {
		s.t.Errorf("stop: %d %q", code, text)
	}
	s.eventually("the voice alone", func() bool { return heard(voice) && !heard(cart) })
}
