package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/sockettest"
	"github.com/athir-radio/athir/test/aircheck"
)

// The studio speaks over events: what it records in the browser is heard on air,
// every listener is told, and when it stops the rotation goes on. Whoever does
// not show the key is not heard.
func TestTheStudioGoesLiveOverEvents(t *testing.T) {
	s := steer(t)
	ear := s.listen()
	s.eventually("something is heard", func() bool { return ear.last(aircheck.Fine) >= 0 })

	dial := func(auth any) *sockettest.Client {
		c, err := sockettest.Dial(t.Context(), s.url("chat", ""), auth) // at the edge: over the bus
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	desk, listener := dial(map[string]string{"key": testStationKey}), dial(nil)
	ask := func(c *sockettest.Client, event string, body any) string {
		got, err := c.Ask(t.Context(), event, body)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	if got := ask(listener, "start_stream", nil); !strings.Contains(got, `"status":401`) {
		t.Errorf("a listener goes live: %s", got)
	}
	if _, err := sockettest.Dial(t.Context(), s.url("chat", ""), map[string]string{"key": "a guess"}); err == nil {
		t.Error("a wrong key is let in")
	}
	live := len(library()) - 1 // its tone is in no track that may air
	audio, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi",
		"-i", fmt.Sprintf("sine=%g:r=48000:d=120,volume=2", aircheck.Fine.Frequency(live)),
		"-ac", "2", "-c:a", "libopus", "-b:a", "96k", "-cluster_time_limit", "200", "-f", "webm", "pipe:1").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(desk, "start_stream", map[string]string{"type": "audio/webm;codecs=opus"}); !strings.Contains(got, `"ok":true`) {
		t.Fatalf("start_stream: %s", got)
	}
	each := len(audio) / 480 // four chunks a second, as a browser records
	onLive, told := false, false
	from := ear.Position(time.Now())
	for n := 0; n < 480 && !(onLive && told); n++ { // no longer than it takes to be heard and told
		if got := ask(desk, "audio_data", audio[n*each:(n+1)*each]); !strings.Contains(got, `"ok":true`) {
			t.Fatalf("audio_data: %s", got)
		}
		time.Sleep(250 * time.Millisecond)
		onLive = onLive || n > 8 && ear.last(aircheck.Fine) == live
		told = told || slices.ContainsFunc(listener.Heard("status"), func(p json.RawMessage) bool { // with the station's name
			var st struct {
				State      string
				NowPlaying struct{ Title string }
			}
			return json.Unmarshal(p, &st) == nil && st.State == "live" && st.NowPlaying.Title == "أثير"
		})
	}
	if !onLive || !told {
		t.Errorf("live was heard: %v, told: %v", onLive, told)
	}
	if got := ask(desk, "stop_stream", nil); !strings.Contains(got, `"ok":true`) {
		t.Errorf("stop_stream: %s", got)
	}
	ear.until(s, "the studio, and after it music", from, func(heard []aircheck.Segment) bool {
		at := slices.IndexFunc(heard, func(seg aircheck.Segment) bool { return seg.ID == live })
		return at >= 0 && heard[len(heard)-1].ID != live
	})
	s.eventually("music is told", func() bool { st, err := s.status(); return err == nil && st.State == "music" })
}
