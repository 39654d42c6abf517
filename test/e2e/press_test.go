package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"testing"
	"time"

	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

const (
	testStationKey     = "open-sesame-e2e"
	testSourcePassword = "source-e2e"
)

// withKeys sets the keys that orders and live sources need.
func withKeys(s *station) {
	s.env = append(s.env, "STATION_KEY="+testStationKey, "SOURCE_PASSWORD="+testSourcePassword)
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
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
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

// until waits for a moment of the track on air: its category, how long ago it
// began, and how long it has to go.
func (s *station) until(what string, ok func(p piece, since, left time.Duration) bool, pieces []piece) onAir {
	s.t.Helper()
	var now onAir
	s.eventually(what, time.Minute, func() bool {
		st, err := s.status()
		if err != nil || st.Track == nil || st.State != "music" {
			return false
		}
		now = *st.Track
		id := toneOf(now.File)
		if id < 0 {
			return false
		}
		since := time.Since(time.UnixMilli(now.StartedAt))
		return ok(pieces[id], since, time.Duration(now.DurationMS)*time.Millisecond-since)
	})
	return now
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

// ear records the station's stream until it is told to stop.
type ear struct {
	*aircheck.Recorder
	t    *testing.T
	stop func()
}

func (s *station) listen() *ear {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	e := &ear{Recorder: aircheck.NewRecorder(s.url("icecast", "/main")), t: s.t}
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	ended := false
	e.stop = func() {
		if cancel(); !ended {
			ended = true
			if err := <-done; err != nil {
				s.t.Error(err)
			}
		}
	}
	s.t.Cleanup(e.stop)
	return e
}
