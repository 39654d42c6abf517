package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
	"github.com/athir-radio/athir/test/aircheck"
)

// The studio speaks over events: what it records in the browser is heard on air,
// every listener is told, and when it stops the rotation goes on. Whoever does
// not show the key is not heard.
func TestTheStudioGoesLiveOverEvents(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys)
	pieces := library()
	record(t, s.media, pieces)
	s.configure(programmeRules(60, []rotation.Daypart{}))
	s.start().whole()
	ear := s.listen()
	s.eventually("music", time.Minute, func() bool { st, err := s.status(); return err == nil && st.State == "music" })

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
	live := len(pieces) - 1 // its tone is in no track that may air
	audio, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi",
		"-i", fmt.Sprintf("sine=%g:r=48000:d=14,volume=2", aircheck.Fine.Frequency(live)),
		"-ac", "2", "-c:a", "libopus", "-b:a", "96k", "-cluster_time_limit", "200", "-f", "webm", "pipe:1").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(desk, "start_stream", map[string]string{"type": "audio/webm;codecs=opus"}); !strings.Contains(got, `"ok":true`) {
		t.Fatalf("start_stream: %s", got)
	}
	each := len(audio) / 56 // four chunks a second, as a browser records
	for n := 0; len(audio) > 0; n++ {
		chunk := audio[:min(each, len(audio))]
		audio = audio[len(chunk):]
		if got := ask(desk, "audio_data", chunk); !strings.Contains(got, `"ok":true`) {
			t.Fatalf("audio_data: %s", got)
		}
		time.Sleep(250 * time.Millisecond)
	}
	s.eventually("live is told", 20*time.Second, func() bool {
		for _, p := range listener.Heard("status") {
			var st struct{ State string }
			if json.Unmarshal(p, &st) == nil && st.State == "live" {
				return true
			}
		}
		return false
	})
	if got := ask(desk, "stop_stream", nil); !strings.Contains(got, `"ok":true`) {
		t.Errorf("stop_stream: %s", got)
	}
	s.eventually("music again", 30*time.Second, func() bool { st, err := s.status(); return err == nil && st.State == "music" })
	ear.stop()
	report := aircheck.Fine.Analyse(ear.PCM())
	onLive := 0.0
	for _, seg := range report.Segments {
		if seg.ID == live {
			onLive += seg.Length().Seconds()
		}
	}
	if onLive < 8 {
		t.Errorf("the studio is heard for %.1f s of 14\n%s", onLive, report)
	}
	if gap := report.Gap.Length(); gap > time.Second {
		t.Errorf("a gap of %s at %s", gap, report.Gap.Start)
	}
	t.Logf("LIVE the studio was heard for %.1f s of 14; longest gap %s", onLive, report.Gap.Length())
}
