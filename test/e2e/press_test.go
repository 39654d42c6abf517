package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

const (
	testStationKey     = "open-sesame-e2e"
	testSourcePassword = "source-e2e"
	testSyncToken      = "sync-e2e"
)

// withKeys sets the keys that orders and live sources need.
func withKeys(s *station) {
	s.env = append(s.env, "STATION_KEY="+testStationKey, "SOURCE_PASSWORD="+testSourcePassword, "SYNC_TOKEN="+testSyncToken)
}

// answer is what the station says to an order.
type answer struct {
	code int
	text string
	Next []struct {
		File     string `json:"file"`
		Position int    `json:"position"`
	} `json:"next"`
	Track struct {
		File string `json:"file"`
	} `json:"track"` // of play
	took time.Duration
}

// order posts to a station route with a key. It may be called from any goroutine.
func (s *station) order(key, path, body string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url("control", path), bytes.NewBufferString(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("x-station-key", key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	sent := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(resp.Body)
	a.code, a.text, a.took = resp.StatusCode, string(text), time.Since(sent)
	if err == nil && a.code == http.StatusOK {
		err = json.Unmarshal(text, &a)
	}
	return a, err
}

func (s *station) skip() (answer, error) { return s.order(testStationKey, "/api/station/skip", "") }

func (s *station) play(c radio.Category, file string) (answer, error) {
	body, err := json.Marshal(map[string]string{"category": string(c), "file": file})
	if err != nil {
		return answer{}, err
	}
	return s.order(testStationKey, "/api/station/play", string(body))
}

// answered gives an order until the station says yes or no: on a busy machine the
// engine may be later than the station's patience with it, which changes nothing.
func (s *station) answered(what string, order func() (answer, error)) (a answer) {
	s.t.Helper()
	s.eventually(what+" is answered", func() bool {
		var err error
		a, err = order()
		return err == nil && a.code != http.StatusServiceUnavailable
	})
	return a
}

// brings is the tone that a play or a skip brings, as its answer says. A skip brings the head of
// the new list, or, where that has begun or a song ended by itself just then, the entry before those
// that follow. -1: there is none.
func (s *station) brings(a answer) int {
	s.t.Helper()
	if a.Track.File != "" {
		return toneOf(a.Track.File)
	}
	if len(a.Next) > 0 && a.Next[0].Position == 0 {
		return toneOf(a.Next[0].File)
	}
	plan, _ := s.schedule()
	at := 0
	if len(a.Next) > 0 {
		at = a.Next[0].Position - 1
	}
	if at >= len(plan) {
		return -1
	}
	return toneOf(plan[at].File)
}

// goLive sends a tone to the live harbor until ended.
func (s *station) goLive(id int) (end func()) {
	s.t.Helper()
	cmd := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi",
		"-i", fmt.Sprintf("sine=%g,volume=2", aircheck.Fine.Frequency(id)),
		"-ac", "2", "-c:a", "libmp3lame", "-b:a", "128k", "-content_type", "audio/mpeg", "-f", "mp3",
		fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/channel_live", testSourcePassword, s.ports["harbor"]))
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	end = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	s.t.Cleanup(end)
	return end
}

// refusals: orders that cannot be followed change nothing.
func (s *station) refusals(pieces []piece) {
	s.t.Helper()
	before, _ := s.schedule()
	for _, c := range []struct {
		key, path, body string
		want            int
		word            string
	}{
		{"wrong", "/api/station/skip", "", http.StatusUnauthorized, ""},
		{"", "/api/station/play", `{"category":"mashups"}`, http.StatusUnauthorized, ""},
		{testStationKey, "/api/station/play", `{"category":"mashups","file":"music/mashups/none.mp3"}`, http.StatusNotFound, "none.mp3"},
		{testStationKey, "/api/station/play", `{"category":"mashups","file":"../../etc/passwd"}`, http.StatusNotFound, "passwd"},
		{testStationKey, "/api/station/play", fmt.Sprintf(`{"category":"english","file":%q}`, pieces[0].file()), http.StatusUnprocessableEntity, "category"},
		{testStationKey, "/api/station/play", `{"category":"opera"}`, http.StatusUnprocessableEntity, "category"},
		{testStationKey, "/api/station/play", `{}`, http.StatusUnprocessableEntity, "category"},
	} {
		// The engine is looked at first.
		a := s.answered(c.path+" "+c.body, func() (answer, error) { return s.order(c.key, c.path, c.body) })
		if a.code != c.want || !strings.Contains(a.text, c.word) {
			s.t.Errorf("%s %s: status %d, want %d with %q: %s", c.path, c.body, a.code, c.want, c.word, a.text)
		}
	}
	if after, _ := s.schedule(); !slices.Equal(files(before), files(after)) {
		s.t.Error("an order that was refused has changed the rotation")
	}
}

// liveIsNotSkipped: while a live source is on air both orders are refused, and
// nothing changes.
func (s *station) liveIsNotSkipped(tone int, c radio.Category) {
	s.t.Helper()
	end := s.goLive(tone)
	s.eventually("the live source on air", func() bool { st, err := s.status(); return err == nil && st.State == "live" })
	before, consumed := s.schedule()
	for what, order := range map[string]func() (answer, error){"skip": s.skip, "play": func() (answer, error) { return s.play(c, "") }} {
		if a := s.answered(what, order); a.code != http.StatusConflict {
			s.t.Errorf("%s while live: status %d: %s", what, a.code, a.text)
		}
	}
	after, now := s.schedule()
	if now != consumed || !slices.Equal(files(before), files(after)) {
		s.t.Errorf("orders while live have changed the rotation: consumed %d then %d", consumed, now)
	}
	s.eventually("the live source still on air", func() bool { st, err := s.status(); return err == nil && st.State == "live" })
	end()
	s.eventually("the rotation after the live source", func() bool { st, err := s.status(); return err == nil && st.State == "music" })
}
